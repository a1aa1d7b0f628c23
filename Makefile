# Every target is a script of its own, so that it can be read and run without make.
.DEFAULT_GOAL := help
.PHONY: help demo check test soundness queues ftts damage fuzz steady sweep-stolen monitors bench kernel-bench

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

demo: ## build, then check, analyse, simulate and run the flight management system
	@scripts/setup.sh demo
	@scripts/demo.sh

check: ## formatting, lints and the tests of what changed: for while you work
	@scripts/check.sh

test: ## every test; parts with `scripts/test.sh PART...`
	@scripts/setup.sh test
	@scripts/test.sh

soundness: ## the long campaign of random task sets (hours)
	@scripts/setup.sh test
	@scripts/soundness.sh

queues: ## the long comparison of event queues and servers of vestal-hsf (minutes; goes on where it was stopped)
	@scripts/setup.sh test
	@scripts/queues.sh

ftts: ## the long comparison of searches for frame tables (minutes)
	@scripts/setup.sh test
	@scripts/ftts.sh

damage: ## the long campaign of damages to results (minutes)
	@scripts/setup.sh test
	@scripts/damage.sh

fuzz: ## every reader of files against a fuzzer, a minute each (a quarter of an hour); SECONDS=600: until each had so long in all
	@scripts/setup.sh fuzz
	@scripts/fuzz.sh $(if $(SECONDS),--up-to $(SECONDS))

steady: ## the real-time tests twenty times in a row, on a machine that does nothing else (2.6 hours)
	@scripts/setup.sh test
	@scripts/repeat.sh 20 real

sweep-stolen: ## a thief of CPU time at every instant of a frame, on a machine that does nothing else (4 minutes)
	@scripts/setup.sh test
	@scripts/sweep-stolen.sh

monitors: ## whether `run` picks the cheaper monitor for the examples, on a machine that does nothing else (15 minutes)
	@scripts/setup.sh test
	@cargo build --locked --quiet --release --package vestal
	@scripts/compare-monitors.py --json "$${CARGO_TARGET_DIR:-target}/monitors.json" "$${CARGO_TARGET_DIR:-target}/release/vestal"

bench: ## every benchmark against its limits
	@scripts/setup.sh bench
	@scripts/bench.sh

kernel-bench: ## instructions of vestal-hsf on a kernel in QEMU, by servers and tasks
	@scripts/setup.sh kernel
	@scripts/bench-kernel.sh
