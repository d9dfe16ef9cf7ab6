"""A few hundred of the attacks on manifests and model folders."""

from pathlib import Path

import pytest

from tests.faults import fuzz_configs


def test_few(tmp_path: Path) -> None:
    outcome = fuzz_configs.attack(200, 1, tmp_path)
    assert (outcome.cases, outcome.failures) == (200, ())


def test_a_model_folder_that_is_not_checked_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("densephrases.model.config.check_fields", lambda *_: None)
    outcome = fuzz_configs.attack(600, 1, tmp_path)
    assert any(", config: TypeError" in failure for failure in outcome.failures)
