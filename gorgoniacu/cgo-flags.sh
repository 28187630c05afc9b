# Sourced by the scripts here: sets CGO_CFLAGS and CGO_LDFLAGS to the folders of cuda.h
# and of libcuda or its stub, or names the missing file and returns 3. It searches the
# folders of the caller's flags, build/cuda, which scripts/fetch-cuda-header.sh fills,
# and the usual folder of the CUDA toolkit. Source it in the repository's root.

cgo_flags() {
    local compiler=${CC:-gcc} version=""
    if ! command -v "$compiler" >/dev/null; then
        echo "gorgonia: there is no $compiler here, which cgo needs" >&2
        return 3
    fi
    # Repeated flags would be different flags for the go command's cache.
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
