// Batcher's bitonic sort in shared memory, for as many rows as fit there.
#pragma once

#include "plan.cuh"

static constexpr u32 small_rows = 4096, small_threads = 1024;
// A thread has at most this many rows: Go's smallEach.
static constexpr u32 most_each = 4;

// sort_in_block sorts size elements, a power of two. before(i, j) reports whether element
// i comes before element j; swap(i, j) exchanges them. All threads of the block call it;
// it begins and ends with a barrier.
template <typename Before, typename Swap> DEVICE void sort_in_block(u32 size, Before before, Swap swap) {
    synchronize_block();
    for (u32 run = 2; run <= size; run *= 2)
        for (u32 distance = run / 2; distance > 0; distance /= 2) {
            for (u32 pair = thread_in_block(); pair < size / 2; pair += threads_per_block()) {
                const u32 low = pair / distance * 2 * distance + pair % distance, high = low + distance;
                const bool ascending = (low & run) == 0;
                if (ascending ? before(high, low) : before(low, high))
                    swap(low, high);
            }
            synchronize_block();
        }
}

// sort_small sorts at most small_rows rows in one block.
template <typename Key, Payload payload> DEVICE void sort_small(const Call &call, u32 source, bool numbered) {
    __shared__ Key keys[small_rows];
    __shared__ u16 rows[small_rows];
    const u32 n = (u32)call.count(), thread = thread_in_block(), threads = threads_per_block();
    u32 size = 1;
    while (size < n)
        size *= 2;
    for (u32 i = thread; i < size; i += threads) {
        keys[i] = i < n ? call.encoding.encode(call.key<Key>(source)[i]) : ~(Key)0;
        rows[i] = i;
    }
    const Field field = call.field;
    // Row numbers make the sort stable, and put what fills up the power of two last.
    sort_in_block(
        size,
        [&](u32 i, u32 j) {
            const Key a = field.of(keys[i]), b = field.of(keys[j]);
            return a != b ? a < b : rows[i] < rows[j];
        },
        [&](u32 i, u32 j) {
            const Key key = keys[i];
            const u16 row = rows[i];
            keys[i] = keys[j];
            rows[i] = rows[j];
            keys[j] = key;
            rows[j] = row;
        });
    if constexpr (payload == packed) {
        for (u32 i = thread; i < n; i += threads)
            call.rows0[i] = call.row(keys[i]);
        return;
    }
    if constexpr (payload == separate) {
        // The row numbers given may be in the memory of the result.
        u32 held[most_each];
        const u32 *const from = call.rows(source);
        for (u32 i = 0; i < most_each && i * threads + thread < n; i++)
            held[i] = numbered ? rows[i * threads + thread] : from[rows[i * threads + thread]];
        synchronize_block();
        for (u32 i = 0; i < most_each && i * threads + thread < n; i++)
            call.rows0[i * threads + thread] = held[i];
    }
    for (u32 i = thread; i < n; i += threads)
        call.key<Key>(0)[i] = call.encoding.decode(keys[i]);
}

// sample_keys sorts keys from all over the input, and counts the neighbours that have
// leading digits in common.
template <typename Key> DEVICE void sample_keys(const Call &call, u32 source) {
    __shared__ Key keys[small_rows];
    __shared__ u32 shared[most_digits + 1];
    const u64 n = call.count();
    const u32 thread = thread_in_block(), digits = call.field.digits();
    if (thread <= digits)
        shared[thread] = 0;
    // The distance is odd, so that it has no common factor with a period of the input
    // that is a power of two.
    const u64 distance = n / small_rows | 1;
    for (u32 i = thread; i < small_rows; i += small_threads)
        keys[i] = n == 0 ? 0 : call.field.of(call.encoding.encode(call.key<Key>(source)[i * distance % n]));
    sort_in_block(
        small_rows, [&](u32 i, u32 j) { return keys[i] < keys[j]; },
        [&](u32 i, u32 j) {
            const Key key = keys[i];
            keys[i] = keys[j];
            keys[j] = key;
        });
    for (u32 i = thread; i < small_rows - 1; i += small_threads) {
        const u64 difference = keys[i] ^ keys[i + 1];
        u32 common = digits;
        while (common > 0 && difference >> (digits - common) * digit_bits != 0)
            common--;
        for (u32 leading = 0; leading <= common; leading++)
            __nvvm_atom_add_gen_i((int *)&shared[leading], 1);
    }
    synchronize_block();
    if (thread <= digits)
        call.plan->shared[thread] = shared[thread];
}
