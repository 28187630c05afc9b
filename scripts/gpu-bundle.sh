#!/usr/bin/env bash
# Writes what run.sh needs to test and measure gpuframe on a machine that has an
# NVIDIA driver but no Go. GPU_BUNDLE_FLAGS are further flags for the test binaries,
# -race for example.
#
#   gpu-bundle.sh            build/gpu.tar.xz: all but the packages below kernels
#   gpu-bundle.sh kernels    build/gpu-kernels.tar.xz: those
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1-} in
'') name=gpu below='.' not='^kernels/' ;;
kernels) name=gpu-kernels below='^kernels/|^internal/(bitmap|hostword)$' not='^$' ;;
*) echo "usage: $0 [kernels]" >&2 && exit 2 ;;
esac
out=build/$name/gpu
rm -rf "build/$name" && mkdir -p "$out/tests" "$out/data"

# The packages whose tests meet a device; the conformance suite itself is run by
# the backends.
module=$(go list -m)
packages=$(go list -f '{{range .TestImports}}{{.}} {{end}}{{range .XTestImports}}{{.}} {{end}} {{.ImportPath}}' ./... |
    awk '/internal\/devicetest |backend\/backendtest / && !/backendtest$/ {print $NF}')
for package in $packages; do
    folder=${package#"$module"/}
    if ! grep -qE "$below" <<<"$folder" || grep -qE "$not" <<<"$folder"; then continue; fi
    target=$out/tests/$folder
    mkdir -p "$target"
    # shellcheck disable=SC2086
    go test -c ${GPU_BUNDLE_FLAGS:-} -trimpath -ldflags '-s -w' -o "$target/package.test" "./$folder"
    if [ -d "$folder/testdata" ]; then cp -r "$folder/testdata" "$target/"; fi
done
cp scripts/run.sh "$out/"
if [ "$name" = gpu-kernels ]; then
    go build -trimpath -ldflags '-s -w' -o "$out/bench-kernels" ./bench/kernels
    mkdir "$out/kernels" && cp bench/kernels/peers.* "$out/kernels/"
    go build -trimpath -ldflags '-s -w' -o "$out/delays" ./examples/delays
else
    go build -trimpath -ldflags '-s -w' -o "$out/bench" ./bench
    go build -trimpath -ldflags '-s -w' -o "$out/bench-memory" ./bench/memory
    go build -trimpath -ldflags '-s -w' -o "$out/gpuframe" ./cmd/gpuframe
    go build -trimpath -ldflags '-s -w' -o "$out/demo" ./examples/demo
    go build -trimpath -ldflags '-s -w' -buildmode=c-shared -o "$out/libhandover.so" ./examples/pytorch
    cp examples/pytorch/handover.py "$out/"
    mkdir -p "$out/python"
    go build -trimpath -ldflags '-s -w' -buildmode=c-shared -o "$out/python/libgpuframe.so" ./python/libgpuframe
    go build -trimpath -ldflags '-s -w' -o "$out/sharing" ./examples/sharing
    cp -r python/gpuframe python/tests python/bench examples/sharing/train.py "$out/python/"
    find "$out/python" -name __pycache__ -prune -exec rm -rf {} +
fi
for folder in examples/data ../shared/data; do
    for file in flights-200k.arrow flights-3m.parquet; do
        if [ -f "$folder/$file" ]; then cp "$folder/$file" "$out/data/"; fi
    done
done

# The module over gorgonia.org/cu. What runs gpuframe's tests on it is in a bundle
# of its own, which gorgoniacu/gpu-bundle.sh writes.
# shellcheck source=../gorgoniacu/cgo-flags.sh
. gorgoniacu/cgo-flags.sh
if [ "$name" = gpu-kernels ]; then
    : # not in this one
elif scripts/fetch-cuda-header.sh && cgo_flags; then
    mkdir -p "$out/tests/gorgoniacu"
    # shellcheck disable=SC2086
    go -C gorgoniacu test -c ${GPU_BUNDLE_FLAGS:-} -trimpath -ldflags '-s -w' -o "$PWD/$out/tests/gorgoniacu/package.test" .
    go -C gorgoniacu build -trimpath -ldflags '-s -w' -o "$PWD/$out/bench-gorgonia" ./bench
else
    echo "the bundle is without gorgoniacu"
fi
git describe --always --dirty >"$out/version"

# The binaries have most of their code in common: the dictionary spans them all.
tar -C "build/$name" --sort=name -cf - gpu | xz --lzma2=preset=4,dict=128MiB >"build/$name.tar.xz"
size=$(stat -c %s "build/$name.tar.xz")
echo "build/$name.tar.xz: $((size >> 20)) MiB"
limit=$((48 << 20)) # a call takes 64 MiB, the working tree included
if [ "$size" -gt "$limit" ]; then
    echo "the bundle is larger than 54 MiB" >&2
    exit 1
fi
