#!/usr/bin/env bash
# Runs gpuframe's own tests on the backend of this folder, unchanged.
#
# They open "cuda:0", by way of internal/testing/devicetest; GPUFRAME_TEST_GPU=gorgonia:0
# has them open this backend instead. For that their binaries must hold it, and
# package gpuframe must not depend on it. So each package is given one more test
# file, which imports this one and lies in build/gorgonia only: an overlay tells
# the go command of it, and a workspace there puts the two modules together.
#
#   workspace.sh write             write the workspace and the overlay
#   workspace.sh packages          list the packages whose tests open a GPU
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
        awk '/internal\/testing\/devicetest / && !/devicetest$/ {print $NF}' | sed "s|^$module/||"
}

write() {
    mkdir -p "$build"
    printf 'go 1.26.0\n\nuse %s\nuse %s/gorgoniacu\n' "$root" "$root" >"$build/go.work"
    local folder name separator=""
    {
        printf '{"Replace": {'
        while read -r folder; do
            name=$(GOWORK=off go list -f '{{.Name}}' "./$folder")
            mkdir -p "$build/_files/$folder"
            printf 'package %s_test\n\nimport _ "%s/gorgoniacu"\n' "$name" "$module" >"$build/_files/$folder/gorgonia_test.go"
            printf '%s\n  "%s": "%s"' "$separator" "$root/$folder/gorgonia_test.go" "$build/_files/$folder/gorgonia_test.go"
            separator=,
        done < <(packages)
        # The library that is handed to Python is no test.
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
