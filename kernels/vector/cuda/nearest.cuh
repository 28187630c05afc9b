// The search for the nearest rows: what its kernels share. nearest_device.go has the method.
#pragma once
#include "scan.cuh"

// Measure is the metric of a search: Go's Metric.
enum Measure : u32 { l2, cosine, dot };

// Scan compares all queries with the rows from begin up to end. A row is found for a query if
// dot · scale + slope · offset is not below bound, or is NaN. Queries with an infinite bound find
// nothing.
//go:layout scanLayout any
struct Scan {
    const f32 *queries, *rows;
    u64 begin, end;
    const f32 *scales, *offsets; // of the rows
    const f32 *slopes, *bounds;  // of the queries
    // counts are the numbers of rows that each query found, candidates the first of these rows, room for each.
    u32 *counts, *candidates;
    u32 query_count, dimension, room;
    u32 tiles; // of rows, for each block
    // aligned is set if vectors begin at multiples of 16 bytes.
    u32 aligned, unused;
};

static constexpr u32 scan_threads = 256;
// A block compares scan_tile queries with as many rows: Go's scanTile.
static constexpr u32 scan_tile = 128;
// A thread has the dot products of thread_tile queries and rows.
static constexpr u32 thread_tile = 8;

DEVICE f32 plus(f32 a, f32 b) { return __nvvm_add_rn_f(a, b); }
DEVICE f32 times(f32 a, f32 b) { return __nvvm_mul_rn_f(a, b); }

// Place is the first query of a block, and its rows. Blocks of the same rows follow each other, so
// that they find these in the cache.
struct Place {
    u64 query, row, end;
};

DEVICE Place place_of(const Scan &s) {
    const u32 tiles = (s.query_count + scan_tile - 1) / scan_tile;
    const u64 rows = (u64)s.tiles * scan_tile, row = s.begin + block_in_grid() / tiles * rows;
    return {(u64)(block_in_grid() % tiles) * scan_tile, row, s.end - row < rows ? s.end : row + rows};
}

// piece returns four elements of a vector from one on, zeros beyond its end.
DEVICE Vector<f32, 4> piece(const Scan &s, const f32 *vectors, u64 vector, bool exists, u32 from) {
    Vector<f32, 4> p = {};
    if (exists && from < s.dimension) {
        const f32 *const at = vectors + vector * s.dimension + from;
        if (s.aligned != 0) {
            p = *(const Vector<f32, 4> *)at;
        } else {
#pragma unroll
            for (u32 i = 0; i < 4; i++)
                if (from + i < s.dimension)
                    p.lane[i] = at[i];
        }
    }
    return p;
}

// keep writes the pairs of a tile that are found. at_query and at_row return the number of the i-th
// query and row of a thread within the tile, dots(i, j) their product.
template <typename AtQuery, typename AtRow, typename Dots>
DEVICE void keep(const Scan &s, u64 query0, u64 row0, AtQuery at_query, AtRow at_row, Dots dots) {
    f32 scale[thread_tile], offset[thread_tile];
#pragma unroll
    for (u32 j = 0; j < thread_tile; j++) {
        const u64 row = row0 + at_row(j);
        scale[j] = row < s.end ? s.scales[row] : 0.0f;
        offset[j] = row < s.end ? s.offsets[row] : 0.0f;
    }
#pragma unroll
    for (u32 i = 0; i < thread_tile; i++) {
        const u64 query = query0 + at_query(i);
        const bool asked = query < s.query_count;
        const f32 slope = asked ? s.slopes[query] : 0.0f, bound = asked ? s.bounds[query] : __builtin_inff();
        u32 near = 0;
#pragma unroll
        for (u32 j = 0; j < thread_tile; j++)
            if (!(__builtin_fmaf(slope, offset[j], times(dots(i, j), scale[j])) < bound))
                near |= 1u << j;
        if (bound == __builtin_inff())
            continue;
        for (; near != 0; near &= near - 1) {
            const u64 row = row0 + at_row(__builtin_ctz(near));
            if (row >= s.end)
                continue;
            const u32 slot = (u32)__nvvm_atom_add_gen_i((int *)&s.counts[query], 1);
            if (slot < s.room)
                s.candidates[query * s.room + slot] = (u32)row;
        }
    }
}
