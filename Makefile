# The four commands a newcomer needs: make demo, make test, make check, make bench. Each sets up what it needs.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.stamp-install
DEBIAN := scripts/debian_packages.sh

.PHONY: demo test check bench plots install soak torture reference format clean

$(STAMP): pyproject.toml hatch_build.py src/setpoint/api/machinery/schema/presence.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check 'hatchling>=1.25' editables 'kubernetes-validate>=1.37,<2' 'msgspec>=0.19' 'orjson>=3.10' \
	  setuptools wheel  # the last two build what has no wheel of its own (forbiddenfruit, of blockbuster)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --editable '.[dev]'
	@touch $@

# Bytecode beside the sources, whatever PYTHONDONTWRITEBYTECODE says: without it every start compiles everything anew.
.PHONY: bytecode
bytecode: $(STAMP)
	@$(BIN)/python -m compileall -q -j 2 src

install: $(STAMP) bytecode  ## the virtual environment with the package and its development tools

demo: $(STAMP) bytecode  ## a Deployment becomes processes, heals, scales, rolls, and survives the loss of a node
	@$(BIN)/python -m setpoint demo

check: $(STAMP)  ## lint, types, layers, dependencies, whether docs/reference is what the code says
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/dependency_audit.py
	$(BIN)/python scripts/reference.py --check

# Clients that only talk to the server, and may share the machine with other tests; they take longest, and so begin.
TALKERS := tests/golden $(addprefix tests/e2e/test_,kubectl_transcripts.py operators.py dynamic_clients.py known_definitions.py repeated.py)
ALONE := tests/node tests/e2e tests/bounds

test: $(STAMP) bytecode  ## every test that fits in ten minutes: those without processes side by side, then those with
	@$(DEBIAN) test
	$(BIN)/python -m pytest -n 3 --dist worksteal $(TALKERS) $(filter-out $(ALONE) tests/golden tests/__pycache__,$(wildcard tests/*))
	@$(MAKE) --no-print-directory -j2 --output-sync=target test-servers test-agents

.PHONY: test-servers test-agents
test-servers:  ## tests with whole servers: one after the other
	$(BIN)/python -m pytest tests/e2e $(addprefix --ignore=,$(filter tests/e2e/%,$(TALKERS)))

test-agents:  ## beside them: agents with their containers, bounds; then the end-to-end tests again, as a user without rights
	$(BIN)/python -m pytest tests/node tests/bounds
	SETPOINT_E2E_USER=unprivileged $(BIN)/python -m pytest $(addprefix tests/e2e/test_,kubectl.py port_forward.py processes.py split.py)

soak: $(STAMP) bytecode  ## what takes longer: all seeds of the property tests, all recordings, a day in a cluster, fuzzing, an old kubectl
	@$(DEBIAN) test
	SETPOINT_SEEDS=300 SETPOINT_GOLDEN=all SETPOINT_DAY=24 $(BIN)/python -m pytest -m "" --timeout 3600 tests/cluster tests/golden tests/scheduler
	SETPOINT_FUZZ=500 SETPOINT_MANY=50 $(BIN)/python -m pytest tests/fuzz tests/many
	SETPOINT_SOAK=1200 $(BIN)/python -m pytest -s --timeout 3600 tests/bounds/test_soak.py
	SETPOINT_EXAMPLES=all $(BIN)/python -m pytest tests/e2e/test_operators.py
	SETPOINT_KUBECTL=$$(scripts/old_kubectl.sh $(VENV)) SETPOINT_TRANSCRIPTS=transcripts-1.20 \
	  $(BIN)/python -m pytest tests/e2e/test_kubectl_transcripts.py tests/e2e/test_spdy.py

torture: $(STAMP) bytecode  ## what breaks it: kill -9, power failures, bad disks, histories with faults, etcd's members killed, overload
	@$(DEBIAN) test
	SETPOINT_TORTURE=300 SETPOINT_HISTORIES=100 $(BIN)/python -m pytest --timeout 7200 tests/torture
	SETPOINT_ETCD_ROUNDS=20 $(BIN)/python -m pytest --timeout 1200 tests/storage/etcd
	SETPOINT_BOUNDS=full $(BIN)/python -m pytest -s --timeout 3600 tests/bounds

bench: $(STAMP) bytecode  ## figures, beside the bare stack, as a table and JSON
	@$(DEBIAN) bench
	$(BIN)/python benchmarks/run.py

plots: $(STAMP) bytecode  ## the same, drawn into docs/figures
	@$(DEBIAN) bench
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check 'matplotlib>=3.8'
	$(BIN)/python benchmarks/run.py --plots docs/figures

reference: $(STAMP)  ## docs/reference, from the code
	$(BIN)/python scripts/reference.py

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix --quiet .

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache
