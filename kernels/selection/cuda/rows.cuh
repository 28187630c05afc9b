// Sources: the mapping from each output row of this folder's kernels to an input row.
//
// A source is an array of indices of 32 or 64 bits or, without memory, a rule. Signed
// indices are read as unsigned, so a negative index is beyond every limit. Rows with an
// index that is null or out of bounds are null. The kernels never read the memory at
// such an index: they load row 0 instead. All loads of a thread can then start before
// the first has completed, which keeps the memory busy.
//
// If the count of rows is on the device, rows beyond it, up to the capacity, are
// written like null rows. Otherwise nested values there would be garbage to readers of
// the whole capacity.
#pragma once

#include "scan.cuh"

static constexpr u32 block_threads = 256;

// none is an index that no row has.
static constexpr u64 none = ~0ull;

// bit returns bit i; without a bitmap all bits are set.
DEVICE bool bit(const u8 *bits, u64 i) { return bits == nullptr || bits[i >> 3] >> (i & 7) & 1; }

// count_of returns a row count, clamped to [0, most], because a count on the device may
// be invalid.
DEVICE u64 count_of(const i64 *rows, u64 most) {
    if (rows == nullptr)
        return most;
    const i64 count = *rows;
    return count < 0 ? 0 : (u64)count < most ? (u64)count : most;
}

// Listed is a source with indices of type T. Only one with indices of 64 bits can be a
// rule: it has no indices.
template <typename T> struct Listed {
    typedef T Index;
    const T *indices;
    const u8 *valid;
    u64 valid_at;
    u64 limit, n, capacity;
    u64 *bad;
};

// Any is a source of any form. One branch for each thread chooses the form. Values of 4
// and of 8 bytes, which most columns have, have a kernel for each size of the indices
// instead.
struct Any {
    typedef u64 Index;
    const void *indices;
    const u8 *valid;
    u64 valid_at;
    u64 limit, n, capacity;
    u64 *bad;
    bool wide; // indices of 64 bits, or a rule
};

// SOURCE declares a kernel's parameters for a source; listed and any make a source of
// them. If bad is not null it receives the first row with an index out of bounds. For a
// rule, indices is null, and the third parameter selects the last rows, that number of
// them, in order, or, if it is 0, all rows in reverse order.
#define SOURCE                                                                                                         \
    const void *__restrict__ indices, const u8 *__restrict__ index_valid, u64 index_valid_at,                          \
        const i64 *__restrict__ limit_rows, u64 limit, const i64 *__restrict__ rows, u64 capacity, u64 *bad
#define GIVEN_SOURCE indices, index_valid, index_valid_at, limit_rows, limit, rows, capacity, bad
#define ANY_SOURCE u32 wide, SOURCE
#define GIVEN_ANY wide, GIVEN_SOURCE

template <typename T> DEVICE Listed<T> listed(SOURCE) {
    return {(const T *)indices, index_valid, index_valid_at, count_of(limit_rows, limit), count_of(rows, capacity), capacity, bad};
}

DEVICE Any any(bool wide, SOURCE) {
    return {indices, index_valid, index_valid_at, count_of(limit_rows, limit), count_of(rows, capacity), capacity, bad, wide};
}

// left returns the number of rows of n from base, limited to 32 bits.
DEVICE u32 left(u64 n, u64 base) { return n <= base ? 0 : n - base < 0xffffffff ? n - base : 0xffffffff; }

// Rule counts up or down from the first index.
struct Rule {
    u64 first, step;
    METHOD u64 at(u64 row) const { return first + row * step; }
};

DEVICE Rule rule_of(u64 limit, u64 last) {
    if (last == 0)
        return {limit - 1, none};
    return {limit - (last < limit ? last : limit), 1};
}

// load_indices loads the indices of the rows base + at.
template <u32 items> DEVICE void load_indices(const Listed<u32> &source, u64 base, const u32 (&at)[items], u32 (&index)[items]) {
    const u32 *indices = source.indices + base;
#pragma unroll
    for (u32 k = 0; k < items; k++)
        index[k] = indices[at[k]];
}

template <u32 items> DEVICE void load_indices(const Listed<u64> &source, u64 base, const u32 (&at)[items], u64 (&index)[items]) {
    if (source.indices != nullptr) {
        const u64 *indices = source.indices + base;
#pragma unroll
        for (u32 k = 0; k < items; k++)
            index[k] = indices[at[k]];
    } else {
        const Rule rule = rule_of(source.limit, source.valid_at);
#pragma unroll
        for (u32 k = 0; k < items; k++)
            index[k] = rule.at(base + at[k]);
    }
}

