// The kernels that encode and decode the words of rows.
#include "leaf.cuh"
#include "lookback.cuh"

static constexpr u32 threads = 256, unrolled = 4;

// most_pieces is the most pieces that one launch encodes.
//go:layout
static constexpr u32 most_pieces = 8;

// Pieces are the pieces of a word.
//go:layout piecesLayout words
struct Pieces {
    Piece piece[most_pieces];
};

// encode_words writes the sum of the pieces of each row to words, or adds it to them. A piece may reach
// beyond the word, which has the bits of the mask. With a shift the low bits hold the number
// of the row in the list, or its companion.
template <typename Word>
DEVICE void encode_words(Word *words, Rows rows, u64 mask, bool add, u32 shift, u32 count, const Pieces &pieces, const u8 *companions = nullptr, u32 width = 0) {
    const u64 n = rows.count(), step = threads_per_grid();
    for (u64 begin = thread_in_grid(); begin < n; begin += unrolled * step) {
        u64 row[unrolled], word[unrolled];
#pragma unroll
        for (u32 i = 0; i < unrolled; i++) {
            const u64 at = begin + i * step;
            row[i] = rows[at < n ? at : begin]; // a row that exists
            word[i] = 0;
        }
        for (u32 p = 0; p < count; p++)
            pieces.piece[p].add(row, word);
#pragma unroll
        for (u32 i = 0; i < unrolled; i++) {
            const u64 at = begin + i * step;
            if (at < n)
                words[at] = (add                       ? words[at]
                             : companions != nullptr ? (width == 1 ? companions[at] : width == 2 ? ((const u16 *)companions)[at] : ((const u32 *)companions)[at])
                             : shift > 0             ? (Word)at
                                                     : 0) |
                            (Word)(word[i] & mask) << shift;
        }
    }
}

KERNEL LAUNCH_BOUNDS(threads) rowkey_words_32(u32 *words, Rows rows, u64 mask, u32 add, u32 shift, u32 count, Pieces pieces) { encode_words(words, rows, mask, add != 0, shift, count, pieces); }
// rowkey_words_with writes items with the values of one, two or four bytes of another column.
KERNEL LAUNCH_BOUNDS(threads) rowkey_words_with(u64 *words, Rows rows, u64 mask, u32 add, u32 shift, u32 count, Pieces pieces, const u8 *companions, u32 width) {
    encode_words(words, rows, mask, add != 0, shift, count, pieces, companions, width);
}
KERNEL LAUNCH_BOUNDS(threads) rowkey_words_64(u64 *words, Rows rows, u64 mask, u32 add, u32 shift, u32 count, Pieces pieces) { encode_words(words, rows, mask, add != 0, shift, count, pieces); }

// rowkey_prefix adds the first bits of strings or lists to words.
KERNEL LAUNCH_BOUNDS(threads) rowkey_prefix(u64 *words, Rows rows, u32 add, u32 bits, i32 left, u64 flip, Texts texts) {
    const u64 n = rows.count();
    for (u64 i = thread_in_grid(); i < n; i += threads_per_grid()) {
        const u64 row = rows[i];
        u64 word = 0;
        if (texts.is_valid(row)) {
            word = texts.word(texts.span(row), 0) >> 64 - bits ^ flip;
            word = left >= 0 ? word << left : word >> -left;
        }
        words[i] = add ? words[i] | word : word;
    }
}

// The place of a run in a tail: a position, or one of these.
static constexpr u64 at_length = ~0ull, at_end = ~0ull - 1;

// rowkey_tails writes for each row the word of its tail at its run's place.
KERNEL LAUNCH_BOUNDS(threads) rowkey_tails(u64 *words, const u32 *listed, const u32 *runs, const u64 *places, u64 n, u64 flip, Texts texts) {
    for (u64 i = thread_in_grid(); i < n; i += threads_per_grid()) {
        const u64 row = listed[i], place = places[runs[i]];
        u64 word = 0;
        if (place != at_end && texts.is_valid(row)) {
            const Span span = texts.span(row);
            word = (place == at_length ? span.length : texts.word(span, place)) ^ flip;
        }
        words[i] = word;
    }
}

