# Every target sets up what it needs in .venv, once, and says what it does. Nothing else is touched.
#   make reproduce | page | test | fuzz | mutants | reading | format | lab | docs | lite | hooks | compare | bench | browser-test | webassembly | export | library | wheel | clean

SHELL := /bin/bash
PY    := .venv/bin/python
# The first interpreter that runs and is new enough; PYTHON=… chooses another.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)

.PHONY: help reproduce page test fuzz mutants reading format lab docs lite hooks compare bench browser-test webassembly export library wheel clean
help:
	@echo 'make reproduce     every table and figure (quick profile; FULL=1 as the papers did them, REPLICATIONS=20 no more than that), ours beside theirs'
	@echo 'make page          export, format, look at and run one page (NB=nbs/core/05_boxqp.ipynb) with its checks, and the tests of its module'
	@echo 'make test          check code, pages and site, run every notebook, test the installed package; what has passed is skipped (FULL=1 skips nothing)'
	@echo 'make fuzz          hostile data for every classifier, HOURS=8 of them; what fails is kept as a test; then FORGED=10000 forged files of each kind'
	@echo 'make mutants       make mistakes in a page (PAGE=nbs/core/04_certificates.ipynb) and list those that it does not notice'
	@echo 'make reading       how the pages read: what they show, how much is prose, where the first picture stands'
	@echo 'make format        format notebooks and modules, and make the fixes that are safe'
	@echo 'make lab           open JupyterLab'
	@echo 'make docs          build the site into docs/_build/html'
	@echo 'make lite          build the site with pages that run in the reader'"'"'s browser'
	@echo 'make hooks         set up Git for notebooks in this clone: diffs and merges by cell, checks before a commit'
	@echo 'make compare       classifiers over many data sets, one protocol: minutes (PROFILE=medium thirty sets: an hour, full: days; JOBS=2 processes)'
	@echo 'make bench         time us against peers (TORCH=1 also against torchkm, which brings PyTorch)'
	@echo 'make browser-test  open every page and run every notebook in a real browser'
	@echo 'make webassembly   run the pages in WebAssembly, where a browser runs them (NB=nbs/core/05a_training.ipynb one of them)'
	@echo 'make export        notebooks -> package and README; outputs are computed and stored again'
	@echo 'make library       compile the inner loops ahead of time, after their notebooks have changed'
	@echo 'make wheel         a wheel that carries the compiled loops, in dist'
	@echo 'make clean         remove .venv and everything built'

# -- set-up ----------------------------------------------------------------------------------------
.venv/.made:
	@$(if $(PYTHON),,echo 'mcsvm_lit needs Python 3.11 or newer; found none (make PYTHON=/path/to/python chooses one).'; exit 1)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "mcsvm_lit needs Python 3.11 or newer; $(PYTHON) is older (make PYTHON=/path/to/python chooses another)."; exit 1; }
	@echo "Making .venv with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv --clear .venv || { echo 'Python cannot make virtual environments here: install its venv module (Debian: python3-venv).'; exit 1; }
	@touch $@

# $(call install,extras): pinned versions. Build tools and numpy come first and from the same constraints, so that nothing is built with others.
install = $(PY) -m pip install --quiet --disable-pip-version-check --no-build-isolation -c constraints.txt -e '.[$(1)]'

