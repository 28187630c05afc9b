# Sourced by the scripts here: makes the compiler search build/cuda, which
# scripts/fetch-cuda-header.sh fills, for cuda.h and for libcuda or its stub, or names the
# missing file and returns 3. The folders of the caller's CGO_CFLAGS and CGO_LDFLAGS come
# first; the usual folder of the CUDA toolkit is searched too. Source it in the
# repository's root.
#
# It sets the compiler's variables and not CGO_CFLAGS and CGO_LDFLAGS: these are a part of
# every cgo package, so that the go command would build all packages again.

cgo_flags() {
    local compiler=${CC:-gcc} version=""
    if ! command -v "$compiler" >/dev/null; then
        echo "gorgonia: there is no $compiler here, which cgo needs" >&2
        return 3
    fi
    case ${CPATH:-} in
    *"$PWD/build/cuda"*) ;;
    *)
        export CPATH="$PWD/build/cuda/include${CPATH:+:$CPATH}"
        export LIBRARY_PATH="$PWD/build/cuda/lib${LIBRARY_PATH:+:$LIBRARY_PATH}"
        ;;
    esac
    # shellcheck disable=SC2086
    version=$(printf '#include <cuda.h>\nversion CUDA_VERSION\n' |
        "$compiler" ${CGO_CFLAGS:-} -I/usr/local/cuda/include -E -P -x c - 2>/dev/null | awk '/^version/ {print $2}')
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
        "$compiler" -x c - -o /dev/null ${CGO_LDFLAGS:-} -L/usr/local/cuda/lib64 -L/usr/local/cuda/lib64/stubs -Wl,--no-as-needed -lcuda 2>/dev/null; then
        echo "gorgonia: there is no libcuda.so to link with, nor its stub: run scripts/fetch-cuda-header.sh," \
            "or let CGO_LDFLAGS name its folder" >&2
        return 3
    fi
}
