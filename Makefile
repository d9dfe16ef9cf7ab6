# Every target creates the environment it needs: a bare machine with Python 3.11 or newer and make is enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet -c constraints.txt

REFUSE_OLD_PYTHON := import sys; \
	sys.exit(sys.version_info < (3, 11) and "This needs Python 3.11 or newer: make PYTHON=python3.11 ...")

# The pip of Python 3.11 takes twice as long to resolve packages as the present one, so that it is upgraded first.
# Stamps are younger than what they were made from. The light environment runs models, the full one also trains.
LIGHT := $(VENV)/.light
FULL := $(VENV)/.full
DOCS := $(VENV)/.docs
RELEASE := $(VENV)/.release

.DEFAULT_GOAL := help
.PHONY: help demo test test-cluster docs faults check dist frozen env clean

help:  ## Show this list
	@echo "make TARGET, with one of:"
	@sed -nE 's/^([a-z-]+):.*## (.*)/  \1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r name text; do printf '%-12s %s\n' "$$name" "$$text"; done

demo: $(if $(wildcard $(FULL)),$(FULL),$(LIGHT))  ## Index some articles with the bundled model and let them answer five questions
	@$(BIN)/densephrases demo --no-prompt

test: $(FULL)  ## Run all tests but those of the documentation and of clusters
	$(BIN)/python -m pytest -n 2

docs: $(DOCS)  ## Build the documentation site into site/, with warnings as errors, and run the code of its pages
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	$(BIN)/python -m pytest -n 2 -m docs

test-cluster: $(FULL)  ## Run the tests that start Ray clusters and an S3-compatible store on this machine
	$(BIN)/python -m pytest -m cluster tests/cluster

faults: $(FULL)  ## Attack what the package promises: kills, faults of the disk, damage, fuzzed inputs, load
	$(BIN)/python -m tests.faults

check: $(FULL)  ## Check format, lint, types and the direction of imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

dist: $(RELEASE)  ## Build the distributions into dist/, install each in a fresh environment and run the demo there
	$(BIN)/python release/check_dist.py

frozen: $(FULL)  ## Write down the public names, commands and options anew, after a change that is meant
	$(BIN)/python -m tests.frozen

env: $(FULL)  ## Create .venv with everything a developer needs

clean:  ## Remove .venv and caches; models and runs stay
	rm -rf $(VENV) dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests recipes -name __pycache__ -type d -prune -exec rm -rf {} +

$(LIGHT): pyproject.toml constraints.txt
	@echo "Installing what running models needs into $(VENV)"
	@$(PYTHON) -c '$(REFUSE_OLD_PYTHON)'
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) --upgrade pip
	@$(PIP) -e .
	@touch $@

$(RELEASE): pyproject.toml
	@$(PYTHON) -c '$(REFUSE_OLD_PYTHON)'
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) --upgrade pip
	@$(PIP) build twine
	@touch $@

# torch first and by its exact version: asked for less precisely, by another package, it may come as a larger build
$(FULL): pyproject.toml constraints.txt
	@echo "Installing what development and training need into $(VENV); this takes some minutes"
	@$(PYTHON) -c '$(REFUSE_OLD_PYTHON)'
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) --upgrade pip
	@$(PIP) "$$(grep '^torch==' constraints.txt)"
	@$(PIP) -e ".[dev,zim]"
	@touch $(LIGHT) $@

$(DOCS): $(FULL)
	@echo "Installing what the documentation site needs into $(VENV)"
	@$(PIP) -e ".[docs]"
	@touch $@
