// Functions of rows in the order of windows: kernels/window/over.go.

#include "extremes.cuh"
#include "interpolate.cuh"
#include "over.cuh"
#include "quantiles.cuh"
#include "roll.cuh"
#include "running.cuh"
#include "slide.cuh"
#include "sums.cuh"

// over_ranks writes the number of a row in its partition, or a rank: Go's rankFunction. Those
// that are no fractions have 32 bits in the order of places.
KERNEL LAUNCH_BOUNDS(over_threads) over_ranks(Rows rows, void *out, u32 function, u64 argument) {
    const u64 n = rows.count();
    for (u64 i = thread_in_grid(); i < n; i += threads_per_grid()) {
        const u64 begin = rows.begin(i);
        u64 result = i - begin + 1;
        switch (function) {
        case 1: result = rows.peer_begin(i) - begin + 1; break; // rank
        case 2: // dense rank
            result = rows.peers.words == nullptr ? 1 : rows.peers.number(i) - rows.peers.number(begin) + 1;
            break;
        case 3: { // percent rank
            const u64 size = rows.end(i, n) - begin;
            result = size == 1 ? 0 : as_bits(over((f64)(rows.peer_begin(i) - begin), (f64)(size - 1)));
            break;
        }
        case 4: // cumulative distribution
            result = as_bits(over((f64)(rows.peer_end(i, n) - begin), (f64)(rows.end(i, n) - begin)));
            break;
        case 5: { // tiles: the first ones have one row more
            const u64 size = rows.end(i, n) - begin, small = size / argument, large = size % argument, at = i - begin;
            result = at < large * (small + 1) ? at / (small + 1) + 1 : large + (at - large * (small + 1)) / (small > 0 ? small : 1) + 1;
            break;
        }
        }
        const u64 at = rows.result(i);
        if (rows.by_place != 0 && function != 3 && function != 4)
            ((u32 *)out)[at] = (u32)result;
        else
            ((u64 *)out)[at] = result;
    }
}

// over_pick writes the number of the row that gives each row its value, or ~0. counts are, if
// nulls are skipped, the number of values up to each place, and places those of the values.
KERNEL LAUNCH_BOUNDS(over_threads) over_pick(Rows rows, Frame frame, u32 *out, u32 function, i64 offset, const u32 *counts, const u32 *places) {
    const u64 n = rows.count();
    for (u64 i = thread_in_grid(); i < n; i += threads_per_grid()) {
        u64 first, end;
        if (function == 0) {
            first = rows.begin(i);
            end = rows.end(i, n);
        } else
            frame.bounds(rows, i, n, first, end);
        u64 own = i;
        if (counts != nullptr) {
            // The same among the values: own is the last value up to this row, or one before.
            own = counts[i];
            const bool here = own > 0 && places[own - 1] == i;
            own = here || offset > 0 ? own - 1 : own;
            first = first == 0 ? 0 : counts[first - 1];
            end = end == 0 ? 0 : counts[end - 1];
        }
        // Numbers below first wrap around to numbers above end.
        u64 at;
        switch (function) {
        case 0: at = own + offset; break;
        case 1: at = first + offset; break;
        default: at = end - 1 - offset;
        }
        const bool found = (i64)at >= (i64)first && (i64)at < (i64)end;
        out[rows.result(i)] = found ? (u32)rows.row(counts != nullptr ? places[at] : at) : ~0u;
    }
}

// RowHead is where the partition of a place begins and ends, in 32 bits. A warp has
// consecutive places, and all its lanes read one word.
struct RowHead {
    u32 bits, place;
    HeadWord word;

    METHOD RowHead(const Heads &heads, u32 place, u32 n) : bits(0), place(place), word(HeadWord{0, 0, n, 0}) {
        if (heads.words != nullptr)
            word = heads.words[place / 32];
    }
    METHOD u32 begin() const {
        const u32 before = word.bits & ~0u >> (31 - place % 32);
        return before == 0 ? word.before : (place | 31) - __builtin_clz(before);
    }
    METHOD u32 end() const {
        const u32 behind = word.bits & ~1u << place % 32;
        return behind == 0 ? word.after : (place & ~31u) + __builtin_ctz(behind);
    }
};

static constexpr u32 number_loads = 2;

