# Two commands do everything: `make demo` and `make test`. Nothing else needs to be installed
# but git, make and python3 >= 3.11; the virtual environment lives in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
WORKERS ?= 2

.PHONY: help demo test test-kernels test-statistical test-long lint types imports check bench bench-full docs test-integrations test-oldest test-newest release-check clean test-core

help: ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/ -/'

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "replicable-learn needs Python 3.11 or newer, but $(PYTHON) is `$(PYTHON) --version 2>&1`. Try: make PYTHON=python3.12 demo"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "Python's venv module is missing. On Debian or Ubuntu: apt-get install python3-venv"; exit 1; }
	@echo "Setting up $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --upgrade --constraint constraints.txt pip

$(VENV)/.demo: $(BIN)/python pyproject.toml constraints.txt
	@echo "Installing replicable-learn and the demo's data ..."
	@$(PIP) install --constraint constraints.txt --editable . --group demo
	@touch $@

$(VENV)/.dev: $(VENV)/.demo
	@echo "Installing the test tools ..."
	@$(PIP) install --constraint constraints.txt --editable . --group dev
	@touch $@

demo: $(VENV)/.demo ## two labs, two fresh samples, one key: what flips and what stays
	@$(BIN)/python examples/demo.py

# One thread for each of the two test processes: numerical libraries would start one per core.
test test-kernels test-statistical test-long: export OMP_NUM_THREADS ?= 1
# Bytecode is kept: many tests start a process, and each would compile the library again.
test test-kernels test-statistical test-long: export PYTHONDONTWRITEBYTECODE :=

test: $(VENV)/.dev ## run the default tests
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -q

test-kernels: $(VENV)/.dev ## the corpus as other CPUs compute it: kernels of OpenBLAS, features of numpy
	@$(BIN)/python tools/kernels.py --workers $(WORKERS)

test-statistical: $(VENV)/.dev ## run the long suite that tests the theorems
	@$(BIN)/python -m pytest -n $(WORKERS) -q -m statistical

test-long: $(VENV)/.dev ## theorems, adversaries, faults, fuzz and load: under an hour on two cores
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -q -m 'statistical or long'
	@$(BIN)/python -m tests.adversarial.trust.table

# Environments of their own: the declared lower bounds, and whatever is newest today.
TESTERS := pytest pytest-randomly pytest-xdist hypothesis siphash24 pyarrow
ROOMS ?= tests/randomness tests/learners tests/persistence tests/corpus

# Installed once, and again when what they are made from changes; pip need not compile what no test imports.
INSTALL = -m pip --disable-pip-version-check --quiet install --no-compile
FRESH = $(PYTHON) -m venv --clear
TEST_IN = OMP_NUM_THREADS=1 $(1)/bin/python -m pytest -n $(WORKERS) --dist worksteal -q

.venv-oldest/.ready: pyproject.toml constraints-oldest.txt
	@$(FRESH) .venv-oldest
	@.venv-oldest/bin/python $(INSTALL) --constraint constraints-oldest.txt --editable '.[all]' $(TESTERS)
	@touch $@

test-oldest: .venv-oldest/.ready ## tests of randomness, learners and model files with the declared lower bounds
	@$(call TEST_IN,.venv-oldest) $(ROOMS)

.venv-core/.ready: pyproject.toml constraints.txt
	@$(FRESH) .venv-core
	@.venv-core/bin/python $(INSTALL) --constraint constraints.txt --editable . $(filter-out pyarrow,$(TESTERS))
	@touch $@

CORE ?= $(addprefix tests/,bounds checks execution guarantees learners paper primitives randomness records)
test-core: .venv-core/.ready ## the same without any optional package: what needs one is skipped
	@$(call TEST_IN,.venv-core) $(CORE)

test-newest: ## the same with the newest releases (PRE=--pre: also those to come)
	@$(PYTHON) -m venv .venv-newest
	@.venv-newest/bin/python $(INSTALL) --upgrade $(PRE) --editable '.[all]' $(TESTERS)
	@$(call TEST_IN,.venv-newest) $(ROOMS)

PARTNERS := xgboost lightgbm catboost skrub fastapi uvicorn
# torch is large: only where it is asked for.
.venv-integrations/.ready$(if $(TORCH),-torch): pyproject.toml
	@$(PYTHON) -m venv .venv-integrations
	@.venv-integrations/bin/python $(INSTALL) --editable '.[all,mlflow]' $(TESTERS) $(PARTNERS) $(if $(TORCH),torch skorch)
	@touch $@

test-integrations: .venv-integrations/.ready$(if $(TORCH),-torch) ## MLflow, XGBoost, LightGBM, CatBoost, skrub, a service in an environment of their own (TORCH=1: torch, too)
	@OMP_NUM_THREADS=1 .venv-integrations/bin/python -m pytest -q -m 'long or not long' tests/integrations

release-check: $(VENV)/.dev ## build wheel and sdist, install the wheel in a fresh environment, run the demo
	@$(PIP) install build
	@$(BIN)/python tools/release_check.py

lint: $(VENV)/.dev ## style and format
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(VENV)/.dev ## mypy (strict in randomness, bounds, guarantees, records)
	@$(BIN)/mypy

imports: $(VENV)/.dev ## packages import downwards only
	@$(BIN)/lint-imports

check: lint types imports test ## everything that must be green

# One process at a time, each on its own threads; targets are printed beside each ratio.
bench bench-full: export OMP_NUM_THREADS ?= 1

bench: $(VENV)/.dev ## speed and scale at a small size, each beside its peer, in under ten minutes
	@$(BIN)/python benchmarks/bench.py

bench-full: $(VENV)/.dev ## the sizes of the published numbers (hours, an idle machine)
	@$(BIN)/python benchmarks/bench.py --full

$(VENV)/.docs: $(VENV)/.demo
	@echo "Installing the documentation tools ..."
	@$(PIP) install --constraint constraints.txt --editable . --group docs
	@touch $@

docs: $(VENV)/.docs ## build the site into docs/_build/html; warnings are errors
	@$(BIN)/python -m sphinx -b html -W --keep-going -q docs docs/_build/html
	@echo "open docs/_build/html/index.html"

clean: ## remove the virtual environment and caches
	rm -rf $(VENV) .trust .venv-oldest .venv-newest .venv-integrations .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
