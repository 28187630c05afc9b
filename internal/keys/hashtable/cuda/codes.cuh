// The steps after all rows are in the table: mark the first row of each key, and compute
// the code of each row from the ranks of the first rows.
#pragma once

#include "insert.cuh"

// mark_firsts sets the bit of each row that a slot holds: the first rows of all keys.
// Nulls are a key if with_null. The bits are zero before.
KERNEL mark_firsts(Table table, u32 *bits, u32 with_null) {
    const u64 slots = table.size + (with_null != 0), step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < slots; i += step)
        if (const u32 row = table.slots[i]; row != no_row)
            asm volatile("red.relaxed.gpu.or.b32 [%0], %1;" ::"l"(bits + row / 32), "r"(1u << row % 32) : "memory");
}

// first_rows replaces the slot of each row by the first row of its key. It sets the bits
// of rows that are the first of their key and clears all others up to capacity, in whole
// words, and writes the number of set bits of each word. Nulls are a key if with_null.
KERNEL first_rows(Table table, u32 *slot_of, u32 *bits, u32 *firsts, u32 with_null) {
    const u64 n = count(table), step = threads_per_grid();
    // Whole warps, since each makes a word.
    const u64 padded = (table.capacity + warp_threads - 1) / warp_threads * warp_threads;
    for (u64 i = thread_in_grid(); i < padded; i += step) {
        bool first = false;
        if (i < n) {
            const u32 slot = slot_of[i], row = table.slots[slot];
            slot_of[i] = row;
            first = row == (u32)i && (with_null != 0 || slot < table.size);
        }
        const u32 word = ballot(first);
        if (lane_in_warp() == 0) {
            bits[i / warp_threads] = word;
            firsts[i / warp_threads] = (u32)__builtin_popcount(word);
        }
    }
}

// count_firsts writes the number of set bits of each word.
KERNEL count_firsts(const u32 *bits, u32 *firsts, u64 words) {
    const u64 step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < words; i += step)
        firsts[i] = (u32)__builtin_popcount(bits[i]);
}

// before returns the number of set bits before a word. A rank is the number of set bits
// of a word and of all before it.
DEVICE u32 before(const u32 *ranks, u64 word) { return word == 0 ? 0 : ranks[word - 1]; }

// codes_of replaces the first row of each row's key by the code of the key: the number of
// first rows before it. Nulls without a code, and the elements beyond the rows, get 0.
KERNEL codes_of(Table table, u32 *first_row, const u32 *bits, const u32 *ranks, u32 with_null) {
    const u64 n = count(table), step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < table.capacity; i += step) {
        u32 code = 0;
        if (i < n && (with_null != 0 || is_valid(table, i))) {
            const u32 row = first_row[i], word = row / warp_threads;
            code = before(ranks, word) + (u32)__builtin_popcount(bits[word] & ((1u << row % warp_threads) - 1));
        }
        first_row[i] = code;
    }
}

// list_firsts writes the first rows in ascending order, at most most, and their number. A warp
// has a word for each lane, and its lanes write the rows of one word after the other.
KERNEL list_firsts(const u32 *bits, const u32 *ranks, u64 words, u32 *rows, u64 most, i64 *listed) {
    const u64 step = threads_per_grid();
    const u32 lane = lane_in_warp();
    for (u64 first = thread_in_grid() - lane; first < words; first += step) {
        const u64 own = first + lane;
        const u32 word = own < words ? bits[own] : 0, at = own < words ? before(ranks, own) : 0;
        if (own + 1 == words)
            *listed = (i64)(ranks[own] < most ? ranks[own] : most);
#pragma nounroll
        for (u32 left = ballot(word != 0); left != 0; left &= left - 1) {
            const u32 i = (u32)__builtin_ctz(left);
            const u32 there = __nvvm_shfl_sync_idx_i32(whole_warp, word, i, warp_threads - 1);
            const u32 place = __nvvm_shfl_sync_idx_i32(whole_warp, at, i, warp_threads - 1) + (u32)__builtin_popcount(there & ((1u << lane) - 1));
            if ((there >> lane & 1) != 0 && place < most)
                rows[place] = (u32)((first + i) * warp_threads + lane);
        }
    }
}

// count_codes adds 1 to the count of each row's code. The lanes of a warp with the same
// code add once.
KERNEL count_codes(Table table, const u32 *codes, u64 *counts) {
    const u64 n = count(table), step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < n; i += step) {
        const u32 code = codes[i];
        u32 active, same;
        asm volatile("activemask.b32 %0;" : "=r"(active));
        asm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(same) : "r"(code), "r"(active));
        if (lane_in_warp() == (u32)__builtin_ctz(same))
            asm volatile("red.relaxed.gpu.add.u64 [%0], %1;" ::"l"(counts + code), "l"((u64)__builtin_popcount(same)) : "memory");
    }
}
