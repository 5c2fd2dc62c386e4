# `make` prints this help. Everything happens in .venv, made from requirements.lock.
.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: help setup demo serve test check bench soak probe test-probe java test-java spark test-spark screenshots docs lock clean

help: ## What there is to make
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 12

setup: $(STAMP) ## Make .venv with everything locked in requirements.lock

$(STAMP): requirements.lock pyproject.toml client_sdk/python/pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --editable client_sdk/python --editable .
	@touch $@

demo: setup ## Play the main job: a fleet learns, through the real server (ARGS="--quick")
	$(BIN)/nnfleet demo $(ARGS)

serve: setup ## Serve the API and the console on port 8080
	$(BIN)/nnfleet serve $(ARGS)

test: setup ## Run the tests on up to four cores, the browser's too where Chromium is or can be installed (ARGS="-k name")
	@tests/chromium.sh
	@tests/wheels.sh
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses logical --maxprocesses 4 $(ARGS)

check: setup ## Lint, types, import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup ## Measure, as ratios against a baseline in the same run
	$(BIN)/python -m tests.bench.lookup
	$(BIN)/python -m tests.bench.scale
	$(BIN)/python -m tests.bench.publishing
	$(BIN)/python -m tests.bench.ingest
	$(BIN)/python -m tests.bench.rollup
	$(BIN)/python -m tests.bench.rules
	$(BIN)/python -m tests.bench.sdk
	$(BIN)/python -m tests.bench.simulations
	$(BIN)/python -m tests.bench.learning
	$(BIN)/python -m tests.bench.console
	$(BIN)/python -m tests.bench.model_file

soak: setup ## What takes longer than a test may: evaluation on all data, several seeds
	$(BIN)/nnfleet evaluate --data ml/datasets/aihub.parquet --protocol all --seeds 3
	PYTHONPATH=tests $(BIN)/python -m faults.soak --kills 100
	PYTHONPATH=tests $(BIN)/python -m faults.hostile_files --files 20000

probe: ## Build the native probe for this machine (needs cmake and a C++ compiler)
	cd client_sdk/probe && cmake --preset host && cmake --build --preset host --parallel

test-probe: setup probe ## Test the probe as built, with sanitizers, and on 64-bit ARM where qemu is or can be installed
	@tests/probe/emulator.sh
	for preset in host sanitize aarch64; do $(BIN)/python -m pytest tests/probe --probe-preset $$preset || exit; done
	@$(BIN)/python -m tests.probe.stopwatch

java: ## Build the Java SDK as a jar (needs a JDK)
	client_sdk/java/build.sh

spark: setup ## Install PySpark from requirements-spark.lock: 434 MB, needs Java 17 or newer to run
	@java -version >/dev/null 2>&1 || echo "no Java: Spark will not start"
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements-spark.lock

test-spark: spark ## Roll a lake up with DuckDB and with Spark: the same rows
	$(BIN)/python -m pytest tests/ml/test_lake_engines.py

test-java: setup ## Test the Java SDK: JUnit, then with the probe against the real server
	@tests/java/junit.sh
	$(BIN)/python -m pytest tests/java
	@! [ -d client_sdk/java/build/tests ] || java -cp client_sdk/java/build/nnfleet-client.jar:client_sdk/java/build/tests io.nnfleet.client.StopwatchProgram

screenshots: setup ## Draw every page of the console into console-pictures/ (needs Chromium; ARGS="--docs" for docs/console.md)
	PYTHONPATH=tests/console $(BIN)/python -m tests.console.screenshots $(ARGS)

docs: setup ## Print the commands, by what they are for
	@$(BIN)/nnfleet --help

lock: ## Resolve the locks anew, with hashes and without addresses of indexes (needs uv)
	uv pip compile pyproject.toml --all-extras --group dev --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --quiet --output-file requirements.lock
	echo "pyspark>=4.0.1,<4.1" | uv pip compile - --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-annotate --quiet --output-file requirements-spark.lock

clean: ## Remove what was made here
	rm -rf client_sdk/probe/build client_sdk/java/build .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis demo-report demo-data console-pictures
