"""Files by the names that they may have, and settings that must stay the same."""

from dataclasses import replace
from pathlib import Path

import pytest

from densephrases.data.download.catalog import DATA_SETS
from densephrases.errors import ConfigError
from densephrases.reproduce.inputs import FILES, Inputs, keep_settings


def test_files_of_data_get_are_found() -> None:
    """Names with a folder are those that `data get` leaves."""
    left = {
        f"{each.name}/{name}" for each in DATA_SETS.values() for file in each.files for name in (file.name, *file.to)
    }
    named = {
        name
        for names in FILES.values()
        for name in names
        if "/" in name and not name.startswith(("questions", "slots"))
    }
    assert named <= left


def test_the_first_name_that_is_there(inputs: Inputs) -> None:
    small = replace(inputs, size="small")
    assert small.file("squad-dev") is None
    assert small.missing("squad-dev") == f"'{small.data}' lacks squad-test.json.gz or squad/dev-v1.1.json"
    (small.data / "squad").mkdir(parents=True)
    (small.data / "squad" / "dev-v1.1.json").touch()
    assert small.file("squad-dev") == small.data / "squad" / "dev-v1.1.json"
    assert small.missing("squad-dev") is None


def test_other_settings_are_refused(inputs: Inputs) -> None:
    keep_settings("open", inputs)
    keep_settings("open", replace(inputs, cpu=False))
    with pytest.raises(
        ConfigError, match=r"has a run with limit=None, not 5: give the same settings to go on, or another"
    ):
        keep_settings("open", replace(inputs, limit=5))
    with pytest.raises(ConfigError, match="has a run with table='open', not 'speed'"):
        keep_settings("speed", inputs)
    (inputs.out / "settings.json").write_text("{")
    with pytest.raises(ConfigError, match="cannot be read"):
        keep_settings("open", inputs)


def test_no_question_at_all(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="limit=0 leaves no question"):
        Inputs(data=tmp_path, models=tmp_path, out=tmp_path, limit=0)
