# Two commands for a new user: `make demo` and `make test`. Both set up .venv first.
.PHONY: demo test slow lint bench docs papers messages lock locked sbom audit clean help

VENV := .venv
PYTHON := $(VENV)/bin/python
# Files of tests side by side, one to a core; those of one file share their servers.
SIDE_BY_SIDE := -n auto --maxprocesses 4 --dist loadfile

help:
	@echo "make demo   set up, scan sample_corpus, show the queue, write a report"
	@echo "make test   set up, run the tests"
	@echo "make lint   ruff, mypy --strict, import-linter"
	@echo "make slow   the long tests"
	@echo "make bench  the benchmarks (they print tables)"
	@echo "make messages  what is marked for translation into the catalogues (phiscan/locale), and compile them"
	@echo "make docs   the pages that are made from the code, into build/docs: commands, database, rules, schema of the report"
	@echo "make lock   requirements.lock anew, with the hash of every package; make locked: .venv from it alone"
	@echo "make sbom   sbom.json, the bill of materials (CycloneDX); make audit: known vulnerabilities"
	@echo "make papers the experiments of the papers, plots and tables into build/papers/ and docs/explanation/papers.md"

# The stamps are newer than what they were made from, so a second run does nothing.
$(VENV)/.run: pyproject.toml constraints.txt scripts/setup.sh
	@sh scripts/setup.sh run

$(VENV)/.dev: pyproject.toml constraints.txt scripts/setup.sh
	@sh scripts/setup.sh dev

demo: $(VENV)/.run
	@sh scripts/demo.sh

test: $(VENV)/.dev
	$(PYTHON) -m pytest $(SIDE_BY_SIDE)

slow: $(VENV)/.dev
	$(PYTHON) -m pytest -m slow --timeout 1800 $(SIDE_BY_SIDE)

lint: $(VENV)/.dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

bench: $(VENV)/.dev
	$(PYTHON) -m pytest -m bench -s --timeout 3600 benchmarks

docs: $(VENV)/.dev
	for script in docs/make_*.py; do $(PYTHON) "$$script" || exit 1; done

messages: $(VENV)/.dev
	$(PYTHON) scripts/messages.py

papers: $(VENV)/.dev
	@sh scripts/papers.sh

lock: $(VENV)/.dev
	$(PYTHON) scripts/lock.py

# Nothing is installed whose hash is not in requirements.lock (Linux x86_64, the Python that it names).
locked:
	python3 -m venv --clear $(VENV)
	$(PYTHON) -m pip install -q --disable-pip-version-check --require-hashes -r requirements.lock
	$(PYTHON) -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(VENV)/.run $(VENV)/.dev

sbom: $(VENV)/.run
	$(PYTHON) scripts/sbom.py

audit:
	@sh scripts/audit.sh

clean:
	rm -rf $(VENV) demo build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