.venv/.ready: .venv/.made constraints.txt pyproject.toml
	@echo 'Installing the pinned packages into .venv (some minutes, once)'
	@$(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt setuptools wheel numpy
	@$(call install,dev$(,)docs)
	@$(PY) -m pip check
	@$(PY) -c 'import matplotlib.font_manager'
	@$(compile)
	@touch $@

.venv/.ready-browser: .venv/.ready
	@echo 'Installing the browser driver'
	@$(call install,browser)
	@touch $@

.venv/.ready-lite: .venv/.ready
	@echo 'Installing JupyterLite'
	@$(call install,lite)
	@touch $@

.venv/.ready-bench: .venv/.ready
	@echo 'Installing the peers'
	@$(call install,bench)
	@touch $@

.venv/.ready-bench-torch: .venv/.ready-bench
	@echo 'Installing torchkm and PyTorch (some gigabytes)'
	@$(call install,bench-torch)
	@touch $@

, := ,

# The library of compiled loops; numba compiles what it does not hold, or everything where there is no C compiler.
compile = $(PY) setup.py -q build_ext --inplace --force && $(PY) -m mcsvm_lit.engine.compiled

# -- what people call ------------------------------------------------------------------------------
reproduce: .venv/.ready
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 .venv/bin/mcsvm-lit run --jobs 2 $(if $(FULL),--full) $(if $(REPLICATIONS),--replications $(REPLICATIONS))

page: .venv/.ready
	@$(PY) tools/page.py $(or $(NB),$(error which page? make page NB=nbs/core/05_boxqp.ipynb))

test: .venv/.ready
	@FULL=$(FULL) $(PY) tools/check.py

fuzz: .venv/.ready
	@$(PY) tools/fuzz.py --hours $(or $(HOURS),1) $(FUZZ)
	@$(PY) tests/test_forged_files.py $(or $(FORGED),10000)

mutants: .venv/.ready
	@$(PY) tools/mutants.py $(or $(PAGE),$(error which page? make mutants PAGE=nbs/core/04_certificates.ipynb)) $(MUTANTS)

reading: .venv/.ready
	@$(PY) tools/reading.py $(NB)

format: .venv/.ready
	@$(PY) tools/notebooks.py --format
	@$(PY) -m ruff check --output-format concise .

# JupyterLab asks nobody for news. What is saved is cleaned as nbdev cleans it, so that opening a page and running it changes no more than its outputs.
lab: .venv/.ready
	@echo 'JupyterLab opens at this folder; start with nbs/index.ipynb'
	@mkdir -p .venv/etc/jupyter/labconfig && echo '{"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": true}}' > .venv/etc/jupyter/labconfig/page_config.json
	@PATH="$(CURDIR)/.venv/bin:$$PATH" $(PY) -m jupyterlab --ip=127.0.0.1 --ServerApp.root_dir='$(CURDIR)' --ContentsManager.pre_save_hook=nbdev.clean.clean_jupyter --LabApp.default_url=/lab/tree/nbs/index.ipynb $(LAB)

docs: .venv/.ready
	@$(PY) docs/build.py

lite: .venv/.ready-lite
	@$(PY) docs/build.py --lite

hooks: .venv/.ready
	@$(PY) tools/hooks.py

compare: .venv/.ready
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) -c 'import sys; from mcsvm_lit.studies.comparison import main; sys.exit(main())' --profile $(or $(PROFILE),$(if $(FULL),full,quick)) --jobs $(or $(JOBS),1) $(COMPARE)

bench: .venv/.ready-bench$(if $(TORCH),-torch)
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) benchmarks/run.py $(BENCH)

browser-test: .venv/.ready-browser docs
	@$(PY) -m pytest -m browser tests/browser

webassembly: .venv/.ready
	@$(PY) tools/wasm.py $(NB)

export: .venv/.ready
	@$(PY) tools/notebooks.py --export
	@$(PY) tools/stubs.py
	@$(PY) tools/notebooks.py --store $(NB)
	@$(PY) tools/readme.py

library: .venv/.ready
	@$(compile)

wheel: .venv/.ready
	@$(compile)
	@MCSVM_LIT_LIBRARY=1 $(PY) -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .
	@ls dist/*.whl

clean:
	@echo 'Removing .venv and everything built'
	@rm -rf .venv build dist docs/_build figures/_runs figures/_quick figures/report.html .pytest_cache .ruff_cache .hypothesis *.egg-info mcsvm_lit/engine/_loops.*
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
