#pragma once
#include "search.cuh"
#include "words.cuh"

// check_list_views checks offsets and sizes, 4 or 8 bytes wide: 0 <= offset, 0 <= size,
// and their sum at most limit.
KERNEL check_list_views(const u8 *__restrict__ offsets, const u8 *__restrict__ sizes, u64 n, u64 width, u64 limit, Result *result) {
    struct Views {
        Words offsets, sizes;
    };
    constexpr u32 batch = 2;
    // The sum of two numbers that are not negative fits the width as an unsigned
    // number, and is not the largest one.
    const u64 largest = ~0ull >> (64 - 8 * (u32)width);
    const AtLeast beyond = at_least(limit < largest ? limit + 1 : largest, width);
    // Both can be read in groups if they have the same distance from a boundary.
    const Groups groups = groups_of(offsets, n, width, (((u64)offsets ^ (u64)sizes) & 15) == 0);
    const Words *offsets_from = (const Words *)(offsets + groups.head * width);
    const Words *sizes_from = (const Words *)(sizes + groups.head * width);
    const auto suspicious = [=](const Views(&got)[batch]) {
        u64 found = 0;
#pragma unroll
        for (u32 b = 0; b < batch; b++)
#pragma unroll
            for (u32 w = 0; w < 2; w++) {
                const u64 offset = got[b].offsets.lane[w], size = got[b].sizes.lane[w];
                found |= ((offset | size) & beyond.top) | reached(beyond, offset + size);
            }
        return found != 0;
    };
    const auto wrong = [=](u64 i) {
        const i64 offset = load_signed(offsets, i, width), size = load_signed(sizes, i, width);
        return (offset | size) < 0 || (u64)offset + (u64)size > limit;
    };
    report(result, search<batch>(n, groups, [=](u64 g) { return Views{offsets_from[g], sizes_from[g]}; }, suspicious, wrong));
}
