# One verb per act. `make demo` and `make test` need Python 3.11, a JDK 17 and a package index.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
JAVA := $(if $(JAVA_HOME),$(JAVA_HOME)/bin/java,java)

.PHONY: install java servers demo demo-rotation demo-worker test test-long lint format types bench cover build clean

install: $(VENV)/installed

$(VENV)/installed: pyproject.toml examples/custom_provider/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/pip install --quiet --group dev --editable '.[all]' --editable examples/custom_provider
	touch $@

# Spark 4.3 starts with the module jdk.incubator.vector, which cut-down runtimes lack.
java: | install
	@if $(JAVA) --add-modules=jdk.incubator.vector -version >/dev/null 2>&1; then exit 0; fi; \
	found=$$($(JAVA) -version 2>&1 | head -n 1) || found=none; \
	echo "Spark needs a whole Java 17 or newer; found: $$found"; \
	echo "Install one (Debian: apt-get install openjdk-17-jdk-headless), or, without root:"; \
	echo "  $(BIN)/pip install install-jdk"; \
	echo "  export JAVA_HOME=\$$($(BIN)/python -c 'import jdk; print(jdk.install(\"17\"))')"; \
	exit 1

demo: install java
	$(BIN)/python examples/spark_jdbc/create_database.py
	$(BIN)/python examples/spark_jdbc/job.py

# A PostgreSQL and a Vault of its own, from `make servers`; no Java.
demo-rotation: install
	PYTHONPATH=tests $(BIN)/python examples/rotation/demo.py

# The same two, and a worker; in a terminal it waits, so that its page can be looked at.
demo-worker: install java
	PYTHONPATH=tests $(BIN)/python examples/worker/demo.py

# Once, into the system and ~/.cache: PostgreSQL, slapd, Chromium, a Vault built from source by Go, and
# 30 MB of Java archives.
servers:
	PYTHON=$(PYTHON) tests/servers/install.sh

test: install java
	$(BIN)/python -m pytest --numprocesses 2

test-long: install java
	SOAK=1 $(BIN)/python -m pytest --numprocesses 2

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: install
	$(BIN)/mypy

bench: install java
	PYTHONPATH=tests $(BIN)/python tests/benchmarks/bench.py
	$(BIN)/python tests/benchmarks/bench_cache.py
	$(BIN)/python tests/benchmarks/bench_watch.py
	PYTHONPATH=tests $(BIN)/python tests/benchmarks/bench_backends.py
	PYTHONPATH=tests $(BIN)/python tests/benchmarks/bench_spark.py
	PYTHONPATH=tests $(BIN)/python tests/benchmarks/bench_spark_rotation.py
	PYTHONPATH=tests $(BIN)/python tests/benchmarks/bench_executors.py
	$(BIN)/python tests/benchmarks/bench_references.py
	PYTHONPATH=tests $(BIN)/python tests/benchmarks/bench_worker.py

cover: install java
	$(BIN)/coverage run -m pytest
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

build: install
	$(BIN)/python -m build

clean:
	rm -rf $(VENV) dist build .coverage* .mypy_cache .pytest_cache .ruff_cache examples/spark_jdbc/output
