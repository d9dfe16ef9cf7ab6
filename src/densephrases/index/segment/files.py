"""The files of a segment, plain little-endian arrays, and the names that version 0.1 gave to some of them."""

from densephrases.index.segment.metadata_index import METADATA_ARRAYS
from densephrases.index.segment.passage_terms import COUNTS_FILE, TERM_ARRAYS
from densephrases.index.segment.token_offsets import TOKEN_OFFSET_ARRAYS

TEXT_FILE = "text.bin"
RECORDS_FILE = "records.bin"  # id, title and metadata of each document
VECTORS_FILE = "vectors.bin"
CENTROIDS_FILE = "passage_centroids.bin"  # empty unless token vectors are stored relative to them
QUANTIZER_FILE = "quantizer.bin"  # what the codec keeps beside the vectors

ARRAYS = {
    # documents
    "text_edges": "<i8",  # bytes of all texts, one more than documents
    "record_edges": "<i8",  # bytes in records.bin, one more than documents
    "document_passages": "<i8",  # first passage, one more than documents
    "digests": "<u8",
    "id_hashes": "<u8",  # sorted
    "id_documents": "<u4",  # the documents of the sorted hashes
    **METADATA_ARRAYS,
    # passages
    "passage_documents": "<u4",
    "passage_offsets": "<u4",  # characters of the document's text before the passage
    "passage_bytes": "<i8",  # where the passage begins in all texts
    "passage_lengths": "<u4",  # bytes
    "vector_edges": "<i8",  # first token vector of each passage, one more than passages
    "passage_tokens": "<u2",  # kept or not
    **TERM_ARRAYS,
    # blocks of text
    "text_blocks": "<i8",  # bytes in text.bin, one more than blocks
    # token vectors
    **TOKEN_OFFSET_ARRAYS,
}


def array_file(name: str) -> str:
    return f"{name}.bin"


DATA_FILES = (
    *map(array_file, ARRAYS),
    TEXT_FILE,
    RECORDS_FILE,
    VECTORS_FILE,
    CENTROIDS_FILE,
    QUANTIZER_FILE,
    COUNTS_FILE,
)
CHECKSUMS_FILE = "block_checksums.bin"  # of the blocks of all of these; segments of earlier versions have none
SEGMENT_FILES = (*DATA_FILES, CHECKSUMS_FILE)

FORMER_FILES = {
    CENTROIDS_FILE: "means.bin",
    QUANTIZER_FILE: "calibration.bin",
    array_file("vector_edges"): "passage_rows.bin",
    array_file("token_offset_lows"): "begins.bin",
    array_file("token_offset_steps"): "begin_rows.bin",
    array_file("token_extents"): "extents.bin",
    array_file("frequent_extents"): "extent_kinds.bin",
    array_file("rare_extent_vectors"): "rare_rows.bin",
}
CURRENT_FILES = {former: current for current, former in FORMER_FILES.items()}
