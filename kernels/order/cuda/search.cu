// The kernels of searches in sorted words, and of merges.
#include "search.cuh"

#define SEARCH(name, Word, upper)                                                                                                                              \
    KERNEL LAUNCH_BOUNDS(search_threads)                                                                                                                       \
    search_##name(u32 *places, const Word *words, u32 n, const Word *samples, const Word *values, u64 count, u64 flip) {                                      \
        find_places<Word, upper>(places, {words, n, samples, (Word)flip}, values, count);                                                                      \
    }

#define SEARCH_OF(width, Word)                                                                                                                                 \
    SEARCH(lower_##width, Word, false)                                                                                                                         \
    SEARCH(upper_##width, Word, true)                                                                                                                          \
    KERNEL LAUNCH_BOUNDS(search_threads) search_samples_##width(Word *samples, const Word *words, u32 n) {                                                     \
        for (u64 i = thread_in_grid(); i * sample_distance < n; i += threads_per_grid())                                                                       \
            samples[i] = words[i * sample_distance];                                                                                                           \
    }                                                                                                                                                          \
    KERNEL LAUNCH_BOUNDS(search_threads) search_descent_##width(u64 *found, const Word *words, u64 flip, const i64 *counted, i64 capacity) {                   \
        const u64 n = device_rows(counted, capacity);                                                                                                          \
        for (u64 i = thread_in_grid() + 1; i < n; i += threads_per_grid())                                                                                     \
            if ((words[i] ^ (Word)flip) < (words[i - 1] ^ (Word)flip)) {                                                                                       \
                __nvvm_atom_min_gen_ull(found, i);                                                                                                             \
                return;                                                                                                                                        \
            }                                                                                                                                                  \
    }

// search_lower and search_upper find places; search_samples writes their samples.
// search_descent finds the first word that is less than the word before it. found is ~0
// before.
SEARCH_OF(32, u32)
SEARCH_OF(64, u64)

// merge_rows writes rows to their places in the merge of two lists of rows: behind the
// earlier rows of the same list, and those of the other list.
KERNEL LAUNCH_BOUNDS(search_threads) merge_rows(u32 *merged, const u32 *rows, const u32 *places, u64 n) {
    for (u64 i = thread_in_grid(); i < n; i += threads_per_grid())
        merged[i + places[i]] = rows[i];
}
