# Every target does its own set-up: a machine with Python 3.11 or newer is enough. `make help` lists them.
.DEFAULT_GOAL := help
BIN := .venv/bin
empty :=
space := $(empty) $(empty)
# All tests are shared by up to four processes, a file at a time; tests/conftest.py runs a part of them in one.
SHARED := --numprocesses auto --maxprocesses 4 --dist loadfile
CODE := $(wildcard src tests bench examples scripts)

.PHONY: help setup demo test lint style types pyright check coverage bench peers sdk-peers released judge schema-diff build clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## make .venv and install the project (other targets do it too)
	@sh scripts/setup.sh

demo: ## the coding agent on a copy of a project (DEMO_ASK=1 asks you)
	@sh scripts/setup.sh ''
	@sh scripts/demo.sh

test: setup ## run the tests; ARGS="tests/peer -k order" narrows them
	@$(BIN)/python -m pytest $(SHARED) $(ARGS)

lint: style types ## ruff (rules and format) and mypy --strict

style: setup
	@$(BIN)/ruff check $(CODE)
	@$(BIN)/ruff format --check $(CODE)

types: setup
	@sh scripts/types.sh

pyright: setup ## hold the public types against pyright too (needs npm)
	@npx --yes --package pyright -- $(BIN)/python -m pytest tests/api/test_api_typecheck.py -rs $(ARGS)

check: lint test ## lint, types and tests

coverage: setup ## write docs/coverage.md: which requirements have tests
	@$(BIN)/python scripts/coverage_report.py

bench: setup ## measure beside the official SDKs; writes bench/RESULTS.md
	@sh bench/install.sh
	@$(BIN)/python -m bench $(ARGS)

peers: sdk-peers released ## both of these: all peers (takes an hour)

sdk-peers: setup ## run against programs written with the official SDKs
	@sh tests/peers/install.sh
	@DUOLOGUE_PEERS=1 $(BIN)/python -m pytest tests/peers -rs --ignore tests/peers/released $(ARGS)

schema-diff: setup ## tell what a newer schema has: FILE=... [ARGS="--stable ..."]
	@$(BIN)/python scripts/schema_diff.py $(FILE) $(ARGS)

released: setup ## run against released programs (gigabytes; PEERS="qwen toad")
	@sh tests/peers/released/install.sh $(PEERS)
	@DUOLOGUE_PEERS=1 $(BIN)/python -m pytest tests/peers/released -rs --timeout 300 $(if $(PEERS),-k "$(subst $(space), or ,$(strip $(PEERS)))") $(ARGS)
	@$(BIN)/python tests/peers/released/report.py

judge: setup ## judge released programs by the check (PEERS="qwen acpx")
	@sh tests/peers/released/install.sh $(patsubst %-v1,%,$(patsubst %-v2,%,$(PEERS)))
	@$(BIN)/python tests/peers/released/judge.py $(PEERS)

build: setup ## build the wheel into dist/
	@$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .

clean: ## remove what the other targets made
	rm -rf .venv .bench .peers dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
