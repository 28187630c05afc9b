#!/usr/bin/env bash
# Runs gpuframe's tests on the backend of this folder, unchanged.
#
# They open "cuda:0" through internal/testing/devicetest; GPUFRAME_TEST_GPU=gorgonia:0
# makes them open this backend instead. Their binaries must contain it, but package
# gpuframe must not depend on it. The script therefore adds a test file that imports
# this package to each tested package, in build/gorgonia only: an overlay adds the file
# for the go command, and a workspace there joins the two modules.
#
#   workspace.sh write             write the workspace and the overlay
#   workspace.sh packages          list the packages with tests that open a GPU
#   workspace.sh go ARGUMENTS…     run go in the workspace, with the overlay
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=cgo-flags.sh
. gorgoniacu/cgo-flags.sh
root=$PWD
build=$root/build/gorgonia
module=github.com/gpuframe/gpuframe

packages() {
    GOWORK=off GOFLAGS='' go list -f '{{range .TestImports}}{{.}} {{end}}{{range .XTestImports}}{{.}} {{end}} {{.ImportPath}}' ./... |
        awk '/internal\/testing\/devicetest / && !/devicetest$/ {print $NF}' | sed "s|^$module/||; s|^$module\$|.|"
}

write() {
    mkdir -p "$build"
    local file folder name version separator=""
    # A required version of a module of the workspace would be fetched without its replacement.
    version=$(sed -n 's/^const Version = "\(.*\)"$/\1/p' version.go)
    printf 'go 1.26.0\n\nuse %s\nuse %s/gorgoniacu\n\nreplace %s %s => %s\n' "$root" "$root" "$module" "$version" "$root" >"$build/go.work"
    {
        printf '{"Replace": {'
        while read -r folder; do
            name=$(GOWORK=off go list -f '{{.Name}}' "./$folder")
            mkdir -p "$build/_files/$folder"
            printf 'package %s_test\n\nimport _ "%s/gorgoniacu"\n' "$name" "$module" >"$build/_files/$folder/gorgonia_test.go"
            # The paths of an overlay are clean.
            file=$folder/gorgonia_test.go
            file=${file#./}
            printf '%s\n  "%s": "%s"' "$separator" "$root/$file" "$build/_files/$file"
            separator=,
        done < <(packages)
        # The library for Python is not a test.
        mkdir -p "$build/_files/examples/pytorch"
        printf 'package main\n\nimport _ "%s/gorgoniacu"\n' "$module" >"$build/_files/examples/pytorch/gorgonia.go"
        printf '%s\n  "%s": "%s"' "$separator" "$root/examples/pytorch/gorgonia.go" "$build/_files/examples/pytorch/gorgonia.go"
        printf '\n}}\n'
    } >"$build/overlay.json"
}

case ${1:-} in
write) write ;;
packages) packages ;;
go)
    shift
    subcommand=$1
    shift
    cgo_flags
    GOWORK=$build/go.work exec go "$subcommand" -overlay "$build/overlay.json" "$@"
    ;;
*) sed -n '2,14s/^# \{0,1\}//p' "$0" && exit 2 ;;
esac
