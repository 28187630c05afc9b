#!/usr/bin/env bash
# Puts cuda.h and the stub of libcuda into build/cuda, for gorgoniacu: gorgonia.org/cu
# needs both to compile. They come from Debian's nvidia-cuda-dev (component non-free).
# The script fetches 774 MB for these two files and keeps no other file. It does nothing
# if both files exist.
#
#   fetch-cuda-header.sh [--check]
#
# With --check nothing is fetched. The exit status is 0 if both files exist, and 3 if a
# file or a needed program is missing, which the last line names.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$PWD/build/cuda

if [ -s "$target/include/cuda.h" ] && [ -e "$target/lib/libcuda.so" ]; then exit 0; fi

missing() {
    echo "fetch-cuda-header: $*" >&2
    exit 3
}

if [ "${1:-}" = --check ]; then
    missing "build/cuda has no cuda.h and no libcuda.so: run scripts/fetch-cuda-header.sh"
fi
for tool in apt-get dpkg; do
    command -v "$tool" >/dev/null || missing "there is no $tool here: put CUDA's cuda.h, of 11.4 to 12, into build/cuda/include" \
        "and the stub libcuda.so into build/cuda/lib, as they are in the CUDA toolkit"
done
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -e "$keyring" ] || missing "there is no $keyring, which Debian's packages are checked with: install debian-archive-keyring"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/archives/partial"
chmod -R a+rX "$work" # apt fetches as another user
echo "deb [signed-by=$keyring] http://deb.debian.org/debian bookworm non-free" >"$work/sources.list"
# The machine's package sources and lists are not changed.
apt() {
    apt-get -q -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State::Lists="$work/lists" -o APT::Sandbox::User=root "$@" >"$work/log" 2>&1 || {
        tail -3 "$work/log" >&2
        return 1
    }
}
apt update || missing "Debian's package lists could not be fetched"
(cd "$work" && apt download nvidia-cuda-dev) || missing "nvidia-cuda-dev could not be fetched"
(cd "$work" && dpkg --fsys-tarfile nvidia-cuda-dev_*.deb | tar -x --wildcards './usr/include/cuda.h' './usr/lib/*/stubs/libcuda.so*') ||
    missing "nvidia-cuda-dev holds no cuda.h and no stub of libcuda"

mkdir -p "$target/include" "$target/lib"
cp "$work/usr/include/cuda.h" "$target/include/"
cp "$work"/usr/lib/*/stubs/libcuda.so* "$target/lib/"
echo "build/cuda: cuda.h of CUDA $(awk '/define CUDA_VERSION/ {printf "%d.%d", $3 / 1000, $3 % 1000 / 10}' "$target/include/cuda.h") and the stub of libcuda"
