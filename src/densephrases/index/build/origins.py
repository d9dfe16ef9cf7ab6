"""Where documents come from: the roots of files are recorded, and the files of one root replace none of another."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from densephrases.errors import DataError
from densephrases.index.commits import Commits
from densephrases.index.segment.document_record import DocumentRecord
from densephrases.text.documents import Document, SourceFile
from densephrases.text.readers.folders.roots import Root, refuse_other_folder


class Origins:
    """Of the documents of one write.

    Args:
        commits: Keep the roots.
        replace_others: Whether files may replace documents of other roots, and such as came from no known file.
    """

    def __init__(self, commits: Commits, *, replace_others: bool) -> None:
        self._commits = commits
        self._replace_others = replace_others
        self._last = ("", "")

    def recorded(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The documents, after their roots were recorded with the next commit."""
        for document in documents:
            if document.file is not None and document.file.folder:
                self._record(document.file)
            yield document

    def _record(self, file: SourceFile) -> None:
        if self._last == (file.root, file.folder):
            return
        known = self._commits.manifest.roots | self._commits.new_roots
        if file.root in known:
            refuse_other_folder(Root(file.root, Path(known[file.root]["folder"])), Path(file.folder))
        else:
            self._commits.new_roots[file.root] = {"folder": file.folder, "prefix": file.prefix}
        self._last = (file.root, file.folder)

    def refuse_other(self, document: Document, stored: DocumentRecord) -> None:
        if not self._replace_others:
            refuse_other_origin(document, stored)


def refuse_other_origin(document: Document, stored: DocumentRecord) -> None:
    """Raise DataError if a file would replace a document of another root, or of no known file.

    Whoever gives a document without a file means the document of this id.
    """
    if document.file is None:
        return
    if stored.file is None:
        raise DataError(
            f"The index has a document with id {document.id!r} and another content, and does not know which file it "
            f"came from; if it is '{document.file.path}' of '{document.file.root}', give --replace-others, else name "
            "the folder with --root NAME=FOLDER."
        )
    if stored.file.root != document.file.root:
        raise DataError(
            f"The document with id {document.id!r} came from the folder '{stored.file.root}', and that of "
            f"'{document.file.root}' would replace it; name the folder with --root NAME=FOLDER so that its ids differ, "
            "or give --replace-others."
        )
