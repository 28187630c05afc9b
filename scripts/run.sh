#!/usr/bin/env bash
# Runs gpuframe's tests and benchmarks on a machine with an NVIDIA driver. It
# needs bash, and python3 with torch for the hand-over test.
#
#   run.sh test       every test, on the host and on the first GPU; fails where
#                     the GPU cannot be used
#   run.sh gorgonia   gorgoniacu's tests, and those that use the GPU through it in
#                     place of gpuframe's own binding; for gpu-gorgonia.tar.xz
#   run.sh python     the Python package with the libraries that are here, and two
#                     Python processes that train on one copy of a table
#   run.sh sanitize   the tests that use the GPU, under compute-sanitizer, whose tool
#                     TOOL names: memcheck, racecheck, initcheck or synccheck
#   run.sh bench      the table of docs/performance.md
#   run.sh bench-memory [-only pairs,threads,…]
#                     the tables of docs/memory.md
#   run.sh bench-kernels [-only large,small,…]
#                     for gpu-kernels.tar.xz: the tables of docs/kernels.md, with PyTorch, CuPy and, where
#                     nvcc is there, CUB beside
#   run.sh bench-gorgonia
#                     what calls cost through either binding
#   run.sh bench-python
#                     what hand-overs cost in Python
#   run.sh demo       the demo
#   run.sh delays     a question to the real data, on every device
#
# PACKAGES="memory column" restricts test, gorgonia and sanitize. Whole logs go to $LOGS,
# or ./logs. The last line is "N passed, N failed", and the exit status tells
# whether anything failed.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
logs=${LOGS:-$here/logs}
mkdir -p "$logs"
export GPUFRAME_DATA=$here/data GPUFRAME_REQUIRE_CUDA=1
passed=0 failed=0

# packages lists the folders that have a test binary of the given name.
packages() {
    if [ -n "${PACKAGES:-}" ]; then
        tr ' ' '\n' <<<"$PACKAGES"
    else
        (cd "$here/tests" && find . -name "$1" -printf '%h\n' | sed 's|^\./||' | sort)
    fi
}

# count reads the results of one package's tests from its log.
count() {
    local log=$1 status=$2 good bad
    good=$(grep -cE '^--- PASS' "$log")
    bad=$(grep -cE '^--- FAIL' "$log")
    if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
    passed=$((passed + good)) failed=$((failed + bad))
    printf '  %4d passed %3d failed  %s\n' "$good" "$bad" "$3"
    if [ "$bad" -gt 0 ]; then
        grep -vE '^ *(=== |--- PASS|PASS$)' "$log" | head -60
    fi
}

