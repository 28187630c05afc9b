# gpuframe. `make demo` shows it, `make test` tests it; both use the GPU if there is
# one. `make check` is everything that CI runs. CONTRIBUTING.md describes the rest.

GO      ?= go
# Debian's python3-numpy belongs to the system's Python.
PYTHON  ?= $(shell for p in python3 /usr/bin/python3; do $$p -c 'import torch' 2>/dev/null && echo $$p && exit; done; \
             for p in python3 /usr/bin/python3; do $$p -c 'import numpy' 2>/dev/null && echo $$p && exit; done; echo python3)
LIBRARY := build/libhandover.so
# The library of the Python package, with stores and formats of tables and without them, and a driver for tests of the GPU's paths.
GPUFRAME := build/libgpuframe.so
SMALL    := build/small/libgpuframe.so
FAKECUDA := build/fake/libcuda.so.1

.PHONY: demo test check check-all explore quick generate lint gofmt tables words vet staticcheck typecheck tidy api-check api-record release stranger portable race race-part race-kernels full nocgo memcheck examples handover command small-command wheel small-wheel pytest sharing python ptx ptx-check gorgonia gorgonia-check arrow18 flight sql sql-duckdb beam deploy opentelemetry objectstore lake cuda-header bench gpu-bundle gpu-bundle-gorgonia gpu-peers bundle-check sizes site site-check data clean

demo: ## load real data onto a device, hand it over, take it back
	@$(GO) run ./examples/demo

# The seed of property tests: a check draws the same cases here and in CI. With
# GPUFRAME_SEED=0, and with plain `go test`, every run draws others; see explore.
export GPUFRAME_SEED ?= 20261123

# The compiler collects garbage less often than its default, and writes no debug information
# for debuggers: a third less time. Programs and tests keep Go's defaults.
ifeq (,$(findstring toolexec,$(GOFLAGS)))
export GOFLAGS := $(shell $(GO) env GOFLAGS) -gcflags=all=-dwarf=false '-toolexec=env GOGC=400'
endif
# The race detector waits a second at the end of each program by default.
export GORACE ?= atexit_sleep_ms=0

# Packages that vet has read are not vetted again by their tests. The time limit only ends
# tests that hang: no test may depend on the speed of the machine.
# The module bench is checked with the main module, in one workspace.
WORKSPACE := GOWORK=$(CURDIR)/scripts/check.work
TEST := $(WORKSPACE) $(GO) test -vet=off -timeout 40m
# The packages of test, race and full.
PACKAGES ?=

test: ## build everything and test it at small sizes, on each device present: minutes
	$(TEST) -short $(or $(PACKAGES),./...)
	@echo "test: ok"

check: ## what CI runs: each package once, and the stages whose files have changed
	scripts/check.sh

check-all: ## everything that CI could run
	CI_ALL=1 scripts/check.sh

quick: ## what fails cheaply; every fault is reported
	@$(MAKE) --no-print-directory --keep-going --jobs=2 --output-sync=target gofmt tidy tables words typecheck lint sizes

generate: ## write the forms of the functions in internal/expr/catalog
	$(GO) run ./internal/expr/catalog/generate

lint: vet staticcheck api-check

gofmt:
	@unformatted=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); \
	  test -z "$$unformatted" || { echo "gofmt would change:"; echo "$$unformatted"; exit 1; }

tidy: build/tools/modules ## go.mod of the modules that this checks, and versions of all
	build/tools/modules sync -check
	build/tools/modules tidy -diff . bench tools

tables: ## the tables in documents are those that tests have printed
	scripts/docs-tables.sh --check

words: ## import directions, phrases and names that internal/testing/lint counts
	$(TEST) ./internal/testing/lint

vet:
	$(WORKSPACE) $(GO) vet ./... ./bench/...

