// Computes the indices of the elements of lists from the offsets of the lists.
#pragma once

#include "take_ranges.cuh"

// expand_ranges writes the index of every element, in 8 bytes if wide is true and
// otherwise in 4: element j of the output belongs to
// the list with output offsets around j, and has the same position in the list as in
// the input.
template <typename T>
DEVICE void expand_ranges(void *out, const T *__restrict__ offsets, const T *__restrict__ begins, u64 lists, u64 most, bool wide) {
    constexpr u32 items = 4, tile = block_threads * items;
    Span span;
    if (!span_of<tile>(offsets, lists, most, span))
        return;
#pragma unroll
    for (u32 k = 0; k < items; k++) {
        const u64 j = span.first + thread_in_block() + k * block_threads;
        if (j > span.last)
            return;
        const u64 list = place_of(offsets, span.low, span.high + 1, j);
        const u64 index = (u64)begins[list] + (j - (u64)offsets[list]);
        if (wide)
            ((u64 *)out)[j] = index;
        else
            ((u32 *)out)[j] = index;
    }
}

#define EXPAND(width, T)                                                                                               \
    KERNEL LAUNCH_BOUNDS(block_threads)                                                                                \
        expand_ranges_##width(void *out, const T *offsets, const T *begins, u64 lists, u64 most, u32 wide) {           \
        expand_ranges(out, offsets, begins, lists, most, wide != 0);                                                   \
    }