// over_numbers writes the numbers of the rows of a table in order in their partitions, two
// in each store.
KERNEL LAUNCH_BOUNDS(over_threads) over_numbers(Rows rows, u64 *out) {
    const u32 n = (u32)rows.count(), step = (u32)threads_per_grid() * number_loads;
    for (u64 at = thread_in_grid() * number_loads; at < n; at += step) {
        const u32 place = (u32)at;
        const RowHead head(rows.partitions, place, n);
        const u32 begin = head.begin();
        // The next place is in the same word.
        const u32 next = (head.word.bits >> place % 32 & 2) != 0 ? place + 1 : begin;
        if (place + 1 < n)
            *(Vector<u64, 2> *)(out + place) = Vector<u64, 2>{{place - begin + 1, place + 1 - next + 1}};
        else
            out[place] = place - begin + 1;
    }
}

// shift writes the values of the rows some places away in the same partition. The table is in
// order. The loads of a thread are in flight together.
static constexpr u32 shift_loads = 4;

template <typename T, bool behind> DEVICE void shift(const Rows &rows, const Values &values, i64 offset, T *out, u32 *out_valid) {
    const u32 n = (u32)rows.count();
    // A distance beyond the table is in no partition.
    const i64 size = offset < 0 ? -offset : offset;
    const u32 distance = size > (i64)n ? n : (u32)size;
    for (u64 base = (u64)block_in_grid() * over_threads * shift_loads; base < n; base += threads_per_grid() * shift_loads) {
        T word[shift_loads];
        bool inside[shift_loads];
        const u32 first = (u32)base + thread_in_block();
#pragma unroll
        for (u32 i = 0; i < shift_loads; i++) {
            const u32 place = first + i * over_threads;
            inside[i] = false;
            word[i] = T{};
            if (place >= n)
                continue;
            const RowHead head(rows.partitions, place, n);
            inside[i] = behind ? head.end() - place > distance : place - head.begin() >= distance;
            if (inside[i])
                word[i] = ((const T *)values.values)[behind ? place + distance : place - distance];
        }
#pragma unroll
        for (u32 i = 0; i < shift_loads; i++) {
            const u32 place = first + i * over_threads;
            const u32 bits = ballot(inside[i] && values.is_valid(behind ? place + distance : place - distance));
            if (place < n) {
                out[place] = word[i];
                if (place % 32 == 0)
                    out_valid[place / 32] = bits;
            }
        }
    }
}

#define OVER_SHIFT(BITS, TYPE) \
    KERNEL LAUNCH_BOUNDS(over_threads) over_shift_##BITS(Rows rows, Values values, i64 offset, TYPE *out, u32 *valid) { \
        offset > 0 ? shift<TYPE, true>(rows, values, offset, out, valid) : shift<TYPE, false>(rows, values, offset, out, valid); \
    }

struct Pair {
    u64 low, high; // aligned to 8 bytes only
};
OVER_SHIFT(8, u8)
OVER_SHIFT(16, u16)
OVER_SHIFT(32, u32)
OVER_SHIFT(64, u64)
OVER_SHIFT(128, Pair)

// The kernels of frames from the first row of the partition to the current one: over_scan and
// over_scan_tiles are of any fold, the others of one.
#define OVER_SCAN(NAME, FOLD) \
    KERNEL LAUNCH_BOUNDS(over_threads) \
    NAME(Rows rows, Values values, Folding by, State *tiles, const State *carries, u32 only_fold, u32 whole, Writing to, u32 *counts, u32 *places) { \
        running_folds<FOLD>(rows, values, by, tiles, carries, only_fold, whole, to, counts, places); \
    } \
    KERNEL LAUNCH_BOUNDS(over_threads) NAME##_tiles(Folding by, State *tiles, State *carries, u32 count) { running_tiles<FOLD>(by, tiles, carries, count); } \
    KERNEL LAUNCH_BOUNDS(over_threads) NAME##_carries(Folding by, State *carries, u32 count) { running_carries<FOLD>(by, carries, count); }

OVER_SCAN(over_scan, any_fold)
OVER_SCAN(over_scan_integers, fold_integers)
OVER_SCAN(over_scan_floats, fold_floats)

// over_scan_linear is y = value + factor · y of the row before, in each partition. The first value has no row before.
KERNEL LAUNCH_BOUNDS(over_threads)
over_scan_linear(Rows rows, Values values, Folding by, State *tiles, const State *carries, u32 only_fold, const u64 *factors, Writing to) {
    running_folds<fold_linear>(rows, values, by, tiles, carries, only_fold, 0, to, nullptr, nullptr, factors);
}

