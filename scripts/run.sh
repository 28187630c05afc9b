#!/usr/bin/env bash
# Runs gpuframe's tests and benchmarks on a machine with an NVIDIA driver, from the
# bundle that scripts/gpu-bundle.sh writes. It needs bash, a C compiler, with which the
# first command builds the programs, and python3 for the Python parts.
#
#   run.sh build      builds the tests only; the other commands build the programs that they run
#   run.sh test       every test, on the host and on every GPU; fails if a GPU
#                     cannot be used. RACE=1: with the race detector. SHORT=1: at small
#                     sizes. CONTENDED=1: while
#                     other processes keep the GPUs busy; without it the tests of
#                     interchange run so, with CONTENDED=0 none
#   run.sh sanitize   the tests under compute-sanitizer with the tool of TOOL:
#                     memcheck, initcheck, racecheck or synccheck
#   run.sh python     the Python package with the installed libraries, and two
#                     Python processes that train on one copy of a table
#   run.sh soak       OPERATIONS operations (10^8) of the caching resource, every block
#                     verified, in PARALLEL processes (8)
#   run.sh pipelines  random pipelines of operators, GPU against host, for PIPELINES_S
#                     seconds (540), in PARALLEL processes (8)
#   run.sh two-gpus   test and python, on a machine with two GPUs or more
#   run.sh bench      the first table of docs/performance.md
#   run.sh bench-memory [-only pairs,threads,…]
#                     the tables of the memory stack in docs/measurements
#   run.sh bench-kernels [-only large,small,…]
#                     the tables of operators in docs/measurements, compared with PyTorch, CuPy and, if nvcc
#                     is installed, CUB
#   run.sh bench-take ways to take values by random indices, plain and partitioned;
#                     needs nvcc
#   run.sh bench-join ways to join by the number of rows, plain and partitioned; needs nvcc
#   run.sh bench-python
#                     the cost of hand-overs in Python
#   run.sh go-bench PACKAGE [REGEXP]
#                     the Go benchmarks of a package
#   run.sh demo       the demo
#   run.sh delays     a question to the real data, on every device
#   run.sh gorgonia   gorgoniacu's tests, and those that use the GPU through it in
#                     place of gpuframe's own binding; for gpu-gorgonia.tar.xz
#   run.sh bench-gorgonia
#                     the cost of calls through either binding
#
# PACKAGES="memory column" restricts test, gorgonia and sanitize; RUN is a regular
# expression of the tests to run. PARALLEL is the number of concurrent processes,
# LIMIT_S (570) the time limit of all of them together in seconds, PACKAGE_S (400) that
# of one. Complete logs go to $LOGS, or ./logs, and if $OUT is set into
# $OUT/logs.tar.xz. The last line is "N passed, N failed". The exit status is not zero
# if a test failed, was cut short or was not run.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
logs=${LOGS:-$here/logs}
src=$here/src
mkdir -p "$logs"
export GPUFRAME_DATA=$here/data GPUFRAME_REQUIRE_CUDA=${GPUFRAME_REQUIRE_CUDA:-1}
# NCCL often comes with Python packages, where the loader does not look.
if [ -z "${GPUFRAME_LIBNCCL:-}" ] && ! ldconfig -p | grep -q 'libnccl\.so\.2'; then
    GPUFRAME_LIBNCCL=$(python3 -c 'import glob, nvidia.nccl; print(glob.glob(nvidia.nccl.__path__[0] + "/lib/libnccl.so.2")[0])' 2>/dev/null) && export GPUFRAME_LIBNCCL
fi
deadline=$((SECONDS + ${LIMIT_S:-570}))
passed=0 failed=0
variant=plain flags=()
if [ -n "${RACE:-}" ]; then variant=race flags=(-race); fi
bin=$here/bin/$variant

# ---- building

