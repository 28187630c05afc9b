// Results of rows in no order on their way from their places to their rows: kernels/window/spread.go.
//
// A record is the number of a row and its result. Two kernels divide the records by leading bits
// of the row, each with at most 2^9 parts, until a part has the records of one span of
// 2^span_bits rows. The rows are a permutation, so a part of 2^b rows has 2^b records and begins at
// a multiple of that: nothing is counted before. The order within a part is any. The last
// kernel puts the results of a span into shared memory and writes whole lines.
//
// Bytes of a row, for results of 4 bytes and rows of 8 (row numbers): the first kernel reads 4.5 and
// writes 8, the second one reads 8 and writes 6, the last one reads 6 and writes 8, together 40.5,
// which is 1.4 ms for 2^27 rows at 4 TB/s. Results of 8 bytes (sums): 12 and 12, 12 and 10, 10
// and 8, together 64 or 2.1 ms, and 8 more before to write them in the order of places. One kernel that
// writes each result to its row alone moves 12 bytes in theory, and 40 in sectors of 32.
#include "digits.cuh"
#include "over.cuh"

static constexpr u32 spread_threads = 512, spread_warps = spread_threads / warp_threads, spread_loads = 16;
static constexpr u32 spread_tile = spread_threads * spread_loads;
static constexpr u32 span_bits = 13, span_rows = 1 << span_bits;
static_assert(spread_tile <= span_rows, "a tile has records of one part");
static constexpr u32 most_spread_parts = spread_threads;

// The highest bit of the number of a row, or of its number in its span, is set if the result is null.
static constexpr u32 null_row = 1u << 31;
static constexpr u32 null_in_span = 1u << 15;

extern __shared__ __attribute__((aligned(16))) u8 spread_memory[];

// Division is the parts of 2^to bits of rows in parts of 2^from bits. cursors has the records that
// each part has so far.
struct Division {
    u32 *cursors;
    u32 from, to;

    METHOD u32 parts() const { return 1u << (from - to); }
    METHOD u32 part(u32 row) const { return (row & ~null_row) >> to & parts() - 1; }
};

// Listed are records of the rows in order, from the place of the result on.
struct Listed {
    Rows rows;
    METHOD u64 count() const { return rows.count(); }
    METHOD u32 row(u64 place) const { return rows.listed[place]; }
};

// Numbered are the numbers of the rows in their partitions.
struct Numbered : Listed {
    METHOD u32 result(u64 place) const { return (u32)(place - rows.begin(place) + 1); }
};

// Shifted are the rows some places away in the same partition, or ~0.
struct Shifted : Listed {
    i64 offset;
    METHOD u32 result(u64 place) const {
        const u64 n = rows.count();
        const i64 at = (i64)place + offset;
        const bool inside = at >= (i64)rows.begin(place) && at < (i64)rows.end(place, n);
        return inside ? rows.listed[at] : ~0u;
    }
};

// Placed are results in memory, in the order of places, and their validity or null.
template <typename Result> struct Placed : Listed {
    const Result *results;
    const u32 *valid;
    METHOD u32 row(u64 place) const {
        const bool null = valid != nullptr && (valid[place / 32] >> place % 32 & 1) == 0;
        return rows.listed[place] | (null ? null_row : 0);
    }
    METHOD Result result(u64 place) const { return results[place]; }
};

// Divided are records of an earlier division.
template <typename Result> struct Divided {
    const u32 *rows;
    const Result *results;
    const i64 *counted;
    i64 capacity;
    METHOD u64 count() const { return device_rows(counted, capacity); }
    METHOD u32 row(u64 place) const { return rows[place]; }
    METHOD Result result(u64 place) const { return results[place]; }
};

// TileMemory is the records of a tile in the order of their parts.
template <typename Result> struct TileMemory {
    Result results[spread_tile];
    u32 rows[spread_tile];
    u32 lower[most_spread_parts]; // the records, then those of the tile in lower parts
    u32 to[most_spread_parts];    // where the first record of the tile goes, less its rank in the tile
    u32 sums[spread_warps];
};

DEVICE void put_row(u32 *to, u32 row, u32) { *to = row; }
// A span has fewer bits than the number of a row in it.
DEVICE void put_row(u16 *to, u32 row, u32 bits) { *to = (u16)(row & (1u << bits) - 1 | (row >= null_row ? null_in_span : 0)); }

