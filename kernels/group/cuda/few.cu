// Groups of few rows with integer keys, by a hash table in the shared memory of one block.
#include "source.cuh"

static constexpr u32 few_threads = 1024, few_rows = 2048, few_slots = 4096, few_words = few_rows / 32, no_row = 0xffffffff;

// number_few writes the number of each row's group, the first rows of the groups in order, and
// the number of groups. There are at most few_rows rows.
KERNEL LAUNCH_BOUNDS(few_threads)
number_few(u32 *numbers, u32 *list, i64 *count, const Source keys, const i64 *rows, i64 capacity) {
    // A slot has the first row of its key. The last one is for null.
    __shared__ u32 slots[few_slots + 1], firsts[few_words], before[few_words];
    const u32 n = (u32)device_rows(rows, capacity), thread = thread_in_block();
    for (u32 i = thread; i <= few_slots; i += few_threads)
        slots[i] = no_row;
    synchronize_block();
    constexpr u32 each = few_rows / few_threads;
    u32 slot[each];
#pragma unroll
    for (u32 i = 0; i < each; i++) {
        const u32 row = i * few_threads + thread;
        slot[i] = few_slots;
        if (row >= n)
            continue;
        if (keys.is_valid(row)) {
            const u64 key = keys.load(row);
            u32 at = (u32)(key * 0x9e3779b97f4a7c15ull >> 52);
            while (true) {
                u32 owner = *(volatile u32 *)&slots[at];
                if (owner == no_row)
                    owner = (u32)__nvvm_atom_cas_gen_i((int *)&slots[at], (int)no_row, (int)row);
                if (owner == no_row || keys.load(owner) == key)
                    break;
                at = at + 1 & few_slots - 1;
            }
            slot[i] = at;
        }
        if (*(volatile u32 *)&slots[slot[i]] > row)
            __nvvm_atom_min_gen_ui(&slots[slot[i]], row);
    }
    synchronize_block();
#pragma unroll
    for (u32 i = 0; i < each; i++) {
        const u32 row = i * few_threads + thread, word = ballot(row < n && slots[slot[i]] == row);
        if (lane_in_warp() == 0)
            firsts[row / 32] = word;
    }
    synchronize_block();
    if (thread < few_words) {
        u32 sum = 0;
        for (u32 i = 0; i < thread; i++)
            sum += (u32)__builtin_popcount(firsts[i]);
        before[thread] = sum;
        if (thread == few_words - 1)
            *count = (i64)(sum + (u32)__builtin_popcount(firsts[thread]));
    }
    synchronize_block();
#pragma unroll
    for (u32 i = 0; i < each; i++) {
        const u32 row = i * few_threads + thread;
        if (row >= n)
            continue;
        const u32 first = slots[slot[i]], number = before[first / 32] + (u32)__builtin_popcount(firsts[first / 32] & (1u << first % 32) - 1);
        numbers[row] = number;
        if (first == row)
            list[number] = row;
    }
}