# go_tool runs the bundle's own Go.
go_tool() {
    env GOROOT="$here/go" GOFLAGS='-mod=vendor -buildvcs=false' GOTOOLCHAIN=local GOPROXY=off GOWORK=off CGO_ENABLED=1 \
        GOCACHE="${GOCACHE:-$here/cache}" GOPATH="$here/gopath" "$here/go/bin/go" -C "$src" "$@"
}

# all_packages lists the folders of the packages with tests that use a device, "." for
# the root of the module. The backends run the conformance suite.
all_packages() {
    go_tool list -f '{{range .TestImports}}{{.}} {{end}}{{range .XTestImports}}{{.}} {{end}} {{.ImportPath}}' ./... |
        awk '/internal\/testing\/devicetest |backend\/backendtest / && !/backendtest$/ {sub(/^github.com\/gpuframe\/gpuframe$/, ".", $NF); sub(/^github.com\/gpuframe\/gpuframe\//, "", $NF); print $NF}'
}

# packages lists the folders to run the tests of.
packages() {
    if [ -n "${PACKAGES:-}" ]; then
        tr ' ' '\n' <<<"$PACKAGES"
    elif [ -d "$src" ]; then
        cat "$here/packages"
        if [ -d "$here/tests/gorgoniacu" ]; then echo gorgoniacu; fi
    else
        (cd "$here/tests" && find . -name "$1" -printf '%h\n' | sed 's|^\./||' | sort)
    fi
}

# build_binaries builds the tests of the packages, one a line. The root package's binary would
# have the name of that of cmd/gpuframe.
build_binaries() {
    local others
    others=$(grep -vx './\.' <<<"$1")
    if [ "$others" != "$1" ]; then
        go_tool test -c -vet=off "${flags[@]}" -ldflags '-s -w' -o "$bin/root.test" . || return
    fi
    if [ -n "$others" ]; then
        # shellcheck disable=SC2086
        go_tool test -c -vet=off "${flags[@]}" -ldflags '-s -w' -o "$bin/" $others
    fi
}

# build_tests builds the test binaries, each named after the last part of its folder.
build_tests() {
    if [ ! -d "$src" ]; then return; fi
    local began=$SECONDS wanted
    mkdir -p "$bin"
    all_packages >"$here/packages" || exit 1
    if [ -n "$(sed 's|.*/||' "$here/packages" | sort | uniq -d)" ]; then
        echo "two packages' folders have the same last part: their test binaries would, too" >&2
        exit 1
    fi
    wanted=$(packages package.test | grep -vx gorgoniacu | sed 's|^|./|')
    if ! build_binaries "$wanted" >"$logs/build.log" 2>&1; then
        cat "$logs/build.log" >&2
        echo "the tests cannot be built" >&2
        exit 1
    fi
    echo "built the tests of $(wc -w <<<"$wanted") packages in $((SECONDS - began)) s"
}

# program builds a command of the tree, with further flags, and prints its path.
program() {
    local target=$here/bin/$1
    if [ -d "$src" ]; then
        mkdir -p "$here/bin"
        go_tool build "${@:3}" -ldflags '-s -w' -o "$target" "$2" >&2 || exit 1
    else
        target=$here/$1
    fi
    echo "$target"
}