// The same for words without nulls of a table in order.
#define OVER_SUMS(NAME, FOLD) \
    KERNEL LAUNCH_BOUNDS(over_threads) NAME(Rows rows, const u64 *values, Folding by, State *tiles, const State *carries, u32 only_fold, Writing to) { \
        running_sums<FOLD>(rows, values, by, tiles, carries, only_fold, to); \
    }

OVER_SUMS(over_sums_floats, fold_floats)
OVER_SUMS(over_sums_integers, fold_integers)

// The kernels of frames that fit the shared memory of a block: over_roll is of any fold, with
// or without nulls, the others of one.
KERNEL LAUNCH_BOUNDS(roll_threads)
over_roll(Rows rows, Frame frame, Values values, Folding by, Writing to, u32 before, u32 own, u32 longest) {
    roll<any_fold, true>(rows, frame, values, by, to, before, own, longest);
}

#define OVER_ROLL(NAME, FOLD, COUNTED) \
    KERNEL LAUNCH_BOUNDS(roll_threads) \
    NAME(Rows rows, Frame frame, Values values, Folding by, Writing to, u32 before, u32 own, u32 longest) { \
        roll<FOLD, COUNTED>(rows, frame, values, by, to, before, own, longest); \
    }

OVER_ROLL(over_roll_integers, fold_integers, false)
OVER_ROLL(over_roll_floats, fold_floats, false)
OVER_ROLL(over_roll_floats_nulls, fold_floats, true)
OVER_ROLL(over_roll_least, fold_least, false)
OVER_ROLL(over_roll_least_nulls, fold_least, true)
OVER_ROLL(over_roll_moments, fold_moments, false)

// The kernels of short frames of words without nulls.
#define OVER_SLIDE(NAME, BLOCKS, SLIDE) \
    KERNEL RESIDENT_BOUNDS(slide_threads, BLOCKS) NAME(Rows rows, Frame frame, Values values, Folding by, Writing to, u32 own, u32 longest) { \
        SLIDE(rows, frame, values, by, to, own, longest); \
    }

OVER_SLIDE(over_slide_floats, 4, slide<fold_floats>)
OVER_SLIDE(over_slide_least, 6, slide_extremes<fold_least>)

// over_level is a step of over_roll for frames of any length, with the states in memory.
// Without from it begins with the values. from are the folds of runs of size rows, to those
// of twice as many.
KERNEL LAUNCH_BOUNDS(over_threads)
over_level(Rows rows, Frame frame, Values values, Folding by, const State *from, State *to, State *results, u64 size) {
    const u64 n = rows.count();
    for (u64 i = thread_in_grid(); i < n; i += threads_per_grid()) {
        if (from == nullptr) {
            const u64 row = rows.row(i);
            const bool valid = values.is_valid(row);
            to[i] = by.of(valid ? values.raw(by.format, row) : 0, valid);
            results[i] = by.none();
            continue;
        }
        u64 first, end;
        frame.bounds(rows, i, n, first, end);
        if ((end - first & size) != 0)
            results[i] = by.fold_of(results[i], from[first + (end - first & size - 1)]);
        to[i] = i + size < n ? by.fold_of(from[i], from[i + size]) : from[i];
    }
}

// over_finish writes the values of states.
KERNEL LAUNCH_BOUNDS(over_threads) over_finish(Rows rows, Folding by, const State *states, Writing to) {
    const u64 n = rows.count();
    for (u64 begin = (u64)block_in_grid() * over_threads; begin < n; begin += threads_per_grid()) {
        const u64 place = begin + thread_in_block();
        bool ok = false;
        u64 value = 0;
        if (place < n)
            value = to.value(by, states[place], ok);
        store_places(rows, to, place, n, value, ok);
    }
}

// Ranges is the order key of frames of values: low ≤ key − key of the row ≤ high, or the
// reverse if descending.
//go:layout rangesLayout
struct Ranges {
    Values key;
    Values lows, highs; // the bounds of each row instead of low and high, or no memory
    u64 low, high;      // integers or, for keys that are floats, floats
    u32 format;
    u32 unbounded; // bit 0: no low, bit 1: no high
    u32 descending, nulls_first;
    u64 behind; // bits as unbounded: a null of lows, highs is behind all keys, not before them