// divide moves the records of a tile to their parts.
template <typename Result, typename Row, typename Source> DEVICE void divide(const Source &source, const Division &by, Row *rows, Result *results) {
    TileMemory<Result> &shared = *(TileMemory<Result> *)spread_memory;
    const u64 n = source.count(), begin = (u64)block_in_grid() * spread_tile;
    if (begin >= n)
        return;
    const u32 there = n - begin < spread_tile ? (u32)(n - begin) : spread_tile, thread = thread_in_block(), parts = by.parts();
    if (thread < parts)
        shared.lower[thread] = 0;
    u32 row[spread_loads], rank[spread_loads];
#pragma unroll
    for (u32 i = 0; i < spread_loads; i++) {
        const u32 at = i * spread_threads + thread;
        row[i] = at < there ? source.row(begin + at) : 0;
    }
    synchronize_block();
#pragma unroll
    for (u32 i = 0; i < spread_loads; i++)
        rank[i] = count_digit(shared.lower, by.part(row[i]), i * spread_threads + thread < there);
    synchronize_block();
    const u32 count = thread < parts ? shared.lower[thread] : 0;
    u32 all;
    const u32 scanned = warp_scan(count, Sum<u32>());
    u32 lower = before_lane(scanned, Sum<u32>());
    lower += block_fold_before<spread_warps>(shuffle_value(scanned, warp_threads - 1), shared.sums, all, Sum<u32>());
    if (thread < parts) {
        shared.lower[thread] = lower;
        const u32 part = (u32)(begin >> by.from) * parts + thread;
        if (count != 0)
            shared.to[thread] = (part << by.to) + (u32)__nvvm_atom_add_gen_i((int *)&by.cursors[part], (int)count) - lower;
    }
    synchronize_block();
    constexpr u32 half = spread_loads / 2;
#pragma unroll
    for (u32 first = 0; first < spread_loads; first += half) {
        Result result[half];
#pragma unroll
        for (u32 i = 0; i < half; i++) {
            const u32 at = (first + i) * spread_threads + thread;
            result[i] = at < there ? source.result(begin + at) : 0;
        }
#pragma unroll
        for (u32 i = 0; i < half; i++) {
            if ((first + i) * spread_threads + thread >= there)
                continue;
            const u32 at = rank[first + i] + shared.lower[by.part(row[first + i])];
            shared.rows[at] = row[first + i];
            shared.results[at] = result[i];
        }
    }
    synchronize_block();
#pragma unroll
    for (u32 i = 0; i < spread_loads; i++) {
        const u32 at = i * spread_threads + thread;
        if (at >= there)
            continue;
        const u32 own = shared.rows[at], to = shared.to[by.part(own)] + at;
        put_row(rows + to, own, by.to);
        results[to] = shared.results[at];
    }
}

// The first division, of each kind of result.
KERNEL RESIDENT_BOUNDS(spread_threads, 2) spread_numbers(Rows rows, u32 *cursors, u32 from, u32 to, u32 *to_rows, u32 *to_results) {
    divide(Numbered{{rows}}, Division{cursors, from, to}, to_rows, to_results);
}
KERNEL RESIDENT_BOUNDS(spread_threads, 2) spread_shifted(Rows rows, i64 offset, u32 *cursors, u32 from, u32 to, u32 *to_rows, u32 *to_results) {
    divide(Shifted{{rows}, offset}, Division{cursors, from, to}, to_rows, to_results);
}

// The first division of results in memory, and the second one of all.
#define SPREAD(BITS, TYPE) \
    KERNEL RESIDENT_BOUNDS(spread_threads, 2) \
    spread_placed_##BITS(Rows rows, const TYPE *results, const u32 *valid, u32 *cursors, u32 from, u32 to, u32 *to_rows, TYPE *to_results) { \
        divide(Placed<TYPE>{{rows}, results, valid}, Division{cursors, from, to}, to_rows, to_results); \
    } \
    KERNEL RESIDENT_BOUNDS(spread_threads, 2) \
    spread_again_##BITS(const u32 *rows, const TYPE *results, const i64 *counted, i64 capacity, u32 *cursors, u32 from, u32 to, u16 *to_rows, TYPE *to_results) { \
        divide(Divided<TYPE>{rows, results, counted, capacity}, Division{cursors, from, to}, to_rows, to_results); \
    }

SPREAD(32, u32)
SPREAD(64, u64)

