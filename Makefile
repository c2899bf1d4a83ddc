# Two commands for newcomers: `make align` sets up and aligns an example, `make test` sets up and runs every check.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt
LIGHT := $(VENV)/.light
FULL := $(VENV)/.full

.PHONY: help align test unit lint format benchmark clean

help:
	@grep -E '^# [a-z]+:' $(MAKEFILE_LIST) | sed 's/^# /make /'

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# The light half alone: what `pip install weft` gives.
$(LIGHT): pyproject.toml | $(BIN)/python
	$(PIP) --editable .
	@touch $@

# Both halves with every extra and the tools of the tests. torch goes first, so that nothing asks for another build.
$(FULL): pyproject.toml constraints.txt requirements-dev.txt | $(BIN)/python
	$(PIP) torch
	$(PIP) --editable '.[all]' --requirement requirements-dev.txt
	@touch $@ $(LIGHT)

# align: align the bundled example
align: $(LIGHT)
	$(BIN)/weft align examples/pairs.txt

# test: lint, type-check and run all tests
test: lint unit

unit: $(FULL)
	$(BIN)/python -m pytest

# lint: ruff, mypy --strict, import layers
lint: $(FULL)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# format: let ruff tidy up
format: $(FULL)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# benchmark: the measurements that fit on a laptop
benchmark: $(FULL)
	$(BIN)/python benchmarks/scoring/million_lines.py

# clean: forget the environment and every cache
clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
