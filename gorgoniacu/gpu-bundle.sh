#!/usr/bin/env bash
# Writes build/gpu-gorgonia.tar.xz: everything that scripts/run.sh needs on a machine
# with an NVIDIA driver to run gpuframe's tests through gorgonia.org/cu, by "run.sh
# gorgonia", and to measure it, by "run.sh bench-gorgonia". GPU_BUNDLE_FLAGS are further
# flags for the test binaries; PACKAGES restricts the packages that are tested;
# GPU_BUNDLE_DATA names data files to add from examples/data or ../shared/data.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=cgo-flags.sh
. gorgoniacu/cgo-flags.sh
scripts/fetch-cuda-header.sh || true # cuda.h may lie elsewhere
cgo_flags
out=$PWD/build/gpu-gorgonia
rm -rf "$out" && mkdir -p "$out/tests/gorgoniacu" "$out/data"
workspace=gorgoniacu/workspace.sh
"$workspace" write

# shellcheck disable=SC2086
go -C gorgoniacu test -c ${GPU_BUNDLE_FLAGS:-} -trimpath -ldflags '-s -w' -o "$out/tests/gorgoniacu/package.test" .
for folder in ${PACKAGES:-$("$workspace" packages)}; do
    target=$out/tests/$folder
    mkdir -p "$target"
    # shellcheck disable=SC2086
    "$workspace" go test -c ${GPU_BUNDLE_FLAGS:-} -trimpath -ldflags '-s -w' -o "$target/gorgonia.test" "./$folder"
    if [ -d "$folder/testdata" ]; then cp -r "$folder/testdata" "$target/"; fi
done
go -C gorgoniacu build -trimpath -ldflags '-s -w' -o "$out/bench-gorgonia" ./bench
"$workspace" go build -trimpath -ldflags '-s -w' -buildmode=c-shared -o "$out/libhandover-gorgonia.so" ./examples/pytorch
cp examples/pytorch/handover.py scripts/run.sh "$out/"
for folder in examples/data ../shared/data; do
    for file in flights-200k.arrow ${GPU_BUNDLE_DATA:-}; do
        if [ -f "$folder/$file" ]; then cp "$folder/$file" "$out/data/"; fi
    done
done
git describe --always --dirty >"$out/version"

# The binaries share most of their code: the dictionary spans them all.
tar -C build --sort=name -cf - gpu-gorgonia | xz --lzma2=preset=4,dict=128MiB >build/gpu-gorgonia.tar.xz
size=$(stat -c %s build/gpu-gorgonia.tar.xz)
echo "build/gpu-gorgonia.tar.xz: $((size >> 20)) MiB"
if [ "$size" -gt $((40 << 20)) ]; then
    echo "the bundle is larger than 40 MiB" >&2
    exit 1
fi
