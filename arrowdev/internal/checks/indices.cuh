#pragma once
#include "search.cuh"
#include "words.cuh"

// check_indices checks that the indices of valid slots, 1, 2, 4 or 8 bytes wide, are
// below limit, which fits the width. For signed indices the limit is such that a
// negative index, read as unsigned, is above it.
KERNEL check_indices(const u8 *__restrict__ values, u64 n, u64 width, const u8 *__restrict__ bits, u64 bit_offset, u64 limit,
                     Result *result) {
    constexpr u32 batch = 4;
    const AtLeast beyond = at_least(limit, width);
    const Groups groups = groups_of(values, n, width, true);
    const Words *from = (const Words *)(values + groups.head * width);
    const auto suspicious = [=](const Words(&got)[batch]) {
        u64 found = 0;
#pragma unroll
        for (u32 b = 0; b < batch; b++)
            found |= reached(beyond, got[b].lane[0]) | reached(beyond, got[b].lane[1]);
        return found != 0;
    };
    const auto wrong = [=](u64 i) { return load(values, i, width) >= limit && valid(bits, bit_offset + i); };
    report(result, search<batch>(n, groups, [=](u64 g) { return from[g]; }, suspicious, wrong));
}
