"""A Model Context Protocol server for assistants (extra `mcp`)."""

from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from densephrases.errors import DensePhrasesError
from densephrases.integrations.source import Source, answer_metadata
from densephrases.search.request import DEFAULT_K, AskedUnit, Verify
from densephrases.version import __version__

_MAX_K = 50
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_INSTRUCTIONS = """Answers questions from {documents} documents with exact phrases of their text, and their positions.
Ask short factual questions in full sentences. `confidence` is the probability that a phrase is right; without a
confident answer, say that the documents do not tell. `read_document` gives the text around an answer."""


def create_server(source: Source) -> MCPServer[Any]:
    """The tools `ask` and `read_document`."""
    server: MCPServer[Any] = MCPServer(
        "densephrases",
        version=__version__,
        instructions=_INSTRUCTIONS.format(documents=source.documents()),
        log_level="WARNING",
    )

    @server.tool(annotations=_READS)
    def ask(
        question: Annotated[str, Field(description="A question in full, such as 'When was the tower built?'")],
        k: Annotated[int, Field(ge=1, le=_MAX_K, description="Number of answers")] = DEFAULT_K,
        unit: Annotated[AskedUnit, Field(description="What counts as one answer; auto: by the question")] = "phrase",
        min_confidence: Annotated[float, Field(ge=0, le=1, description="Drops answers below this probability")] = 0.0,
        verify: Annotated[
            Verify | None,
            Field(description="Number of passages to read again for a better first answer, or 'auto'; takes longer"),
        ] = None,
    ) -> list[dict[str, Any]]:
        """Find the best answers to a question in the documents, with sentence, document id and offsets."""
        try:
            found = source.search(question, k, unit=unit, min_confidence=min_confidence, verify=verify)
        except DensePhrasesError as error:
            raise ToolError(str(error)) from error
        return [{"text": answer.text, **answer_metadata(answer)} for answer in found]

    @server.tool(annotations=_READS)
    def read_document(
        id: Annotated[str, Field(description="Document id, as returned by `ask`")],  # noqa: A002
        start: Annotated[int, Field(ge=0, description="First character")] = 0,
        end: Annotated[int | None, Field(ge=0, description="End, exclusive")] = None,
    ) -> dict[str, Any]:
        """Read a document, or its characters from start to end."""
        found = source.document(id)
        if found is None:
            raise ToolError(f"There is no document with id {id!r}; use one returned by `ask`.")
        return {"id": found.id, "title": found.title, "metadata": dict(found.metadata), "text": found.text[start:end]}

    return server
