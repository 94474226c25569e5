# marid: two commands matter, `make run` and `make test`; `make help` lists the rest.
SHELL := /bin/sh
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null || echo $(BIN)/uv)
NODE_TOOLS := node_modules/.package-lock.json
JOBS ?= auto
# Use the system's certificates: a company proxy is only known there.
export UV_SYSTEM_CERTS ?= 1
export NODE_OPTIONS ?= --use-system-ca

.DEFAULT_GOAL := help
.PHONY: help run test lint types contracts check fix docs bench soak lock system install golden clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1 - /p' Makefile | sort

run: system $(VENV)/.run ## install, then show an overview of this project
	@$(BIN)/marid overview .

test: test-system $(VENV)/.dev $(NODE_TOOLS) lint types contracts docs-check ## install, then run every check
	$(BIN)/python -m pytest -n $(JOBS) -m "not soak" --cov --cov-report=term
	$(BIN)/python scripts/coverage_bars.py

lint: $(VENV)/.dev ## check style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev $(NODE_TOOLS) ## check types with pyright, strict
	$(BIN)/node node_modules/pyright/index.js

contracts: $(VENV)/.dev ## check which package may import which
	$(BIN)/lint-imports --no-cache

.PHONY: docs-check
docs-check: $(VENV)/.dev ## check that the generated docs are up to date
	$(BIN)/cog --check -I scripts README.md docs/*.md

fix: $(VENV)/.dev ## format, and fix what ruff can fix
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.dev ## regenerate the docs
	$(BIN)/cog -r -I scripts README.md docs/*.md

bench: $(VENV)/.dev ## measure speed and memory against installed peers
	$(BIN)/python -m bench.context
	$(BIN)/python -m bench.tools
	$(BIN)/python -m bench.conversation
	$(BIN)/python -m bench.start

soak: test-system $(VENV)/.soak $(NODE_TOOLS) ## run the long tests: 10,000 hostile trees, 200 kills, a small real model, new examples
	$(BIN)/python -m pytest -n $(JOBS) -m "soak or hypothesis" --hypothesis-profile=search --no-cov -p no:cacheprovider

lock: $(VENV)/.dev ## upgrade the locked versions (hashes, no addresses)
	$(UV) pip compile -q --universal --generate-hashes --python-version 3.11 --no-header --no-annotate --upgrade \
		pyproject.toml -o requirements/run.txt
	$(UV) pip compile -q --universal --generate-hashes --python-version 3.11 --no-header --no-annotate --upgrade \
		pyproject.toml requirements/dev.in -c requirements/run.txt -o requirements/dev.txt
	$(UV) pip compile -q --universal --generate-hashes --python-version 3.11 --no-header --no-annotate --upgrade \
		--no-deps requirements/soak.in -o requirements/soak.txt

system: ## install what is needed beside Python, or print the command
	@sh scripts/system

.PHONY: test-system
test-system: ## the same, plus the shells that the tests need
	@sh scripts/system tests

install: $(VENV)/.dev ## create the virtual environment

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("marid needs Python 3.11 or newer; call make with PYTHON=...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.uv: $(BIN)/python requirements/uv.txt
	@test -x "$(UV)" || $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.txt
	@touch $@

# One environment for both: run requirements first, development requirements on top.
$(VENV)/.run: $(VENV)/.uv requirements/run.txt requirements/build.txt pyproject.toml
	$(UV) pip install --quiet --python $(BIN)/python --compile-bytecode --require-hashes -r requirements/run.txt -r requirements/build.txt
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .
	@$(BIN)/python -m compileall -q src
	@touch $@

$(VENV)/.dev: $(VENV)/.run requirements/dev.txt
	$(UV) pip install --quiet --python $(BIN)/python --compile-bytecode --require-hashes -r requirements/dev.txt
	@touch $@

# --no-deps: one of them would pull in a library that has to be compiled.
$(VENV)/.soak: $(VENV)/.dev requirements/soak.txt
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --require-hashes -r requirements/soak.txt
	@touch $@

# Not `npm ci`: it needs the builds of every platform in the lock file. --no-save: leave the lock file as it is.
$(NODE_TOOLS): $(VENV)/.dev package.json package-lock.json
	PATH="$(abspath $(BIN)):$$PATH" npm install --no-save --silent --no-audit --no-fund --ignore-scripts
	@touch $@

golden: $(VENV)/.dev ## regenerate the golden files; review them as a diff
	MARID_GOLDEN=1 $(BIN)/python -m pytest -q --no-cov tests/flow/test_mcp.py tests/flow/test_inventory.py tests/flow/test_events.py -k agreed

clean: ## remove everything the targets created
	rm -rf $(VENV) node_modules .coverage .coverage.* .pytest_cache .ruff_cache .hypothesis
