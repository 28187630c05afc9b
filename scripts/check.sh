#!/usr/bin/env bash
# What CI runs after its installs: what fails cheaply first, then each package once, then the
# stages that scripts/ci-stages.sh chooses. It prints the seconds of each stage last.
#
#   CI_ALL=1        every stage, every package under the race detector and at full sizes
#   CI_BUDGET=1020  seconds after which no further stage starts but the one of the rotation; those
#                   left out are named. CI_ALL has no budget
#   CI_STARTED      seconds since 1970 at which the budget began; now, if unset
set -euo pipefail
cd "$(dirname "$0")/.."
started=${CI_STARTED:-$(date +%s)}
budget=${CI_BUDGET:-1020}
export GPUFRAME_TURN=${CI_TURN:-$(git rev-list --count HEAD)}
if [ "${CI_ALL:-}" = 1 ]; then budget=; unset GPUFRAME_TURN; fi

times=""
elapsed() { echo $(($(date +%s) - started)); }

# stage runs a target of make and notes its time; it ends the check if the target fails.
stage() {
    local began=$SECONDS
    echo "ci: $1"
    if ! make --no-print-directory "$@"; then
        echo "ci: FAILED: $1, after $(elapsed) s" >&2
        exit 1
    fi
    times+="$(printf '%6d s  %s' $((SECONDS - began)) "$1")"$'\n'
}

list() { scripts/ci-stages.sh "$1" | tr '\n' ' '; }

echo "ci: the parts of turn ${GPUFRAME_TURN:-none}"
stage quick PLATFORMS="$(list platforms)"
stage race PACKAGES="$(list race)"
if [ "${CI_ALL:-}" != 1 ]; then stage race-part; fi
stage test PACKAGES="$(list plain)"
stage examples
stages=$(scripts/ci-stages.sh)
if [ "${CI_ALL:-}" = 1 ]; then stages="portable $stages"; fi
first=${stages%%$'\n'*}
for name in $stages; do
    # The stranger's caches may be cold: then it takes minutes.
    cost=0
    if [ "$name" = stranger ]; then cost=400; fi
    if [ -n "$budget" ] && [ "$name" != "$first" ] && [ $(($(elapsed) + cost)) -ge "$budget" ]; then
        echo "ci: LEFT OUT after $(elapsed) s of $budget: $name (make $name)"
        continue
    fi
    case $name in
    full)
        part=full
        if [ -n "$budget" ] && [ "$(elapsed)" -ge "$budget" ]; then part=full-part; fi
        stage full PACKAGES="$(list $part)"
        ;;
    race-kernels) stage race-kernels ;;
    site) stage site-check ;;
    *) stage "$name" ;;
    esac
done
printf '%s%6d s  all of it\n' "$times" "$(elapsed)"
echo "check: ok"
