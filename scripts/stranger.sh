#!/usr/bin/env bash
# Installs and uses the project as a new user does: with an empty GOPATH, and the modules from a proxy
# of the tree. Gets each module and vets a program with it, runs the program of README.md, installs both
# commands and runs them, builds a part of a release twice, and installs its wheel in a fresh virtual environment.
#
#   STRANGER_ALL=1     all modules; else those that the commands need, and a third of the others by rotation, of
#                      which programs with one are vetted
#   GPUFRAME_TURN=N    chooses the part
#
# Modules of others come from the machine's download cache, then from its GOPROXY. With -trimpath their compiled
# packages stay in the build cache, though the module cache is another one in each run.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
name=github.com/gpuframe/gpuframe
version=$(sed -n 's/^const Version = "\(.*\)"$/\1/p' version.go)
turn=${GPUFRAME_TURN:-0}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ "${CI_ALL:-}" = 1 ]; then STRANGER_ALL=1; fi

step() { printf 'stranger: %3d s: %s\n' "$SECONDS" "$*"; }
fail() { echo "stranger: FAILED: $*" >&2; exit 1; }

step "tests of tools, and a proxy of the tree"
go -C tools test -vet=off ./...
go -C tools run ./modules proxy "$work/proxy"

# go_stranger runs go as the stranger; settings of this session do not reach it, but caches do.
downloads=$(go env GOMODCACHE)/cache/download
proxies="file://$work/proxy,file://$downloads,$(go env GOPROXY)"
flags="$(go env GOFLAGS) -trimpath -modcacherw"
go_stranger() {
    env GOPATH="$work/go" GOMODCACHE="$work/go/pkg/mod" GOPROXY="$proxies" GOFLAGS="$flags" GOWORK=off GOSUMDB=off GOBIN="$work/bin" go "$@"
}

# program FOLDER PACKAGE makes a module of the stranger with a package.
program() {
    mkdir -p "$work/$1"
    cd "$work/$1"
    go_stranger mod init example.com/stranger 2>/dev/null
    go_stranger get "$2@$version" 2>"$work/output" || { cat "$work/output" >&2; fail "go get $2@$version"; }
}

# use PACKAGE NAME writes a program with an exported name of a package.
use() {
    step "go get $name/$1"
    program "use/$1" "$name/$1"
    printf 'package main\n\nimport used "%s/%s"\n\nvar value = used.%s\n\nfunc main() { _ = value }\n' "$name" "$1" "$2" >main.go
    go_stranger list -deps . >/dev/null || fail "go list of a program with $1"
}

vet() { go_stranger vet . || fail "go vet of a program with $1"; }

step "README.md"
program readme "$name"
awk '/^```go$/ {on = 1; next} /^```$/ {on = 0} on' "$root/README.md" >main.go
grep -q '^package main' main.go || fail "README.md has no program"
go_stranger mod tidy 2>"$work/output" || { cat "$work/output" >&2; fail "go mod tidy with the program of README.md"; }
vet README.md
go_stranger run . | tee "$work/output"
grep -q 'OSL.*22.5' "$work/output" || fail "the program of README.md prints no groups"
step "$(awk '{print $1}' go.sum | sort -u | wc -l) modules in its go.sum, $(go_stranger list -deps . | wc -l) packages"

# Packages and exported names. The commands compile the first two.
for package in "flight Dial" "sql/substrait Statement"; do
    # shellcheck disable=SC2086
    use $package
    vet "$package"
done
# C code of gorgoniacu needs cuda.h, so that it is vetted without cgo.
turns='lake/delta Open
lake/iceberg Open
sql/adbc NewDriver
objectstore/s3 New
objectstore/gcs New
objectstore/azure New
observe/opentelemetry Metrics
arrow18 Export
beam Distinct
gorgoniacu Do'
number=0
count=$(wc -l <<<"$turns")
while read -r package export; do
    chosen=${STRANGER_ALL:-}
    if [ $((turn % count)) -eq $number ]; then chosen=1; fi
    if [ -n "$chosen" ] || [ $((turn % 3)) -eq $((number % 3)) ]; then use "$package" "$export"; fi
    if [ -n "$chosen" ]; then
        if [ "$package" = gorgoniacu ]; then CGO_ENABLED=0 vet $package; else vet "$package"; fi
    fi
    number=$((number + 1))
done <<<"$turns"

step "the commands"
cd "$work"
go_stranger install "$name/cmd/gpuframe@$version"
bin/gpuframe --help >/dev/null
[[ $(bin/gpuframe version) == "gpuframe $version, go"* ]] || fail "gpuframe version prints $(bin/gpuframe version)"
bin/gpuframe query "$root/examples/data/flights-200k.arrow" --agg 'count()' | grep -q 200000 || fail "gpuframe query does not count"
bin/gpuframe serve --help >"$work/output" 2>&1 && fail "gpuframe serve runs a program that is not installed"
install=$(sed -n 's/.*install it with: go \(install .*\)$/\1/p' "$work/output")
[ -n "$install" ] || fail "gpuframe serve does not say what to install: $(cat "$work/output")"
step "go $install"
# shellcheck disable=SC2086
go_stranger $install
PATH="$work/bin:$PATH" bin/gpuframe serve --version | grep -q "$version" || fail "gpuframe serve does not run what it said to install"
if [ -n "${STRANGER_ALL:-}" ]; then
    go_stranger install "$name/distribution/cmd/gpuframe@$version"
    bin/gpuframe version
fi

# The program of each folder of the tutorial.
for folder in "$root"/docs/tutorial/*/; do
    if [ ! -e "$folder/main.go" ]; then continue; fi
    step "tutorial: $(basename "$folder")"
    program "tutorial/$(basename "$folder")" "$name"
    cp -r "$folder." .
    go_stranger mod tidy 2>"$work/output" || { cat "$work/output" >&2; fail "go mod tidy of the tutorial"; }
    go_stranger run . >/dev/null || fail "tutorial: $folder"
done
cd "$root"

# Without -trimpath it shares compiled packages with the other stages.
step "a part of a release, and its archive again"
part() { RELEASE=$1 RELEASE_SMALL=1 RELEASE_FLAGS='' ALLOW_CHANGES=1 scripts/release.sh "${@:2}" >/dev/null; }
part "$work/release" gpuframe-amd64 wheel
(cd "$work/release" && sha256sum --check --quiet SHA256SUMS)
part "$work/again" gpuframe-amd64
cmp "$work"/{release,again}/gpuframe-"$version"-linux-amd64.tar.gz || fail "files of the release differ when they are built again"
tar -xzf "$work/release/gpuframe-$version-linux-amd64.tar.gz" -C "$work"
"$work/gpuframe-$version-linux-amd64/gpuframe" version

step "the wheel"
python=$(for p in python3 /usr/bin/python3; do "$p" -c 'import venv, ensurepip' 2>/dev/null && echo "$p" && break; done || true)
if [ -z "$python" ]; then
    echo "stranger: no Python here has venv and ensurepip: the wheel is not installed"
else
    "$python" -m venv "$work/venv"
    "$work/venv/bin/pip" install --quiet --no-index --no-deps --disable-pip-version-check "$work"/release/*.whl
    (cd "$work" && GPUFRAME_VERSION=${version#v} venv/bin/python "$root/scripts/stranger.py")
fi
step "ok"
