// The kernels of a radix sort as macros, for keys of 32 and 64 bits and forms of a pass.
#pragma once

#include "bitonic.cuh"
#include "histogram.cuh"
#include "pass.cuh"
#include "restore.cuh"
#include "runs.cuh"

static constexpr u32 pass_threads = 512, pass_blocks = 2;

#define RADIX_HISTOGRAM(width, Key)                                                                                                                            \
    KERNEL RESIDENT_BOUNDS(histogram_threads, 5) radix_histogram_##width(CALL_PARAMETERS, u32 source) {                                                        \
        const Call call = CALL_ARGUMENTS;                                                                                                                      \
        count_digits<Key>(call, source);                                                                                                                       \
    }

#define RADIX(width, Key)                                                                                                                                      \
    RADIX_HISTOGRAM(width, Key)                                                                                                                                \
    KERNEL LAUNCH_BOUNDS(small_threads) radix_sample_##width(CALL_PARAMETERS, u32 source, u32 narrowing) {                                                     \
        const Call call = CALL_ARGUMENTS;                                                                                                                      \
        sample_keys<Key>(call, source, narrowing != 0);                                                                                                        \
    }                                                                                                                                                          \
    KERNEL LAUNCH_BOUNDS(restore_threads) radix_specials_##width(CALL_PARAMETERS, Part *parts) {                                                               \
        const Call call = CALL_ARGUMENTS;                                                                                                                      \
        count_specials<Key>(call, parts);                                                                                                                      \
    }                                                                                                                                                          \
    KERNEL LAUNCH_BOUNDS(restore_threads) radix_restore_##width(CALL_PARAMETERS, const Part *parts, Key *to) {                                                 \
        const Call call = CALL_ARGUMENTS;                                                                                                                      \
        restore_specials<Key>(call, parts, to);                                                                                                                \
    }

#define RADIX_PASS(suffix, Key, payload, items, masked)                                                                                                        \
    KERNEL RESIDENT_BOUNDS(pass_threads, pass_blocks)                                                                                                          \
    radix_pass_##suffix(CALL_PARAMETERS, u32 round, u32 slot, u32 keep_keys, u32 *state, u64 state_words, u32 number, u32 portions, u32 tiles) {               \
        const Call call = CALL_ARGUMENTS;                                                                                                                      \
        pass<Key, payload, pass_threads, items, masked>(call, round, slot, {state, state_words, number, portions, tiles}, keep_keys != 0);                     \
    }

#define RADIX_OF(suffix, Key, payload, items, masked)                                                                                                          \
    RADIX_PASS(suffix, Key, payload, items, masked)                                                                                                            \
    KERNEL LAUNCH_BOUNDS(small_threads) radix_small_##suffix(CALL_PARAMETERS, u32 source, u32 numbered, u32 keep_keys) {                                       \
        const Call call = CALL_ARGUMENTS;                                                                                                                      \
        sort_small<Key, payload>(call, source, numbered != 0, keep_keys != 0);                                                                                 \
    }

// Only keys of 64 bits have digits that are left to the last step.
#define RADIX_RUNS(suffix, Key, payload)                                                                                                                       \
    KERNEL RESIDENT_BOUNDS(histogram_threads, 4) radix_runs_##suffix(CALL_PARAMETERS) {                                                                        \
        const Call call = CALL_ARGUMENTS;                                                                                                                      \
        finish_runs<Key, payload>(call);                                                                                                                       \
    }

#define RADIX_PLAN                                                                                                                                             \
    KERNEL LAUNCH_BOUNDS(digit_values) radix_plan(CALL_PARAMETERS, Wanted wanted) {                                                                            \
        const Call call = CALL_ARGUMENTS;                                                                                                                      \
        plan_first(call, wanted);                                                                                                                              \
    }
