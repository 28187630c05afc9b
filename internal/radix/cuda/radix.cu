// The kernels of a radix sort, for keys of 32 and 64 bits.
#include "bitonic.cuh"
#include "histogram.cuh"
#include "pass.cuh"
#include "runs.cuh"

#define RADIX(width, Key, threads, items)                                                                                                                      \
    KERNEL LAUNCH_BOUNDS(histogram_threads) radix_histogram_##width(CALL_PARAMETERS, u32 source) {                                                             \
        const Call call = CALL_ARGUMENTS;                                                                                                                      \
        count_digits<Key>(call, source);                                                                                                                       \
    }                                                                                                                                                          \
    KERNEL LAUNCH_BOUNDS(small_threads) radix_sample_##width(CALL_PARAMETERS, u32 source) {                                                                    \
        const Call call = CALL_ARGUMENTS;                                                                                                                      \
        sample_keys<Key>(call, source);                                                                                                                        \
    }                                                                                                                                                          \
    RADIX_OF(width##_alone, Key, false, threads, items)                                                                                                        \
    RADIX_OF(width##_rows, Key, true, threads, items)

#define RADIX_OF(suffix, Key, numbers, threads, items)                                                                                                         \
    KERNEL LAUNCH_BOUNDS(threads) radix_pass_##suffix(CALL_PARAMETERS, u32 round, u32 slot, u32 keep_keys, u32 *state, u64 state_words, u32 number,            \
                                                      u32 portions, u32 tiles) {                                                                               \
        const Call call = CALL_ARGUMENTS;                                                                                                                      \
        pass<Key, numbers, threads, items>(call, round, slot, {state, state_words, number, portions, tiles}, keep_keys != 0);                                  \
    }                                                                                                                                                          \
    KERNEL LAUNCH_BOUNDS(small_threads) radix_small_##suffix(CALL_PARAMETERS, u32 source, u32 numbered) {                                                      \
        const Call call = CALL_ARGUMENTS;                                                                                                                      \
        sort_small<Key, numbers>(call, source, numbered != 0);                                                                                                 \
    }                                                                                                                                                          \
    KERNEL LAUNCH_BOUNDS(histogram_threads) radix_runs_##suffix(CALL_PARAMETERS) {                                                                             \
        const Call call = CALL_ARGUMENTS;                                                                                                                      \
        finish_runs<Key, numbers>(call);                                                                                                                       \
    }

// The rows of a tile: Go's tileRows.
RADIX(32, u32, 256, 16)
RADIX(64, u64, 256, 16)

KERNEL LAUNCH_BOUNDS(digit_values) radix_plan(CALL_PARAMETERS, u32 source, u32 numbered, u32 finishing) {
    const Call call = CALL_ARGUMENTS;
    plan_first(call, {source, numbered, finishing});
}

KERNEL LAUNCH_BOUNDS(warp_threads) radix_plan_again(CALL_PARAMETERS) {
    const Call call = CALL_ARGUMENTS;
    plan_second(call);
}
