"""Charts of results; needs matplotlib."""

from pathlib import Path

from densephrases.evaluate.tune.confidence import ConfidenceReport


def draw_confidence(report: ConfidenceReport, path: Path) -> None:
    """Reliability on the left, accuracy against coverage on the right."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), constrained_layout=True)
    left.plot([0, 1], [0, 1], color="0.7", linestyle="--", linewidth=1)
    largest = max(each.count for each in report.bins)
    sizes = [10 + 150 * each.count / largest for each in report.bins]
    left.scatter([b.confidence for b in report.bins], [b.accuracy for b in report.bins], s=sizes, color="C0")
    left.set(xlabel="confidence", ylabel="accuracy", xlim=(0, 1), ylim=(0, 1))
    left.set_title(f"Reliability (calibration error {report.calibration_error:.1f}%)")
    right.plot([p.coverage for p in report.coverage], [p.accuracy for p in report.coverage], marker="o", color="C1")
    right.set(xlabel="coverage", ylabel="accuracy", xlim=(0, 1), ylim=(0, 1))
    right.set_title("Answering only when confident")
    for axes in (left, right):
        axes.grid(color="0.9")
    figure.savefig(path, dpi=110)
    plt.close(figure)
