# `make demo` and `make test` work right after a clone, with only git, make and Python 3.11.
SHELL := /bin/sh
.DEFAULT_GOAL := help
BIN := .venv/bin
# More than processors: many tests wait for a process to start or to end.
JOBS ?= $(shell echo $$(( ($$(getconf _NPROCESSORS_ONLN) * 3 + 1) / 2 )))

RUNTIME := .venv/.runtime-installed
DEV := .venv/.dev-installed
LOCKS := requirements/bootstrap.txt pyproject.toml scripts/install

# The tests must pass on a machine as slow as this makes it.
BUSY ?= 24

# What `make unit` and `make test-under-load` run; every test where nothing is named.
TESTS ?=

# Images for containers set it. A suite starts Python hundreds of times, and each would compile the modules anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo up page page-if-possible page-check test test-under-load lint types imports unit fuzz chaos lock bench clean

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1	/p' $(MAKEFILE_LIST)

# A key in the environment must not make the demonstration cost money.
demo: $(RUNTIME) page-if-possible ## run the crew on a real table, from goal to report
	LLM_MODEL=offline $(BIN)/labcrew demo

up: $(RUNTIME) page-if-possible ## run the whole service in this terminal
	$(BIN)/labcrew up

page: $(RUNTIME) ## build the web page, if frontend/ has changed
	$(BIN)/python scripts/build_page.py

# Already done by scripts/install, in the shadow of the other packages; here for a change of frontend/.
page-if-possible: $(RUNTIME)
	@$(BIN)/python scripts/build_page.py --optional

# Side by side: most tests wait for something, and types take one processor for a minute.
test: $(DEV) ## every check: style, types, import contracts, all tests
	@$(MAKE) --no-print-directory --jobs=4 lint types imports page-check unit

test-under-load: $(DEV) ## the same while 24 processes compete for the processors; BUSY=48 TESTS=tests/integration/sessions
	$(BIN)/python scripts/busy $(BUSY) -- $(MAKE) --no-print-directory $(if $(TESTS),unit,test)

lint: $(DEV) ## style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(DEV) ## strict types
	$(BIN)/mypy

imports: $(DEV) ## dependencies point down
	$(BIN)/lint-imports

page-check: $(DEV) ## the page's types, against the API's own document
	@$(BIN)/python scripts/build_page.py --dev
	$(BIN)/python scripts/check_page.py

unit: $(DEV) ## all tests, or those of TESTS="tests/unit/llm tests/e2e"
	$(BIN)/pytest -n $(JOBS) --dist worksteal $(TESTS)

fuzz: $(DEV) ## make up requests (FUZZ_EXAMPLES=50 for each), examples, forks and turns, measure all patterns, and walk the cells' policy; FUZZ_SECONDS=600 FUZZ_SEED=
	FUZZ_SECONDS=$${FUZZ_SECONDS:-600} $(BIN)/pytest -n 0 tests/unit/sandbox/policy/test_walk.py -s
	FUZZ_EXAMPLES=$${FUZZ_EXAMPLES:-50} $(BIN)/pytest -n 0 tests/integration/api/test_properties.py
	LABCREW_PATTERNS=all $(BIN)/pytest -n 0 tests/unit/patterns
	HYPOTHESIS_PROFILE=default $(BIN)/pytest -n 0 $$(grep -rl hypothesis tests/unit --include=*.py)
	LABCREW_FORK_SEED=$${LABCREW_FORK_SEED:-$$(date +%s)} $(BIN)/pytest -n 0 tests/integration/api/test_fork_property.py
	LABCREW_TURN_SEED=$${LABCREW_TURN_SEED:-$$(date +%s)} $(BIN)/pytest -n 0 tests/integration/api/test_workspace_property.py

chaos: $(DEV) ## break everything at random while sessions run; CHAOS_FAULTS=500 CHAOS_SESSIONS=100 CHAOS_SEED=
	$(BIN)/python -m tests.chaos

bench: $(RUNTIME) ## measure sessions through the API, and cells
	$(BIN)/python -m benchmarks.sessions.run
	$(BIN)/python -m benchmarks.sandbox.cells

lock: $(DEV) ## pin the newest versions that install together
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header \
		pyproject.toml --output-file requirements/runtime.txt
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header \
		pyproject.toml --group dev --constraint requirements/runtime.txt --output-file requirements/dev.txt

clean: ## remove what was installed and made here, the service's data too
	rm -rf frontend/node_modules frontend/.svelte-kit backend/app/api/page .venv .labcrew .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis backend/*.egg-info

$(RUNTIME): requirements/runtime.txt $(LOCKS)
	scripts/install runtime
	@touch $@

$(DEV): requirements/dev.txt requirements/runtime.txt $(LOCKS)
	scripts/install dev
	@touch $@ $(RUNTIME)
