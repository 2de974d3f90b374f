# Everything starts here, on a machine that has Python (3.11 or newer) and make. Each target does its own set-up.
#
#   make demo       record an agent, replay it offline, write the postmortem: about a minute, once the packages are there
#   make test       format, lint, types, layers, tests: what CI runs
#   make test-full  the same with the long sweeps
#   make bench      what it costs, against peers, on this machine

PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3.13 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2

.PHONY: demo test test-full bench lint fix clean

# One stamp for each set of packages, made anew when the project's own list changes.
$(VENV)/.stamp: pyproject.toml scripts/setup.py
	@$(PYTHON) scripts/setup.py $(VENV) --group dev --group agents
	@touch $@

$(VENV)/.bench: pyproject.toml $(VENV)/.stamp
	@$(PYTHON) scripts/setup.py $(VENV) --group bench
	@touch $@

# Environments without tachograph, on several Pythons: the agents that it records live in such places.
.cache/agents/.stamp: pyproject.toml scripts/agents.py
	@$(PYTHON) scripts/agents.py .cache/agents
	@touch $@

demo: $(VENV)/.stamp
	@$(BIN)/python examples/demo.py

lint: $(VENV)/.stamp
	@$(BIN)/ruff format --check src tests examples bench scripts
	@$(BIN)/ruff check src tests examples bench scripts
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

fix: $(VENV)/.stamp
	@$(BIN)/ruff format src tests examples bench scripts
	@$(BIN)/ruff check --fix src tests examples bench scripts

test: $(VENV)/.stamp .cache/agents/.stamp lint
	@$(BIN)/pytest -n $(WORKERS) -m "not slow"

test-full: $(VENV)/.stamp .cache/agents/.stamp lint
	@HYPOTHESIS_PROFILE=full $(BIN)/pytest -n $(WORKERS)

bench: $(VENV)/.bench
	@$(BIN)/python bench/run.py

clean:
	rm -rf $(VENV) .cache demo-out dist