// rowkey_agree compares each row with the first one of its run, from the run's place on.
// nexts are at_length before, and ends 0. Afterwards a run's next place is the first word
// in which rows differ, or not below the run's end, which is the length of its longest row.
KERNEL LAUNCH_BOUNDS(threads) rowkey_agree(u64 *nexts, u64 *ends, const u32 *listed, const u32 *runs, const u32 *firsts, const u64 *places, u64 n, Texts texts) {
    const u32 units = texts.units();
    for (u64 i = thread_in_grid(); i < n; i += threads_per_grid()) {
        const u32 run = runs[i], first = firsts[run];
        u64 at = places[run];
        if (at >= at_end)
            continue;
        const Span own = texts.span(listed[i]);
        if (own.length > *(volatile u64 *)&ends[run])
            __nvvm_atom_max_gen_ull(&ends[run], own.length);
        if (i == first)
            continue;
        const Span other = texts.span(listed[first]);
        const u64 most = own.length > other.length ? own.length : other.length;
        const u64 limit = *(volatile u64 *)&nexts[run];
        while (at < most && at < limit && texts.word(own, at) == texts.word(other, at))
            at += units;
        if (at < limit && at < most)
            __nvvm_atom_min_gen_ull(&nexts[run], at);
    }
}

// rowkey_places sets the place of each run that is not at its end: the next one, or
// at_length if its rows agree.
KERNEL LAUNCH_BOUNDS(threads) rowkey_places(u64 *places, const u64 *nexts, const u64 *ends, u64 runs) {
    for (u64 run = thread_in_grid(); run < runs; run += threads_per_grid())
        if (places[run] < at_end)
            places[run] = nexts[run] < ends[run] ? nexts[run] : at_length;
}

// The order of a row and its predecessor, by the words and tails so far.
static constexpr u8 row_equal = 0, row_after = 1, row_before = 2;

// compare_neighbours finds the order of rows that were equal by earlier words.
template <typename Order> DEVICE void compare_neighbours(u8 *orders, u64 n, bool first, Order order) {
    for (u64 i = thread_in_grid(); i < n; i += threads_per_grid()) {
        if (!first && orders[i] != row_equal)
            continue;
        const i32 found = i == 0 ? 1 : order(i);
        orders[i] = found < 0 ? row_before : found > 0 ? row_after : row_equal;
    }
}

#define NEIGHBOURS(width, Word)                                                                                                                                \
    KERNEL LAUNCH_BOUNDS(threads) rowkey_neighbours_##width(u8 *orders, const Word *words, const i64 *counted, i64 capacity, u32 first) {                      \
        compare_neighbours(orders, device_rows(counted, capacity), first != 0,                                                                                 \
                           [&](u64 i) { return words[i] < words[i - 1] ? -1 : (i32)(words[i] > words[i - 1]); });                                              \
    }                                                                                                                                                          \
    KERNEL LAUNCH_BOUNDS(threads) rowkey_narrow_##width(u32 *lows, u32 *highs, const Word *words, const Word *values, u64 n) {                                \
        narrow(lows, highs, n, [&](u64 row, u64 i) { return words[row] < values[i] ? -1 : (i32)(words[row] > values[i]); });                                   \
    }

// narrow finds, for each value, the rows that are equal to it among those that were equal
// by earlier words: from lows to highs.
template <typename Order> DEVICE void narrow(u32 *lows, u32 *highs, u64 n, Order order) {
    for (u64 i = thread_in_grid(); i < n; i += threads_per_grid()) {
        u32 low = lows[i], high = highs[i], end = high;
        while (low < high) {
            const u32 middle = low + (high - low) / 2;
            const i32 found = order(middle, i);
            if (found < 0)
                low = middle + 1;
            else {
                high = middle;
                if (found > 0)
                    end = middle;
            }
        }
        lows[i] = low;
        // The upper bound lies between the lower one and the first row known to be after.
        while (low < end) {
            const u32 middle = low + (end - low) / 2;
            if (order(middle, i) <= 0)
                low = middle + 1;
            else
                end = middle;
        }
        highs[i] = low;
    }
}

