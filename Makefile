# gpuframe. `make demo` shows it, `make test` tests it; both use the GPU if there is
# one. `make check` is everything that CI runs. CONTRIBUTING.md describes the rest.

GO      ?= go
# Debian's python3-numpy belongs to the system's Python.
PYTHON  ?= $(shell for p in python3 /usr/bin/python3; do $$p -c 'import torch' 2>/dev/null && echo $$p && exit; done; \
             for p in python3 /usr/bin/python3; do $$p -c 'import numpy' 2>/dev/null && echo $$p && exit; done; echo python3)
LIBRARY := build/libhandover.so
# The library of the Python package, and a driver for tests of the GPU's paths.
GPUFRAME := build/libgpuframe.so
FAKECUDA := build/fake/libcuda.so.1

.PHONY: demo test check explore lint tidy portable race full nocgo asan examples handover wheel pytest sharing ptx ptx-check gorgonia gorgonia-check arrow18 flight beam opentelemetry cuda-header bench gpu-bundle gpu-bundle-gorgonia gpu-peers bundle-check sizes data clean

demo: ## load real data onto a device, hand it over, take it back
	@$(GO) run ./examples/demo

# The seed of property tests: a check draws the same cases here and in CI. With
# GPUFRAME_SEED=0, and with plain `go test`, every run draws others; see explore.
export GPUFRAME_SEED ?= 20261123

# Packages that lint vets are not vetted again by their tests. The time limit only ends
# tests that hang: no test may depend on the speed of the machine.
TEST := $(GO) test -vet=off -timeout 90m

test: ## build everything and test it at small sizes, on each device present: minutes
	$(TEST) -short ./...
	@echo "test: ok"

check: ## everything that CI runs
	$(MAKE) lint tidy sizes portable race full nocgo asan bundle-check
	@# The tests of the Python package use one processor; the others fill the rest.
	$(MAKE) --jobs=2 --output-sync=target pytest gorgonia-check arrow18 flight beam opentelemetry ptx-check examples handover sharing wheel
	@echo "check: ok"

lint:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$unformatted" || { echo "gofmt would change:"; echo "$$unformatted"; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	scripts/docs-tables.sh --check

tidy:
	$(GO) mod tidy -diff

portable: ## every package compiles on every platform, with and without cgo
	CGO_ENABLED=0 GOOS=linux GOARCH=386 $(GO) vet ./...
	CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 $(GO) vet ./...
	CGO_ENABLED=0 GOOS=windows GOARCH=amd64 $(GO) vet ./...
	CGO_ENABLED=0 GOOS=linux GOARCH=arm64 $(GO) vet ./device/... ./internal/streamcopy # the rest is as on darwin/arm64

race: ## under the race detector, at small sizes; internal/lint reads files only
	$(TEST) -race -short $$($(GO) list ./... | grep -v internal/lint)

full: ## at full sizes
	$(TEST) ./...

nocgo: ## without cgo, and on 32 bits where the processor can
	CGO_ENABLED=0 $(TEST) -short ./device/... ./memory/... ./column ./buffer/... ./kernels ./kernels/expr ./dlpack ./arrowdev ./share
	@if [ "$$($(GO) env GOHOSTARCH)" = amd64 ]; then set -x; \
	  CGO_ENABLED=0 GOARCH=386 $(TEST) -short ./device/... ./memory ./column ./buffer; \
	else echo "nocgo: 386 runs on amd64 only"; fi

asan: ## what shares memory with C, under the address sanitizer and the strictest pointer checks
	ASAN_OPTIONS=allocator_may_return_null=1 $(TEST) -asan -short ./device/host/... ./dlpack/... ./arrowdev/... ./share ./memory ./internal/bitmap
	GOEXPERIMENT=cgocheck2 $(TEST) -short ./device/... ./dlpack ./arrowdev/... ./share ./memory

examples:
	$(GO) run ./examples/quickstart
	$(GO) run ./examples/demo
	$(GO) run ./examples/delays
	@mkdir -p build
	$(GO) run ./cmd/gpuframe query examples/data/flights-200k.arrow -o build/flights.parquet
	$(GO) run ./examples/topten build/flights.parquet

$(LIBRARY): FORCE
	$(GO) build -buildmode=c-shared -o $@ ./examples/pytorch
FORCE:

handover: $(LIBRARY) ## a Go-built column in torch or numpy, at the same address
	@if command -v $(PYTHON) >/dev/null; then $(PYTHON) examples/pytorch/handover.py $(LIBRARY); \
	else echo "handover: there is no Python here to hand a column to"; fi

$(GPUFRAME): FORCE
	$(GO) build -ldflags='-s -w' -buildmode=c-shared -o $@ ./python/libgpuframe

