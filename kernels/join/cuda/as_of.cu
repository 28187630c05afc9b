// The nearest row of each row of an as-of join.
#include "scan.cuh"

static constexpr u32 no_row = 0xffffffff;

// Direction selects the right row that an as-of join finds for a left row.
//go:layout Direction
enum Direction : u8 {
    // backward finds the last right row with a key that is not above the left key.
    backward,
    // forward finds the first right row with a key that is not below the left key.
    forward,
    // nearest finds the right row of these two with the smaller distance, the backward one
    // if both are equal.
    nearest,
};

// real_distance returns the distance from a smaller float to a larger one as its bits. The
// bits of floats that are not negative have the order of the floats.
DEVICE u64 real_distance(f64 larger, f64 smaller) {
    if (larger == smaller)
        return 0; // also for infinities
    f64 difference;
    asm("sub.rn.f64 %0, %1, %2;" : "=d"(difference) : "d"(larger), "d"(smaller));
    return __builtin_bit_cast(u64, difference);
}

// Nearest is struct nearest of asof_match.go.
//go:layout nearestLayout any
struct Nearest {
    const u32 *low, *high, *begin, *end;
    const u8 *valid, *left, *right;
    u64 limit;
    u32 sorted, direction, not_equal, wanted, real, width;

    METHOD u64 bits(const u8 *keys, u64 i) const {
        switch (width) {
        case 1: return keys[i];
        case 2: return ((const u16 *)keys)[i];
        case 4: return ((const u32 *)keys)[i];
        default: return ((const u64 *)keys)[i];
        }
    }

    // between returns the distance from a smaller key to a larger one.
    METHOD u64 between(u64 larger, u64 smaller) const {
        if (real == 0)
            return larger - smaller & (width == 8 ? ~0ull : (1ull << 8 * width) - 1);
        return real_distance(__builtin_bit_cast(f64, larger), __builtin_bit_cast(f64, smaller));
    }
};

// nearest_rows writes the nearest row of each row that has one, and how many it has: none
// or one. list has the rows at all places, or is null if these are the places.
KERNEL nearest_rows(u32 *first, u32 *counts, const Nearest n, const u32 *list, u64 rows) {
    const u64 step = threads_per_grid();
    for (u64 row = thread_in_grid(); row < rows; row += step) {
        bool has_back = false, has_ahead = false;
        u32 back = no_row, ahead = no_row;
        if (n.valid == nullptr || (n.valid[row / 8] >> (row % 8) & 1) != 0) {
            if (n.direction != forward) {
                const u32 place = (n.not_equal != 0 ? n.low : n.high)[row];
                has_back = place > (n.begin == nullptr ? 0 : n.begin[row]);
                back = place - 1;
            }
            if (n.direction != backward) {
                ahead = (n.not_equal != 0 ? n.high : n.low)[row];
                has_ahead = ahead < (n.end == nullptr ? n.sorted : n.end[row]);
            }
        }
        if (n.wanted != 0) {
            u64 back_distance = 0, ahead_distance = 0;
            if (has_back) {
                back_distance = n.between(n.bits(n.left, row), n.bits(n.right, back));
                has_back = back_distance <= n.limit;
            }
            if (has_ahead) {
                ahead_distance = n.between(n.bits(n.right, ahead), n.bits(n.left, row));
                has_ahead = ahead_distance <= n.limit;
            }
            if (has_back && has_ahead)
                has_back = back_distance <= ahead_distance;
        }
        const u32 place = has_back ? back : has_ahead ? ahead : no_row;
        first[row] = place != no_row && list != nullptr ? list[place] : place;
        counts[row] = has_back || has_ahead;
    }
}

static constexpr u32 merge_threads = 256, merge_warps = merge_threads / warp_threads, merge_loads = 8;
static constexpr u32 merge_tile = merge_threads * merge_loads; // Go's mergeTile
// A block copies at most this many right rows to shared memory: Go's mergeCached.
static constexpr u32 merge_cached = 4096;