NEIGHBOURS(32, u32)
NEIGHBOURS(64, u64)

// rowkey_neighbours_texts compares rows by whole strings or lists.
KERNEL LAUNCH_BOUNDS(threads) rowkey_neighbours_texts(u8 *orders, Rows rows, i32 sign, Texts texts) {
    compare_neighbours(orders, rows.count(), false, [&](u64 i) { return sign * compare(texts, rows[i], texts, rows[i - 1]); });
}

KERNEL LAUNCH_BOUNDS(threads) rowkey_narrow_texts(u32 *lows, u32 *highs, Rows sorted, Rows values, u64 n, i32 sign, Texts texts, Texts others) {
    narrow(lows, highs, n, [&](u64 row, u64 i) { return sign * compare(texts, sorted[row], others, values[i]); });
}

// rowkey_first_before finds the first row that comes before its predecessor. found is
// ~0 before.
KERNEL LAUNCH_BOUNDS(threads) rowkey_first_before(u64 *found, const u8 *orders, const i64 *counted, i64 capacity) {
    const u64 n = device_rows(counted, capacity);
    for (u64 i = thread_in_grid(); i < n; i += threads_per_grid())
        if (orders[i] == row_before) {
            __nvvm_atom_min_gen_ull(found, i);
            return;
        }
}

struct Smallest {
    METHOD u64 none() const { return ~0ull; }
    METHOD u64 fold(u64 a, u64 b) const { return b < a ? b : a; }
};

// rowkey_bounds finds the least and the greatest value of integers, and of their
// complement: bounds are the least value and the least complement, ~0 before.
KERNEL LAUNCH_BOUNDS(threads) rowkey_bounds(u64 *bounds, Rows rows, u64 sign, Fixed from) {
    __shared__ u64 shared[2][threads / warp_threads];
    const u64 n = rows.count();
    u64 least = ~0ull, rest = ~0ull;
    for (u64 i = thread_in_grid(); i < n; i += threads_per_grid())
        if (from.is_valid(i)) {
            const u64 image = from.number(i) ^ sign;
            least = image < least ? image : least;
            rest = ~image < rest ? ~image : rest;
        }
    least = warp_fold(least, Smallest());
    rest = warp_fold(rest, Smallest());
    u64 all, others;
    block_fold_before<threads / warp_threads>(least, shared[0], all, Smallest());
    block_fold_before<threads / warp_threads>(rest, shared[1], others, Smallest());
    if (thread_in_block() == 0) {
        __nvvm_atom_min_gen_ull(bounds, all);
        __nvvm_atom_min_gen_ull(bounds + 1, others);
    }
}

// rowkey_decimal_bounds finds the bounds of decimals by their low words. bounds, ~0 before,
// are those of rowkey_bounds, and 0 in the third place if a value takes more than 64 bits.
KERNEL LAUNCH_BOUNDS(threads) rowkey_decimal_bounds(u64 *bounds, Rows rows, Fixed from) {
    __shared__ u64 shared[2][threads / warp_threads];
    const u64 n = rows.count(), limbs = from.width / 8;
    const u64 *const values = (const u64 *)from.values;
    u64 least = ~0ull, rest = ~0ull;
    bool wide = false;
    for (u64 i = thread_in_grid(); i < n; i += threads_per_grid())
        if (from.is_valid(i)) {
            const u64 low = values[i * limbs], image = low ^ 1ull << 63;
            for (u64 limb = 1; limb < limbs; limb++)
                wide |= values[i * limbs + limb] != (u64)((i64)low >> 63);
            least = image < least ? image : least;
            rest = ~image < rest ? ~image : rest;
        }
    least = warp_fold(least, Smallest());
    rest = warp_fold(rest, Smallest());
    u64 all, others;
    block_fold_before<threads / warp_threads>(least, shared[0], all, Smallest());
    block_fold_before<threads / warp_threads>(rest, shared[1], others, Smallest());
    if (wide)
        *(volatile u64 *)(bounds + 2) = 0;
    if (thread_in_block() == 0) {
        __nvvm_atom_min_gen_ull(bounds, all);
        __nvvm_atom_min_gen_ull(bounds + 1, others);
    }
}

