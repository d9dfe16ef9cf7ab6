"""The table of data sets."""

import pytest

from densephrases.data.download.catalog import DATA_SETS, find_data_set
from densephrases.data.download.convert import CONVERSIONS
from densephrases.errors import ConfigError


def test_every_file_is_described() -> None:
    for data_set in DATA_SETS.values():
        names = [file.name for file in data_set.files]
        assert len(set(names)) == len(names)
        for file in data_set.files:
            assert file.address.startswith("https://")
            assert file.sha256 is None or (len(file.sha256) == 64 and file.bytes)
            assert (file.convert is None) == (not file.to)
            assert file.convert is None or file.convert in CONVERSIONS


def test_a_dump_by_language_and_date() -> None:
    (dump,) = find_data_set("wikipedia", "simple", "20181220").files
    assert dump.name == "simplewiki-20181220-pages-articles.xml.bz2"
    assert dump.address == f"https://dumps.wikimedia.org/simplewiki/20181220/{dump.name}"
    assert dump.sha1_list == "https://dumps.wikimedia.org/simplewiki/20181220/simplewiki-20181220-sha1sums.txt"
    assert find_data_set("wikipedia", "zh-min-nan").files[0].name.startswith("zh_min_nanwiki-latest-")


def test_patterns_choose_files() -> None:
    kilt = find_data_set("kilt")
    assert [file.name for file in kilt.selected(["trex-d*"])] == ["trex-dev-kilt.jsonl"]
    assert kilt.selected([]) == kilt.files
    with pytest.raises(ConfigError, match="only='zsre' matches no file of 'kilt'; its files are trex-train"):
        kilt.selected(["zsre"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("squad1",), r"There is no data set 'squad1'; known are squad, .*\. Did you mean 'squad'\?"),
        (("wikipedia", "../x"), "language='../x' is no code of a Wikipedia"),
        (("wikipedia", "en", "today"), "date='today' is no date of a dump"),
    ],
)
def test_what_there_is_not(arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        find_data_set(*arguments)
