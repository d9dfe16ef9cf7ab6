"""Wikipedia articles to try the package on, and questions they answer; README.md names the sources."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class SampleQuestion:
    """A question, the title of the article that answers it, and the correct phrases."""

    question: str
    title: str
    answers: tuple[str, ...]


def articles_path() -> Path:
    """About fifty articles on various topics, as JSON lines that `read_documents` reads."""
    return Path(__file__).parent / "articles.jsonl.gz"


SAMPLE_QUESTIONS: tuple[SampleQuestion, ...] = (
    SampleQuestion("When was the Battle of Hastings?", "Battle of Hastings", ("14 October 1066",)),
    SampleQuestion("How deep is Lake Baikal?", "Lake Baikal", ("1642 m",)),
    SampleQuestion(
        "Who was the architect of the Sydney Opera House?",
        "Sydney Opera House",
        ("Jørn Utzon", "Danish architect Jørn Utzon"),
    ),
    SampleQuestion("What does the name Lego mean?", "Lego", ("play well",)),
    SampleQuestion("Which ship took Amundsen to Antarctica?", "Roald Amundsen", ("Fram",)),
    SampleQuestion(
        "Where did Jane Goodall start to watch chimpanzees in 1960?", "Jane Goodall", ("Gombe Stream National Park",)
    ),
    SampleQuestion(
        "How many gold medals did Jesse Owens bring home from Berlin?", "Jesse Owens", ("four", "four gold medals")
    ),
    SampleQuestion("When did Mount Fuji last erupt?", "Mount Fuji", ("1707\u201308",)),
    SampleQuestion(
        "Which farmer was the first to see Halley's Comet return as foretold?",
        "Halley's Comet",
        ("Johann Georg Palitzsch",),
    ),
    SampleQuestion(
        "What did George Shaw use to look for a seam in the skin of a platypus?",
        "Platypus",
        ("a pair of scissors", "scissors"),
    ),
    SampleQuestion(
        "From how far away can a Komodo dragon smell a dead animal?", "Komodo dragon", ("9.5 km", "up to 9.5 km")
    ),
    SampleQuestion("What was the lander of Apollo 11 called?", "Apollo 11", ("Eagle",)),
    SampleQuestion("Which programming language grew out of Grace Hopper's FLOW-MATIC?", "Grace Hopper", ("COBOL",)),
    SampleQuestion(
        "In which Italian town did Alfred Nobel live at the end of his life?",
        "Alfred Nobel",
        ("Sanremo", "Sanremo, Italy"),
    ),
    SampleQuestion("What was the first pizzeria in the United States?", "Pizza", ("Lombardi's",)),
    SampleQuestion("What was Rubik's Cube called at first?", "Rubik's Cube", ("Magic Cube", "the Magic Cube")),
    SampleQuestion("Which province makes most of the world's maple syrup?", "Maple syrup", ("Quebec",)),
    SampleQuestion("How many names did Hokusai use?", "Hokusai", ("at least thirty", "at least thirty names")),
    SampleQuestion("What did Ada Lovelace want to call her book about flying?", "Ada Lovelace", ("Flyology",)),
    SampleQuestion("For how long could Sputnik be heard on the radio?", "Sputnik 1", ("21 days",)),
    SampleQuestion("Who won the marathon at the Olympic Games of 1896?", "Marathon", ('Spyridon "Spyros" Louis',)),
    SampleQuestion("Which octopus can kill people?", "Octopus", ("blue-ringed octopus", "small blue-ringed octopus")),
    SampleQuestion("How many kinds of sea turtles breed on the Great Barrier Reef?", "Great Barrier Reef", ("Six",)),
    SampleQuestion("What wood is the front of a violin made of?", "Violin", ("spruce",)),
)