# test_binary prints the path of a package's test binary, test_folder its working
# folder.
test_binary() {
    local name=${1##*/}
    if [ "$name" = . ]; then name=root; fi
    if [ -x "$here/tests/$1/$2" ]; then echo "$here/tests/$1/$2"; else echo "$bin/$name.test"; fi
}
test_folder() {
    if [ -d "$src/$1" ]; then echo "$src/$1"; else echo "$here/tests/$1"; fi
}

# ---- other processes on the GPUs

# contend begins to keep the GPUs busy: with copies and fills, and, if torch is installed, with a
# process of torch that only copies. They are no jobs of this shell, so that it does not wait for
# them.
contenders=()
contend() {
    local busy log=$logs/contend.log
    busy=$(program contend ./internal/testing/contend) || exit 1
    : >"$log"
    contenders+=("$("$busy" >>"$log" 2>&1 & echo $!)")
    if python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
        contenders+=("$(python3 -c '
import torch
pageable, pinned = torch.empty(1 << 24), torch.empty(1 << 24).pin_memory()
print("copies", flush=True)
while True:
    pinned.copy_(pinned.cuda(non_blocking=True), non_blocking=True)
    pageable.cuda()' >>"$log" 2>&1 & echo $!)")
    fi
    for ((i = 0; i < 300; i++)); do
        if [ "$(grep -cE '^(busy|copies)$' "$log")" -ge ${#contenders[@]} ]; then
            echo "${#contenders[@]} other processes keep the GPUs busy"
            return
        fi
        sleep 0.1
    done
    cat "$log" >&2
    echo "no other process keeps the GPUs busy" >&2
    failed=$((failed + 1))
}

# uncontend ends these processes. One that has ended by itself counts as failed.
uncontend() {
    local pid
    for pid in ${contenders[@]+"${contenders[@]}"}; do
        if ! kill "$pid" 2>/dev/null; then
            cat "$logs/contend.log" >&2
            echo "a process that keeps the GPUs busy ended early" >&2
            failed=$((failed + 1))
        fi
    done
    contenders=()
}
trap uncontend EXIT

# interchange are the packages, and the files of Python tests, with tests of order and of lifetimes
# between libraries.
interchange='^(arrowdev|dlpack|share|python/test_(arrival|arrow|dlpack|interfaces|lifetime|peers|arrow_peers))$'

# contended LIST FUNCTION… calls a function with each of the names: with those of interchange, or with
# CONTENDED=1 with all, while the GPUs are busy, and with the others alone.
contended() {
    local name list=$1 busy=$interchange
    shift
    case ${CONTENDED:-} in
    0) busy='^$' ;;
    ?*) busy=. ;;
    esac
    list=$(sed '/^$/d' <<<"$list")
    if grep -qE "$busy" <<<"$list"; then
        contend
        for name in $(grep -E "$busy" <<<"$list"); do "$@" "$name"; done
        wait
        uncontend
    fi
    for name in $(grep -vE "$busy" <<<"$list"); do "$@" "$name"; done
}

# ---- running several at a time

# job NAME GROUP FOLDER COMMAND… runs a command in the background as soon as fewer than
# $parallel run, prints a line when it ends, and leaves its figures for the table.
parallel=${PARALLEL:-4}
job() {
    local name=$1 group=$2 folder=$3 left limit
    while [ "$(jobs -rp | wc -l)" -ge "$parallel" ]; do wait -n; done
    left=$((deadline - SECONDS)) limit=${PACKAGE_S:-400}
    if [ "$limit" -gt "$left" ]; then limit=$left; fi
    if [ "$left" -lt 5 ]; then
        echo "$group 0 1 0 not-run $name" >"$results/$name"
        echo "  $name: not run, the time was up"
        return
    fi
    run_job "$name" "$group" "$folder" "$limit" "${@:4}" &
}

run_job() {
    local name=$1 group=$2 folder=$3 limit=$4 log=$logs/$1.log began=$SECONDS status good bad note=ok
    shift 4
    (cd "$folder" && exec timeout -k 10 "$limit" "$@") >"$log" 2>&1
    status=$?
    read -r good bad < <(counts "$log")
    if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
        note=cut-in-$(grep -E '^=== RUN' "$log" | tail -1 | awk '{print $3}')
        bad=$((bad + 1))
    elif [ "$status" -ne 0 ]; then
        note=failed
        if [ "$bad" -eq 0 ]; then bad=1 note=exit-$status; fi
    fi
    echo "$group $good $bad $((SECONDS - began)) $note $name" >"$results/$name"
    {
        printf '  %4d passed %3d failed %4d s  %s %s %s\n' "$good" "$bad" $((SECONDS - began)) "$name" "${note/ok/}" \
            "$(grep -E '(ERROR|RACECHECK) SUMMARY' "$log" | tail -1 | sed 's/^=* *//')"
        if [ "$bad" -gt 0 ]; then
            grep -E 'Invalid __|Misaligned address|out of bounds|Uninitialized|Error: .* hazard|WARNING: DATA RACE|^panic: |^fatal error: ' "$log" | sort | uniq -c | head -5
            grep -vE '^ *(=== |--- (PASS|SKIP)|PASS$)' "$log" | head -"${LINES_OF_LOG:-40}"
        fi
    } >"$log.brief"
    cat "$log.brief"
}

# counts prints the numbers of passed and failed tests of a log: those of pytest's last line, or
# else those of Go's tests.
counts() {
    local summary
    summary=$(grep -E '^(=+ )?[0-9]+ (passed|failed|skipped|deselected|xfailed|xpassed|warning|error).* in [0-9.]+s' "$1" | tail -1)
    if [ -n "$summary" ]; then
        awk -v RS='[,=]' '$2 == "passed" {good = $1} $2 == "failed" || $2 ~ /^errors?$/ {bad += $1} END {print good + 0, bad + 0}' <<<"$summary"
    else
        echo "$(grep -cE '^--- PASS' "$1") $(grep -cE '^--- FAIL' "$1")"
    fi
}

begin_jobs() {
    results=$logs/results-$1
    rm -rf "$results" && mkdir -p "$results"
}

# end_jobs waits for all jobs and prints a table of their groups.
end_jobs() {
    wait
    printf '\n%-32s %6s %6s %7s  %s\n' package passed failed seconds notes
    cat "$results"/* | awk '
        {good[$1] += $2; bad[$1] += $3; took[$1] += $4; if ($5 != "ok") notes[$1] = notes[$1] " " $5 "(" $6 ")"}
        END {for (g in good) printf "%-32s %6d %6d %7d %s\n", g, good[g], bad[g], took[g], notes[g]}' | sort
    passed=$((passed + $(cat "$results"/* | awk '{n += $2} END {print n + 0}')))
    failed=$((failed + $(cat "$results"/* | awk '{n += $3} END {print n + 0}')))
}

# ---- tests

run_tests() {
    begin_jobs "${1%.test}"
    contended "$(packages "$1")" test_package "$1"
    end_jobs
}

# test_package BINARY PACKAGE runs the tests of one package.
test_package() {
    job "${1%.test}_${2//\//_}" "$2" "$(test_folder "$2")" \
        "$(test_binary "$2" "$1")" -test.v ${SHORT:+-test.short} -test.run "${RUN:-.}" -test.timeout "${PACKAGE_S:-400}s"
}

# shards prints the tests of a package as regular expressions of some tests each.
shards() {
    "$1" -test.list "${RUN:-.}" 2>/dev/null | grep -E '^(Test|Fuzz|Example)' |
        awk -v most="$2" '{all[NR] = $1} END {
            n = int((NR + most - 1) / most)
            for (s = 0; s < n; s++) {
                line = ""
                for (i = s + 1; i <= NR; i += n) line = line (line == "" ? "" : "|") all[i]
                print "^(" line ")$"
            }}'
}

# sanitize runs the tests in many processes: compute-sanitizer makes each slow.
sanitize() {
    local package binary tests n tool=${TOOL:-memcheck} more=()
    parallel=${PARALLEL:-$(nproc)}
    # Tests provoke errors of the driver on purpose; only invalid memory accesses count.
    # memcheck alone has this setting.
    if [ "$tool" = memcheck ]; then more=(--report-api-errors no); fi
    # Kernels run serially under the sanitizer. It cannot find errors of concurrency,
    # and a kernel that waits for another would hang.
    local serial='TestBrokenResources|WorkToCome|ComesFirst|TestTheEventOfAnExport|TestHold|TestManyStalls|TestTheEndOfTheTestOpensGates|TestTheWatchdog'
    if ! command -v compute-sanitizer >/dev/null; then
        echo "there is no compute-sanitizer here" >&2
        exit 1
    fi
    begin_jobs "$tool"
    for package in $(packages package.test); do
        # The host backend never calls the driver.
        if [ "$package" = device/host ]; then continue; fi
        binary=$(test_binary "$package" package.test)
        n=0
        while IFS= read -r tests; do
            n=$((n + 1))
            job "${tool}_${package//\//_}_$n" "$package" "$(test_folder "$package")" \
                compute-sanitizer --tool "$tool" "${more[@]}" --require-cuda-init no --error-exitcode 9 \
                "$binary" -test.v -test.run "$tests" -test.skip "$serial" -test.timeout "${PACKAGE_S:-400}s"
        done < <(cd "$(test_folder "$package")" && shards "$binary" "${SHARD:-8}")
    done
    end_jobs
}

# several NAME COMMAND… runs a command in $parallel processes, each with its number in
# the variable GPUFRAME_SEED.
several() {
    local i name=$1 folder=$2
    shift 2
    begin_jobs "$name"
    for ((i = 1; i <= parallel; i++)); do
        job "${name}_$i" "$name" "$folder" env GPUFRAME_SEED="$i" "$@"
    done
    end_jobs
}

soak() {
    local total=${OPERATIONS:-100000000}
    parallel=${PARALLEL:-8}
    # Two resources in each process.
    PACKAGE_S=${PACKAGE_S:-560}
    GPUFRAME_SOAK_OPERATIONS=$(((total + 2 * parallel - 1) / (2 * parallel))) several soak "$src/internal/testing/soak" \
        "$bin/soak.test" -test.v -test.run "TestRun\$/caching/${GPUFRAME_TEST_GPU:-cuda:0}\$" -test.timeout 600s
    grep -hE 'operations' "$logs"/soak_*.log | head -40
}

# ---- other commands

# hand_over takes a library and the devices to hand columns over from.
hand_over() {
    local device log=$logs/handover.log library=$1 script=$src/examples/pytorch/handover.py
    if [ ! -e "$script" ]; then script=$here/handover.py; fi
    for device in "${@:2}"; do
        if timeout 120 python3 "$script" "$library" "$device" >"$log" 2>&1 && grep -q '^handover: ok' "$log"; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
        fi
        sed 's/^/  /' "$log"
    done
}

# python_environment builds the small library: the bundle has no modules of stores and table formats.
python_environment() {
    GPUFRAME_LIBRARY=$(program libgpuframe.so ./python/library -buildmode=c-shared)
    export GPUFRAME_LIBRARY PYTHONPATH=$src/python PYTHONDONTWRITEBYTECODE=1
    # By default jax reserves three quarters of the GPU's memory.
    export XLA_PYTHON_CLIENT_PREALLOCATE=false
}

# python_tests runs the tests of the Python package. Each file runs in a separate process, so that a
# crash ends only that one.
python_tests() {
    local file sharing log=$logs/sharing.log
    python_environment
    export GPUFRAME_SUPPORT_TABLE=${GPUFRAME_SUPPORT_TABLE:-$logs/support.md}
    sharing=$(program sharing ./examples/sharing)
    parallel=${PARALLEL:-4}
    begin_jobs python
    contended "$(for file in "$src"/python/tests/test_*.py; do echo "python/$(basename "$file" .py)"; done)" test_python
    end_jobs
    grep -hE '^(FAILED|ERROR|SKIPPED)' "$logs"/python_*.log | cut -c1-160
    if (cd "$src/python" && timeout 120 "$sharing" -run python3 -script "$src/examples/sharing/train.py") >"$log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
    sed 's/^/  /' "$log" | tail -20
}

# test_python FILE runs the Python tests of a file.
test_python() {
    job "${1//\//_}" "$1" "$src/python" \
        bash -c 'python3 -X faulthandler -m pytest -q -rs -p no:cacheprovider "tests/$0.py" -k "$1"
            status=$?
            if [ "$status" -eq 5 ]; then status=0; fi # no test was chosen
            exit "$status"' "${1#python/}" "${RUN:-test}"
}

# bench_kernels measures the peers first, because the ratios need their figures.
bench_kernels() {
    local peers=$logs/peers.tsv large=134217728 small=1000 folder=$src/bench/kernels bench
    bench=$(program bench-kernels ./bench/kernels)
    : >"$peers"
    if command -v nvcc >/dev/null && nvcc -O3 -arch=native -o "$logs/peers" "$folder/peers.cu"; then
        if [ "$*" = "-only sort" ]; then "$logs/peers" sort "$large" >>"$peers"; else "$logs/peers" "$large" >>"$peers"; fi
    fi
    if [ "$*" != "-only sort" ]; then python3 "$folder/peers.py" "$large" "$small" >>"$peers"; fi
    "$bench" -peers "$peers" "$@"
}

bench_take() {
    nvcc -O3 -std=c++17 -arch=native -o "$logs/partitioned_take" "$src/bench/kernels/partitioned_take.cu" && "$logs/partitioned_take"
}

bench_join() {
    nvcc -O3 -std=c++17 -arch=native -o "$logs/partitioned_join" "$src/bench/kernels/partitioned_join.cu" && "$logs/partitioned_join"
}

# counted runs one command that passes or fails.
counted() {
    if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

go_bench() {
    local package=$1
    PACKAGES=$package build_tests
    (cd "$(test_folder "$package")" && "$(test_binary "$package" package.test)" -test.run '^$' -test.bench "${2:-.}" -test.benchmem -test.timeout 560s)
}

# finish packs the logs and prints the final line of every command.
finish() {
    if [ -n "${OUT:-}" ]; then tar -C "$(dirname "$logs")" -cJf "$OUT/logs.tar.xz" "$(basename "$logs")"; fi
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
    exit
}

case ${1:-test} in
build) build_tests && passed=1 ;;
test | two-gpus)
    if [ "${1:-test}" = two-gpus ]; then export GPUFRAME_REQUIRE_GPUS=2; fi
    build_tests
    run_tests package.test
    if [ -z "${PACKAGES:-}" ] && [ -d "$src" ]; then
        hand_over "$(program libhandover.so ./examples/pytorch -buildmode=c-shared)" cuda:0 host
    fi
    if [ "${1:-test}" = two-gpus ]; then python_tests; fi
    ;;
gorgonia)
    PACKAGES=gorgoniacu run_tests package.test
    export GPUFRAME_TEST_GPU=gorgonia:0
    run_tests gorgonia.test
    hand_over "$here/libhandover-gorgonia.so" gorgonia:0
    ;;
sanitize)
    build_tests
    sanitize
    ;;
soak)
    PACKAGES=internal/testing/soak build_tests
    soak
    ;;
pipelines)
    PACKAGES=${PIPELINES_PACKAGE:-internal/testing/pipelinetest} build_tests
    parallel=${PARALLEL:-8}
    PACKAGE_S=${PACKAGE_S:-565} GPUFRAME_PIPELINES_S=${PIPELINES_S:-540} several pipelines "$src/${PIPELINES_PACKAGE:-internal/testing/pipelinetest}" \
        "$(test_binary "${PIPELINES_PACKAGE:-internal/testing/pipelinetest}" package.test)" -test.v -test.run "${RUN:-Pipeline}" -test.timeout 600s
    ;;
bench) counted "$(program bench ./bench)" -device cuda:0 ;;
bench-memory) counted "$(program bench-memory ./bench/memory)" -device cuda:0 "${@:2}" ;;
bench-kernels) counted bench_kernels "${@:2}" ;;
bench-take) counted bench_take ;;
bench-join) counted bench_join ;;
bench-gorgonia) counted "$here/bench-gorgonia" ;;
go-bench) counted go_bench "${@:2}" ;;
python) python_tests ;;
bench-python)
    python_environment
    counted python3 "$src/python/bench/handover.py" "${@:2}"
    ;;
demo) counted "$(program demo ./examples/demo)" ;;
delays) counted "$(program delays ./examples/delays)" ;;
*) sed -n '2,55s/^# \{0,1\}//p' "$0" && exit 2 ;;
esac
finish