    // before reports whether an element is before the frame of a row, or, with above, not
    // after it.
    METHOD bool before(u64 element, u64 row, bool above) const {
        if (!key.is_valid(element))
            return nulls_first != 0;
        const Values &bounds = above ? highs : lows;
        if (bounds.values != nullptr)
            return before_bound(bounds, element, row, above);
        const u64 offset = above ? high : low;
        if (format / 4 == class_float) {
            const f64 x = as_real(raw_at(key.values, format, element), format);
            if (x != x)
                return descending != 0;
            const f64 y = as_real(raw_at(key.values, format, row), format);
            if (descending == 0) {
                const f64 bound = plus(y, as_float(offset));
                return above ? x <= bound : x < bound;
            }
            const f64 bound = plus(y, -as_float(offset));
            return above ? x >= bound : x > bound;
        }
        u64 x = as_integer(raw_at(key.values, format, element), format), y = as_integer(raw_at(key.values, format, row), format);
        if (descending != 0) {
            const u64 swap = x;
            x = y;
            y = swap;
        }
        // x − y as a sign and a magnitude, which do not overflow.
        const bool less = format / 4 == class_signed ? (i64)x < (i64)y : x < y;
        const i64 bound = (i64)offset;
        if (less) {
            const u64 below = y - x; // the difference is −below
            if (bound >= 0)
                return true;
            return above ? below >= -(u64)bound : below > -(u64)bound;
        }
        const u64 difference = x - y;
        if (bound < 0)
            return false;
        return above ? difference <= (u64)bound : difference < (u64)bound;
    }

    // before_bound is before for keys that are signed integers, with the bounds of each row.
    METHOD bool before_bound(const Values &bounds, u64 element, u64 row, bool above) const {
        if (!bounds.is_valid(row))
            return (behind >> (above ? 1 : 0) & 1) != 0;
        const i64 x = (i64)as_integer(raw_at(key.values, format, element), format);
        const i64 bound = (i64)as_integer(raw_at(bounds.values, format, row), format);
        if (descending != 0)
            return above ? x >= bound : x > bound;
        return above ? x <= bound : x < bound;
    }

    METHOD bool is_number(u64 row) const {
        if (!key.is_valid(row))
            return false;
        if (format / 4 != class_float)
            return true;
        const f64 x = as_real(raw_at(key.values, format, row), format);
        return x == x;
    }
};

// float_key returns a value as a float, as a number of the same order. NaN is the greatest.
DEVICE u64 float_key(const Values &values, u32 format, u64 row) {
    const f64 x = as_real(raw_at(values.values, format, row), format);
    return ordered_f64(x == x ? as_bits(x) : nan_f64);
}

// over_ranges finds the frames of a range of values. Rows with a null or NaN key have the
// rows with the same key. extents receives the maxima of the rows before and after the
// current one, and of the length.
KERNEL LAUNCH_BOUNDS(over_threads) over_ranges(Rows rows, Ranges by, u32 *lows, u32 *highs, u64 *extents) {
    const u64 n = rows.count();
    u64 before = 0, after = 0, length = 0;
    for (u64 i = thread_in_grid(); i < n; i += threads_per_grid()) {
        const u64 row = rows.row(i), begin = rows.begin(i), end = rows.end(i, n);
        u64 low, high;
        if (by.is_number(row)) {
            low = begin;
            u64 limit = by.unbounded & 1 ? low : end;
            while (low < limit) {
                const u64 middle = low + (limit - low) / 2;
                if (by.before(rows.row(middle), row, false))
                    low = middle + 1;
                else
                    limit = middle;
            }
            high = by.unbounded & 2 ? end : low;
            limit = end;
            while (high < limit) {
                const u64 middle = high + (limit - high) / 2;
                if (by.before(rows.row(middle), row, true))
                    high = middle + 1;
                else
                    limit = middle;
            }
        } else {
            low = by.unbounded & 1 ? begin : rows.peer_begin(i);
            high = by.unbounded & 2 ? end : rows.peer_end(i, n);
        }
        lows[i] = (u32)low;
        highs[i] = (u32)high;
        before = i > low && i - low > before ? i - low : before;
        after = high > i + 1 && high - i - 1 > after ? high - i - 1 : after;
        length = high - low > length ? high - low : length;
    }
    __nvvm_atom_max_gen_ull(extents, before);
    __nvvm_atom_max_gen_ull(extents + 1, after);
    __nvvm_atom_max_gen_ull(extents + 2, length);
}

// between returns the quantile at a part of the way between two neighbours in order.
DEVICE u64 between(u64 key, u64 next, f64 part) {
    const f64 low = as_float(unordered_f64(key)), high = as_float(unordered_f64(next));
    return as_bits(part == 0 ? low : interpolate(low, high, part));
}