// Decoded is the reverse of a piece of a plan with one key: Plan.Decode.
//go:layout decodedLayout words
struct Decoded {
    u64 storage; // 0: natural, 1: integer, 2: real
    u64 width;   // bytes of a value, 0 for booleans
    u64 nulls;   // 0: none, 1: they come first, 2: last
    u64 length, subtract, flip;
};

// store writes value i of a width in bytes, from 1 to 8. Booleans, of width 0, have bits.
DEVICE void store(u8 *values, u64 width, u64 i, u64 value) {
    if (width == 1)
        values[i] = value;
    else if (width == 2)
        ((u16 *)values)[i] = value;
    else if (width == 4)
        ((u32 *)values)[i] = value;
    else if (width == 8)
        ((u64 *)values)[i] = value;
}

// store_bits writes the words of the bitmap, and of the values if they are booleans, of a warp.
DEVICE void store_bits(u8 *values, u32 *valid, u64 width, u64 i, bool is_valid, u64 value) {
    const u32 valid_bits = ballot(is_valid), true_bits = ballot(value != 0);
    if (lane_in_warp() == 0) {
        if (valid != nullptr)
            valid[i / 32] = valid_bits;
        if (width == 0)
            ((u32 *)values)[i / 32] = true_bits;
    }
}

// decode_words writes the values and the bitmap of words. The first null_count words
// are those of nulls. Each warp writes whole words of bitmaps, for all rows
// of the capacity.
template <typename Word>
DEVICE void decode_words(u8 *values, u32 *valid, const Word *words, const u64 *null_count, const i64 *counted, i64 capacity, const Decoded &to) {
    const u64 n = device_rows(counted, capacity), whole = ((u64)capacity + 63) / 64 * 64;
    const u64 nulls = to.nulls == 0 ? 0 : *null_count, first = to.nulls == 1 ? nulls : 0, ahead = nulls - first;
    for (u64 i = thread_in_grid(); i < whole; i += threads_per_grid()) {
        const bool there = i >= first && i + ahead < n;
        const u64 word = there ? words[i + ahead] : 0;
        u64 value = there && to.length > 0 ? ((word & ~0ull >> 64 - to.length) ^ to.flip) : 0;
        if (there) {
            const u64 width = to.width == 0 ? 1 : 8 * to.width, sign = 1ull << width - 1, all = ~0ull >> 64 - width;
            value = value + to.subtract & all;
            if (to.storage == 1)
                value ^= sign;
            else if (to.storage == 2)
                value = (value & sign) != 0 ? value ^ sign : ~value & all;
        }
        store_bits(values, valid, to.width, i, there, value);
        if (i < (u64)capacity)
            store(values, to.width, i, value);
    }
}

KERNEL LAUNCH_BOUNDS(threads) rowkey_decode_32(u8 *values, u32 *valid, const u32 *words, const u64 *null_count, const i64 *counted, i64 capacity,
                                               Decoded to) {
    decode_words(values, valid, words, null_count, counted, capacity, to);
}
KERNEL LAUNCH_BOUNDS(threads) rowkey_decode_64(u8 *values, u32 *valid, const u64 *words, const u64 *null_count, const i64 *counted, i64 capacity,
                                               Decoded to) {
    decode_words(values, valid, words, null_count, counted, capacity, to);
}

// Unpacked is the reverse of a piece in a word: Device.Unpack.
//go:layout unpackedLayout words
struct Unpacked {
    u64 storage;    // as in Decoded
    u64 width;      // bytes of a value, 0 for booleans. Those of decimals extend a word of 64 bits
    u64 left, bits; // where the piece is
    u64 subtract, flip;
    u64 null_left, null_flip; // the place of the bit of nulls, or 64
    const u8 *from; // the values, for floats: −0 and NaNs are read there
    u64 nan;
    u64 row_bits;   // of the row number in the low bits of a word
};

