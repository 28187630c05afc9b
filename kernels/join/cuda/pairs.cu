// Steps from matches to pairs of rows.
#include "bitrow.cuh"
#include "pairing.cuh"

// matches_of returns the number of matches of a row. Without counts it has one or none.
DEVICE u32 matches_of(const u32 *first, const u32 *counts, u64 row) { return counts != nullptr ? counts[row] : first[row] != no_row; }

// spans writes the lengths of the spans from lows to highs, and zero for rows without a
// bit, if there are bits.
KERNEL spans(u32 *counts, const u32 *lows, const u32 *highs, const u8 *bits, u64 n) {
    const u64 step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < n; i += step) {
        const u32 low = lows[i], high = highs[i];
        const bool valid = bits == nullptr || (bits[i / 8] >> (i % 8) & 1) != 0;
        counts[i] = valid && high > low ? high - low : 0;
    }
}

// sum_matches writes the sums of rows with matches.
KERNEL LAUNCH_BOUNDS(match_threads) sum_matches(const Sums out, const u32 *first, const u32 *counts, u32 form, u64 n, u32 loads, u64 *outcome, void *state) {
    sum_rows(out, form, n, loads, outcome, state, [&](u32 *firsts, u32 *found, u64 begin) {
#pragma clang loop unroll(disable)
        for (u32 i = 0; i < loads; i++) {
            const u64 row = begin + i * warp_threads;
            firsts[i * warp_threads] = row < n ? first[row] : no_row;
            found[i * warp_threads] = row < n ? matches_of(first, counts, row) : 0;
        }
    });
}

static constexpr u32 expand_threads = 256, expand_loads = 8;
static constexpr u32 tile_pairs = expand_threads * expand_loads; // Go's tilePairs

// row_at returns the first of n rows that ends behind a pair, or n. The whole warp calls it.
// Each step divides the rows by 33.
DEVICE u64 row_at(const i64 *ends, u64 n, u64 pair) {
    u64 low = 0, high = n;
    while (low < high) {
        const u64 step = (high - low) / (warp_threads + 1) + 1, at = low + (lane_in_warp() + 1) * step - 1;
        const u32 count = __builtin_popcount(ballot(at < high && (u64)ends[at] <= pair));
        const u64 end = low + (count + 1) * step - 1;
        low += count * step;
        high = end < high ? end : high;
    }
    return low;
}

// expand_pairs writes n pairs from number from on. A block has a tile of pairs, so that the
// number of matches of a row does not matter. Two warps find the first and the last row of the
// tile. Each row has a pair, so their ends fit shared memory, in which each thread searches
// for the rows of its pairs.
KERNEL LAUNCH_BOUNDS(expand_threads) expand_pairs(const PairsOut out, const Sums sums, const u32 *list, u64 rows, u64 from, u64 n) {
    __shared__ u64 bounds[2];
    __shared__ u32 ends[tile_pairs];
    const u32 thread = thread_in_block(), warp = thread / warp_threads;
    const u64 begin = (u64)block_in_grid() * tile_pairs, first = from + begin;
    const u32 pairs = n - begin < tile_pairs ? (u32)(n - begin) : tile_pairs;
    if (warp < 2) {
        const u64 at = row_at(sums.ends, rows - 1, warp == 0 ? first : first + pairs - 1);
        if (lane_in_warp() == 0)
            bounds[warp] = at;
    }
    synchronize_block();
    const u64 low = bounds[0];
    const u32 last = (u32)(bounds[1] - low);
    for (u32 i = thread; i < last; i += expand_threads)
        ends[i] = (u32)((u64)sums.ends[low + i] - first);
    synchronize_block();
    // before is the number of pairs of the first row that are in earlier tiles.
    const u64 before = low == 0 ? first : first - (u64)sums.ends[low - 1];
    u32 at = 0;
#pragma unroll
    for (u32 i = 0; i < expand_loads; i++) {
        const u32 pair = i * expand_threads + thread;
        if (pair >= pairs)
            break;
        for (u32 high = last; at < high;) {
            const u32 middle = at + (high - at) / 2;
            if (ends[middle] > pair)
                high = middle;
            else
                at = middle + 1;
        }
        u32 found = sums.firsts[low + at];
        if (found != no_row) {
            found += at == 0 ? (u32)before + pair : pair - ends[at - 1];
            if (list != nullptr)
                found = list[found];
        }
        out.write(begin + pair, sums.rows[low + at], found);
    }
}

