// The nearest rows of queries. See nearest_device.go.
#include "nearest.cuh"

// The elements of a step, and a row of them in shared memory.
static constexpr u32 depth = 8, stride = scan_tile + 4;

// nearest_scan compares with the floating-point units: each thread has the products of 8 × 8
// pairs. The elements of the next step are on their way while it multiplies.
KERNEL RESIDENT_BOUNDS(scan_threads, 2) nearest_scan(const Scan s) {
    __shared__ f32 query_tile[2][depth][stride], row_tile[2][depth][stride];
    const u32 thread = thread_in_block(), x = thread % 16 * 4, y = thread / 16 * 4;
    // Two threads load a vector of the tile.
    const u32 own = thread / 2, part = thread % 2 * 4;
    const Place place = place_of(s);
    const u64 query = place.query + own;
    u32 side = 0;
    for (u64 row0 = place.row; row0 < place.end; row0 += scan_tile) {
        const u64 row = row0 + own;
        f32 sums[thread_tile][thread_tile] = {};
        Vector<f32, 4> a = piece(s, s.queries, query, query < s.query_count, part), b = piece(s, s.rows, row, row < s.end, part);
        for (u32 from = 0; from < s.dimension; from += depth, side ^= 1) {
#pragma unroll
            for (u32 i = 0; i < 4; i++)
                query_tile[side][part + i][own] = a.lane[i], row_tile[side][part + i][own] = b.lane[i];
            synchronize_block();
            a = piece(s, s.queries, query, query < s.query_count, from + depth + part);
            b = piece(s, s.rows, row, row < s.end, from + depth + part);
#pragma unroll
            for (u32 k = 0; k < depth; k++) {
                f32 left[thread_tile], right[thread_tile];
#pragma unroll
                for (u32 half = 0; half < 2; half++) {
                    const Vector<f32, 4> l = *(const Vector<f32, 4> *)&query_tile[side][k][half * 64 + y];
                    const Vector<f32, 4> r = *(const Vector<f32, 4> *)&row_tile[side][k][half * 64 + x];
#pragma unroll
                    for (u32 i = 0; i < 4; i++)
                        left[half * 4 + i] = l.lane[i], right[half * 4 + i] = r.lane[i];
                }
#pragma unroll
                for (u32 i = 0; i < thread_tile; i++)
#pragma unroll
                    for (u32 j = 0; j < thread_tile; j++)
                        sums[i][j] = __builtin_fmaf(left[i], right[j], sums[i][j]);
            }
        }
        keep(s, place.query, row0, [&](u32 i) { return i / 4 * 64 + y + i % 4; },
             [&](u32 j) { return j / 4 * 64 + x + j % 4; }, [&](u32 i, u32 j) { return sums[i][j]; });
    }
}

// Vectors are those of one side of a search.
//go:layout vectorsLayout any
struct Vectors {
    const f32 *values;
    const u8 *valid; // or null
    u64 count;
    u32 dimension, metric;
    // slack is the error of a dot product in a scan, as a part of the product of the lengths.
    f64 slack;
};

// Squares of lengths between these are computed without an overflow, and to all digits.
static constexpr f64 least_square = 1e-30, greatest_square = 1e37;

// square returns the square of the length of a vector. The lanes of a warp call it together.
DEVICE f64 square_of(const Vectors &v, u64 vector) {
    f64 sum = 0;
    for (u32 i = lane_in_warp(); i < v.dimension; i += warp_threads) {
        const f64 x = v.values[vector * v.dimension + i];
        sum += x * x;
    }
#pragma unroll
    for (u32 step = warp_threads / 2; step > 0; step /= 2) {
        const u64 bits = __builtin_bit_cast(u64, sum);
        const u64 low = shuffle_down((u32)bits, step), high = shuffle_down((u32)(bits >> 32), step);
        sum += __builtin_bit_cast(f64, high << 32 | low);
    }
    return sum;
}

DEVICE bool exists(const u8 *valid, u64 i) { return valid == nullptr || (valid[i / 8] >> (i % 8) & 1) != 0; }

// length returns the square root of the sum of the squares as the distances have it.
DEVICE f32 length(const f32 *vector, u32 dimension) {
    f32 sum = 0;
    for (u32 i = 0; i < dimension; i++)
        sum = plus(sum, times(vector[i], vector[i]));
    return __nvvm_sqrt_rn_f(sum);
}