// rowkey_unpack writes the values and the bitmap of a key from sorted words. rows are the
// numbers of the rows, if they are not in the words. All rows of the capacity are written.
KERNEL LAUNCH_BOUNDS(threads) rowkey_unpack(u8 *values, u32 *valid, const u64 *words, const u32 *rows, const i64 *counted, i64 capacity, Unpacked to) {
    const u64 n = device_rows(counted, capacity), whole = ((u64)capacity + 63) / 64 * 64;
    const u64 width = to.width == 0 ? 1 : to.width > 8 ? 64 : 8 * to.width, sign = 1ull << width - 1, all = ~0ull >> 64 - width;
    for (u64 i = thread_in_grid(); i < whole; i += threads_per_grid()) {
        const bool there = i < n;
        const u64 word = there ? words[i] : 0;
        const bool is_valid = there && (to.null_left == 64 || (word >> to.null_left & 1) == to.null_flip);
        u64 value = 0;
        if (is_valid) {
            value = to.bits == 0 ? 0 : word >> to.left & ~0ull >> 64 - to.bits;
            value = (to.bits == 0 ? 0 : (value ^ to.flip)) + to.subtract & all;
            if (to.storage == 1)
                value ^= sign;
            else if (to.storage == 2) {
                if (value == sign || value == to.nan) {
                    const u64 row = to.row_bits > 0 ? word & ~0ull >> 64 - to.row_bits : rows[i];
                    value = to.width == 2 ? ((const u16 *)to.from)[row] : to.width == 4 ? ((const u32 *)to.from)[row] : ((const u64 *)to.from)[row];
                } else
                    value = (value & sign) != 0 ? value ^ sign : ~value & all;
            }
        }
        store_bits(values, valid, to.width, i, is_valid, value);
        if (i >= (u64)capacity)
            continue;
        if (to.width <= 8)
            store(values, to.width, i, value);
        else
            for (u64 limb = 0, limbs = to.width / 8; limb < limbs; limb++)
                ((u64 *)values)[i * limbs + limb] = limb == 0 ? value : (u64)((i64)value >> 63);
    }
}

// rowkey_count_nulls adds the number of rows that are null to count.
KERNEL LAUNCH_BOUNDS(threads) rowkey_count_nulls(u64 *count, const u8 *valid, u64 bit, const i64 *counted, i64 capacity) {
    const u64 n = device_rows(counted, capacity);
    u32 nulls = 0; // of fewer than 2^32 rows
    for (u64 at = thread_in_grid() * 32; at < n; at += threads_per_grid() * 32) {
        const u32 rows = low_bits(n - at < 32 ? n - at : 32);
        nulls += __builtin_popcount(~load_bits<32>(valid, bit + at, bit + n) & rows);
    }
    for (u32 distance = 16; distance > 0; distance /= 2) nulls += shuffle_down(nulls, distance);
    if (lane_in_warp() == 0 && nulls > 0)
        __nvvm_atom_add_gen_ll((i64 *)count, nulls);
}

// A tile of rows that are divided into valid ones and nulls.
static constexpr u32 part_loads = 8, part_rows = threads * part_loads; // Go's partRows

