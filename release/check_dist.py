"""Builds the distributions, checks them, and runs the demo from each where the repository is not.

python release/check_dist.py [--out dist] [--quick]

The wheel and the sdist are each installed into a new environment in a temporary folder, without extras. `--quick` asks
only for the version there. What the environment of the wheel has is written as an SBOM beside the distributions.
"""

import argparse
import os
import re
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
MOST_BYTES = 60_000_000
NEEDED = (
    "densephrases/py.typed",
    "densephrases/sample/articles.jsonl.gz",
    "densephrases/model/weights/small/config.json",
    "densephrases/data/sample/LICENSE.md",
)
UNWANTED = re.compile(r"(^|/)(tests|\.ci|\.git|__pycache__|data/squad-|runs)(/|$)|\.pyc$")


def main() -> None:
    parser = argparse.ArgumentParser(description="Build, check, install and run the distributions.")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder of the distributions")
    parser.add_argument("--quick", action="store_true", help="ask only for the version of what is installed")
    given = parser.parse_args()
    wheel, sdist = build(given.out)
    faults = [*faults_of_wheel(wheel), *faults_of_sdist(sdist)]
    if faults:
        sys.exit("\n".join(faults))
    for path in (wheel, sdist):
        print(f"{path.name}: {path.stat().st_size:,} bytes")
        try_out(path, quick=given.quick, sbom=given.out if path == wheel else None)


def build(out: Path) -> tuple[Path, Path]:
    """A wheel that is made from the sdist, so that the sdist is complete."""
    out.mkdir(parents=True, exist_ok=True)
    for old in (*out.glob("densephrases-*.whl"), *out.glob("densephrases-*.tar.gz")):
        old.unlink()
    run([sys.executable, "-m", "build", "--outdir", str(out), str(ROOT)])
    run([sys.executable, "-m", "twine", "check", "--strict", *map(str, out.glob("densephrases-*"))])
    (wheel,), (sdist,) = out.glob("densephrases-*.whl"), out.glob("densephrases-*.tar.gz")
    return wheel, sdist


def faults_of_wheel(path: Path) -> list[str]:
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
    unwanted = [name for name in names if UNWANTED.search(name)]
    licences = [name for name in names if name.endswith(".dist-info/licenses/LICENSE")]
    faults = [f"{path.name} lacks {name}" for name in NEEDED if name not in names]
    faults += [f"{path.name} has {name}, which is no part of the package" for name in unwanted]
    faults += [] if licences else [f"{path.name} lacks the licence"]
    return faults + too_large(path)


def faults_of_sdist(path: Path) -> list[str]:
    with tarfile.open(path) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    needed = ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "tests/conftest.py")
    faults = [
        f"{path.name} lacks {name}" for name in (*needed, *(f"src/{each}" for each in NEEDED)) if name not in names
    ]
    return faults + too_large(path)


def too_large(path: Path) -> list[str]:
    size = path.stat().st_size
    return [f"{path.name} has {size:,} bytes, more than {MOST_BYTES:,}"] if size > MOST_BYTES else []


def try_out(distribution: Path, *, quick: bool, sbom: Path | None) -> None:
    with TemporaryDirectory() as place:
        folder = Path(place)
        python = new_environment(folder, distribution)
        environment = {**clean_environment(), "XDG_CACHE_HOME": str(folder / "cache")}
        command = str(python.with_name("densephrases"))
        print(run([command, "--version"], cwd=folder, env=environment).strip())
        if not quick:
            begun = time.monotonic()
            print(run([command, "demo", "--no-prompt"], cwd=folder, env=environment))
            print(f"the demo of {distribution.name} took {time.monotonic() - begun:.0f} s")
        if sbom is not None:
            script = ROOT / "release" / "sbom.py"
            run([str(python), str(script), "--out", str(sbom)], cwd=folder, env=environment)


def new_environment(folder: Path, distribution: Path) -> Path:
    """Python of a new environment that has the distribution and what it requires, nothing else."""
    run([sys.executable, "-m", "venv", str(folder / "venv")])
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    constraints = str(ROOT / "constraints.txt")
    run([str(python), "-m", "pip", "install", "--quiet", "-c", constraints, str(distribution)], cwd=folder)
    return python


def clean_environment() -> dict[str, str]:
    """Without paths of the repository."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}


def run(command: list[str], cwd: Path = ROOT, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, env=env or clean_environment(), capture_output=True, text=True)  # noqa: S603
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