// over_quantile_near is over_quantile for frames that fit the shared memory of a block: see
// quantiles.cuh, and over_roll for before and own. size is the number of places of a
// block, a power of two with that many bits, from 32 on.
KERNEL LAUNCH_BOUNDS(quantile_threads)
over_quantile_near(Rows rows, Frame frame, Values values, Folding by, Writing to, u64 q, u32 before, u32 own, u32 size, u32 bits) {
    __shared__ Ranked ranked;
    const u64 n = rows.count(), begin = (u64)block_in_grid() * own;
    const u32 thread = thread_in_block();
    // The place of the first element, which may be before the first row.
    const i64 base = (i64)begin - before;
#pragma unroll 1
    for (u32 at = thread; at < size; at += quantile_threads) {
        const i64 place = base + at;
        u64 key = no_key;
        if (place >= 0 && place < (i64)n)
            if (const u64 row = rows.row(place); values.is_valid(row))
                key = float_key(values, by.format, row);
        ranked.keys[at] = key;
        ranked.ranks[0][at] = (u16)at;
        const u32 absent = ballot(key == no_key);
        if (at % 32 == 0)
            ranked.absent.words[at / 32].bits = absent;
    }
    synchronize_block();
    if (thread < warp_threads)
        ranked.absent.count(size / 32);
    ranked.sort(size);
    ranked.arrange(size, bits);
#pragma unroll 1
    for (u32 at = thread; at < quantile_rows; at += quantile_threads) {
        const u64 place = begin + at;
        bool ok = false;
        u64 result = 0;
        if (at < own && place < n) {
            u64 first, end;
            frame.bounds(rows, place, n, first, end);
            const u32 low = (u32)((i64)first - base), high = (u32)((i64)end - base);
            const u32 count = ranked.absent.zeros(high) - ranked.absent.zeros(low);
            ok = count > 0 && count >= to.least;
            if (ok) {
                const f64 at_rank = times(as_float(q), (f64)(count - 1));
                const u32 below = (u32)at_rank;
                const f64 part = plus(at_rank, -(f64)below);
                u64 next;
                const u64 key = ranked.find(low, high, below, part != 0, size, bits, next);
                result = between(key, next, part);
            }
        }
        store_places(rows, to, at < own ? place : n, n, result, ok);
    }
}

// over_quantile writes a quantile of each frame, interpolated at place q · (n − 1) of the
// sorted values, counted from 0. NaN comes after all numbers. It finds the bits of the
// value from the highest on, and reads the frame once for each.
KERNEL LAUNCH_BOUNDS(over_threads) over_quantile(Rows rows, Frame frame, Values values, Folding by, Writing to, u64 q) {
    const u64 n = rows.count();
    for (u64 base = (u64)block_in_grid() * over_threads; base < n; base += threads_per_grid()) {
        const u64 place = base + thread_in_block();
        bool ok = false;
        u64 result = 0;
        if (place < n) {
            u64 first, end;
            frame.bounds(rows, place, n, first, end);
            u32 count = 0;
            for (u64 i = first; i < end; i++)
                count += values.is_valid(rows.row(i)) ? 1 : 0;
            ok = count > 0 && count >= to.least;
            if (ok) {
                const f64 at = times(as_float(q), (f64)(count - 1));
                u32 below = (u32)at;
                const f64 part = plus(at, -(f64)below);
                // The least key of which more than below keys are not above.
                u64 key = 0;
                u32 rest = below;
#pragma unroll 1
                for (u32 bit = 64; bit-- > 0;) {
                    u32 zeros = 0;
                    for (u64 i = first; i < end; i++) {
                        const u64 row = rows.row(i);
                        if (values.is_valid(row) && (float_key(values, by.format, row) ^ key) >> bit == 0)
                            zeros++;
                    }
                    if (rest >= zeros) {
                        rest -= zeros;
                        key |= 1ull << bit;
                    }
                }
                u64 next = key;
                if (part != 0) {
                    // The next key in order: the same one, or the least above it.
                    u32 upto = 0;
                    u64 above = ~0ull;
                    for (u64 i = first; i < end; i++) {
                        const u64 row = rows.row(i);
                        if (!values.is_valid(row))
                            continue;
                        const u64 k = float_key(values, by.format, row);
                        upto += k <= key ? 1 : 0;
                        above = k > key && k < above ? k : above;
                    }
                    next = upto > below + 1 ? key : above;
                }
                result = between(key, next, part);
            }
        }
        store_places(rows, to, place, n, result, ok);
    }
}