# Tools have a module of their own, so that programs with gpuframe do not get their dependencies.
build/tools/%: tools/go.mod tools/go.sum $(wildcard tools/*/*.go)
	$(GO) -C tools build -o ../$@ $(or $(filter honnef%,$(TOOL)),./$*)

build/tools/staticcheck: TOOL := honnef.co/go/tools/cmd/staticcheck

staticcheck: build/tools/staticcheck
	$(WORKSPACE) $< ./... ./bench/...

VERSION = $(shell sed -n 's/^const Version = "\(.*\)"$$/\1/p' version.go)

api-check: build/tools/api ## exported names of releases still exist
	$(WORKSPACE) $< -check api -next $(VERSION) ./...

api-record: build/tools/api ## write api/VERSION.txt: the exported names of the next release
	$(WORKSPACE) $< -record api -next $(VERSION) ./...

PLATFORMS := linux/386 darwin/arm64 windows/amd64 linux/arm64

typecheck: build/tools/platforms ## every package and test compiles on every platform
	$(WORKSPACE) $< ./...,./bench/... $(PLATFORMS)

portable: ## vet on other platforms too
	set -e; for platform in $(PLATFORMS); do \
	  CGO_ENABLED=0 GOOS=$${platform%/*} GOARCH=$${platform#*/} $(WORKSPACE) $(GO) vet ./... ./bench/...; done

# The strictest checks of pointers that go to C are part of the same build. Without a list the
# packages are those with goroutines or C of their own.
race: ## under the race detector, at small sizes
	GOEXPERIMENT=cgocheck2 $(TEST) -race -short $(RACE_RUN) $(or $(PACKAGES),$$(scripts/ci-stages.sh race race-part))

# A third of the tests of large packages; `make test` runs all of them.
race-part: RACE_RUN = -run "$$(scripts/ci-stages.sh race-tests)"
race-part: PACKAGES := $(shell scripts/ci-stages.sh race-part)
race-part: race

# GPUFRAME_TURN chooses a quarter of the tests on the emulator; without it all run.
race-kernels: ## the operators under the race detector, at small sizes
	$(MAKE) --no-print-directory race PACKAGES='./kernels/... ./internal/expr/codegen ./internal/keys/hashtable ./internal/keys/radix ./internal/text/textrows'

full: ## at full sizes
	$(TEST) $(or $(PACKAGES),./...)

nocgo: ## without cgo, and on 32 bits where the processor can
	CGO_ENABLED=0 $(TEST) -short ./device/... ./memory/... ./column ./buffer/... ./kernels ./kernels/expr ./dlpack ./arrowdev ./share
	@program=$$(mktemp -d)/main.go; printf 'package main\n\nfunc main() {}\n' >$$program; \
	if CGO_ENABLED=0 GOARCH=386 $(GO) run $$program 2>/dev/null; then set -x; \
	  CGO_ENABLED=0 GOARCH=386 $(TEST) -short ./device/... ./memory ./column ./buffer; \
	else echo "nocgo: programs for 386 do not run here, because of the processor or the kernel"; fi

memcheck: ## what shares memory with C, under the address sanitizer and the strictest pointer checks
	GOEXPERIMENT=cgocheck2 ASAN_OPTIONS=allocator_may_return_null=1 \
	  $(TEST) -asan -short ./device/host/... ./dlpack/... ./arrowdev/... ./share ./memory ./internal/arrays/bitmap ./internal/base/forks

examples:
	$(GO) run ./examples/first
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

$(SMALL): FORCE
	$(GO) build -ldflags='-s -w' -buildmode=c-shared -o $@ ./python/library

$(GPUFRAME): FORCE
ifdef SMALL_LIBRARY
	@echo "SMALL_LIBRARY is set: the library is built without table formats and stores, and their tests are skipped"
	$(GO) build -ldflags='-s -w' -buildmode=c-shared -o $@ ./python/library
else
	$(GO) -C distribution build -ldflags='-s -w' -buildmode=c-shared -o $(CURDIR)/$@ ./library
endif

# mkdocs is Debian's package of that name.
site: ## build/site: the documents as a site, with its links checked
	@command -v mkdocs >/dev/null || { echo "site: there is no mkdocs here: apt-get install mkdocs" >&2; exit 3; }
	mkdocs build --quiet --clean --config-file scripts/site/mkdocs.yml
	python3 scripts/site/links.py build/site

site-check:
	@if command -v mkdocs >/dev/null; then $(MAKE) --no-print-directory site; \
	else echo "site-check: there is no mkdocs here, the site is not built"; fi

