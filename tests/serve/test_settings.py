"""What a service is allowed to be."""

from pathlib import Path

import pytest

from densephrases.errors import ConfigError
from densephrases.serve.settings import LOOPBACK, Limits, ServiceSettings, host_names


@pytest.mark.parametrize(
    ("host", "allowed", "with_keys", "expected"),
    [
        ("127.0.0.1", (), False, LOOPBACK),
        ("127.0.0.2", (), False, (*LOOPBACK, "127.0.0.2")),
        ("127.0.0.1", (), True, ()),
        ("0.0.0.0", (), False, ()),  # noqa: S104
        ("127.0.0.1", ("Search.example",), True, (*LOOPBACK, "search.example")),
    ],
)
def test_names(host: str, allowed: tuple[str, ...], with_keys: bool, expected: tuple[str, ...]) -> None:
    assert host_names(host, allowed, with_keys=with_keys) == expected


def test_impossible_values() -> None:
    with pytest.raises(ConfigError, match="questions=0 is no limit"):
        Limits(questions=0)
    with pytest.raises(ConfigError, match=r"deadline_seconds=-1 is out of range"):
        ServiceSettings(index=Path("index"), deadline_seconds=-1)