// SpanMemory is the results of a span in the order of its rows, and their validity.
template <typename Result> struct SpanMemory {
    Result results[span_rows];
    u32 valid[span_rows / 32];

    // load reads the records of a span, two in each load. The memory of the records has room for an even number.
    METHOD void load(const u16 *rows, const Result *from, u64 begin, u32 there, bool nullable) {
        const u32 thread = thread_in_block();
        if (nullable) {
            if (thread < span_rows / 32)
                valid[thread] = 32 * thread + 32 <= there ? ~0u : 32 * thread < there ? (1u << (there - 32 * thread)) - 1 : 0;
            synchronize_block();
        }
        constexpr u32 pairs = span_rows / 2 / spread_threads;
        u32 row[pairs];
        Vector<Result, 2> result[pairs];
#pragma unroll
        for (u32 i = 0; i < pairs; i++) {
            const u32 at = 2 * (i * spread_threads + thread);
            row[i] = at < there ? *(const u32 *)(rows + begin + at) : 0;
            result[i] = at < there ? *(const Vector<Result, 2> *)(from + begin + at) : Vector<Result, 2>{{0, 0}};
        }
#pragma unroll
        for (u32 i = 0; i < pairs; i++) {
            const u32 at = 2 * (i * spread_threads + thread);
            if (at < there)
                put(row[i] & 0xffff, result[i].lane[0], nullable);
            if (at + 1 < there)
                put(row[i] >> 16, result[i].lane[1], nullable);
        }
        synchronize_block();
    }
    METHOD void put(u32 row, Result result, bool nullable) {
        const u32 own = row & span_rows - 1;
        results[own] = result;
        if (nullable && (row & null_in_span) != 0)
            __atomic_fetch_and(&valid[own / 32], ~(1u << own % 32), __ATOMIC_RELAXED);
    }
};

// write_span writes the results of a span, and their validity if it has memory.
template <typename Result, typename Out> DEVICE void write_span(const u16 *rows, const Result *results, const i64 *counted, i64 capacity, Out *out, u32 *out_valid) {
    SpanMemory<Result> &shared = *(SpanMemory<Result> *)spread_memory;
    const u64 n = device_rows(counted, capacity), begin = (u64)block_in_grid() * span_rows;
    if (begin >= n)
        return;
    const u32 there = n - begin < span_rows ? (u32)(n - begin) : span_rows, thread = thread_in_block();
    shared.load(rows, results, begin, there, out_valid != nullptr);
#pragma unroll 4
    for (u32 at = thread; at < there; at += spread_threads)
        out[begin + at] = shared.results[at];
    if (out_valid != nullptr && 32 * thread < there)
        out_valid[begin / 32 + thread] = shared.valid[thread];
}

#define SPREAD_ROWS(NAME, FROM, TO) \
    KERNEL LAUNCH_BOUNDS(spread_threads) NAME(const u16 *rows, const FROM *results, const i64 *counted, i64 capacity, TO *out, u32 *out_valid) { \
        write_span<FROM, TO>(rows, results, counted, capacity, out, out_valid); \
    }

SPREAD_ROWS(spread_rows_32, u32, u32)
SPREAD_ROWS(spread_rows_32_64, u32, u64)
SPREAD_ROWS(spread_rows_64, u64, u64)

// take_span writes the values of the rows that the results name.
template <typename T> DEVICE void take_span(const u16 *rows, const u32 *results, const i64 *counted, i64 capacity, const Values &values, T *out, u32 *out_valid) {
    SpanMemory<u32> &shared = *(SpanMemory<u32> *)spread_memory;
    const u64 n = device_rows(counted, capacity), begin = (u64)block_in_grid() * span_rows;
    if (begin >= n)
        return;
    const u32 there = n - begin < span_rows ? (u32)(n - begin) : span_rows, thread = thread_in_block();
    shared.load(rows, results, begin, there, false);
    constexpr u32 loads = 8;
#pragma unroll 1
    for (u32 first = thread; first < span_rows; first += loads * spread_threads) {
        T value[loads];
        bool ok[loads];
#pragma unroll
        for (u32 i = 0; i < loads; i++) {
            const u32 at = first + i * spread_threads, from = at < there ? shared.results[at] : ~0u;
            ok[i] = from != ~0u;
            value[i] = ok[i] ? ((const T *)values.values)[from] : 0;
            ok[i] = ok[i] && values.is_valid(from);
        }
#pragma unroll
        for (u32 i = 0; i < loads; i++) {
            const u32 at = first + i * spread_threads;
            const u32 bits = ballot(ok[i]);
            if (at < there) {
                out[begin + at] = value[i];
                if (at % 32 == 0)
                    out_valid[(begin + at) / 32] = bits;
            }
        }
    }
}

