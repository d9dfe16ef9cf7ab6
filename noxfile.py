"""The tests on all supported Pythons: `nox` for those that are installed here, `nox -s core-3.13` for one.

`core` installs the package without extras and runs the demo; `tests` installs everything and runs all tests.
"""

from pathlib import Path

import nox

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
CORE_TESTS = (
    "tests/text/test_passages.py",
    "tests/data/test_formats.py",
    "tests/data/download",
    "tests/quantize/test_product.py",
)
CONSTRAINTS = ("-c", "constraints.txt")

nox.options.error_on_missing_interpreters = False
nox.options.reuse_existing_virtualenvs = True


@nox.session(python=PYTHONS)
def core(session: nox.Session) -> None:
    """What `pip install densephrases` gives: the tests of what needs no extra, and the demo."""
    session.install(*CONSTRAINTS, ".", "pytest>=8.3", "hypothesis>=6.120")
    session.run("python", "-m", "pytest", *CORE_TESTS)
    session.chdir(session.create_tmp())
    session.run("densephrases", "demo", "--no-prompt", env={"XDG_CACHE_HOME": session.create_tmp()})


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """All tests; takes minutes to install and to run."""
    session.install(
        next(line for line in Path("constraints.txt").read_text().splitlines() if line.startswith("torch=="))
    )
    session.install(*CONSTRAINTS, "-e", ".[dev]")
    session.run("python", "-m", "pytest", "-n", "2", *session.posargs)
