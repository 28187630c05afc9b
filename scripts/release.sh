#!/usr/bin/env bash
# Builds the files of a release into build/release: the commands for linux/amd64 and linux/arm64, the wheel
# of Python, a bill of materials and checksums. The same commit and tools give the same bytes.
#
#   release.sh                    everything
#   release.sh gpuframe-amd64 …   some of gpuframe-amd64, gpuframe-arm64, serve-amd64, serve-arm64, wheel
#   RELEASE=FOLDER                instead of build/release
#   RELEASE_SMALL=1               the command and the library without stores and formats of tables
#   CC_ARM64=aarch64-linux-gnu-gcc  the C compiler for arm64. Without one, programs for arm64 have only the
#                                 host device, and their names end with -host
#   RELEASE_FLAGS='-trimpath -buildvcs=false'  flags of go build. With -trimpath paths of this machine stay out
#                                 of the files; without it the tests of the script share its compiled packages
#   ALLOW_CHANGES=1               also with files that are not committed
#
# Before: go -C tools run ./modules set VERSION, CHANGELOG.md, make check-all, and make api-record.
# After: tags of the same commit, one for each module; the script prints them.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${ALLOW_CHANGES:-}" ] && [ -n "$(git status --porcelain)" ]; then
    echo "release: the tree has changes that are not committed; ALLOW_CHANGES=1 builds it nevertheless" >&2
    exit 1
fi
release=${RELEASE:-build/release}
version=$(sed -n 's/^const Version = "\(.*\)"$/\1/p' version.go)
epoch=$(git show -s --format=%ct HEAD)
if [ $# -eq 0 ]; then set -- gpuframe-amd64 gpuframe-arm64 serve-amd64 serve-arm64 wheel; fi
mkdir -p "$release"
release=$(cd "$release" && pwd)
programs=$(mktemp -d)
trap 'rm -rf "$programs"' EXIT

# The section of this version exists.
grep -qF "## [${version#v}]" CHANGELOG.md || { echo "release: CHANGELOG.md has no section ${version#v}" >&2; exit 1; }
go -C tools run ./modules sync -check

read -ra build_flags <<<"${RELEASE_FLAGS--trimpath -buildvcs=false}"
build() { env -C "$1" go build "${build_flags[@]}" -ldflags='-s -w -buildid=' "${@:2}"; }

# command_archive NAME ARCHITECTURE MODULE PACKAGE writes an archive with the program, LICENSE and README.md.
command_archive() {
    local name=$1 architecture=$2 suffix="" folder
    local -a environment=(GOOS=linux GOARCH="$architecture" CGO_ENABLED=1)
    if [ "$architecture" != "$(go env GOARCH)" ]; then
        local compiler=${CC_ARM64:-aarch64-linux-gnu-gcc}
        if command -v "$compiler" >/dev/null; then
            environment+=(CC="$compiler")
        else
            echo "release: WARNING: there is no C compiler for $architecture: $name for it has only the host device" >&2
            environment+=(CGO_ENABLED=0)
            suffix=-host
        fi
    fi
    folder=$name-$version-linux-$architecture$suffix
    mkdir -p "$programs/$folder"
    (export "${environment[@]}" && build "$3" -o "$programs/$folder/$name" "$4")
    cp LICENSE README.md CHANGELOG.md "$programs/$folder/"
    tar -C "$programs" --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --mode='u=rwX,go=rX' -cf - "$folder" |
        gzip -9n >"$release/$folder.tar.gz"
    echo "$release/$folder.tar.gz"
}

wheel() {
    local python
    for python in python3 /usr/bin/python3; do if command -v "$python" >/dev/null; then break; fi; done
    if [ -n "${RELEASE_SMALL:-}" ]; then
        build . -buildmode=c-shared -o "$programs/libgpuframe.so" ./python/library
    else
        build distribution -buildmode=c-shared -o "$programs/libgpuframe.so" ./library
    fi
    "$python" python/build_wheel.py "$programs/libgpuframe.so" "$release"
}

for target in "$@"; do
    case $target in
    gpuframe-*)
        module=distribution
        if [ -n "${RELEASE_SMALL:-}" ]; then module=.; fi
        command_archive gpuframe "${target#gpuframe-}" $module ./cmd/gpuframe
        ;;
    serve-*) command_archive gpuframe-serve "${target#serve-}" flight ./cmd/gpuframe-serve ;;
    wheel) wheel ;;
    *) echo "release: $target is not known" >&2 && exit 2 ;;
    esac
done

mapfile -t built < <(find "$programs" -type f \( -name gpuframe -o -name gpuframe-serve -o -name '*.so' \) | LC_ALL=C sort)
go -C tools run ./sbom "$version" "${built[@]}" >"$release/gpuframe-$version.cdx.json"
(cd "$release" && find . -maxdepth 1 -type f ! -name SHA256SUMS -printf '%P\n' | LC_ALL=C sort | xargs -d '\n' sha256sum >SHA256SUMS)
echo "$release/SHA256SUMS"
echo "tags: $version and, for each module that others import, its folder and the version:"
go -C tools run ./modules list | awk '$1 != "." && $1 !~ /^(bench|tools|objectstore\/servers|sql\/duckdb)(\/|$)/ && $1 !~ /internal/ {print "  " $1 "/" $3}'
