# `make demo` and `make test` are enough to begin with. Each installs into .venv if there is none.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Each process begins with its part of the files in order, and one that is done takes over from another. Files of
# test-docs stay whole: the report that one of them is about takes a minute.
PYTEST := $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist worksteal
SCRIPTS := $(wildcard src/l2t/interfaces/dashboard/static/*.js tests/interfaces/dashboard/*.mjs)

.DEFAULT_GOAL := help
.PHONY: help demo quick test test-docs coverage lint bench reproduce docs gallery dist installed oldest
.PHONY: results constraints hashes fuzz reliability clean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "  Options of make reproduce:"
	@awk '/^#: / {printf "    %s\n", substr($$0, 4)}' $(MAKEFILE_LIST)

demo: $(VENV)/ready  ## collect, learn and transfer on the embedded digits and MNIST; writes demo.html
	@$(BIN)/l2t demo

quick: $(VENV)/ready  ## run the unit tests, in about a minute
	$(PYTEST) -m unit $(PYTEST_ARGS)

test: $(VENV)/ready  ## run the tests of the package, in five minutes on two cores
	$(PYTEST) -m "not docs and not reproduction" $(PYTEST_ARGS)

test-docs: $(VENV)/ready  ## run what documents, gallery and site show, and the reports of the reproduction
	$(PYTEST) --dist loadfile --no-loadscope-reorder -m "docs or reproduction" $(PYTEST_ARGS)

coverage: $(VENV)/ready  ## run every test, and measure which lines of the package they reach
	$(PYTEST) --cov --cov-report=term:skip-covered $(PYTEST_ARGS)

lint: $(VENV)/ready  ## check style, types, the direction of imports, and JavaScript
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/oxlint --deny-warnings $(SCRIPTS)
	$(BIN)/oxfmt --check $(SCRIPTS)

bench: $(VENV)/bench  ## measure speed against other packages and plain code, on one thread; WHAT="tca eight" for some
	$(BIN)/python -m benchmarks $(WHAT)

#: WHAT=paper    paper, families, studies, ensemble, answers, promises, tables, shared-classes, chains,
#:               labelling, office-caltech, recipe, reflection, comparison (installs the other tools) or
#:               forecast
#: PARTS=        parts of WHAT=paper, such as "average kernels", or of WHAT=promises; all without it
#: SCALE=quick   how many pairs WHAT=paper takes: smoke, quick, medium or paper
#: JOBS=1        processes
#: OUT=          folder for the report
#: DRAWS=10      draws per kind of data, for WHAT=families, forecast, answers and chains
#: WORK=         folder for intermediate results; a later run resumes from them
#: L2T_DATA=     folder of the data sets; WHAT=paper uses digits without it
reproduce: WHAT ?= paper
reproduce: $(VENV)/$(if $(filter comparison,$(WHAT)),bench,ready)  ## repeat the paper's experiments and the other measurements; options below
	$(BIN)/python -m reproduction $(WHAT) $(PARTS) $(if $(SCALE),--scale $(SCALE)) $(if $(JOBS),--jobs $(JOBS)) \
	  $(if $(OUT),--out $(OUT)) $(if $(WORK),--work $(WORK)) $(if $(DRAWS),--draws $(DRAWS))

docs: $(VENV)/ready  ## build the documentation into site/, without network access; a warning is an error
	$(BIN)/python -m tools.architecture
	$(BIN)/python -m tools.method
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going docs site
	@echo "open site/index.html"

gallery: WHAT ?= images sentences sounds tables
gallery: $(VENV)/ready  ## keep output and plots of the examples that need L2T_DATA; `make docs` runs the others
	set -e; cd docs/images/gallery; for name in $(WHAT); do \
	  MPLBACKEND=Agg COLUMNS=100 $(CURDIR)/$(BIN)/python $(CURDIR)/examples/gallery/$$name.py > $$name.new; \
	  mv $$name.new $$name.txt; done

dist: $(VENV)/ready  ## build the wheel and the sdist into dist/
	rm -rf dist
	$(BIN)/hatchling build

installed:  ## install the wheel and the sdist of dist/ into new environments, and run README's first example there
	set -e; for file in dist/*.whl dist/*.tar.gz; do \
	  $(PYTHON) -m venv --clear build/installed; \
	  bin=$(CURDIR)/build/installed/$(notdir $(BIN)); \
	  $$bin/python -m pip install --quiet "$$file[demo]"; \
	  $$bin/python -m pip check; \
	  mkdir -p build/example; cd build/example; \
	  $$bin/l2t example digits --force; \
	  $$bin/l2t predict scans.csv handwriting.csv --label digit -o predictions.csv --force; \
	  cd $(CURDIR); \
	done

OLD_WARNINGS := -W ignore::DeprecationWarning -W ignore::PendingDeprecationWarning
oldest:  ## run the quick tests, estimators and predictions with the oldest versions that pyproject.toml allows (needs uv)
	uv venv --clear --python $(PYTHON) $(VENV)-oldest
	uv pip install --python $(VENV)-oldest --resolution lowest-direct --editable '.[all]' --group test
	uv pip install --python $(VENV)-oldest httpx  # which older test clients of starlette need
	$(VENV)-oldest/bin/python -m pytest -m unit --ignore tests/docs $(OLD_WARNINGS) $(PYTEST_ARGS)
	$(VENV)-oldest/bin/python -m pytest tests/interfaces/test_estimators.py tests/prediction/test_prediction.py \
	  $(OLD_WARNINGS) $(PYTEST_ARGS)

results: $(VENV)/ready  ## measure docs/results again (needs L2T_DATA), and draw docs/images/demo.png
	$(BIN)/l2t demo --plot docs/images/demo.png
	rm -rf docs/results/paper  # tables and figures of parts that no longer exist
	$(MAKE) reproduce WHAT=paper SCALE=paper JOBS=2 OUT=docs/results/paper
	$(MAKE) reproduce WHAT=office-caltech
	$(MAKE) reproduce WHAT=forecast JOBS=2
	$(MAKE) reproduce WHAT=families JOBS=2
	$(MAKE) reproduce WHAT=answers
	$(MAKE) reproduce WHAT=promises
	$(MAKE) reproduce WHAT=tables
	$(MAKE) reproduce WHAT=shared-classes
	$(MAKE) reproduce WHAT=chains
	$(MAKE) reproduce WHAT=labelling
	$(MAKE) reproduce WHAT=studies
	$(MAKE) reproduce WHAT=comparison
	$(MAKE) bench

constraints:  ## update constraints.txt to the newest versions
	$(PYTHON) -m venv --clear $(VENV)
	$(PIP) install --upgrade pip
	$(PIP) install --editable '.[all]' --group dev
	{ head -1 constraints.txt; $(BIN)/python -m pip freeze --all --exclude-editable --exclude l2t \
	  --exclude setuptools --exclude wheel; } > constraints.new
	mv constraints.new constraints.txt
	touch $(VENV)/ready
	$(MAKE) hashes

hashes: $(VENV)/ready  ## write requirements.txt for CI: constraints.txt with the sha256 of every wheel
	$(BIN)/python -m tools.hashes

fuzz: $(VENV)/ready  ## attack files, texts, numbers and routes for ten minutes; failing seeds are kept
	FUZZ_SECONDS=$${FUZZ_SECONDS:-570} $(PYTEST) --dist load tests/fuzz -q -rP --show-capture=stdout

reliability: $(VENV)/ready  ## run every test that proves a promise, and write docs/reliability.md
	FUZZ_SECONDS=inf $(PYTEST) --promises build/promises.json
	$(BIN)/python -m tools.reliability build/promises.json

clean:  ## remove the virtual environment and caches
	rm -rf $(VENV) $(VENV)-oldest build dist site docs/gallery docs/reference/generated .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage*

$(VENV)/ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "L2T needs Python 3.11 or newer; '$(PYTHON)' is older. Try: make PYTHON=python3.12 ..." >&2; exit 1; }
	@echo "Setting up $(VENV) (once, about a minute) ..." >&2
	@$(PYTHON) -m venv $(VENV)
ifdef HASHED
	@$(PIP) install --no-deps --require-hashes --requirement requirements.txt
	@$(PIP) install --no-deps --no-build-isolation --editable .
else
	@$(PIP) install --constraint constraints.txt 'pip>=25.1'  # the first that reads dependency groups
	@$(PIP) install --constraint constraints.txt --editable '.[all]' --group dev
endif
	@touch $@

$(VENV)/bench: $(VENV)/ready
	@$(PIP) install --constraint constraints.txt --group bench
	@touch $@