struct Smallest {
    METHOD u64 none() const { return ~0ull; }
    METHOD u64 fold(u64 a, u64 b) const { return b < a ? b : a; }
};

// Items are the rows of a table by their words, which have the order of the keys. The low
// bits of an item are the number of its row. If there are none, rows has the numbers, or is
// null if the rows are in order.
//go:layout itemsLayout
struct Items {
    const u64 *items;
    const u32 *rows;
    u64 count, low;

    METHOD u64 word(u64 item) const { return item >> low; }
    METHOD u64 row_bits() const { return (1ull << low) - 1; }
    METHOD u32 row(u64 item, u64 at) const { return low > 0 ? (u32)(item & row_bits()) : rows != nullptr ? rows[at] : (u32)at; }
};

// Merge is struct mergeArgument of asof_merge.go. The right items are sorted by their words.
//go:layout mergeLayout
struct Merge {
    Items left, right;
    // The low bits of a word are the last key, the others the rest. nulls are the bits that
    // are set if a key is null; nan is the last key NaN if has_nan is set.
    u64 last_bits, nulls, nan, limit;
    u32 direction, not_equal, wanted, has_nan;
    // real is the number of bits of a float, or 0.
    u32 real;

    METHOD u64 last(u64 word) const { return last_bits == 0 ? 0 : word & ~0ull >> 64 - last_bits; }
    METHOD u64 rest(u64 word) const { return last_bits == 64 ? 0 : word >> last_bits; }
    METHOD bool can_match(u64 word) const { return (word & nulls) == 0 && !(has_nan != 0 && last(word) == nan); }

    // number returns a float from a key.
    METHOD f64 number(u64 key) const {
        const u64 sign = 1ull << real - 1;
        const u64 bits = (key & sign) != 0 ? key ^ sign : ~key;
        return real == 64 ? __builtin_bit_cast(f64, bits) : (f64)__builtin_bit_cast(f32, (u32)bits);
    }

    METHOD u64 between(u64 larger, u64 smaller) const {
        const u64 a = last(larger), b = last(smaller);
        return real == 0 ? a - b : real_distance(number(a), number(b));
    }

    // The keys of searches are items. before reports whether an item is before a key or, if
    // upper is set, not behind it.
    METHOD u64 key(u64 word, bool upper) const { return word << right.low | (upper ? right.row_bits() : 0); }
    METHOD static bool before(u64 item, u64 key, bool upper) { return upper ? item <= key : item < key; }

    // place returns the number of right items before a key. The whole warp calls it. Each
    // step divides the items by 33.
    METHOD u32 place(u64 key, bool upper) const {
        u64 low = 0, high = right.count;
        while (low < high) {
            const u64 step = (high - low) / (warp_threads + 1) + 1, at = low + (lane_in_warp() + 1) * step - 1;
            const u32 count = __builtin_popcount(ballot(at < high && before(right.items[at], key, upper)));
            const u64 end = low + (count + 1) * step - 1;
            low += count * step;
            high = end < high ? end : high;
        }
        return (u32)low;
    }

