"""docs/serving.md and the README's requests, run as they are printed but for the port."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from densephrases.serve.server import bind

ROOT = Path(__file__).parents[2]


def blocks(language: str) -> list[str]:
    return re.findall(
        rf"^```{language}\n(.*?)^```", (ROOT / "docs" / "serving.md").read_text(), re.MULTILINE | re.DOTALL
    )


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_examples_work_as_printed(tmp_path: Path) -> None:
    (taken,) = bind("127.0.0.1", 0)
    port = str(taken.getsockname()[1])
    taken.close()
    asked = next(block for block in blocks("python") if "Client(" in block)
    short = [line for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("curl ")]
    script = "\n".join(["trap 'kill $(jobs -p)' EXIT", *blocks("sh"), *short, "echo", f"python - <<'END'\n{asked}END"])
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(  # noqa: S603
        ["bash", "-euo", "pipefail", "-c", script.replace("8080", port)],  # noqa: S607
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    replies, _, printed = done.stdout.rstrip().rpartition("\n")
    ready, one, two, facts, document, info, added, found, deleted, *of_readme = json_values(replies)
    assert ready == {"status": "ready"}
    assert one["results"][0]["answers"][0]["text"] == printed == "31 March 2027"
    assert [len(result["answers"]) for result in two["results"]] == [2, 2]
    assert [fact["subject"] for fact in facts["results"]] == ["boiler", "lease"]
    assert document["phrase"]["text"] == "31 March 2027"
    assert info["index"]["documents"] == 2
    assert (added["added"], deleted["deleted"]) == (1, 1)
    assert of_readme[0]["results"][0]["answers"][0]["text"] == "31 March 2027"
    assert len(of_readme[1]["results"]) == 2
    assert found["results"][0]["answers"][0]["text"] == "Tom Hill"


def json_values(text: str) -> list[Any]:
    """Objects one after the other."""
    decoder, values, place = json.JSONDecoder(), [], text.index("{")
    while place < len(text):
        value, place = decoder.raw_decode(text, place)
        values.append(value)
        while place < len(text) and text[place] != "{":
            place += 1
    return values
