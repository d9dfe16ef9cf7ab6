"""What the bytes of an index are for, against the files themselves and the encoder's own tokens."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from densephrases.index.folder import IndexFolder
from densephrases.index.settings import IndexSettings
from densephrases.text.documents import Document
from densephrases.text.passages import Passage, split_passages
from tests.index.made_up import HashEncoder, long_text

ENCODER = HashEncoder()


def tokens_of(document: Document) -> int:
    spans = split_passages(document.text)
    passages = [Passage(document.text[span.start : span.end], document.title) for span in spans]
    return sum(len(tokenized.offsets) for tokenized in ENCODER.tokens.passages(passages))


def bytes_on_disk(index: IndexFolder) -> int:
    return file_sizes(index, "*.bin") + file_sizes(index, "*.faiss")


def file_sizes(index: IndexFolder, name: str) -> int:
    return sum(path.stat().st_size for path in index.folder.rglob(name))


@settings(max_examples=10)
@given(sizes=st.lists(st.integers(1, 200), min_size=1, max_size=6), threshold=st.sampled_from([None, 0.0]))
def test_every_byte_and_token_is_counted(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], threshold: float | None
) -> None:
    folder = tmp_path_factory.mktemp("index") / "index"
    index = IndexFolder.create(folder, IndexSettings.from_encoder(ENCODER, "hash").with_threshold(threshold))
    documents = [Document(f"d{i}", long_text(i, size), f"title {i}") for i, size in enumerate(sizes)]
    index.add(documents, ENCODER)
    index.add([Document("later", "Some words at the end.", "")], ENCODER)
    index.delete(["d0"])
    found = index.disk_usage()
    assert found.tokens == sum(map(tokens_of, documents)) + tokens_of(Document("later", "Some words at the end.", ""))
    assert found.vectors == index.vectors <= found.tokens
    assert found.bytes == bytes_on_disk(index) == index.info().bytes
    assert found.purposes["deleted"] > 0
    assert found.purposes["text"] == file_sizes(index, "text.bin") + file_sizes(index, "text_blocks.bin")
    assert found.bytes_per_token == found.bytes / found.tokens
    index.optimize()
    assert index.disk_usage().tokens == found.tokens - tokens_of(documents[0])
