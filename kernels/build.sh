#!/bin/sh
# Compiles the CUDA sources below to the PTX that lies beside each of them and is
# committed, so that neither building nor running gpuframe takes a compiler. The PTX of
# the folders cuda is packed, unless a file FILE.ptx is there: FILE.ptx.packed, which
# internal/op/kernelset/pack -d prints; see internal/op/kernelset/archive.
#
#   kernels/build.sh           compile all and write the PTX
#   kernels/build.sh --lineinfo [FILE...]
#                              the same with line tables, for profilers and
#                              compute-sanitizer; not to be committed
#   kernels/build.sh FILE...   compile these
#   kernels/build.sh --check   compile all elsewhere and compare; exit 1 if the
#                              committed PTX is not what the sources give
#
# CLANG names another compiler than clang++-19. The output depends on its version,
# and on nothing else of the machine.
set -eu

clang=${CLANG:-clang++-19}

usage() {
    echo "usage: $0 [--check | [--lineinfo] [FILE.cu...]]" >&2
    exit 2
}

# compile SOURCE OUTPUT
#
# sm_70 and PTX 7.0 are the oldest that gpuframe supports; the driver compiles the
# PTX for the device it finds. A file FILE_sm80.cu is of kernels that newer devices have
# in addition. Line tables would double the size of the PTX. The
# paths in them are relative to the root of the module. Comments and
# the tabs before operands are a fifth of what clang writes; they are cut off, except
# the marked lines of templates (//@).
compile() {
    target=sm_70
    case $1 in *_sm80.cu) target=sm_80 ;; esac
    # shellcheck disable=SC2086 # $lines is a list of options
    "$clang" -x cuda --cuda-device-only --cuda-gpu-arch=$target --cuda-feature=+ptx70 \
        -nocudainc -nocudalib -Ikernels/include \
        -std=c++17 -O3 -Wall -Wextra -Wno-parentheses -Werror $lines \
        -fno-verbose-asm -S -o - "$1" >"$2.whole" &&
        sed -E -e 's|[[:space:]]*//([^@].*)?$||' -e '/^$/d' -e 's|^(\t[^ ]+) \t|\1 |' "$2.whole" >"$2" && rm "$2.whole"
}

check=false
lines=
case ${1-} in
--check) check=true && shift && [ $# -eq 0 ] || usage ;;
--lineinfo) lines="-gline-directives-only -ffile-prefix-map=$(realpath "$(dirname "$0")/..")/= -fdebug-compilation-dir=." && shift ;;
esac
case ${1-} in
'') sources= ;;
-*) usage ;;
*) sources=$(realpath --relative-to="$(dirname "$0")/.." "$@") ;;
esac

cd "$(dirname "$0")/.."
: "${sources:=$(find arrowdev internal kernels -name '*.cu' | LC_ALL=C sort)}"

if ! command -v "$clang" >/dev/null; then
    echo "$0: $clang is not installed. On Debian and Ubuntu:" >&2
    echo "    apt-get install --no-install-recommends clang-19" >&2
    exit 2
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

stale=
for source in $sources; do
    ptx=${source%.cu}.ptx
    case $source in
    */cuda/*) [ -e "$ptx" ] || ptx=$ptx.packed ;;
    esac
    # Through a file of its own, so that a failure leaves no half-written PTX.
    compile "$source" "$scratch/out.ptx"
    case $ptx in
    *.packed)
        [ -x "$scratch/pack" ] || go build -o "$scratch/pack" ./internal/op/kernelset/pack
        [ -e "$ptx" ] && "$scratch/pack" -d <"$ptx" >"$scratch/old.ptx" 2>/dev/null || : >"$scratch/old.ptx"
        "$scratch/pack" -n <"$scratch/out.ptx" >"$scratch/normal.ptx" && mv "$scratch/normal.ptx" "$scratch/out.ptx"
        ;;
    *) cat "$ptx" >"$scratch/old.ptx" 2>/dev/null || : >"$scratch/old.ptx" ;;
    esac
    if cmp -s "$scratch/out.ptx" "$scratch/old.ptx"; then
        continue
    fi
    if $check; then
        stale="$stale $ptx"
        diff -u "$scratch/old.ptx" "$scratch/out.ptx" | head -n 40 >&2 || true
    elif [ "$ptx" = "${ptx%.packed}" ]; then
        cat "$scratch/out.ptx" >"$ptx"
    else
        "$scratch/pack" <"$scratch/out.ptx" >"$scratch/out.ptx.packed"
        cat "$scratch/out.ptx.packed" >"$ptx"
    fi
done

# The tables of entries and the layouts, which tests keep fresh.
if ! $check; then
    for family in $(for source in $sources; do dirname "$(dirname "$source")"; done | sort -u); do
        if [ -e "$family/entries.go" -o -e "$family/layouts.gen.go" ] && command -v go >/dev/null; then go generate "./$family"; fi
    done
fi

if [ -n "$stale" ]; then
    echo "$0: not what the sources give:$stale" >&2
    echo "Run kernels/build.sh and commit what it writes. Compiled here with:" >&2
    "$clang" --version | head -n 1 >&2
    exit 1
fi
