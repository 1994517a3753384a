# Two lines to know: `make demo` and `make test`. Both need only make and Python >= 3.11.
#
# PYTHON   the interpreter that makes the environment, for example make PYTHON=python3.12 test
# VENV     where the environment goes
# PYTEST   further pytest options, for example make test PYTEST="-x -k samples"

PYTHON ?= python3
VENV ?= .venv
PYTEST ?=

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
SPECDIST := $(BIN)/specdist
CAPTURES := sample_inputs/captures

.DEFAULT_GOAL := help
.PHONY: help demo test test-engines bench clean

help:
	@echo "make demo          install into $(VENV) and check the shipped captures"
	@echo "make test          formatting, lint, types and the whole test suite"
	@echo "make test-engines  files and runs of real torch and transformers (installs them)"
	@echo "make bench         speed, memory and start-up, each as a ratio within one run"
	@echo "make clean         remove $(VENV) and every cache"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else \
	"specdist needs Python 3.11 or later; choose one with: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(PIP) install --editable .
	@touch $@

$(VENV)/.installed-test: pyproject.toml | $(BIN)/python
	$(PIP) install --editable '.[test]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-engines: pyproject.toml | $(BIN)/python
	$(PIP) install --editable '.[test,engines]'
	@touch $@ $(VENV)/.installed $(VENV)/.installed-test

demo: $(VENV)/.installed
	@echo '== three tokens, written by hand'
	$(SPECDIST) check sample_inputs/three_tokens.json
	@echo
	@echo '== real captures: four steps of four draft tokens, float32, 4,096 tokens'
	$(SPECDIST) check --target $(CAPTURES)/target.npy --draft $(CAPTURES)/draft.npy \
	  --draft-lengths 4x4 --kind logits -T 0.8 --top-p 0.95 --vocab $(CAPTURES)/vocab.json
	@echo
	@echo '== the same loop in bfloat16, both sides in one archive'
	$(SPECDIST) check --target $(CAPTURES)/bfloat16.safetensors::target \
	  --draft $(CAPTURES)/bfloat16.safetensors::draft \
	  --draft-lengths 4x2 --kind logits -T 0.8 --top-p 0.95
	@echo
	@echo '== a failure: drafted with top-p, tested without (exit 1 is the right answer)'
	$(SPECDIST) check sample_inputs/draft_top_p_untested.json; \
	  code=$$?; echo "exit code $$code"; test $$code -eq 1

test: $(VENV)/.installed-test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n auto $(PYTEST)

test-engines: $(VENV)/.installed-engines
	$(BIN)/python -m pytest tests/engines $(PYTEST)

bench: $(VENV)/.installed
	$(BIN)/python -m benchmarks.startup
	$(BIN)/python -m benchmarks.speed
	$(BIN)/python -m benchmarks.optimum
	$(BIN)/python -m benchmarks.kld
	$(BIN)/python -m benchmarks.memory

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
