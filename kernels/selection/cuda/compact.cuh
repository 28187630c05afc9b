// Kernels that keep some of a column's rows, in order.
//
// Rows are processed in segments of 512, one per warp: 16 words of 32 keep bits, of
// which lane i holds the i-th. Lane i of a warp loads rows i, 32 + i, 64 + i … of the
// segment, so loads coalesce. The lanes that keep their row store to consecutive
// addresses, so stores coalesce too. No values go through shared memory, and warps do
// not wait for each other.
#pragma once

#include "scan.cuh"

static constexpr u32 segment_words = 16, segment_rows = 32 * segment_words;
static constexpr u32 compact_threads = 256, compact_warps = compact_threads / warp_threads;

// COMPACT_BOUNDS limits the registers so that four blocks fit on a multiprocessor, with
// 32 KiB of 8-byte loads in flight.
#define COMPACT_BOUNDS __attribute__((launch_bounds(compact_threads, 4)))

// global_of informs the compiler that an address in a struct of arguments is in global
// memory, which the compiler cannot infer.
template <typename T> DEVICE T *global_of(T *address) {
    u64 global;
    asm("cvta.to.global.u64 %0, %1;" : "=l"(global) : "l"(address));
    return (T *)(__attribute__((address_space(1))) T *)global;
}

// Mask selects the kept rows: those with a bit set in bits and, if valid is not null,
// in valid. Bits are numbered from a bit, 0 to 7, of the first byte.
struct Mask {
    const u8 *bits;
    u64 bit;
    const u8 *valid; // may be null
    u64 valid_bit;
    const i64 *rows; // the number of rows, or null for capacity rows
    i64 capacity;
};

// rows_of returns the number of rows.
DEVICE u64 rows_of(const i64 *rows, i64 capacity) {
    if (rows == nullptr)
        return capacity;
    const i64 n = *rows;
    return n < 0 ? 0 : n < capacity ? n : capacity;
}

// load_bits returns count bits, 1 to 32, from bit at of a bitmap that begins with bit
// first of its first byte and holds n bits. It reads no byte outside the bitmap.
DEVICE u32 load_bits(const u8 *bits, u64 first, u64 n, u64 at, u32 count) {
    const u32 most = 0xffffffff >> (32 - count);
    const u64 begin = first + at;
    const u8 *from = bits + (begin >> 3);
    const u32 inside = begin & 7, in_word = (u64)from & 3, shift = 8 * in_word + inside;
    const u32 *word = (const u32 *)(from - in_word);
    const u8 *end = bits + ((first + n + 7) >> 3);
    if (shift == 0 && (const u8 *)(word + 1) <= end)
        return *word & most;
    if ((const u8 *)word >= bits && (const u8 *)(word + 2) <= end)
        return (u32)((word[0] | (u64)word[1] << 32) >> shift) & most;
    u64 wide = 0;
#pragma nounroll
    for (u32 byte = 0; 8 * byte < inside + count; byte++)
        wide |= (u64)from[byte] << 8 * byte;
    return (u32)(wide >> inside) & most;
}

// keep_bits returns the keep bits of count rows, 1 to 32, from row at.
DEVICE u32 keep_bits(const Mask &mask, u64 at, u32 count) {
    u32 keep = 0xffffffff;
    const u8 *bits = global_of(mask.bits);
    u64 first = mask.bit;
    // A loop, so that the code exists once.
#pragma nounroll
    for (u32 bitmap = 0; bitmap < 2 && bits != nullptr; bitmap++) {
        keep &= load_bits(bits, first, mask.capacity, at, count);
        bits = mask.valid != nullptr ? global_of(mask.valid) : nullptr;
        first = mask.valid_bit;
    }
    return keep;
}

// segment_keep_bits returns the calling lane's word of a segment of limit rows.
DEVICE u32 segment_keep_bits(const Mask &mask, u64 begin, u32 limit) {
    const u32 at = 32 * lane_in_warp();
    if (at >= segment_rows || at >= limit)
        return 0;
    return keep_bits(mask, begin + at, limit - at < 32 ? limit - at : 32);
}

// Where gives the positions of each segment's kept rows in the output: the base of its
// tile, of 1 << shift segments, plus within.
struct Where {
    const u64 *bases;
    const u32 *within;
    u64 shift;
};

DEVICE u64 begin_of(const Where &where, u64 segment) { return where.bases[segment >> where.shift] + where.within[segment]; }

// Shared holds a block's words of keep bits in shared memory. Each lane needs all words
// of its warp, and reading them from shared memory takes less code than shuffles.
struct alignas(16) Shared {
    u32 words[compact_warps][segment_words];
};

// share makes the words of the warp's first lanes visible to all its lanes.
DEVICE const u32 *share(Shared &shared, u32 word) {
    u32 *words = shared.words[thread_in_block() / warp_threads];
    if (lane_in_warp() < segment_words)
        words[lane_in_warp()] = word;
    __nvvm_bar_warp_sync(whole_warp);
    return words;
}

// load_segment loads the values of a whole segment: lane i gets row 32 j + i in
// value[j].
template <typename T> DEVICE void load_segment(T (&value)[segment_words], const T *segment) {
#pragma unroll
    for (u32 i = 0; i < segment_words; i++)
        value[i] = segment[32 * i + lane_in_warp()];
}

// store_kept stores the kept values to out.
template <typename T> DEVICE void store_kept(const T (&value)[segment_words], T *out, const u32 *words) {
    const u32 own = 1u << lane_in_warp(), ahead = own - 1;
#pragma unroll
    for (u32 i = 0; i < segment_words; i++) {
        const u32 keep = words[i];
        if (keep & own)
            out[__builtin_popcount(keep & ahead)] = value[i];
        out += __builtin_popcount(keep);
    }
}

// each_kept calls copy with every kept row of a segment and its rank among them. It
// serves copies that are not bound by the memory bandwidth.
template <typename Copy> DEVICE void each_kept(const u32 *words, Copy copy) {
    const u32 own = 1u << lane_in_warp(), ahead = own - 1;
    u32 before = 0;
#pragma nounroll
    for (u32 i = 0; i < segment_words; i++) {
        const u32 keep = words[i];
        if (keep & own)
            copy(32 * i + lane_in_warp(), before + __builtin_popcount(keep & ahead));
        before += __builtin_popcount(keep);
    }
}

// extract_bits moves the bits of value that are set in mask to the low end, in order
// (Hacker's Delight, section 7-4).
DEVICE u32 extract_bits(u32 value, u32 mask) {
    value &= mask;
    u32 holes = ~mask << 1;
#pragma unroll
    for (u32 step = 1; step < 32; step *= 2) {
        // Parity of the number of holes below each bit: whether the bit moves in this
        // step.
        u32 parity = holes;
#pragma unroll
        for (u32 shift = 1; shift < 32; shift *= 2)
            parity ^= parity << shift;
        const u32 moving = parity & mask;
        mask = mask ^ moving | moving >> step;
        const u32 moved = value & moving;
        value = value ^ moved | moved >> step;
        holes &= ~parity;
    }
    return value;
}

// or_word sets bits of a word in shared or global memory.
DEVICE void or_word(u32 *word, u32 bits) { __atomic_fetch_or(word, bits, __ATOMIC_RELAXED); }
