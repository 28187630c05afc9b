// Kernels for tables so small that one block is fastest. One launch keeps the rows of
// every column and bitmap and counts them, without zeroed memory.
#pragma once

#include "compact.cuh"

static constexpr u32 small_threads = 1024, small_warps = small_threads / warp_threads;
static constexpr u32 small_words = 256, small_rows = 32 * small_words;
static constexpr u32 small_columns = 32;

// SMALL_BOUNDS: only one block runs.
#define SMALL_BOUNDS __attribute__((launch_bounds(small_threads, 1)))

// Parts are the buffers of one launch.
struct Parts {
    struct {
        const u8 *source; // null to write the row numbers
        u8 *out;
        u64 unit;  // size of the units that move, in bytes: 1, 2, 4, 8 or 16; 0 for bits
        u64 units; // units per row, or for bits the number of the first bit
    } part[small_columns];
    u64 count;
};

// Few is a block's data about its rows.
struct Few {
    u32 keep[small_words], before[small_words], bits[small_words], warps[small_warps];
};

// copy_words copies the kept rows of one column. Each warp copies some of the words.
template <typename T> DEVICE void copy_words(const Few &few, u32 n, const u8 *source, u8 *out, u32 units) {
    const u32 lane = lane_in_warp();
#pragma nounroll
    for (u32 word = thread_in_block() / warp_threads; 32 * word < n; word += small_warps) {
        const u32 keep = few.keep[word], row = 32 * word + lane;
        if ((keep >> lane & 1) == 0)
            continue;
        T *to = (T *)out + (u64)(few.before[word] + __builtin_popcount(keep & ((1u << lane) - 1))) * units;
        const T *from = (const T *)source + (u64)row * units;
#pragma nounroll
        for (u32 unit = 0; unit < units; unit++)
            to[unit] = from[unit];
    }
}

// number_words writes the numbers of the kept rows, 4 bytes each.
DEVICE void number_words(const Few &few, u32 n, u8 *out) {
    const u32 lane = lane_in_warp();
#pragma nounroll
    for (u32 word = thread_in_block() / warp_threads; 32 * word < n; word += small_warps) {
        const u32 keep = few.keep[word];
        if (keep >> lane & 1)
            ((u32 *)out)[few.before[word] + __builtin_popcount(keep & ((1u << lane) - 1))] = 32 * word + lane;
    }
}

// copy_bits copies the kept bits of one bitmap. All threads of the block call it.
DEVICE void copy_bits(Few &few, u32 n, u32 total, const u8 *source, u8 *out, u64 first, i64 capacity) {
    const u32 word = thread_in_block();
    synchronize_block(); // other threads may still write the previous bitmap's bits
    if (word < small_words)
        few.bits[word] = 0;
    synchronize_block();
    if (32 * word < n && few.keep[word] != 0) {
        const u32 bits = load_bits(source, first, capacity, 32 * word, n - 32 * word < 32 ? n - 32 * word : 32);
        const u64 moved = (u64)extract_bits(bits, few.keep[word]) << (few.before[word] & 31);
        const u32 at = few.before[word] >> 5;
        if ((u32)moved != 0)
            or_word(&few.bits[at], (u32)moved);
        if (moved >> 32 != 0)
            or_word(&few.bits[at + 1], moved >> 32);
    }
    synchronize_block();
    if (32 * word < total)
        ((u32 *)out)[word] = few.bits[word];
}

// compact_few keeps those of n rows, at most small_rows, that have their bit set. All
// lanes of a warp call bits_of with the number of a word.
template <typename Bits> DEVICE void compact_few(Few &few, u32 n, i64 capacity, i64 *kept, const Parts &parts, Bits bits_of) {
    const u32 thread = thread_in_block(), warp = thread / warp_threads, lane = lane_in_warp();
#pragma nounroll
    for (u32 word = warp; 32 * word < n; word += small_warps) {
        const u32 bits = bits_of(word);
        if (lane == 0)
            few.keep[word] = bits;
    }
    synchronize_block();
    const u32 count = 32 * thread < n ? __builtin_popcount(few.keep[thread]) : 0;
    const u32 scanned = warp_scan(count, Sum<u32>());
    u32 total;
    const u32 before = block_fold_before<small_warps>(shuffle_value(scanned, warp_threads - 1), few.warps, total, Sum<u32>());
    if (thread < small_words)
        few.before[thread] = before + scanned - count;
    if (thread == 0)
        *kept = total;
    synchronize_block();
#pragma nounroll
    for (u32 i = 0; i < parts.count; i++) {
        const auto &part = parts.part[i];
        const u8 *source = global_of(part.source);
        u8 *out = global_of(part.out);
        const u32 unit = part.unit, units = part.units;
        if (unit == 0)
            copy_bits(few, n, total, source, out, part.units, capacity);
        else if (part.source == nullptr)
            number_words(few, n, out);
        else if (unit == 1)
            copy_words<u8>(few, n, source, out, units);
        else if (unit == 2)
            copy_words<u16>(few, n, source, out, units);
        else if (unit == 4)
            copy_words<u32>(few, n, source, out, units);
        else if (unit == 8)
            copy_words<u64>(few, n, source, out, units);
        else
            copy_words<Vector<u64, 2>>(few, n, source, out, units);
    }
}
