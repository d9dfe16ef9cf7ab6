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

.DEFAULT_GOAL := help
.PHONY: help demo test faults check env clean

help:  ## Show this list
	@echo "make TARGET, with one of:"
	@sed -nE 's/^([a-z]+):.*## (.*)/  \1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r name text; do printf '%-8s %s\n' "$$name" "$$text"; done

demo: $(if $(wildcard $(FULL)),$(FULL),$(LIGHT))  ## Index some articles with the bundled model and let them answer five questions
	@$(BIN)/densephrases demo --no-prompt

test: $(FULL)  ## Run all tests
	$(BIN)/python -m pytest -n 2

faults: $(FULL)  ## Attack what the package promises: kills, faults of the disk, damage, fuzzed inputs, load
	$(BIN)/python -m tests.faults

check: $(FULL)  ## Check format, lint, types and the direction of imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

env: $(FULL)  ## Create .venv with everything a developer needs

clean:  ## Remove .venv and caches; models and runs stay
	rm -rf $(VENV) dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests recipes -name __pycache__ -type d -prune -exec rm -rf {} +

$(LIGHT): pyproject.toml constraints.txt
	@echo "Installing what running models needs into $(VENV)"
	@$(PYTHON) -c '$(REFUSE_OLD_PYTHON)'
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) --upgrade pip
	@$(PIP) -e .
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
