"""A few kills, and that a commit which could be interrupted is noticed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .kills import PROMISE, attack

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="has no SIGKILL")

FAULTY = """
import json, sys
from pathlib import Path
from densephrases import atomic_files
from tests.faults.kills import kill_writers

def replace(new, path):
    path.unlink(missing_ok=True)
    new.replace(path)

atomic_files._replace = replace
print(json.dumps(kill_writers(40, 1, Path(sys.argv[1]))))
"""


def test_kills(tmp_path: Path) -> None:
    outcome = attack(24, 1, tmp_path)
    assert outcome.failures == ()
    assert (outcome.promise, outcome.cases) == (PROMISE, 24)


def test_a_commit_of_two_steps_is_noticed(tmp_path: Path) -> None:
    """The old manifest is removed before the new one takes its place."""
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", FAULTY, str(tmp_path)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    count, failures = json.loads(done.stdout)
    assert count == 40
    assert any("does not hold what was committed" in failure for failure in failures)


def test_an_attack_that_fails_itself_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "now").touch()
    outcome = attack(1, 1, tmp_path)
    assert outcome.cases == 0
    assert "the attack itself failed" in outcome.failures[0]
