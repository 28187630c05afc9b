#!/usr/bin/env bash
# Writes build/gpu.tar.xz: everything that scripts/run.sh needs to test and measure
# gpuframe on a machine with an NVIDIA driver and a C compiler but no Go. It holds this
# tree with its dependencies, and the part of the Go distribution that builds them.
# run.sh builds there, in a minute on 16 cores. The tests of 34 packages, compiled here,
# would be half a gigabyte, and twice as large as this when compressed.
#
#   gpu-bundle.sh              build/gpu.tar.xz
#   GPU_BUNDLE_MIB=60          the size in MiB above which it warns; a tenth above it fails
#   GPU_BUNDLE_DATA=flights-3m.parquet   data files to add from examples/data or ../shared/data
set -euo pipefail
cd "$(dirname "$0")/.."
limit=${GPU_BUNDLE_MIB:-56} # a call takes 64 MiB, including the working tree
out=$PWD/build/gpu
src=$out/src
rm -rf "$out" && mkdir -p "$src" "$out/data" "$out/tests"

# The current tree, committed or not, without nested modules. The data is a separate upload, done once. Without its go.mod
# bench is a part of the main module there, so that one vendor folder serves both.
modules=$(git ls-files -co --exclude-standard '*/go.mod' | xargs -n1 dirname | grep -vx bench | paste -sd '|')
git ls-files -co --exclude-standard | grep -vE "^(examples/data|\.ci|$modules)/|^bench/go\.(mod|sum|work)$" |
    while IFS= read -r file; do if [ -e "$file" ]; then printf '%s\0' "$file"; fi; done |
    tar --null -T - -cf - | tar -C "$src" -xf -
find "$src" -name __pycache__ -prune -exec rm -rf {} +
go -C "$src" mod vendor
# go mod vendor omits folders without Go files, such as that of cdata's C headers.
cdata=github.com/apache/arrow/go/v17/arrow/cdata
cp -r "$(go list -f '{{.Dir}}' "$cdata")/arrow" "$src/vendor/$cdata/"
chmod -R u+w "$src/vendor/$cdata"

# The part of the Go distribution that builds the packages and their tests, with the
# race detector too.
root=$(go env GOROOT)
target=$(go env GOOS)_$(go env GOARCH)
mkdir -p "$out/go/bin" "$out/go/pkg/tool/$target" "$out/go/src/vendor"
cp "$root/VERSION" "$root/go.env" "$out/go/"
cp "$root/bin/go" "$out/go/bin/"
for tool in asm cgo compile link vet; do cp "$root/pkg/tool/$target/$tool" "$out/go/pkg/tool/$target/"; done
cp -r "$root/pkg/include" "$out/go/pkg/"
cp "$root/src/go.mod" "$root/src/go.sum" "$out/go/src/"
cp "$root/src/vendor/modules.txt" "$out/go/src/vendor/"
{
    go -C "$src" list -mod=vendor -deps -test -f '{{if .Standard}}{{.Dir}}{{end}}' ./...
    go -C "$src" list -mod=vendor -race -deps -test -f '{{if .Standard}}{{.Dir}}{{end}}' ./...
} | sort -u | while IFS= read -r folder; do
    if [ ! -d "$folder" ]; then continue; fi
    mkdir -p "$out/go/${folder#"$root"/}"
    find "$folder" -maxdepth 1 -type f ! -name '*_test.go' -exec cp {} "$out/go/${folder#"$root"/}/" \;
done
find "$out/go/src" -name '*.syso' ! -path "*/amd64v1/race_linux.syso" -delete

cp scripts/run.sh "$out/"
for folder in examples/data ../shared/data; do
    for file in flights-200k.arrow ${GPU_BUNDLE_DATA:-}; do
        if [ -f "$folder/$file" ]; then cp "$folder/$file" "$out/data/"; fi
    done
done
git describe --always --dirty >"$out/version"

# The module over gorgonia.org/cu is compiled here, because its header is not on the GPU
# machine. gorgoniacu/gpu-bundle.sh writes a separate bundle, which runs gpuframe's
# tests on it.
# shellcheck source=../gorgoniacu/cgo-flags.sh
. gorgoniacu/cgo-flags.sh
if scripts/fetch-cuda-header.sh --check 2>/dev/null && cgo_flags; then
    mkdir -p "$out/tests/gorgoniacu"
    go -C gorgoniacu test -c -trimpath -ldflags '-s -w' -o "$out/tests/gorgoniacu/package.test" .
    go -C gorgoniacu build -trimpath -ldflags '-s -w' -o "$out/bench-gorgonia" ./bench
else
    echo "the bundle is without gorgoniacu: run scripts/fetch-cuda-header.sh first if it is to be in it"
fi

tar -C build --sort=name -cf - gpu | xz -T0 --x86 --lzma2=preset=6,dict=64MiB >build/gpu.tar.xz
size=$(stat -c %s build/gpu.tar.xz)
echo "build/gpu.tar.xz: $((size >> 20)) MiB"
if [ "$size" -gt $((limit << 20)) ]; then
    echo "gpu-bundle: WARNING: the bundle is larger than $limit MiB" >&2
    if [ "$size" -gt $(((limit << 20) * 11 / 10)) ]; then exit 1; fi
fi
