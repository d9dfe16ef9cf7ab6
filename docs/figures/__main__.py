"""`python -m docs.figures [--measure] [--out FOLDER]`."""

import argparse
from pathlib import Path

from .losses import losses
from .measured import Measured
from .segments import segments
from .two_searches import two_searches
from .verification import verification

IMAGES = Path(__file__).parents[1] / "images"


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw the figures of the documentation.")
    parser.add_argument("--out", type=Path, default=IMAGES, help="folder of the SVG files")
    parser.add_argument("--measure", action="store_true", help="compute the numbers with the bundled model first")
    options = parser.parse_args()
    if options.measure:
        Measured.from_model().save()
    measured = Measured.load()
    drawn = {
        "two-searches": two_searches(measured),
        "segments": segments(),
        "losses": losses(measured),
        "verification": verification(),
    }
    for name, canvas in drawn.items():
        (options.out / f"{name}.svg").write_text(canvas.svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
