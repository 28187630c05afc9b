// The kernels that find and move ties.
#include "ties.cuh"

#define TIES(width, Word)                                                                                                                                      \
    KERNEL LAUNCH_BOUNDS(tie_threads)                                                                                                                          \
    order_ties_##width(const Word *words, const i64 *counted, i64 capacity, const u32 *slots, const u32 *rows, const u32 *runs, const u64 *places,             \
                       u64 first_place, u64 step, u32 drop, Ties out, Totals *totals, void *state) {                                                           \
        const Ties from = {(u32 *)slots, (u32 *)rows, (u32 *)runs, nullptr, (u64 *)places};                                                                    \
        find_ties<Word>({words, counted, capacity, from, first_place, step, drop}, out, totals, state);                                                        \
    }                                                                                                                                                          \
    KERNEL LAUNCH_BOUNDS(tie_threads)                                                                                                                          \
    order_move_##width(u32 *order, u32 *moved_rows, Word *moved_words, const Word *words, const u32 *slots, const u32 *rows, const u32 *numbers, u64 n) {      \
        for (u64 i = thread_in_grid(); i < n; i += threads_per_grid()) {                                                                                       \
            const u32 number = numbers[i], row = rows[number];                                                                                                 \
            moved_rows[i] = row;                                                                                                                               \
            moved_words[i] = words[number];                                                                                                                    \
            order[slots[i]] = row;                                                                                                                             \
        }                                                                                                                                                      \
    }

// order_ties finds the ties among rows or ties. order_move puts ties into the order that
// their numbers have after a sort, and writes the rows to their slots.
TIES(32, u32)
TIES(64, u64)

// order_runs writes the runs of ties in the order of their numbers.
KERNEL LAUNCH_BOUNDS(tie_threads) order_runs(u32 *out, const u32 *runs, const u32 *numbers, u64 n) {
    for (u64 i = thread_in_grid(); i < n; i += threads_per_grid())
        out[i] = runs[numbers[i]];
}

// order_numbers writes the numbers of all rows.
KERNEL LAUNCH_BOUNDS(tie_threads) order_numbers(u32 *out, u64 n) {
    for (u64 i = thread_in_grid(); i < n; i += threads_per_grid())
        out[i] = (u32)i;
}
