"""The meter of a run: mean losses, and time without pauses."""

import pytest
import torch
from accelerate import Accelerator

from densephrases.train.loop.meter import Meter

CPU = torch.device("cpu")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr("densephrases.train.loop.meter.time.perf_counter", lambda: now[0])
    return now


def test_losses_are_means_since_the_last_flush() -> None:
    meter, accelerator = Meter(), Accelerator(cpu=True)
    loss = torch.tensor(6.0)
    for examples in (1, 2):
        meter.add({"loss": loss})
        meter.count(examples)
    loss.fill_(99.0)  # as a captured step does
    assert meter.flush(accelerator) == {"loss": 4.0}
    meter.add({"loss": torch.tensor(5.0)})
    meter.count(5)
    assert meter.flush(accelerator) == {"loss": 1.0}
    assert meter.flush(accelerator) == {}


def test_pauses_do_not_count(clock: list[float]) -> None:
    meter = Meter()
    meter.start(CPU)
    clock[0] += 2
    meter.count(10)
    assert meter.speed() == 5
    meter.pause(CPU)
    clock[0] += 1000
    meter.pause(CPU)
    meter.start(CPU)
    clock[0] += 2
    meter.count(2)
    assert meter.speed() == 1
    meter.pause(CPU)
    meter.operations = 8e12
    assert meter.summary() == {"training_seconds": 4, "teraflops": 2}