// gather_valid moves the valid values to the front, in any order of tiles. valid_count is
// their number, and 0 before.
template <typename Word>
DEVICE void gather_valid(Word *out, u64 *valid_count, const Word *values, const u8 *valid, u64 bit, const i64 *counted, i64 capacity) {
    __shared__ u32 sums[threads / warp_threads];
    __shared__ u64 shared_base;
    const u64 n = device_rows(counted, capacity);
    const u32 lane = lane_in_warp(), warp = thread_in_block() / warp_threads;
    for (u64 begin = (u64)block_in_grid() * part_rows; begin < n; begin += (u64)blocks_per_grid() * part_rows) {
        const u64 first = begin + warp * (part_loads * warp_threads);
        u32 bits[part_loads], sum = 0, all;
        Word value[part_loads];
#pragma unroll
        for (u32 i = 0; i < part_loads; i++) {
            const u64 row = first + i * warp_threads;
            bits[i] = row < n ? load_bits<32>(valid, bit + row, bit + n) & low_bits(n - row < 32 ? n - row : 32) : 0;
            value[i] = (bits[i] >> lane & 1) != 0 ? values[row + lane] : 0;
            sum += __builtin_popcount(bits[i]);
        }
        u32 before = block_fold_before<threads / warp_threads>(sum, sums, all, Sum<u32>());
        if (thread_in_block() == 0)
            shared_base = (u64)__nvvm_atom_add_gen_ll((i64 *)valid_count, all);
        synchronize_block();
        Word *const to = out + shared_base;
#pragma unroll
        for (u32 i = 0; i < part_loads; i++) {
            if ((bits[i] >> lane & 1) != 0)
                to[before + __builtin_popcount(bits[i] & (1u << lane) - 1)] = value[i];
            before += __builtin_popcount(bits[i]);
        }
        synchronize_block();
    }
}

// add_nulls writes the bitmap of sorted values, and nulls as zeros. from are the sorted
// values without nulls, or null if they lie in their places already. count is the number of
// values that are valid or, if counts_nulls is set, of others. All rows of the capacity are
// written.
template <typename Word>
DEVICE void add_nulls(Word *values, u32 *valid, const Word *from, const u64 *count, bool first, bool counts_nulls, const i64 *counted, i64 capacity) {
    const u64 n = device_rows(counted, capacity), there = counts_nulls ? n - *count : *count, ahead = first ? n - there : 0, behind = ahead + there;
    // A thread writes a word of 32 rows.
    for (u64 word = thread_in_grid(); word * 32 < ((u64)capacity + 63) / 64 * 64; word += threads_per_grid()) {
        const u64 begin = word * 32;
        const u32 not_before = ahead <= begin ? 0 : ahead - begin < 32 ? (u32)(ahead - begin) : 32;
        const u32 up_to = behind <= begin ? 0 : behind - begin < 32 ? (u32)(behind - begin) : 32;
        valid[word] = low_bits(up_to) & ~low_bits(not_before);
    }
    for (u64 i = thread_in_grid(); i < ahead; i += threads_per_grid())
        values[i] = 0;
    for (u64 i = behind + thread_in_grid(); i < (u64)capacity; i += threads_per_grid())
        values[i] = 0;
    if (from != nullptr)
        for (u64 i = thread_in_grid(); i < there; i += threads_per_grid())
            values[ahead + i] = from[i];
}

#define SPLIT(width, Word)                                                                                                                                     \
    KERNEL LAUNCH_BOUNDS(threads)                                                                                                                              \
    rowkey_valid_##width(Word *out, u64 *valid_count, const Word *values, const u8 *valid, u64 bit, const i64 *counted, i64 capacity) {                        \
        gather_valid(out, valid_count, values, valid, bit, counted, capacity);                                                                                 \
    }                                                                                                                                                          \
    KERNEL LAUNCH_BOUNDS(threads)                                                                                                                              \
    rowkey_nulls_##width(Word *values, u32 *valid, const Word *from, const u64 *count, u32 first, u32 counts_nulls, const i64 *counted, i64 capacity) {        \
        add_nulls(values, valid, from, count, first != 0, counts_nulls != 0, counted, capacity);                                                               \
    }

SPLIT(32, u32)
SPLIT(64, u64)

// rowkey_both writes the conjunction of two bitmaps. A warp writes a word at a time.
KERNEL LAUNCH_BOUNDS(threads) rowkey_both(u32 *out, const u8 *a, u64 a_bit, const u8 *b, u64 b_bit, u64 n) {
    for (u64 word = thread_in_grid(); word * 32 < n; word += threads_per_grid()) {
        const u64 at = word * 32;
        out[word] = load_bits<32>(a, a_bit + at, a_bit + n) & load_bits<32>(b, b_bit + at, b_bit + n);
    }
}