wheel: $(GPUFRAME) ## build/gpuframe-*.whl: the Python package, with nothing to install but Python
	@if command -v $(PYTHON) >/dev/null; then $(PYTHON) python/build_wheel.py $(GPUFRAME) build; \
	else echo "wheel: there is no Python here"; fi

$(FAKECUDA): device/cuda/testdata/fakecuda.c
	@mkdir -p $(@D)
	$(CC) -O1 -shared -fPIC -pthread -o $@ $<

sharing: $(GPUFRAME) ## two Python processes train on one copy of a table
	@if $(PYTHON) -c 'import numpy' 2>/dev/null; then PYTHONPATH=python $(GO) run ./examples/sharing -run $(PYTHON); \
	else echo "sharing: there is no Python with numpy here"; fi

pytest: $(GPUFRAME) $(FAKECUDA) ## the Python package against the libraries that are here, then on a driver that only acts as one, without those that start kernels
	@if $(PYTHON) -c 'import pytest' 2>/dev/null; then \
	  PYTHONPATH=python $(PYTHON) -m pytest -q -p no:cacheprovider python/tests && \
	  PYTHONPATH=python:scripts/stand-in GPUFRAME_LIBCUDA=$(CURDIR)/$(FAKECUDA) GPUFRAME_HANDOVERS=1000 \
	    $(PYTHON) -m pytest -q -p no:cacheprovider python/tests; \
	else echo "pytest: there is no pytest here"; fi

ptx: ## compile the kernels; needs clang-19
	kernels/build.sh

ptx-check:
	@if command -v $${CLANG:-clang++-19} >/dev/null; then kernels/build.sh --check; \
	else echo "ptx-check: no clang-19 here, the committed PTX is not compared with its source"; fi

gorgonia: ## the module over gorgonia.org/cu; needs cuda.h of CUDA 11.4 to 12, see cuda-header
	gorgoniacu/test.sh

gorgonia-check:
	@if gorgoniacu/test.sh --check; then gorgoniacu/test.sh; \
	else echo "gorgonia-check: the module over gorgonia.org/cu is not tested"; fi

arrow18: ## the module for arrow-go v18; its dependencies are fetched
	$(GO) -C arrow18 vet ./...
	$(GO) -C arrow18 test -vet=off -timeout 90m ./...

flight: ## the module for Arrow Flight, at small sizes under the race detector; its dependencies are fetched
	$(GO) -C flight vet ./...
	$(GO) -C flight test -vet=off -timeout 90m -race -short ./...

beam: ## the module for Apache Beam; its dependencies are fetched
	$(GO) -C beam vet ./...
	$(GO) -C beam test -vet=off -timeout 90m -short ./...

opentelemetry: ## the module for OpenTelemetry; its dependencies are fetched
	$(GO) -C observe/opentelemetry vet ./...
	$(GO) -C observe/opentelemetry mod tidy -diff
	$(GO) -C observe/opentelemetry test -vet=off -timeout 90m -race ./...

cuda-header: ## fetch cuda.h and the stub of libcuda into build/cuda, out of a Debian package of 774 MB
	scripts/fetch-cuda-header.sh

EXPLORE ?= ./...
CHECKS  ?= 1000

explore: ## property tests of packages with other cases in every run: make explore EXPLORE=./kernels/... CHECKS=10000
	@for package in $$($(GO) list -f '{{.ImportPath}} {{join .TestImports " "}} {{join .XTestImports " "}}' $(EXPLORE) | grep internal/testing/property | cut -d' ' -f1); do \
	  GPUFRAME_SEED=0 $(TEST) -short -timeout 0 $$package -rapid.checks=$(CHECKS) || exit 1; done

bench: ## what docs/performance.md holds
	$(GO) run ./bench

gpu-bundle: ## build/gpu.tar.xz: tests and benchmarks for a GPU machine without Go
	scripts/gpu-bundle.sh

gpu-bundle-gorgonia: ## build/gpu-gorgonia.tar.xz: the same tests on the backend over gorgonia.org/cu
	gorgoniacu/gpu-bundle.sh

gpu-peers: ## build/gpu-peers.tar.xz: the benchmarks with DuckDB beside them, as programs for such a machine
	scripts/gpu-peers.sh

sizes: ## what programs weigh; fails above the limits
	scripts/binary-size.sh

bundle-check: gpu-bundle ## the bundle builds a package with nothing but what it holds
	cd build/gpu && PACKAGES=internal/op ./run.sh build

data: ## fetch flights-3m.parquet, which is not in the tree
	scripts/fetch-data.sh

clean: ## but for build/cuda, which is long to fetch
	if [ -d build ]; then find build -mindepth 1 -maxdepth 1 ! -name cuda -exec rm -rf {} +; fi
