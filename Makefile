# Every target creates the environment it needs: a bare machine with Python 3.11 or newer and make is enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet -c constraints.txt

REFUSE_OLD_PYTHON := import sys; \
	sys.exit(sys.version_info < (3, 11) and "This needs Python 3.11 or newer: make PYTHON=python3.11 ...")

# Stamps are younger than what they were made from. The light environment runs models, the full one also trains.
LIGHT := $(VENV)/.light
FULL := $(VENV)/.full

SAMPLE := src/densephrases/evaluate/sample/squad-sample.json
ANSWERS := $(VENV)/demo-answers.jsonl
SHOW_ANSWERS := import json, sys; \
	rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]; \
	unexpected = "    (another answer was expected)"; \
	[print("  Q: " + r["question"] + "\n  A: " + r["answer"] + unexpected * (not r["exact_match"])) for r in rows[::12]]

.DEFAULT_GOAL := help
.PHONY: help demo test check env clean

help:  ## Show this list
	@echo "make TARGET, with one of:"
	@sed -nE 's/^([a-z]+):.*## (.*)/  \1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r name text; do printf '%-8s %s\n' "$$name" "$$text"; done

demo: $(if $(wildcard $(FULL)),$(FULL),$(LIGHT))  ## Let the bundled model answer questions about a few passages
	@echo "The bundled model answers questions by searching all passages of a small sample of SQuAD."
	@echo "Every answer is a phrase of the text. Some of them:"
	@echo
	@$(BIN)/densephrases eval reading --model small --all-passages --predictions $(ANSWERS) $(SAMPLE) > $(VENV)/demo-all.txt
	@$(BIN)/python -c '$(SHOW_ANSWERS)' $(ANSWERS)
	@echo
	@echo "EM: percent of answers equal to the expected one; F1: words in common with it, in percent."
	@echo
	@cat $(VENV)/demo-all.txt
	@$(BIN)/densephrases eval reading --model small $(SAMPLE)

test: $(FULL)  ## Run all tests
	$(BIN)/python -m pytest -n 2

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
	@$(PIP) -e .
	@touch $@

# torch first and by its exact version: asked for less precisely, by another package, it may come as a larger build
$(FULL): pyproject.toml constraints.txt
	@echo "Installing what development and training need into $(VENV); this takes some minutes"
	@$(PYTHON) -c '$(REFUSE_OLD_PYTHON)'
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) "$$(grep '^torch==' constraints.txt)"
	@$(PIP) -e ".[dev]"
	@touch $(LIGHT) $@
