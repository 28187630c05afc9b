// Batcher's bitonic sort of as many rows as one block holds.
#pragma once

#include "plan.cuh"

static constexpr u32 small_rows = 4096, small_threads = 1024;
// A thread has one row or, of more than small_threads, this many.
static constexpr u32 most_each = 4;

// Few is the rows of a thread, in registers: row i has the index i · threads + thread. Rows
// with equal keys are in the order of their numbers.
template <typename Key, u32 each> struct Few {
    Key key[each];
    u32 row[each];

    METHOD static bool less(Key a, u32 a_row, Key b, u32 b_row) { return a != b ? a < b : a_row < b_row; }

    // keep replaces row i by another one if that belongs in its place.
    METHOD void keep(u32 i, bool smaller, Key other, u32 other_row) {
        if (less(other, other_row, key[i], row[i]) == smaller) {
            key[i] = other;
            row[i] = other_row;
        }
    }

    // sort sorts the rows of the block, of a power of two of threads. It may be called only
    // by whole warps, and uses the shared memory between barriers.
    METHOD void sort(Key *keys, u16 *rows) {
        const u32 threads = threads_per_block(), thread = thread_in_block();
        for (u32 run = 2; run <= each * threads; run *= 2)
            for (u32 distance = run / 2; distance > 0; distance /= 2) {
                if (distance >= threads) {
#pragma unroll
                    for (u32 i = 0; i < each; i++)
#pragma unroll
                        for (u32 j = i + 1; j < each; j++)
                            if ((j - i) * threads == distance && ((i ^ j) & i) == 0) {
                                const bool ascending = (i * threads & run) == 0;
                                if (less(key[j], row[j], key[i], row[i]) == ascending) {
                                    const Key held = key[i];
                                    const u32 held_row = row[i];
                                    key[i] = key[j];
                                    row[i] = row[j];
                                    key[j] = held;
                                    row[j] = held_row;
                                }
                            }
                    continue;
                }
                if (distance >= warp_threads) {
#pragma unroll
                    for (u32 i = 0; i < each; i++) {
                        keys[i * threads + thread] = key[i];
                        rows[i * threads + thread] = row[i];
                    }
                    synchronize_block();
                }
#pragma unroll
                for (u32 i = 0; i < each; i++) {
                    const u32 index = i * threads + thread;
                    const bool smaller = ((index & distance) == 0) == ((index & run) == 0);
                    if (distance >= warp_threads)
                        keep(i, smaller, keys[index ^ distance], rows[index ^ distance]);
                    else {
                        const u32 lane = lane_in_warp() ^ distance;
                        keep(i, smaller, shuffle_value(key[i], lane), shuffle_value(row[i], lane));
                    }
                }
                if (distance >= warp_threads)
                    synchronize_block();
            }
    }
};

// sort_few sorts at most each rows for each thread in one block.
template <typename Key, Payload payload, u32 each> DEVICE void sort_few(const Call &call, u32 source, bool numbered, bool keep_keys, Key *keys, u16 *rows) {
    const u32 n = (u32)call.count(), thread = thread_in_block(), threads = threads_per_block();
    typedef typename Form<Key, payload>::Number Number;
    constexpr bool numbers = payload == separate || payload == wide;
    const Key *const from = call.key<Key>(source);
    Few<Key, each> few;
#pragma unroll
    for (u32 i = 0; i < each; i++) {
        few.row[i] = i * threads + thread;
        // Absent rows come last: no other ones have higher numbers.
        few.key[i] = ~(Key)0;
        if (few.row[i] < n)
            few.key[i] = call.field.of(call.is_null(few.row[i]) ? (Key)call.null_key : call.encoding.encode(from[few.row[i]]));
    }
    few.sort(keys, rows);
    // The result may be in the memory of the input.
    Key value[each];
    Number number[each];
#pragma unroll
    for (u32 i = 0; i < each; i++) {
        const bool there = i * threads + thread < n;
        // A null may have the key of a value: it must not have its place.
        value[i] = !there ? 0 : call.valid != nullptr ? call.encoding.decode(few.key[i]) : from[few.row[i]];
        if constexpr (numbers)
            number[i] = numbered ? few.row[i] : there ? call.rows<Number>(source)[few.row[i]] : 0;
    }
    synchronize_block();
#pragma unroll
    for (u32 i = 0; i < each; i++) {
        const u32 at = i * threads + thread;
        if (at >= n)
            continue;
        if constexpr (payload == packed) {
            call.rows<u32>(0)[at] = call.row(value[i]);
            continue;
        }
        if (keep_keys)
            call.key<Key>(0)[at] = value[i];
        if constexpr (numbers)
            call.rows<Number>(0)[at] = number[i];
    }
}

// sort_small sorts at most small_rows rows in one block.
template <typename Key, Payload payload> DEVICE void sort_small(const Call &call, u32 source, bool numbered, bool keep_keys) {
    __shared__ Key keys[small_rows];
    __shared__ u16 rows[small_rows];
    if (call.capacity <= threads_per_block())
        sort_few<Key, payload, 1>(call, source, numbered, keep_keys, keys, rows);
    else
        sort_few<Key, payload, most_each>(call, source, numbered, keep_keys, keys, rows);
}

// sample_keys sorts keys from all over the input, and counts the neighbours that have
// leading digits in common. It returns immediately if the keys are sorted or, if the narrow round is
// possible, have equal high halves.
template <typename Key> DEVICE void sample_keys(const Call &call, u32 source, bool narrowing) {
    __shared__ Key keys[small_rows];
    __shared__ u16 rows[small_rows];
    __shared__ u32 shared[most_digits + 1], constant;
    const u64 n = call.count();
    const u32 thread = thread_in_block(), digits = call.field.digits();
    if (call.plan->unsorted == 0)
        return;
    if (thread == 0)
        constant = 0;
    synchronize_block();
    static_assert(small_threads == most_digits / 2 * digit_values, "a thread for each digit of the high half");
    if (narrowing && call.plan->counts[most_digits / 2 + thread / digit_values][thread % digit_values] == n)
        __nvvm_atom_add_gen_i((int *)&constant, 1);
    synchronize_block();
    if (constant == most_digits / 2)
        return;
    if (thread <= digits)
        shared[thread] = 0;
    // The distance is odd, so that it has no common factor with a period of the input
    // that is a power of two.
    const u64 distance = n / small_rows | 1;
    Few<Key, most_each> few;
#pragma unroll
    for (u32 i = 0; i < most_each; i++) {
        few.row[i] = i * small_threads + thread;
        few.key[i] = n == 0 ? 0 : call.field.of(call.encoding.encode(call.key<Key>(source)[few.row[i] * distance % n]));
    }
    few.sort(keys, rows);
#pragma unroll
    for (u32 i = 0; i < most_each; i++)
        keys[i * small_threads + thread] = few.key[i];
    synchronize_block();
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
