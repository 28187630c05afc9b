#!/usr/bin/env bash
# Prints what a check of this tree has to run, one word a line:
#
#   ci-stages.sh            the stages whose files have changed, and another one in turn
#   ci-stages.sh race       the packages that run under the race detector
#   ci-stages.sh plain      the packages that run without it
#   ci-stages.sh full       the packages that run at full sizes: changed ones, a fifth of the others
#   CI_ALL=1                all stages; every package under the race detector and at full sizes
#   CI_BASE=COMMIT          changed since this commit; without it since a day before the newest one
#   CI_TURN=N               instead of the number of commits
set -euo pipefail
cd "$(dirname "$0")/.."

# A stage and the files that can break it.
table='
race-kernels   kernels/|internal/(parallel|codegen|hashtable|radix|lookback|textrows|devicecode|streamwork)/
memcheck       (device|dlpack|arrowdev|share|memory|internal/(bitmap|forks|nvtx|nccl))/
nocgo          (device|memory|column|buffer|kernels/expr|dlpack|arrowdev|share)/|kernels/[a-z_]*\.go$
python         (python|dlpack|arrowdev|share|internal/arrowipc|examples/(pytorch|sharing))/|[a-z_]*\.go$|scripts/stand-in/
ptx-check      .*\.(cu|cuh|ptx|ptx\.gz)$|kernels/build\.sh$
bundle-check   scripts/(gpu-bundle|run)\.sh$|go\.(mod|sum)$
gorgonia-check gorgoniacu/|device/|scripts/fetch-cuda-header\.sh$
arrow18        arrow18/|arrowdev/
flight         flight/|internal/(arrowipc|querydata)/|share/
beam           beam/|internal/arrowipc/
opentelemetry  observe/
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

# choose_stages starts with the stage in turn, so that a check that runs out of time leaves
# out others each time.
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

packages() { go list -f '{{.Dir}}' ./... | sed "s|^$PWD|.|"; }

# watched prints the packages with goroutines or C of their own, tests included. Families of
# kernels have their goroutines in internal/parallel; the stage race-kernels runs those.
watched() {
    git grep --untracked -lE '^\s*go (func\b|[a-zA-Z_.]+\()|\.Go\(|^import "C"' -- '*.go' | xargs -n1 dirname | sort -u |
        sed 's|^|./|; s|^\./\.$|.|' | awk -F/ '$2 != "kernels" || NF != 3 || $3 == "exchange"'
}

race_packages() {
    if [ "${CI_ALL:-}" = 1 ]; then packages | grep -v '^./internal/lint$'; else comm -12 <(packages | sort) <(watched | sort); fi
}

# plain_packages adds to the others memory, whose explorations are too slow under the race
# detector.
plain_packages() {
    if [ "${CI_ALL:-}" = 1 ]; then echo ./internal/lint; else comm -23 <(packages | sort) <(watched | sort) && echo ./memory; fi
}

# full_packages prints packages whose tests have other sizes without -short. With CI_ALL all
# run, because those without such sizes have not run without the race detector.
full_packages() {
    if [ "${CI_ALL:-}" = 1 ]; then packages; return; fi
    local files number=0 folder
    files=$(changed)
    git grep -lE 'testing\.Short\(\)|devicetest\.Sizes|columntest\.|optest\.' -- '*_test.go' ':!bench' ':!flight' ':!beam' |
        xargs -n1 dirname | sort -u | while read -r folder; do
        number=$((number + 1))
        if [ $(((turn + number) % 5)) -eq 0 ] || grep -qE "^${folder/#./}/?([^/]+\.go|cuda/.*)$" <<<"$files"; then
            if [ "$folder" = . ]; then echo .; else echo "./$folder"; fi
        fi
    done
}

case ${1:-stages} in
stages) choose_stages ;;
race) race_packages ;;
plain) plain_packages ;;
full) full_packages ;;
*) echo "ci-stages.sh: $1 is not race, plain or full" >&2; exit 2 ;;
esac