# run_tests runs the test binaries of the given name.
run_tests() {
    local package log
    for package in $(packages "$1"); do
        log=$logs/${1%.test}_${package//\//_}.log
        (cd "$here/tests/$package" && timeout 300 "./$1" -test.v -test.timeout 280s) >"$log" 2>&1
        count "$log" $? "$package"
    done
}

# hand_over takes a library and the devices to hand columns over from.
hand_over() {
    local device log=$logs/handover.log library=$1
    for device in "${@:2}"; do
        if python3 "$here/handover.py" "$here/$library" "$device" >"$log" 2>&1 && grep -q '^handover: ok' "$log"; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
        fi
        sed 's/^/  /' "$log"
    done
}

# python_tests adds what pytest counts.
python_tests() {
    local log=$logs/python.log status
    export GPUFRAME_LIBRARY=$here/python/libgpuframe.so PYTHONPATH=$here/python
    export GPUFRAME_SUPPORT_TABLE=${GPUFRAME_SUPPORT_TABLE:-$logs/support.md}
    # jax would take three quarters of the GPU's memory for itself.
    export XLA_PYTHON_CLIENT_PREALLOCATE=false
    (cd "$here/python" && timeout 500 python3 -m pytest -q -rs -p no:cacheprovider tests) >"$log" 2>&1
    status=$?
    passed=$((passed + $(grep -oE '[0-9]+ passed' "$log" | tail -1 | grep -oE '[0-9]+' || echo 0)))
    failed=$((failed + $(tail -1 "$log" | grep -oE '[0-9]+ (failed|errors?)' | awk '{sum += $1} END {print sum + 0}')))
    grep -E '^(FAILED|ERROR|SKIPPED)' "$log" | cut -c1-160
    tail -1 "$log"
    if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then failed=1; fi
    log=$logs/sharing.log
    if (cd "$here/python" && timeout 120 "$here/sharing" -run python3 -script train.py) >"$log" 2>&1; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    sed 's/^/  /' "$log" | tail -20
}

# report says what else compute-sanitizer is told: only memcheck knows of API errors,
# which tests provoke on purpose.
report() {
    if [ "${TOOL:-memcheck}" = memcheck ]; then echo --report-api-errors no; fi
}

sanitize() {
    local package log
    # Kernels run one after the other here, so that what is broken by running at the
    # same time is not found, and one that waits for another would wait for ever.
    local serial='TestBrokenResources|WorkToCome|ComesFirst|TestTheEventOfAnExport|TestHold|TestManyStalls|TestTheEndOfTheTestOpensGates|TestTheWatchdog'
    for package in $(packages package.test); do
        # The host backend never calls the driver, so there is nothing to see.
        if [ "$package" = device/host ]; then continue; fi
        log=$logs/sanitize_${package//\//_}.log
        # Tests provoke errors of the driver on purpose; what is looked for is
        # bad memory accesses. SANITIZE names the tests to run.
        (cd "$here/tests/$package" && timeout 500 compute-sanitizer --tool "${TOOL:-memcheck}" $(report) --error-exitcode 9 \
            ./package.test -test.v -test.run "${SANITIZE:-.}" -test.skip "$serial" -test.timeout 480s) >"$log" 2>&1
        count "$log" $? "$package: $(grep -E '(ERROR|RACECHECK) SUMMARY' "$log" | tail -1)"
        grep -E 'Invalid __|Misaligned address|out of bounds|Error: .* hazard' "$log" | head -5
    done
}

# bench_kernels measures the peers first, for theirs is the other side of ratios.
bench_kernels() {
    local peers=$logs/peers.tsv large=134217728 small=1000
    : >"$peers"
    if command -v nvcc >/dev/null && nvcc -O3 -arch=native -o "$logs/peers" "$here/kernels/peers.cu"; then "$logs/peers" "$large" >>"$peers"; fi
    python3 "$here/kernels/peers.py" "$large" "$small" >>"$peers"
    "$here/bench-kernels" -peers "$peers" "$@"
}

case ${1:-test} in
test)
    run_tests package.test
    if [ -f "$here/libhandover.so" ]; then hand_over libhandover.so cuda:0 host; fi
    ;;
gorgonia)
    PACKAGES=gorgoniacu run_tests package.test
    export GPUFRAME_TEST_GPU=gorgonia:0
    run_tests gorgonia.test && hand_over libhandover-gorgonia.so gorgonia:0
    ;;
sanitize) sanitize ;;
bench) if "$here/bench" -device cuda:0; then passed=1; else failed=1; fi ;;
bench-memory) if "$here/bench-memory" -device cuda:0 "${@:2}"; then passed=1; else failed=1; fi ;;
bench-kernels) if bench_kernels "${@:2}"; then passed=1; else failed=1; fi ;;
bench-gorgonia) if "$here/bench-gorgonia"; then passed=1; else failed=1; fi ;;
python) python_tests ;;
bench-python)
    if GPUFRAME_LIBRARY=$here/python/libgpuframe.so PYTHONPATH=$here/python python3 "$here/python/bench/handover.py" "${@:2}"; then passed=1; else failed=1; fi
    ;;
demo) if "$here/demo"; then passed=1; else failed=1; fi ;;
delays) if "$here/delays"; then passed=1; else failed=1; fi ;;
*) sed -n '2,32s/^# \{0,1\}//p' "$0" && exit 2 ;;
esac
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