// nearest_rows writes the scale and the offset of each row, a warp for each.
KERNEL nearest_rows(f32 *scales, f32 *offsets, const Vectors v) {
    const u64 step = threads_per_grid() / warp_threads;
    for (u64 row = thread_in_grid() / warp_threads; row < v.count; row += step) {
        const f64 square = square_of(v, row);
        if (lane_in_warp() != 0)
            continue;
        f32 scale = 1, offset = 0;
        if (!exists(v.valid, row)) {
            offset = v.metric == l2 ? __builtin_inff() : -__builtin_inff();
        } else if (!(square <= greatest_square) || square < least_square && square != 0) {
            scale = __builtin_nanf(""); // is always found
        } else if (v.metric == l2) {
            offset = (f32)(square / 2 * (1 - v.slack));
        } else if (v.metric == dot) {
            offset = (f32)__nvvm_sqrt_rn_d(square);
        } else {
            scale = square == 0 ? 0.0f : (f32)(1 / __nvvm_sqrt_rn_d(square));
        }
        scales[row] = scale, offsets[row] = offset;
    }
}

// nearest_queries writes the slope and the square of each query, a warp for each. The square of one
// that finds nothing is −1, that of one whose bound cannot be computed NaN.
KERNEL nearest_queries(f32 *slopes, f64 *squares, const Vectors v) {
    const u64 step = threads_per_grid() / warp_threads;
    for (u64 query = thread_in_grid() / warp_threads; query < v.count; query += step) {
        f64 square = square_of(v, query);
        if (lane_in_warp() != 0)
            continue;
        slopes[query] = v.metric == l2 ? -1.0f : v.metric == cosine ? 1.0f : (f32)(v.slack * __nvvm_sqrt_rn_d(square));
        // With NaN, and by the cosine with zeros, all distances are NaN.
        const bool none = square != square || v.metric == cosine && square == 0 || !exists(v.valid, query);
        if (!(square <= greatest_square) || square < least_square && square != 0)
            square = __builtin_nan("");
        squares[query] = none ? -1 : square;
    }
}

// Selection makes the found rows neighbours.
//go:layout selectionLayout any
struct Selection {
    const f32 *queries, *rows;
    const u8 *valid; // of the rows, or null
    const f64 *squares;
    f32 *bounds;
    const u32 *counts, *candidates;
    // The k neighbours of each query, from the nearest one on.
    i64 *indices;
    f32 *distances;
    // begin is the first row of those that were found, first the number of row 0.
    u64 begin;
    i64 first;
    f64 slack;
    u32 dimension, metric, k, room;
    // every is the number of rows from begin on that are all found, or 0.
    u32 every;
    u32 fresh; // the neighbours are written without being read
};

static constexpr u32 selection_threads = 256;
// The most neighbours before and found rows of a query together, and neighbours alone: Go's
// selectionRoom and mostNeighbours.
static constexpr u32 selection_room = 4096, most_neighbours = 1024;

// distance_of returns what the metric compares, the least for the nearest. The order of the
// operations is that of package vector.
DEVICE f32 distance_of(const f32 *query, const f32 *row, u32 dimension, u32 metric, f32 query_length) {
    f32 sum = 0;
    if (metric == l2) {
        for (u32 i = 0; i < dimension; i++) {
            const f32 difference = plus(query[i], -row[i]);
            sum = plus(sum, times(difference, difference));
        }
        return sum;
    }
    f32 squares = 0;
    for (u32 i = 0; i < dimension; i++) {
        const f32 x = row[i];
        sum = plus(sum, times(query[i], x));
        if (metric == cosine)
            squares = plus(squares, times(x, x));
    }
    if (metric == dot)
        return -sum;
    return plus(1, -__nvvm_div_rn_f(sum, times(query_length, __nvvm_sqrt_rn_f(squares))));
}

// key_of returns bits in the order of distances, with equal zeros. Those of NaN are above all others.
DEVICE u32 key_of(f32 distance) {
    if (distance != distance)
        return ~0u;
    const u32 bits = __builtin_bit_cast(u32, distance == 0 ? 0.0f : distance);
    return bits ^ (bits >> 31 != 0 ? ~0u : 1u << 31);
}

// bound_of returns what a row must reach in a scan to be as near as a distance.
DEVICE f32 bound_of(const Selection &s, f64 square, f64 distance) {
    const f64 digits = (s.dimension + 8) * 0x1p-22, length = __nvvm_sqrt_rn_d(square);
    f64 bound, size;
    if (s.metric == l2) {
        const f64 reach = distance * (1 + digits) + 1e-37;
        bound = (square * (1 - s.slack) - reach) / 2, size = square + reach;
    } else if (s.metric == cosine) {
        bound = (1 - distance - digits - s.slack) * length, size = length;
    } else {
        bound = -distance, size = bound < 0 ? -bound : bound;
    }
    bound -= size * 0x1p-22 + 1e-37;
    return bound != bound ? -__builtin_inff() : (f32)bound;
}