// pair_matches writes a pair of each row that has a match, first, in the order of the rows.
KERNEL LAUNCH_BOUNDS(match_threads) pair_matches(const PairsOut out, const u32 *first, u64 n, u32 loads, u64 *outcome, void *state) {
    pair_rows(out, n, loads, outcome, state, [&](u32 *rows, u64 begin) {
        u32 found[match_loads];
#pragma unroll
        for (u32 i = 0; i < match_loads; i++) {
            const u64 row = begin + i * warp_threads;
            found[i] = i < loads && row < n ? first[row] : no_row;
        }
#pragma unroll
        for (u32 i = 0; i < match_loads; i++)
            if (i < loads)
                rows[i * warp_threads] = found[i];
    });
}

// compact_pairs moves the pairs of rows with a match to the front, in order, if probe_pairs has
// found rows without one. A tile only writes to the places of tiles that have read theirs: it
// waits for their numbers of pairs.
KERNEL LAUNCH_BOUNDS(match_threads) compact_pairs(const PairsOut out, u64 n, u32 loads, u64 *outcome, void *state) {
    const u32 finding = *finding_of(state);
    if (finding != missing_rows) {
        if (thread_in_grid() == 0) {
            outcome[0] = n;
            outcome[1] = finding == 0;
        }
        return;
    }
    pair_rows(out, n, loads, outcome, state, [&](u32 *rows, u64 begin) {
        u32 found[match_loads];
#pragma unroll
        for (u32 i = 0; i < match_loads; i++) {
            const u64 row = begin + i * warp_threads;
            found[i] = i < loads && row < n ? out.build_row(row) : no_row;
        }
#pragma unroll
        for (u32 i = 0; i < match_loads; i++)
            if (i < loads)
                rows[i * warp_threads] = found[i];
    });
}

// mark_rows sets the mark of each row that is listed.
KERNEL mark_rows(u8 *marks, const u32 *rows, u64 n) {
    const u64 step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < n; i += step)
        if (const u32 row = rows[i]; row != no_row)
            marks[row] = 1;
}

// matched_rows writes a bit for each row with a match or, with without, for each that has
// none.
KERNEL matched_rows(u32 *bits, const u32 *first, const u32 *counts, u32 without, u64 n) {
    const u64 step = threads_per_grid(), padded = (n + 63) / 64 * 64;
    for (u64 i = thread_in_grid(); i < padded; i += step) {
        const u32 word = ballot(i < n && (matches_of(first, counts, i) == 0) == (without != 0));
        if (lane_in_warp() == 0)
            bits[i / warp_threads] = word;
    }
}

// number_rows writes 0, 1, 2 …
KERNEL number_rows(u32 *rows, u64 n) {
    const u64 step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < n; i += step)
        rows[i] = (u32)i;
}

// unmarked_rows writes the numbers of all rows, and a bit for each without a mark.
KERNEL unmarked_rows(u32 *rows, u32 *bits, const u8 *marks, u64 n) {
    const u64 step = threads_per_grid(), padded = (n + 63) / 64 * 64;
    for (u64 i = thread_in_grid(); i < padded; i += step) {
        const u32 word = ballot(i < n && marks[i] == 0);
        if (lane_in_warp() == 0)
            bits[i / warp_threads] = word;
        if (i < n)
            rows[i] = (u32)i;
    }
}

// runs_of_rows writes the first element of each run of equal rows, and the one behind it.
KERNEL runs_of_rows(u32 *firsts, u32 *ends, const u32 *rows, u64 n) {
    const u64 step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < n; i += step) {
        const u32 row = rows[i];
        if (i == 0 || rows[i - 1] != row)
            firsts[row] = (u32)i;
        if (i + 1 == n || rows[i + 1] != row)
            ends[row] = (u32)(i + 1);
    }
}

// shared_rows writes the left rows and, if they are missing, the right rows behind the
// left ones.
KERNEL shared_rows(u32 *out, const u32 *left, const u32 *right, u32 behind, u64 n) {
    const u64 step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < n; i += step)
        out[i] = left[i] == no_row ? behind + right[i] : left[i];
}

// row_numbers writes rows as 64-bit numbers, and if there is a bitmap a bit for each that
// exists.
KERNEL row_numbers(u64 *numbers, u32 *valid, const u32 *rows, u64 n) {
    const u64 step = threads_per_grid(), padded = (n + 63) / 64 * 64;
    for (u64 i = thread_in_grid(); i < padded; i += step) {
        const u32 row = i < n ? rows[i] : no_row;
        if (valid != nullptr) {
            const u32 word = ballot(row != no_row);
            if (lane_in_warp() == 0)
                valid[i / warp_threads] = word;
        }
        if (i < n)
            numbers[i] = row;
    }
}
