#!/usr/bin/env bash
# Compiles, checks and tests the module. Without a GPU its tests run on the stand-in for
# the driver: device/cuda/testdata/fakecuda.c.
#
#   test.sh            everything
#   test.sh --check    only report missing files; status 3 if any is missing
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
# shellcheck source=cgo-flags.sh
. gorgoniacu/cgo-flags.sh
cgo_flags || exit 3
if [ "${1:-}" = --check ]; then exit 0; fi

if [ ! -e /dev/nvidiactl ]; then
    mkdir -p build/gorgonia/fake
    "${CC:-gcc}" -O1 -Wall -Wextra -Werror -shared -fPIC -pthread -Wl,-soname,libcuda.so.1 \
        -o build/gorgonia/fake/libcuda.so.1 device/cuda/testdata/fakecuda.c
    export LD_LIBRARY_PATH=$root/build/gorgonia/fake${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi

workspace=$root/gorgoniacu/workspace.sh
"$workspace" write
go -C tools run ./modules tidy -diff "$root/gorgoniacu"
(
    cd gorgoniacu
    set -x
    go vet ./...
    GOWORK=$root/build/gorgonia/go.work "$root/build/tools/staticcheck" ./...
    CGO_ENABLED=0 go vet ./...
    CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 go build ./...
    CGO_ENABLED=0 GOOS=windows GOARCH=amd64 go build ./...
    go test -timeout 90m -race ./...
    GOEXPERIMENT=cgocheck2 go test -timeout 90m .
    # The stand-in does not free destroyed objects.
    ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=0 go test -timeout 90m -asan -skip OfLess .
)

if [ ! -e /dev/nvidiactl ]; then
    # A driver without functions that the binary is linked with: a missing function
    # matters only if it is called.
    mkdir -p build/gorgonia/fake-old
    "${CC:-gcc}" -DCUDA_11_0 -O1 -shared -fPIC -pthread -Wl,-soname,libcuda.so.1 \
        -o build/gorgonia/fake-old/libcuda.so.1 device/cuda/testdata/fakecuda.c
    (cd gorgoniacu && LD_LIBRARY_PATH=$root/build/gorgonia/fake-old FAKE_NO_POOLS=1 go test -timeout 90m -count=1 -run '^TestConformance$' .)
fi

# gpuframe's tests. The stand-in supports those that need no kernels and no details of a
# real driver.
packages=(device column buffer buffer/spill memory/adaptor memory/caching memory/replay memory/resource memory)
skip='SharedMemoryForWriting|StreamOrderedReleaseThreshold|StreamOrderedFreeAfterItsStream|AdoptedMemoryArrives|ArrivalsOfStreams'
if [ -e /dev/nvidiactl ]; then
    mapfile -t packages < <("$workspace" packages)
    skip='^$'
fi
set -x
GPUFRAME_TEST_GPU=gorgonia:0 GPUFRAME_REQUIRE_CUDA=1 "$workspace" go test -timeout 90m -skip "$skip" "${packages[@]/#/./}"
"$workspace" go vet "${packages[@]/#/./}" ./examples/pytorch
