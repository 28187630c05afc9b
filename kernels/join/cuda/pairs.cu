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
    sum_rows(out, form, n, loads, outcome, state, [&](u64 row, u32 &found) {
        found = first[row];
        return matches_of(first, counts, row);
    });
}

static constexpr u32 tile_pairs = 2048;

// row_at returns the first of the rows from low to high, the last of them excluded, that
// ends behind a pair, or high.
DEVICE u64 row_at(const i64 *ends, u64 low, u64 high, u64 pair) {
    while (low < high) {
        const u64 middle = low + (high - low) / 2;
        if (ends[middle] > (i64)pair)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

// expand_pairs writes n pairs from number from on, each by one thread, so that the number of
// matches of a row does not matter. A block finds the rows of its pairs first.
KERNEL LAUNCH_BOUNDS(256) expand_pairs(const PairsOut out, const Sums sums, const u32 *list, u64 rows, u64 from, u64 n) {
    __shared__ u64 bounds[2];
    for (u64 begin = (u64)block_in_grid() * tile_pairs; begin < n; begin += (u64)blocks_per_grid() * tile_pairs) {
        const u64 end = begin + tile_pairs < n ? begin + tile_pairs : n;
        if (thread_in_block() < 2)
            bounds[thread_in_block()] = row_at(sums.ends, 0, rows - 1, from + (thread_in_block() == 0 ? begin : end - 1));
        synchronize_block();
        const u64 low = bounds[0], high = bounds[1];
        for (u64 i = begin + thread_in_block(); i < end; i += threads_per_block()) {
            const u64 at = row_at(sums.ends, low, high, from + i);
            const u64 match = from + i - (at == 0 ? 0 : (u64)sums.ends[at - 1]);
            u32 found = sums.firsts[at];
            if (found != no_row) {
                found += (u32)match;
                if (list != nullptr)
                    found = list[found];
            }
            out.write(i, sums.rows[at], found);
        }
        synchronize_block();
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
