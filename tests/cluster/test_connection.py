"""What a user is told who has no Ray, or no cluster."""

from importlib.util import find_spec

import pytest

from densephrases.cluster import connection
from densephrases.cluster.connection import connected, require_ray
from densephrases.errors import ClusterError, ConfigError, MissingExtraError


def test_without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "find_spec", lambda name: None if name == "ray" else find_spec(name))
    with pytest.raises(MissingExtraError, match=r"needs ray, which is not installed: pip install .*\[ray\]"):
        require_ray()


def test_a_ray_client_is_refused() -> None:
    with (
        pytest.raises(ConfigError, match="address='ray://head:10001' is that of a Ray client; run the command on"),
        connected("ray://head:10001"),
    ):
        pass


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (
            "Version mismatch: The cluster was started with:\n Ray: 2.9",
            r"'head:6379' runs other versions than .* 2\.9",
        ),
        (
            "Could not find any running Ray instance.",
            r"no Ray cluster at 'head:6379' \(Could not .*start one",
        ),
    ],
)
def test_no_cluster_that_fits(monkeypatch: pytest.MonkeyPatch, said: str, sentence: str) -> None:
    import ray

    def init(**settings: object) -> None:
        raise RuntimeError(said)

    monkeypatch.setattr(ray, "init", init)
    with pytest.raises(ClusterError, match=sentence), connected("head:6379"):
        pass


def test_a_slow_machine_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    import ray

    starts: list[object] = []

    def init(**settings: object) -> None:
        starts.append(settings["address"])
        raise Exception("The current node timed out during startup.")  # as Ray does

    monkeypatch.setattr(ray, "init", init)
    with pytest.raises(ClusterError, match="Ray cannot start on this machine: The current node timed out"), connected():
        pass
    assert starts == ["local"] * 3
