#!/usr/bin/env bash
# Prints what a check of this tree has to run, one word a line:
#
#   ci-stages.sh            the stages with changed files, and another one by rotation
#   ci-stages.sh race       the packages that run under the race detector
#   ci-stages.sh race-part  the packages of which a third of the tests runs under it, by rotation
#   ci-stages.sh race-tests those tests, as a regular expression
#   ci-stages.sh plain      the packages that run without it
#   ci-stages.sh platforms  where types are checked: on 386, and on another platform by rotation
#   ci-stages.sh full       the packages that run at full sizes: changed ones, a fifth of the others
#   ci-stages.sh full-part  a fifth of them, by rotation
#   CI_ALL=1                all stages; every package under the race detector and at full sizes
#   CI_BASE=COMMIT          changed since this commit; without it since a day before the newest one
#   CI_TURN=N               instead of the number of commits
set -euo pipefail
cd "$(dirname "$0")/.."

# A stage and the files that can break it.
table='
race-kernels   kernels/|internal/(op/(parallel|lookback)|expr/codegen|keys/(hashtable|radix)|text/textrows|driver/(devicecode|streamwork))/
memcheck       (device|dlpack|arrowdev|share|memory|internal/(arrays/bitmap|base/forks|driver/nvtx|exchange/nccl))/
nocgo          (device|memory|column|buffer|kernels/expr|dlpack|arrowdev|share)/|kernels/[a-z_]*\.go$
python         (python|dlpack|arrowdev|share|internal/arrays/arrowipc|examples/(pytorch|sharing)|distribution|lake|tableformat|objectstore)/|[a-z_]*\.go$|scripts/stand-in/
ptx-check      .*\.(cu|cuh|ptx|ptx\.gz)$|kernels/build\.sh$
bundle-check   scripts/(gpu-bundle|run)\.sh$|(bench/)?go\.(mod|sum)$
gorgonia-check gorgoniacu/|device/|scripts/fetch-cuda-header\.sh$
arrow18        arrow18/|arrowdev/
flight         flight/|deploy/|sql/|internal/(arrays/arrowipc|query/querydata)/|share/
sql            sql/|bench/(workloads|internal/(answer|duckdb))/|[a-z_]*\.go$|kernels/(expr|group|join|window)/[a-z_]*\.go$
beam           beam/|internal/arrays/arrowipc/
opentelemetry  observe/
objectstore    objectstore/|bench/tpch/stores/|internal/testing/objecttest/|internal/io/source/(object|fetched|parquet|describe|request_limit)
lake           lake/|distribution/|tableformat/|objectstore/(s3|gcs|azure)/|sql/table_formats|internal/(command/|query/querydata/table_formats|io/source/(table_|parquet|object|fetched|describe|request_limit))|table_files
full           .*_test\.go$
deploy         deploy/
site           docs/|[A-Z]*\.md$|scripts/site/
stranger       (.*/)?go\.(mod|sum|work)$|tools/|scripts/(stranger|release)\.|(version\.go|README\.md|CHANGELOG\.md)$|docs/tutorial/|python/build_wheel\.py$
'
stages=$(sed -n 's/^\([a-z0-9-]\+\) .*/\1/p' <<<"$table")
turn=${CI_TURN:-$(git rev-list --count HEAD)}

# changed prints the files that differ from the base, files without a commit too.
changed() {
    local base=${CI_BASE:-}
    if [ -z "$base" ]; then
        base=$(git rev-list -1 --first-parent --before="$(($(git show -s --format=%ct HEAD) - 86400))" HEAD)
        base=${base:-$(git hash-object -t tree /dev/null)} # a tree without files
    fi
    { git diff --name-only "$base"; git ls-files -o --exclude-standard; } | sort -u
}

