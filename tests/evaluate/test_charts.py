"""Charts: that they are drawn, and where from."""

from pathlib import Path

from densephrases.evaluate.calibration_metrics import CoveragePoint, ReliabilityBin
from densephrases.evaluate.charts import draw_confidence
from densephrases.evaluate.tune.confidence import ConfidenceReport


def test_a_chart_is_drawn(tmp_path: Path) -> None:
    report = ConfidenceReport(
        questions=10,
        unanswerable=2,
        exact_match=50.0,
        calibration_error=3.0,
        risk_coverage_area=0.2,
        bins=[ReliabilityBin(0.2, 0.1, 4), ReliabilityBin(0.9, 0.8, 6)],
        coverage=[CoveragePoint(0.9, 0.5, 0.8), CoveragePoint(0.1, 1.0, 0.5)],
        kinds=[],
        weights={},
    )
    draw_confidence(report, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