// Words of 32 places are listed by how far in their partition they are, because the rows of a partition mostly
// ascend: then the values of words that are gathered at a time are near each other, and in the cache.
static constexpr u32 stages = 64;

// stage returns the part of its partition that a word begins in.
DEVICE u32 stage(const Rows &rows, u64 word, u64 n) {
    const u64 place = 32 * word, begin = rows.begin(place), end = rows.end(place, n);
    return (u32)((place - begin) * stages / (end - begin));
}

// spread_stages counts the words of each stage.
KERNEL LAUNCH_BOUNDS(spread_threads) spread_stages(Rows rows, u32 *counts) {
    __shared__ u32 counters[stages];
    const u64 n = rows.count(), word = thread_in_grid();
    const u32 thread = thread_in_block();
    if (thread < stages)
        counters[thread] = 0;
    synchronize_block();
    const bool there = 32 * word < n;
    tally(counters, there ? stage(rows, word, n) : 0, there);
    synchronize_block();
    if (thread < stages && counters[thread] != 0)
        __nvvm_atom_add_gen_i((int *)&counts[thread], (int)counters[thread]);
}

// spread_words lists the words by stages. cursors has the words that each stage has so far.
KERNEL LAUNCH_BOUNDS(spread_threads) spread_words(Rows rows, const u32 *counts, u32 *cursors, u32 *words) {
    __shared__ u32 counters[stages], starts[stages];
    const u64 n = rows.count(), word = thread_in_grid();
    const u32 thread = thread_in_block();
    if (thread < stages)
        counters[thread] = 0;
    synchronize_block();
    const bool there = 32 * word < n;
    const u32 own = there ? stage(rows, word, n) : 0;
    const u32 rank = count_digit(counters, own, there);
    synchronize_block();
    if (thread < stages) {
        u32 before = 0;
        for (u32 i = 0; i < thread; i++)
            before += counts[i];
        starts[thread] = before + (u32)__nvvm_atom_add_gen_i((int *)&cursors[thread], (int)counters[thread]);
    }
    synchronize_block();
    if (there)
        words[starts[own] + rank] = (u32)word;
}

// gather writes values in the order of places, and their validity if they have one. words are the words of places, or
// null for their order.
static constexpr u32 gather_threads = 256, gather_loads = 8;

template <typename T> DEVICE void gather(const Rows &rows, const Values &values, const u32 *words, T *out, u32 *out_valid) {
    const u64 n = rows.count(), count = (n + 31) / 32, lane = lane_in_warp();
    const u64 first = ((u64)block_in_grid() * (gather_threads / warp_threads) + thread_in_block() / warp_threads) * gather_loads;
    u64 place[gather_loads];
    u32 row[gather_loads];
    T value[gather_loads];
#pragma unroll
    for (u32 i = 0; i < gather_loads; i++)
        place[i] = first + i >= count ? n : 32 * (u64)(words != nullptr ? words[first + i] : first + i) + lane;
#pragma unroll
    for (u32 i = 0; i < gather_loads; i++)
        row[i] = place[i] < n ? rows.listed[place[i]] : 0;
#pragma unroll
    for (u32 i = 0; i < gather_loads; i++)
        value[i] = place[i] < n ? ((const T *)values.values)[row[i]] : 0;
#pragma unroll
    for (u32 i = 0; i < gather_loads; i++) {
        if (place[i] < n)
            out[place[i]] = value[i];
        if (values.valid == nullptr)
            continue;
        const u32 bits = ballot(place[i] < n && values.is_valid(row[i]));
        if (place[i] < n && lane == 0)
            out_valid[place[i] / 32] = bits;
    }
}

#define SPREAD_TAKE(BITS, TYPE) \
    KERNEL LAUNCH_BOUNDS(spread_threads) \
    spread_take_##BITS(const u16 *rows, const u32 *results, const i64 *counted, i64 capacity, Values values, TYPE *out, u32 *out_valid) { \
        take_span<TYPE>(rows, results, counted, capacity, values, out, out_valid); \
    } \
    KERNEL LAUNCH_BOUNDS(gather_threads) spread_gather_##BITS(Rows rows, Values values, const u32 *words, TYPE *out, u32 *out_valid) { gather<TYPE>(rows, values, words, out, out_valid); }

SPREAD_TAKE(32, u32)
SPREAD_TAKE(64, u64)