    // nearest returns the right row that a word matches. items has the right items from
    // number begin on; the place of the word lies from low to high.
    METHOD u32 nearest(u64 word, const u64 *items, u32 begin, u32 low, u32 high) const {
        if (!can_match(word))
            return no_row;
        const auto search = [&](bool upper, u32 from) {
            const u64 wanted_key = key(word, upper);
            u32 end = high;
            while (from < end) {
                const u32 middle = from + (end - from) / 2;
                if (before(items[middle - begin], wanted_key, upper))
                    from = middle + 1;
                else
                    end = middle;
            }
            return from;
        };
        // Backward needs the items up to the equal ones, forward those from them on, and
        // without equal ones the other way round.
        u32 lower = low, upper = low;
        if ((direction != forward) == (not_equal != 0) || direction == Direction::nearest)
            lower = search(false, low);
        if ((direction != forward) != (not_equal != 0) || direction == Direction::nearest)
            upper = search(true, lower);
        bool has_back = false, has_ahead = false;
        u32 back = 0, ahead = 0;
        u64 back_item = 0, ahead_item = 0;
        if (direction != forward) {
            const u32 place = not_equal != 0 ? lower : upper;
            if (place > 0) {
                back = place - 1;
                back_item = items[back - begin];
                has_back = rest(right.word(back_item)) == rest(word);
            }
        }
        if (direction != backward) {
            ahead = not_equal != 0 ? upper : lower;
            if (ahead < right.count) {
                ahead_item = items[ahead - begin];
                has_ahead = rest(right.word(ahead_item)) == rest(word) && can_match(right.word(ahead_item));
            }
        }
        if (wanted != 0) {
            u64 back_distance = 0, ahead_distance = 0;
            if (has_back) {
                back_distance = between(word, right.word(back_item));
                has_back = back_distance <= limit;
            }
            if (has_ahead) {
                ahead_distance = between(right.word(ahead_item), word);
                has_ahead = ahead_distance <= limit;
            }
            if (has_back && has_ahead)
                has_back = back_distance <= ahead_distance;
        }
        return has_back ? right.row(back_item, back) : has_ahead ? right.row(ahead_item, ahead) : no_row;
    }

    // tile writes the nearest rows of a tile of left items.
    METHOD void tile(u32 *first, u64 begin, u32 there, const u64 *items, u32 from, u32 low, u32 high) const {
#pragma clang loop unroll(disable)
        for (u32 at = thread_in_block(); at < there; at += merge_threads) {
            const u64 item = left.items[begin + at];
            first[left.row(item, begin + at)] = nearest(left.word(item), items, from, low, high);
        }
    }
};

// merge_nearest writes the nearest right row of each left row that has one, otherwise no_row.
// Each block takes tiles of left items. If the right items from the least to the greatest
// of them are few, which is so if the left items are about in order, the block copies these to
// shared memory.
KERNEL LAUNCH_BOUNDS(merge_threads) merge_nearest(u32 *first, const Merge m) {
    __shared__ u64 cached[merge_cached], leasts[merge_warps], mosts[merge_warps];
    __shared__ u32 range[2];
    const u32 thread = thread_in_block(), warp = thread / warp_threads;
    const u32 n = (u32)m.right.count;
    for (u64 begin = (u64)block_in_grid() * merge_tile; begin < m.left.count; begin += (u64)blocks_per_grid() * merge_tile) {
        const u32 there = m.left.count - begin < merge_tile ? (u32)(m.left.count - begin) : merge_tile;
        u64 least = ~0ull, most = 0;
#pragma unroll
        for (u32 i = 0; i < merge_loads; i++) {
            const u32 at = i * merge_threads + thread;
            const u64 word = m.left.word(m.left.items[begin + (at < there ? at : 0)]);
            least = word < least ? word : least;
            most = word > most ? word : most;
        }
        least = warp_fold(least, Smallest());
        most = warp_fold(most, Most<u64>());
        if (lane_in_warp() == 0) {
            leasts[warp] = least;
            mosts[warp] = most;
        }
        synchronize_block();
        // Two warps find the ends of the range.
        if (warp < 2) {
            for (u32 i = 0; i < merge_warps; i++) {
                least = leasts[i] < least ? leasts[i] : least;
                most = mosts[i] > most ? mosts[i] : most;
            }
            const u32 place = m.place(m.key(warp == 0 ? least : most, warp == 1), warp == 1);
            if (lane_in_warp() == 0)
                range[warp] = place;
        }
        synchronize_block();
        // A match can be the item before the range, or the one behind it.
        const u32 low = range[0], high = range[1], from = low > 0 ? low - 1 : 0, to = high < n ? high + 1 : n;
        if (low <= high && to - from <= merge_cached) {
            for (u32 i = thread; i < to - from; i += merge_threads)
                cached[i] = m.right.items[from + i];
            synchronize_block();
            m.tile(first, begin, there, cached, from, low, high);
        } else
            m.tile(first, begin, there, m.right.items, 0, low, high);
        synchronize_block();
    }
}
