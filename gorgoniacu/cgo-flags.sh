# Sourced by the scripts here: sets CGO_CFLAGS and CGO_LDFLAGS to where cuda.h and
# libcuda or its stub lie, or says what is missing and returns 3. It looks where the
# caller's own flags point, into build/cuda, which scripts/fetch-cuda-header.sh
# fills, and to the usual folder of the CUDA toolkit. It expects to be sourced in
# the repository's root.

cgo_flags() {
    local compiler=${CC:-gcc} version=""
    if ! command -v "$compiler" >/dev/null; then
        echo "gorgonia: there is no $compiler here, which cgo needs" >&2
        return 3
    fi
    # Twice the same flags would be other flags to the go command's cache.
    case ${CGO_CFLAGS:-} in
    *"$PWD/build/cuda"*) ;;
    *)
        export CGO_CFLAGS="${CGO_CFLAGS:--g -O2} -I$PWD/build/cuda/include"
        export CGO_LDFLAGS="${CGO_LDFLAGS:--g -O2} -L$PWD/build/cuda/lib"
        ;;
    esac
    # shellcheck disable=SC2086
    version=$(printf '#include <cuda.h>\nversion CUDA_VERSION\n' |
        "$compiler" $CGO_CFLAGS -I/usr/local/cuda/include -E -P -x c - 2>/dev/null | awk '/^version/ {print $2}')
    if [ -z "$version" ]; then
        echo "gorgonia: there is no cuda.h: run scripts/fetch-cuda-header.sh, or let CGO_CFLAGS name its folder" >&2
        return 3
    fi
    if [ "$version" -lt 11040 ] || [ "$version" -ge 13000 ]; then
        echo "gorgonia: cuda.h is of CUDA $((version / 1000)).$((version % 1000 / 10)); gorgonia.org/cu 0.9.6 takes 11.4 to 12:" \
            "run scripts/fetch-cuda-header.sh" >&2
        return 3
    fi
    # shellcheck disable=SC2086
    if ! echo 'int main(void) { return 0; }' |
        "$compiler" -x c - -o /dev/null $CGO_LDFLAGS -L/usr/local/cuda/lib64 -L/usr/local/cuda/lib64/stubs -Wl,--no-as-needed -lcuda 2>/dev/null; then
        echo "gorgonia: there is no libcuda.so to link with, nor its stub: run scripts/fetch-cuda-header.sh," \
            "or let CGO_LDFLAGS name its folder" >&2
        return 3
    fi
}