command: ## build/gpuframe: the command line, with all stores of objects and formats of tables
	$(GO) -C distribution build -ldflags='-s -w' -o $(CURDIR)/build/gpuframe ./cmd/gpuframe

small-command: ## build/small/gpuframe: the command line with files of the machine and of web servers
	$(GO) build -ldflags='-s -w' -o build/small/gpuframe ./cmd/gpuframe

wheel: $(GPUFRAME) ## build/gpuframe-*.whl: the Python package, with nothing to install but Python
	@if command -v $(PYTHON) >/dev/null; then $(PYTHON) python/build_wheel.py $(GPUFRAME) build; \
	else echo "wheel: there is no Python here"; fi

small-wheel: $(SMALL) ## build/small/gpuframe-*.whl: the same without stores of objects, but for web servers, and formats of tables
	@if command -v $(PYTHON) >/dev/null; then $(PYTHON) python/build_wheel.py $(SMALL) build/small; \
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

python: pytest handover sharing wheel ## the Python package and its library

ptx: ## compile the kernels; needs clang-19
	kernels/build.sh

ptx-check:
	@if command -v $${CLANG:-clang++-19} >/dev/null; then kernels/build.sh --check; \
	else echo "ptx-check: no clang-19 here, the committed PTX is not compared with its source"; fi

gorgonia: build/tools/staticcheck ## the module over gorgonia.org/cu; needs cuda.h of CUDA 11.4 to 12, see cuda-header
	gorgoniacu/test.sh

gorgonia-check: build/tools/staticcheck
	@if gorgoniacu/test.sh --check; then gorgoniacu/test.sh; \
	else echo "gorgonia-check: the module over gorgonia.org/cu is not tested"; fi

arrow18: build/tools/modules ## the module for arrow-go v18; its dependencies are fetched
	build/tools/modules tidy -diff arrow18
	$(GO) -C arrow18 vet ./...
	$(GO) -C arrow18 test -vet=off -timeout 40m ./...

flight: build/tools/modules ## the module for Arrow Flight, at small sizes under the race detector; its dependencies are fetched
	build/tools/modules tidy -diff flight
	$(GO) -C flight vet -race ./...
	$(GO) -C flight test -vet=off -timeout 40m -race -short ./...

sql: build/tools/modules ## the modules of SQL: the ADBC driver, Substrait, and answers of DuckDB, also to bench/workloads; their dependencies are fetched
	for module in sql/adbc sql/substrait; do \
		build/tools/modules tidy -diff $$module && $(GO) -C $$module vet ./... && $(GO) -C $$module test -vet=off -timeout 40m ./... || exit 1; done
	@if $(GO) -C sql/duckdb list -deps -test ./... >/dev/null; then $(MAKE) --no-print-directory sql-duckdb; else \
		echo "sql: DuckDB could not be fetched: answers are not compared with it"; fi

sql-duckdb: build/tools/modules
	for module in sql/duckdb bench/workloads/duckdb; do \
		build/tools/modules tidy -diff $$module && $(GO) -C $$module vet ./... && $(GO) -C $$module test -vet=off -timeout 40m ./... || exit 1; done

beam: build/tools/modules ## the module for Apache Beam; its dependencies are fetched
	build/tools/modules tidy -diff beam
	$(GO) -C beam vet ./...
	$(GO) -C beam test -vet=off -timeout 40m -short ./...

deploy: build/tools/modules ## the chart, manifests, Dockerfile and unit of deploy/, read with the code of the programs that read them; their dependencies are fetched
	build/tools/modules tidy -diff deploy/lint
	$(GO) -C deploy/lint vet ./...
	$(GO) -C deploy/lint test -vet=off -timeout 40m ./...

opentelemetry: build/tools/modules ## the module for OpenTelemetry; its dependencies are fetched
	build/tools/modules tidy -diff observe/opentelemetry
	$(GO) -C observe/opentelemetry vet -race ./...
	$(GO) -C observe/opentelemetry test -vet=off -timeout 40m -race ./...

# The server is built by a module of its own, so that programs do not get its dependencies.
build/tools/versitygw: objectstore/servers/go.mod objectstore/servers/go.sum
	$(GO) -C objectstore/servers build -o ../../$@ github.com/versity/versitygw/cmd/versitygw

