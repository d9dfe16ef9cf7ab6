"""The command as an assistant starts it, spoken to with the protocol's own client."""

import asyncio
import sys
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

from densephrases.search.phrase_index import PhraseIndex
from tests.serve.running import CITIES, QUESTION


async def conversation(folder: Path) -> dict[str, Any]:
    command = StdioServerParameters(command=sys.executable, args=["-m", "densephrases", "mcp", str(folder)])
    async with Client(command) as client:
        listed = await client.list_tools()
        return {
            "instructions": client.instructions,
            "tools": {tool.name: tool for tool in listed.tools},
            "asked": await client.call_tool("ask", {"question": QUESTION, "k": 2, "unit": "sentence"}),
            "verified": await client.call_tool("ask", {"question": QUESTION, "k": 2, "verify": 2}),
            "blank": await client.call_tool("ask", {"question": " "}),
            "read": await client.call_tool("read_document", {"id": "tower", "start": 4, "end": 9}),
            "unknown": await client.call_tool("read_document", {"id": "rome"}),
        }


def test_an_assistant_asks(folder: Path) -> None:
    said = asyncio.run(conversation(folder))
    expected = PhraseIndex.open(folder).search(QUESTION, 2, unit="sentence")
    assert "from 3 documents" in said["instructions"]
    assert said["tools"].keys() == {"ask", "read_document"}
    assert said["tools"]["ask"].input_schema["required"] == ["question"]
    found = said["asked"].structured_content["result"]
    assert [(each["text"], each["id"], each["start"]) for each in found] == [
        (answer.text, answer.document.id, answer.start) for answer in expected
    ]
    verified = PhraseIndex.open(folder).search(QUESTION, 2, verify=2)
    found = said["verified"].structured_content["result"]
    assert [(each["text"], each["verified"]) for each in found] == [(each.text, each.verified) for each in verified]
    assert said["read"].structured_content["text"] == CITIES[0].text[4:9]
    assert said["blank"].is_error
    assert "at least one word" in said["blank"].content[0].text
    assert said["unknown"].is_error
    assert "no document with id 'rome'" in said["unknown"].content[0].text