template <u32 items> DEVICE void load_indices(const Any &source, u64 base, const u32 (&at)[items], u64 (&index)[items]) {
    if (source.wide) {
        load_indices(Listed<u64>{(const u64 *)source.indices, nullptr, source.valid_at, source.limit, 0, 0, nullptr}, base, at, index);
        return;
    }
    const u32 *indices = (const u32 *)source.indices + base;
#pragma unroll
    for (u32 k = 0; k < items; k++)
        index[k] = indices[at[k]];
}

// read_rows loads the indices of the rows base + at and whether each row is below the
// count and has a value. It sets at to 0 for rows beyond the count, and the index of a
// row without a value to 0. The output has room for a row at base.
template <u32 items, typename S>
DEVICE void read_rows(const S &source, u64 base, u32 (&at)[items], typename S::Index (&index)[items], bool (&ok)[items]) {
    const u32 rows = left(source.n, base);
#pragma unroll
    for (u32 k = 0; k < items; k++) {
        ok[k] = at[k] < rows;
        at[k] = ok[k] ? at[k] : 0;
    }
    load_indices(source, base, at, index);
    if (source.valid != nullptr)
#pragma unroll
        for (u32 k = 0; k < items; k++)
            ok[k] = bit(source.valid, source.valid_at + base + at[k]) && ok[k];
    u32 wrong = 0xffffffff;
#pragma unroll
    for (u32 k = items; k-- > 0;) {
        const bool inside = index[k] < source.limit;
        if (ok[k] && !inside)
            wrong = at[k];
        ok[k] = ok[k] && inside;
        index[k] = ok[k] ? index[k] : 0;
    }
    // Few threads have an index to report.
    if (wrong != 0xffffffff && source.bad != nullptr)
        __nvvm_atom_min_gen_ull(source.bad, base + wrong);
}

// Elements are consecutive elements of rows with size elements each, at equal distances:
// each has its row, after a first one, and its position in the row.
template <u32 items> struct Elements {
    u64 row;
    u32 at[items], past[items];
};

// elements_of returns the elements first + behind, first + behind + step, ….
template <u32 items> DEVICE Elements<items> elements_of(u64 first, u32 behind, u32 step, u32 size) {
    Elements<items> e;
    e.row = first / size;
    const u32 ahead = first - e.row * size;
#pragma unroll
    for (u32 k = 0; k < items; k++) {
        const u32 element = ahead + behind + k * step;
        e.at[k] = element / size, e.past[k] = element % size;
    }
    return e;
}

// read is read_rows for the rows base + first, base + first + step, ….
template <u32 items, typename S>
DEVICE void read(const S &source, u64 base, u32 first, u32 step, typename S::Index (&index)[items], bool (&ok)[items]) {
    u32 at[items];
#pragma unroll
    for (u32 k = 0; k < items; k++)
        at[k] = first + k * step;
    read_rows(source, base, at, index, ok);
}

// Warp assigns 32 × items rows, starting at first, to a warp. Each thread handles every
// 32nd row, so 32 neighbours are one word of a bitmap.
template <u32 items> struct Warp {
    u64 first;
    u32 lane;
};

template <u32 items> DEVICE Warp<items> warp_of(u32 tile = block_in_grid()) {
    const u64 begin = (u64)tile * block_threads * items;
    return {begin + thread_in_block() / warp_threads * warp_threads * items, lane_in_warp()};
}

// write_bits writes the bits of a warp's rows that are below n. All threads of the warp
// take part.
template <u32 items> DEVICE void write_bits(u32 *out, const Warp<items> &warp, u64 n, const bool (&set)[items]) {
    u32 mine = 0;
#pragma unroll
    for (u32 k = 0; k < items; k++) {
        const u32 word = ballot(set[k]);
        mine = warp.lane == k ? word : mine;
    }
    if (warp.lane < items && warp.first + warp.lane * warp_threads < n)
        out[warp.first / warp_threads + warp.lane] = mine;
}

// read_valid sets ok to false for null values.
template <u32 items, typename T> DEVICE void read_valid(const u8 *valid, u64 valid_at, const T (&index)[items], bool (&ok)[items]) {
    if (valid != nullptr)
#pragma unroll
        for (u32 k = 0; k < items; k++)
            ok[k] = bit(valid, valid_at + index[k]) && ok[k];
}
