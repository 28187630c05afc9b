#!/usr/bin/env bash
# Writes build/gpu-peers.tar.xz: the benchmarks that compare with DuckDB in the same call, as
# programs for a GPU machine without Go. One xz stream with a long window finds what the
# programs have in common, DuckDB above all.
#
#   gpu-peers.sh                     build/gpu-peers.tar.xz
#   GPU_PEERS=tpch gpu-peers.sh      only the programs whose names contain the text
#
# There: tar -xf gpu-peers.tar.xz && cd gpu-peers && ./tpch-duckdb -sf 10 -rounds 2
set -euo pipefail
cd "$(dirname "$0")/.."
out=$PWD/build/gpu-peers
rm -rf "$out" && mkdir -p "$out"

# program builds the package in a module's folder.
program() {
    if [[ $1 == *${GPU_PEERS:-}* ]]; then
        go -C "$2" build -trimpath -ldflags '-s -w' -o "$out/$1" "$3"
    fi
}
program tpch-duckdb bench/tpch/duckdb .
program dbbenchmark-duckdb bench/dbbenchmark/duckdb .
program clickbench-duckdb bench/clickbench/duckdb .
program workloads-duckdb bench/workloads/duckdb .
program tpch bench ./tpch
program dbbenchmark bench ./dbbenchmark
program workloads bench ./workloads
program csv bench ./csv
program kernels bench ./kernels
program bench bench .
git describe --always --dirty >"$out/version"

tar -C build --sort=name -cf - gpu-peers | xz -T1 --x86 --lzma2=preset=6,dict=256MiB >build/gpu-peers.tar.xz
echo "build/gpu-peers.tar.xz: $(($(stat -c %s build/gpu-peers.tar.xz) >> 20)) MiB"
