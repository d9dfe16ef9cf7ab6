"""Figures of the paper (Lee, Sung, Kang and Chen, ACL 2021), by the number of their table.

A row's name is also that of our row beside it. Models of others stand here only where they help to read the table.
"""

from dataclasses import dataclass
from typing import Literal

TableName = Literal["speed", "reading", "open", "slots", "ablation", "negatives", "queries"]

Figures = tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class PaperTable:
    """Attributes:
    number: As the paper counts.
    columns: Of figures; percentages unless they say otherwise.
    rows: The name of each row, and its figures as far as the paper has them.
    """

    number: str
    title: str
    columns: tuple[str, ...]
    rows: dict[str, Figures]


PAPER: dict[TableName, PaperTable] = {
    "speed": PaperTable(
        "Tables 1 and A.1",
        "storage and speed: 1,000 questions in batches of 64, the first five batches not counted",
        ("storage GB", "bytes per token", "questions/s"),
        {
            "DPR, CPU": (76, None, 0.04),
            "DenSPI + Sparc, CPU": (1547, None, 1.7),
            "DensePhrases, GPU": (320, None, 20.6),
            "DensePhrases, CPU": (320, None, 13.6),
        },
    ),
    "reading": PaperTable(
        "Table 2",
        "reading comprehension, each question in its passage",
        ("SQuAD EM", "SQuAD F1", "NQ EM", "NQ F1"),
        {
            "reader (BERT-base)": (80.8, 88.5, 69.9, 78.2),
            "reader (SpanBERT-base)": (85.7, 92.2, 73.2, 81.0),
            "DenSPI (BERT-large)": (73.6, 81.7, 68.2, 76.1),
            "phrase model": (78.3, 86.3, 71.9, 79.6),
        },
    ),
    "open": PaperTable(
        "Table 3",
        "open-domain questions, EM",
        ("NQ", "WQ", "TREC", "TQA", "SQuAD"),
        {
            "DrQA": (None, 20.7, 25.4, None, 29.8),
            "DPR-multi": (41.5, 42.4, 49.4, 56.8, 24.1),
            "DenSPI + Sparc": (14.5, 17.3, 35.7, 34.4, 40.7),
            "DensePhrases (SQuAD)": (31.2, 36.3, 50.3, 53.6, 39.4),
            "DensePhrases (NQ, SQuAD)": (40.9, 37.5, 51.0, 50.7, 38.0),
        },
    ),
    "slots": PaperTable(
        "Table 4",
        "slot filling, KILT-AC and KILT-F1",
        ("T-REx AC", "T-REx F1", "ZsRE AC", "ZsRE F1"),
        {
            "DPR + BART": (11.12, 11.41, 18.91, 20.32),
            "RAG": (23.12, 23.94, 36.83, 39.91),
            "as trained": (None, None, None, None),
            "5,000 examples": (25.32, 29.76, 40.39, 45.89),
            "10,000 examples": (27.84, 32.34, 41.34, 46.79),
        },
    ),
    "ablation": PaperTable(
        "Table 5",
        "ablation on SQuAD; the paper with SpanBERT-base where it has the row, else with BERT-base",
        ("EM",),
        {
            "DenSPI: share, split": (68.5,),
            "share": (70.2,),
            "neither": (73.2,),
            "+ generated questions": (76.3,),
            "+ distillation": (78.3,),
        },
    ),
    "negatives": PaperTable(
        "Table 6",
        "negatives on NQ: EM in the passage, and over all passages of the file",
        ("passage", "D_small"),
        {
            "none, B=48": (70.4, 35.3),
            "in-batch, B=48": (70.5, 52.4),
            "in-batch, B=84": (70.3, 54.2),
            "pre-batch, B=84, C=1": (71.6, 59.8),
            "pre-batch, B=84, C=2": (71.9, 60.4),
            "pre-batch, B=84, C=4": (71.2, 59.8),
        },
    ),
    "queries": PaperTable(
        "Table 7",
        "query-side fine-tuning, EM of open-domain questions; the paper's phrases of NQ and SQuAD",
        ("NQ", "WQ", "TREC", "TQA", "SQuAD"),
        {"before": (28.9, 18.9, 34.9, 31.9, 33.2), "after": (40.9, 37.5, 51.0, 50.7, 38.0)},
    ),
}