# choose_stages starts with the stage of the rotation, so that checks that run out of time
# leave out different ones.
choose_stages() {
    local files count number=0 name pattern
    files=$(changed)
    count=$(wc -l <<<"$stages")
    local -a chosen=()
    while read -r name pattern; do
        if [ -z "$name" ]; then continue; fi
        if [ "${CI_ALL:-}" = 1 ] || [ $((turn % count)) -eq $number ] || grep -qE "^($pattern)" <<<"$files"; then
            chosen[(number + count - turn % count) % count]=$name
        fi
        number=$((number + 1))
    done <<<"$table"
    printf '%s\n' "${chosen[@]}"
}

packages() { { go list -f '{{.Dir}}' ./... && go -C bench list -f '{{.Dir}}' ./...; } | sed "s|^$PWD|.|"; }

# watched prints the packages that start goroutines or contain C, in tests too. Families of
# kernels have their goroutines in internal/op/parallel; the stage race-kernels runs those.
watched() {
    git grep --untracked -lE '^\s*go (func\b|[a-zA-Z_.]+\()|\.Go\(|^import "C"' -- '*.go' | xargs -n1 dirname | sort -u |
        sed 's|^|./|; s|^\./\.$|.|' | awk -F/ '$2 != "kernels" || NF != 3 || $3 == "exchange"'
}

# Packages that take several times as long under the race detector, 3 to 7 minutes together.
large='. ./arrowdev ./column ./internal/expr/hosteval ./memory'

race_packages() {
    if [ "${CI_ALL:-}" = 1 ]; then
        packages | grep -v '^./internal/testing/lint$'
        return
    fi
    comm -12 <(packages | sort) <(watched | sort) | grep -vxF "$(tr ' ' '\n' <<<"$large")"
}

race_part() { if [ "${CI_ALL:-}" != 1 ]; then tr ' ' '\n' <<<"$large"; fi; }

# race_tests takes every third test of each folder.
race_tests() {
    local folder
    for folder in $large; do
        cat "$folder"/*_test.go | sed -nE 's/^func ((Test|Fuzz|Example)[A-Za-z0-9_]*)\(.*/\1/p' | grep -vx TestMain | sort |
            awk -v turn="$turn" '(NR + turn) % 3 == 0'
    done | sort -u | paste -sd '|' | sed 's/.*/^(&)$/'
}

plain_packages() {
    if [ "${CI_ALL:-}" = 1 ]; then
        echo ./internal/testing/lint
        return
    fi
    comm -23 <(packages | sort) <(watched | sort)
    race_part
}

platforms() {
    local others=(darwin/arm64 windows/amd64 linux/arm64)
    echo linux/386
    if [ "${CI_ALL:-}" = 1 ]; then printf '%s\n' "${others[@]}"; else echo "${others[turn % 3]}"; fi
}

# full_packages prints packages with tests that have other sizes without -short: a fifth, and with
# the argument "changed" those that have changed. With CI_ALL
# all run, because the other packages have only run under the race detector.
full_packages() {
    if [ "${CI_ALL:-}" = 1 ]; then packages; return; fi
    local files number=0 folder
    local -a others
    files=$(changed)
    mapfile -t others < <(git ls-files '*/go.mod' | xargs -n1 dirname | sed 's/^/:!/') # other modules
    git grep -lE 'testing\.Short\(\)|devicetest\.Sizes|columntest\.|optest\.' -- '*_test.go' "${others[@]}" |
        xargs -n1 dirname | sort -u | while read -r folder; do
        number=$((number + 1))
        if [ $(((turn + number) % 5)) -eq 0 ] || [ -n "$1" ] && grep -qE "^${folder/#./}/?([^/]+\.go|cuda/.*)$" <<<"$files"; then
            if [ "$folder" = . ]; then echo .; else echo "./$folder"; fi
        fi
    done
}

case ${1:-stages} in
stages) choose_stages ;;
race) race_packages ;;
race-part) race_part ;;
race-tests) race_tests ;;
platforms) platforms ;;
plain) plain_packages ;;
full) full_packages changed ;;
full-part) full_packages '' ;;
*) echo "ci-stages.sh: $1 is not known" >&2; exit 2 ;;
esac
