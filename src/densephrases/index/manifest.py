"""The file that lists what belongs to an index. A file that it does not list is not part of the index."""

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from densephrases.errors import PhraseIndexError
from densephrases.index.files.durable import DAMAGE_REMEDY, FileEntry, replace_json
from densephrases.index.former_manifest import FORMER_SCHEMA, from_former
from densephrases.index.kinds import CandidateKind
from densephrases.index.settings import IndexSettings
from densephrases.json_input import check_fields, read_json_file

SCHEMA_VERSION = 9
_WITHOUT_ROOTS = 8
MANIFEST_FILE = "manifest.json"
SEGMENTS_FOLDER = "segments"
DELETED_FOLDER = "deleted"

_CHECKSUM = "checksum"
_PLAIN_NAME = re.compile(r"\w[\w.]{0,99}", re.ASCII)  # leads to no other folder


def _checksum(values: dict[str, Any]) -> str:
    """The SHA-256 of all other values of a manifest. Those of earlier versions have none."""
    return sha256(json.dumps(values, indent=1).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class SegmentEntry:
    """A segment's counts and files; `partial` is true until a build is finished and its segments are merged."""

    name: str
    documents: int
    passages: int
    vectors: int
    files: dict[str, FileEntry] = field(repr=False)
    candidates: CandidateKind = "exact"
    partial: bool = False
    deleted: int = 0
    deleted_file: str = ""
    deleted_entry: FileEntry | None = None

    def paths(self) -> Iterator[tuple[str, FileEntry]]:
        """All files, relative to the index folder."""
        for name, entry in self.files.items():
            yield f"{SEGMENTS_FOLDER}/{self.name}/{name}", entry
        if self.deleted_entry is not None:
            yield f"{DELETED_FOLDER}/{self.deleted_file}", self.deleted_entry

    def unmarked(self) -> Self:
        """Without its deletion marks."""
        return replace(self, deleted=0, deleted_file="", deleted_entry=None)

    @classmethod
    def from_values(cls, values: dict[str, Any]) -> Self:
        files = {name: _file_entry(entry) for name, entry in values["files"].items()}
        deleted = None if values["deleted_entry"] is None else _file_entry(values["deleted_entry"])
        for name in (values["name"], *files, *([values["deleted_file"]] if deleted else [])):
            if not _PLAIN_NAME.fullmatch(name):
                raise ValueError(f"{name!r} is no name of a segment or a file"[:200])
        values = {**values, "files": files, "deleted_entry": deleted}
        check_fields(cls, values)
        _refuse_negative(values, "documents", "passages", "vectors", "deleted")
        if values["deleted"] > values["documents"]:
            raise ValueError(f"{values['deleted']} deleted of {values['documents']} documents")
        _refuse_other_counts(files, values["documents"], values["passages"])
        return cls(**values)


def _refuse_other_counts(files: dict[str, FileEntry], documents: int, passages: int) -> None:
    """The arrays of a segment have as many elements as it has documents and passages."""
    expected = {
        **dict.fromkeys(("text_edges.bin", "record_edges.bin", "document_passages.bin"), 8 * (documents + 1)),
        **dict.fromkeys(("digests.bin", "id_hashes.bin"), 8 * documents),
        "passage_bytes.bin": 8 * passages,
    }
    for name, size in expected.items():
        if name in files and files[name].size != size:
            raise ValueError(f"{name} has {files[name].size} bytes, expected {size}")


def _file_entry(values: dict[str, Any]) -> FileEntry:
    check_fields(FileEntry, values)
    _refuse_negative(values, "size")
    return FileEntry(**values)


def _refuse_negative(values: dict[str, Any], *names: str) -> None:
    for name in names:
        if values[name] < 0:
            raise ValueError(f"{name}={values[name]} is negative")


def _refuse_other_keys(roots: dict[str, dict[str, str]]) -> None:
    for name, root in roots.items():
        if root.keys() != {"folder", "prefix"}:
            raise ValueError(f"the root {name!r} has {sorted(root)}, expected 'folder' and 'prefix'"[:200])


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """A segment with consecutive passages of a document that is not complete. No search sees it.

    Attributes:
        document: The document's id.
        digest: Of its content, in hexadecimal.
        characters: Of its text, up to the end of the part.
    """

    segment: SegmentEntry
    document: str
    digest: str
    characters: int

    @classmethod
    def from_values(cls, values: dict[str, Any]) -> Self:
        values = {**values, "segment": SegmentEntry.from_values(values["segment"])}
        check_fields(cls, values)
        _refuse_negative(values, "characters")
        if values["segment"].documents != 1:
            raise ValueError(f"a part of document {values['document']!r} has {values['segment'].documents} documents")
        return cls(**values)


@dataclass(frozen=True, slots=True)
class Manifest:
    """What belongs to an index; `unfinished` are the parts of documents that a stopped build will go on with."""

    settings: IndexSettings
    package_version: str
    segments: tuple[SegmentEntry, ...] = ()
    building: bool = False
    next_number: int = 1  # of a segment or a file of deletion marks: no number is used twice
    roots: dict[str, dict[str, str]] = field(default_factory=dict)
    """Of files, by their names: the 'folder', and the 'prefix' of their documents' ids."""
    schema_version: int = SCHEMA_VERSION
    unfinished: tuple[DocumentPart, ...] = ()

    def with_segments(
        self,
        segments: tuple[SegmentEntry, ...],
        next_number: int,
        *,
        building: bool,
        unfinished: tuple[DocumentPart, ...] = (),
    ) -> Self:
        """The manifest of another state, whose names have numbers below `next_number`."""
        number = max(self.next_number, next_number)
        return replace(self, segments=segments, unfinished=unfinished, building=building, next_number=number)

    def parts_of(self, identifier: str, digest: int) -> tuple[DocumentPart, ...]:
        """The parts of a document with this content, in order."""
        return tuple(p for p in self.unfinished if (p.document, p.digest) == (identifier, f"{digest:016x}"))

    def files(self) -> dict[str, FileEntry]:
        """All files of all segments, relative to the index folder."""
        entries = [*self.segments, *(part.segment for part in self.unfinished)]
        return {name: file for entry in entries for name, file in entry.paths()}

    def save(self, folder: Path) -> None:
        values = asdict(self)
        if not self.unfinished:  # earlier versions, which do not know it, read what is finished
            del values["unfinished"]
        replace_json(folder / MANIFEST_FILE, values | {_CHECKSUM: _checksum(values)})

    @classmethod
    def load(cls, folder: Path) -> Self:
        path = folder / MANIFEST_FILE
        if not path.is_file():
            raise PhraseIndexError(
                f"'{folder}' is no index: it has no {MANIFEST_FILE}; give a folder made by `densephrases index`."
            )
        try:
            values = read_json_file(path)
        except ValueError as error:
            raise PhraseIndexError(f"'{path}' is not valid JSON ({error}); restore it or build a new index.") from error
        return cls._from_values(values, path)

    @classmethod
    def _from_values(cls, values: Any, path: Path) -> Self:
        version = values.get("schema_version") if isinstance(values, dict) else None
        if version not in (FORMER_SCHEMA, _WITHOUT_ROOTS, SCHEMA_VERSION):
            raise PhraseIndexError(
                f"'{path}' has schema version {version}, this package reads {FORMER_SCHEMA} to {SCHEMA_VERSION}; "
                "use a matching version of densephrases or build a new index."
            )
        if _CHECKSUM in values and values.pop(_CHECKSUM) != _checksum(values):
            raise PhraseIndexError(
                f"'{path}' is damaged: its checksum differs; {DAMAGE_REMEDY}, "
                f'or remove its line "{_CHECKSUM}" if you changed the file yourself.'
            )
        try:
            values = from_former(values, SCHEMA_VERSION) if version == FORMER_SCHEMA else values
            values["schema_version"] = SCHEMA_VERSION
            segments = tuple(SegmentEntry.from_values(entry) for entry in values["segments"])
            unfinished = tuple(DocumentPart.from_values(part) for part in values.get("unfinished", ()))
            check_fields(IndexSettings, values["settings"])
            values = {
                **values,
                "settings": IndexSettings(**values["settings"]),
                "segments": segments,
                "unfinished": unfinished,
            }
            check_fields(cls, values)
            _refuse_negative(values, "next_number")
            _refuse_other_keys(values.get("roots", {}))
            return cls(**values)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise PhraseIndexError(
                f"'{path}' has missing or unknown values ({error}); restore it or build a new index."
            ) from error
