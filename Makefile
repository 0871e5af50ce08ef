# Every target sets up what it needs: an environment in .venv, made with the first suitable Python
# that .ci/find_python finds. Name another with: make PYTHON=/path/to/python ...

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

# The tests are many short compilations: two processes with one BLAS thread each use two cores
# better than one process with two threads.
PYTEST_ARGS ?= -n 2 --dist worksteal
TEST_ENV := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MPLBACKEND=Agg

# An environment whose making was cut short is made again.
.DELETE_ON_ERROR:

.PHONY: help demo test test-all lint docs bench bench-report clean

help:
	@echo "make demo      fit three clusters of comet orbits and draw the picture"
	@echo "make test      the fast tests (minutes)"
	@echo "make test-all  all tests, the statistical ones too"
	@echo "make lint      ruff, mypy and the rules of the house"
	@echo "make docs      the documentation, in docs/_build/html"
	@echo "make bench     says how to run the benchmarks"
	@echo "make bench-report  writes the pages of figures from the records of the benchmarks"
	@echo "make clean     remove the environment and what the tools left"

demo: $(VENV)/.core
	$(BIN)/python examples/comets.py

test: $(VENV)/.test
	$(TEST_ENV) $(BIN)/python -m pytest $(PYTEST_ARGS)

test-all: $(VENV)/.test
	$(TEST_ENV) $(BIN)/python -m pytest --runslow $(PYTEST_ARGS)

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python .ci/house_rules.py

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -j auto -b html docs docs/_build/html

bench:
	@echo "Install the comparison packages:  make $(VENV)/.bench"
	@echo "Run one script at a time:         $(BIN)/python -m benchmarks.ROOM.NAME"
	@echo "The scripts are:"
	@grep -l "^BENCHMARK = " benchmarks/*/*.py | sed 's|/|.|g; s|\.py$$||; s|^|  |'
	@echo "See benchmarks/README.md for the data they need and the figures found."

# Needs the standard library alone.
bench-report: | $(BIN)/python
	$(BIN)/python -m benchmarks.report

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache docs/_build docs/api/generated docs/gallery/pages
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A PYTHON of the environment is left alone: it may be meant for something else.
$(BIN)/python:
	@python="$(if $(filter command,$(origin PYTHON)),$(PYTHON))"; \
	[ -n "$$python" ] || python="$$(bash .ci/find_python)" || exit 1; \
	echo "Making $(VENV) with $$python"; \
	"$$python" -m venv --clear $(VENV)

# The demo needs much less to download than the tests.
$(VENV)/.core: pyproject.toml | $(BIN)/python
	$(PIP) install -e .
	@touch $@

$(VENV)/.test $(VENV)/.docs $(VENV)/.bench: $(VENV)/.%: pyproject.toml | $(BIN)/python
	$(PIP) install -e ".[$*]"
	@touch $@

# Types are checked without the package's dependencies: see [tool.mypy]. Older pips know no groups.
$(VENV)/.lint: .pre-commit-config.yaml pyproject.toml | $(BIN)/python
	$(PIP) install "pip>=25.1"
	$(PIP) install --group lint "ruff==$$(sed -n '/ruff-pre-commit/{n;s/.*rev: v//p;}' .pre-commit-config.yaml)"
	@touch $@
