// Values of a column, and rows of which some are null: see device.go.
#pragma once

#include "scan.cuh"

// Threads of a block.
//go:layout
static constexpr u32 block_threads = 256;

template <typename T> using Global = __attribute__((address_space(1))) T;

// load and store access global memory at an address that is aligned to T.
template <typename T> DEVICE T load(u64 address) { return *(const Global<T> *)address; }
template <typename T> DEVICE void store(u64 address, T value) { *(Global<T> *)address = value; }

// Rows are the rows of a row group. A block of threads has block_threads of them.
//go:layout rowsLayout any
struct Rows {
    const u8 *bitmap; // or null, if all are valid
    const u32 *ranks; // the number of valid rows before each block
    u32 bit;          // of the first row in the bitmap
    u32 count;

    // place returns whether the row of the thread is valid, and its place among the valid ones.
    METHOD bool place(u32 row, u64 &place) const {
        __shared__ u32 before[block_threads / warp_threads];
        place = row;
        if (bitmap == nullptr)
            return row < count;
        const u64 at = (u64)bit + row;
        const bool valid = row < count && (load<u8>((u64)bitmap + at / 8) >> at % 8 & 1) != 0;
        const u32 all = ballot(valid), lane = lane_in_warp();
        u32 total;
        const u32 warps = block_fold_before<block_threads / warp_threads>((u32)__builtin_popcount(all), before, total, Sum<u32>());
        place = load<u32>((u64)ranks + (u64)block_in_grid() * 4) + warps + __builtin_popcount(all & ((1u << lane) - 1));
        return valid;
    }
};

DEVICE void or_word(u64 address, u32 bits) { __atomic_fetch_or((u32 *)address, bits, __ATOMIC_RELAXED); }
