# Every target sets itself up from a bare clone: a virtual environment in .venv, then pip.
# The stamps in .venv make a second run start at once; a change of pyproject.toml reinstalls.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
CORE := $(VENV)/.core-installed
DEV := $(VENV)/.dev-installed
DOCS := $(VENV)/.docs-installed
# Two workers for the two cores of the reference machine; each takes half, and the first to finish helps the other. Override: make test PYTEST_ARGS="-k parse"
PYTEST_ARGS ?= -n 2 --dist worksteal

.PHONY: help demo test lint wheel coverage docs gallery release clean
.DEFAULT_GOAL := help

help:
	@echo "make demo   install the package in .venv and run its demonstration"
	@echo "make test   install the development tools too; run ruff, mypy and pytest, build docs and wheel"
	@echo "make lint   ruff and mypy only"
	@echo "make coverage  the tests with a coverage report in build/coverage"
	@echo "make docs   build the documentation in build/docs, warnings are errors"
	@echo "make gallery  run the examples on measured data and rebuild docs/gallery.md (a quarter of an hour)"
	@echo "make release  build sdist and wheel in dist/ and check them in a fresh environment"
	@echo "make clean  remove .venv and every cache"

demo: $(CORE)
	$(BIN)/unisymnet demo

test: lint
	$(BIN)/python -m pytest $(PYTEST_ARGS)
	$(MAKE) docs
	$(MAKE) wheel

# The wheel is built and imported from outside the checkout, as a user gets it.
wheel: $(DEV)
	rm -rf build/wheel && $(PIP) wheel --no-deps --no-build-isolation -w build/wheel .
	cd build/wheel && ../../$(BIN)/python -m zipfile -e *.whl unpacked && \
	PYTHONPATH=unpacked ../../$(BIN)/python -c "import unisymnet, os; assert 'unpacked' in unisymnet.__file__; from unisymnet import UniSymNetRegressor, PDERegressor, DynamicsRegressor; print('wheel', unisymnet.__version__, 'imports')"

coverage: $(DEV)
	$(BIN)/python -m pytest -n 2 --cov=unisymnet --cov-report=term --cov-report=html:build/coverage

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy src

# The development install contains what the docs need, so `make test` does not install twice.
docs: $(if $(wildcard $(DEV)),$(DEV),$(DOCS))
	$(BIN)/sphinx-build -W --keep-going -q -b html docs build/docs
	@echo "open build/docs/index.html"

# For a nightly job: every example is run as a user runs it.
gallery: $(DEV)
	$(BIN)/python examples/gallery.py --all --page docs/gallery.md

release: $(DEV)
	$(BIN)/python tools/release.py

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .benchmarks
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	$(PYTHON) -c 'import sys; v = sys.version.split()[0]; sys.exit(0 if sys.version_info >= (3, 11) else "unisymnet needs Python 3.11 or newer, got " + v + "; try: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

# Order-only on the interpreter: its file time is that of the system's python and says nothing.
# Without --no-compile pip spends two thirds of the time on compiling modules that a fit never imports.
$(CORE): pyproject.toml | $(BIN)/python
	$(PIP) install --no-compile -e .
	@touch $@

# The development install contains the core, so it stamps both.
$(DEV): pyproject.toml | $(BIN)/python
	$(PIP) install -e ".[dev]"
	@touch $(CORE) $(DOCS) $@

$(DOCS): pyproject.toml | $(BIN)/python
	$(PIP) install -e ".[docs]"
	@touch $(CORE) $@