// nearest_select computes the distances of the found rows, and merges the nearest ones into the
// neighbours. A block has a query.
KERNEL LAUNCH_BOUNDS(selection_threads) nearest_select(const Selection s) {
    __shared__ u64 keys[selection_room];
    __shared__ i64 before[most_neighbours];
    __shared__ f32 same[most_neighbours];
    const u64 query = block_in_grid();
    const u32 thread = thread_in_block();
    i64 *const indices = s.indices + query * s.k;
    f32 *const distances = s.distances + query * s.k;
    const f64 square = s.squares[query];
    const u32 count = square == -1 ? 0 : s.every != 0 ? s.every : s.counts[query] < s.room ? s.counts[query] : s.room;
    const u32 old = s.fresh != 0 ? 0 : s.k;
    u32 size = 1;
    while (size < old + count)
        size *= 2;
    const f32 *const vector = s.queries + query * s.dimension;
    const f32 query_length = s.metric == cosine ? length(vector, s.dimension) : 0;
    // A key is a distance, and the place of the neighbour before, or k and the row.
    for (u32 i = thread; i < size; i += selection_threads) {
        u64 key = ~0ull;
        if (i < old) {
            const i64 index = indices[i];
            const f32 distance = distances[i];
            before[i] = index, same[i] = distance;
            if (index >= 0)
                key = (u64)key_of(s.metric == dot ? -distance : distance) << 32 | i;
        } else if (i < old + count) {
            const u32 row = s.every != 0 ? (u32)s.begin + i - old : s.candidates[query * s.room + i - old];
            const u32 order = key_of(distance_of(vector, s.rows + (u64)row * s.dimension, s.dimension, s.metric, query_length));
            if (order != ~0u && exists(s.valid, row))
                key = (u64)order << 32 | (s.k + row);
        }
        keys[i] = key;
    }
    // Bitonic sort: Batcher, Sorting networks and their applications, 1968.
    for (u32 width = 2; width <= size; width *= 2)
        for (u32 step = width / 2; step > 0; step /= 2) {
            synchronize_block();
            for (u32 i = thread; i < size / 2; i += selection_threads) {
                const u32 low = 2 * i - (i & (step - 1)), high = low + step;
                const u64 a = keys[low], b = keys[high];
                if ((a > b) == ((low & width) == 0))
                    keys[low] = b, keys[high] = a;
            }
        }
    synchronize_block();
    for (u32 i = thread; i < s.k; i += selection_threads) {
        const u64 key = i < size ? keys[i] : ~0ull;
        const u32 place = (u32)key, order = (u32)(key >> 32);
        if (key == ~0ull) {
            indices[i] = -1, distances[i] = __builtin_nanf("");
        } else if (place < s.k) {
            indices[i] = before[place], distances[i] = same[place];
        } else {
            const f32 distance = __builtin_bit_cast(f32, order ^ (order >> 31 != 0 ? 1u << 31 : ~0u));
            indices[i] = s.first + (place - s.k);
            distances[i] = s.metric == dot ? plus(0, -distance) : distance; // no product is −0
        }
    }
    if (thread == 0) {
        const u64 last = s.k <= size ? keys[s.k - 1] : ~0ull;
        f32 bound = -__builtin_inff();
        if (square == -1)
            bound = __builtin_inff();
        else if (last != ~0ull && s.metric == dot && square == 0) {
            bound = __builtin_inff(); // further rows are as near as these
        } else if (last != ~0ull && square == square) {
            const u32 order = (u32)(last >> 32);
            bound = bound_of(s, square, __builtin_bit_cast(f32, order ^ (order >> 31 != 0 ? 1u << 31 : ~0u)));
        }
        s.bounds[query] = bound;
    }
}

// nearest_most writes the greatest count of found rows.
KERNEL nearest_most(u32 *most, const u32 *counts, u64 queries) {
    u32 own = 0;
    for (u64 i = thread_in_grid(); i < queries; i += threads_per_grid())
        own = counts[i] > own ? counts[i] : own;
    if (own != 0)
        __nvvm_atom_max_gen_ui(most, own);
}