build/tools/fake-gcs-server: objectstore/servers/fakegcs/go.mod objectstore/servers/fakegcs/go.sum
	$(GO) -C objectstore/servers/fakegcs build -o ../../../$@ github.com/fsouza/fake-gcs-server

AZURITE := build/azurite/node_modules/.bin/azurite-blob
$(AZURITE):
	@if command -v npm >/dev/null; then npm install --silent --no-audit --no-fund --prefix build/azurite azurite@3.35.0; \
	else echo "azurite: there is no npm here, so that a part of the tests of objectstore/azure is skipped"; fi

objectstore: build/tools/modules build/tools/versitygw build/tools/fake-gcs-server $(AZURITE) ## the modules of object stores, against servers; their dependencies are fetched
	@azurite=$(CURDIR)/$(AZURITE); [ -x "$$azurite" ] || azurite=; for module in objectstore/s3 objectstore/gcs objectstore/azure bench/tpch/stores; do \
	  build/tools/modules tidy -diff $$module && $(GO) -C $$module vet ./... && \
	  GPUFRAME_VERSITYGW=$(CURDIR)/build/tools/versitygw GPUFRAME_FAKE_GCS=$(CURDIR)/build/tools/fake-gcs-server GPUFRAME_AZURITE=$$azurite \
	    $(GO) -C $$module test -vet=off -timeout 40m ./... || exit 1; done

lake: build/tools/modules ## the module of table formats, and the programs with all modules; their dependencies are fetched
	@gateway=$(CURDIR)/build/tools/versitygw; $(GO) -C objectstore/servers build -o $$gateway github.com/versity/versitygw/cmd/versitygw || { gateway=; \
	  echo "lake: the server of S3 could not be built, so that tables on S3 are not tested"; }; \
	for module in lake distribution; do build/tools/modules tidy -diff $$module && $(GO) -C $$module vet ./... && \
	  GPUFRAME_VERSITYGW=$$gateway $(GO) -C $$module test -vet=off -timeout 40m ./... || exit 1; done

cuda-header: ## fetch cuda.h and the stub of libcuda into build/cuda, out of a Debian package of 774 MB
	scripts/fetch-cuda-header.sh

EXPLORE ?= ./...
CHECKS  ?= 1000

explore: ## property tests of packages with other cases in every run: make explore EXPLORE=./kernels/... CHECKS=10000
	@for package in $$($(WORKSPACE) $(GO) list -f '{{.ImportPath}} {{join .TestImports " "}} {{join .XTestImports " "}}' $(EXPLORE) | grep internal/testing/property | cut -d' ' -f1); do \
	  GPUFRAME_SEED=0 $(TEST) -short -timeout 0 $$package -rapid.checks=$(CHECKS) || exit 1; done

bench: ## transfers, memory and launches: the first table of docs/performance.md
	$(GO) -C bench run .

gpu-bundle: ## build/gpu.tar.xz: tests and benchmarks for a GPU machine without Go
	scripts/gpu-bundle.sh

gpu-bundle-gorgonia: ## build/gpu-gorgonia.tar.xz: the same tests on the backend over gorgonia.org/cu
	gorgoniacu/gpu-bundle.sh

gpu-peers: ## build/gpu-peers.tar.xz: the benchmarks with DuckDB beside them, as programs for such a machine
	scripts/gpu-peers.sh

release: ## build/release: commands, the wheel, a bill of materials, checksums
	scripts/release.sh

stranger: ## installs and uses the modules, commands and the wheel as a new user does, in an empty GOPATH
	scripts/stranger.sh

sizes: ## what programs weigh; fails above the limits
	scripts/binary-size.sh

bundle-check: gpu-bundle ## the bundle builds a package with nothing but what it holds
	cd build/gpu && PACKAGES=internal/op ./run.sh build

data: ## fetch flights-3m.parquet, which is not in the tree
	scripts/fetch-data.sh

clean: ## but for build/cuda, which is long to fetch
	if [ -d build ]; then find build -mindepth 1 -maxdepth 1 ! -name cuda -exec rm -rf {} +; fi
