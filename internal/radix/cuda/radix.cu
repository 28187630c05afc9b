// The kernels of a radix sort, for keys of 32 and 64 bits.
#include "bitonic.cuh"
#include "histogram.cuh"
#include "pass.cuh"
#include "restore.cuh"
#include "runs.cuh"

#define RADIX(width, Key)                                                                                                                                      \
    KERNEL LAUNCH_BOUNDS(histogram_threads) radix_histogram_##width(CALL_PARAMETERS, u32 source) {                                                             \
        const Call call = CALL_ARGUMENTS;                                                                                                                      \
        count_digits<Key>(call, source);                                                                                                                       \
    }                                                                                                                                                          \
    KERNEL LAUNCH_BOUNDS(small_threads) radix_sample_##width(CALL_PARAMETERS, u32 source) {                                                                    \
        const Call call = CALL_ARGUMENTS;                                                                                                                      \
        sample_keys<Key>(call, source);                                                                                                                        \
    }                                                                                                                                                          \
    KERNEL LAUNCH_BOUNDS(restore_threads) radix_specials_##width(CALL_PARAMETERS, Part *parts) {                                                               \
        const Call call = CALL_ARGUMENTS;                                                                                                                      \
        count_specials<Key>(call, parts);                                                                                                                      \
    }                                                                                                                                                          \
    KERNEL LAUNCH_BOUNDS(restore_threads) radix_restore_##width(CALL_PARAMETERS, const Part *parts, Key *to) {                                                 \
        const Call call = CALL_ARGUMENTS;                                                                                                                      \
        restore_specials<Key>(call, parts, to);                                                                                                                \
    }

#define RADIX_PASS(suffix, Key, payload, items)                                                                                                                \
    KERNEL RESIDENT_BOUNDS(pass_threads, pass_blocks)                                                                                                          \
    radix_pass_##suffix(CALL_PARAMETERS, u32 round, u32 slot, u32 keep_keys, u32 *state, u64 state_words, u32 number, u32 portions, u32 tiles) {               \
        const Call call = CALL_ARGUMENTS;                                                                                                                      \
        pass<Key, payload, pass_threads, items>(call, round, slot, {state, state_words, number, portions, tiles}, keep_keys != 0);                             \
    }

#define RADIX_OF(suffix, Key, payload, items)                                                                                                                  \
    RADIX_PASS(suffix, Key, payload, items)                                                                                                                    \
    KERNEL LAUNCH_BOUNDS(small_threads) radix_small_##suffix(CALL_PARAMETERS, u32 source, u32 numbered, u32 keep_keys) {                                       \
        const Call call = CALL_ARGUMENTS;                                                                                                                      \
        sort_small<Key, payload>(call, source, numbered != 0, keep_keys != 0);                                                                                 \
    }

// Only keys of 64 bits have digits that are left to the last step.
#define RADIX_RUNS(suffix, Key, payload)                                                                                                                       \
    KERNEL RESIDENT_BOUNDS(histogram_threads, 4) radix_runs_##suffix(CALL_PARAMETERS) {                                                                           \
        const Call call = CALL_ARGUMENTS;                                                                                                                      \
        finish_runs<Key, payload>(call);                                                                                                                       \
    }

static constexpr u32 pass_threads = 512, pass_blocks = 2;

RADIX(32, u32)
RADIX(64, u64)

// The rows of a thread: Go's passItems. More spill registers.
RADIX_OF(32_alone, u32, nothing, 24)
RADIX_OF(32_rows, u32, separate, 16)
RADIX_OF(32_wide, u32, wide, 12)
RADIX_OF(64_alone, u64, nothing, 14)
RADIX_OF(64_rows, u64, separate, 12)
RADIX_OF(64_wide, u64, wide, 12)
RADIX_OF(64_packed, u64, packed, 14)
RADIX_PASS(64_paired, u64, paired, 14)

RADIX_RUNS(64_alone, u64, nothing)
RADIX_RUNS(64_rows, u64, separate)
RADIX_RUNS(64_wide, u64, wide)

KERNEL LAUNCH_BOUNDS(digit_values) radix_plan(CALL_PARAMETERS, u32 source, u32 numbered, u32 finishing) {
    const Call call = CALL_ARGUMENTS;
    plan_first(call, {source, numbered, finishing});
}

KERNEL LAUNCH_BOUNDS(warp_threads) radix_plan_again(CALL_PARAMETERS) {
    const Call call = CALL_ARGUMENTS;
    plan_second(call);
}
