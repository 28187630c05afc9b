// The kernels that encode and decode the words of rows.
#include "leaf.cuh"
#include "lookback.cuh"

static constexpr u32 threads = 256, unrolled = 4;

// Rows is the rows that a kernel encodes: listed ones, or all.
struct Rows {
    const u32 *listed;
    const i64 *counted;
    i64 capacity;
    METHOD u64 count() const { return device_rows(counted, capacity); }
    METHOD u64 operator[](u64 i) const { return listed != nullptr ? listed[i] : i; }
};

static constexpr u32 most_pieces = 8;
struct Pieces {
    Piece piece[most_pieces];
};

// encode_words writes the sum of the pieces of each row to words, or adds it to them. A piece may reach
// beyond the word, which has the bits of the mask.
template <typename Word> DEVICE void encode_words(Word *words, Rows rows, u64 mask, bool add, u32 count, const Pieces &pieces) {
    const u64 n = rows.count(), step = threads_per_grid();
    for (u64 begin = thread_in_grid(); begin < n; begin += unrolled * step) {
        u64 row[unrolled], word[unrolled];
#pragma unroll
        for (u32 i = 0; i < unrolled; i++) {
            const u64 at = begin + i * step;
            row[i] = at < n ? rows[at] : ~0ull;
            word[i] = 0;
        }
        for (u32 p = 0; p < count; p++)
#pragma unroll
            for (u32 i = 0; i < unrolled; i++)
                if (row[i] != ~0ull)
                    word[i] |= pieces.piece[p].of(row[i]);
#pragma unroll
        for (u32 i = 0; i < unrolled; i++) {
            const u64 at = begin + i * step;
            if (at < n)
                words[at] = (add ? words[at] : 0) | (Word)(word[i] & mask);
        }
    }
}

KERNEL LAUNCH_BOUNDS(threads) rowkey_words_32(u32 *words, Rows rows, u64 mask, u32 add, u32 count, Pieces pieces) { encode_words(words, rows, mask, add != 0, count, pieces); }
KERNEL LAUNCH_BOUNDS(threads) rowkey_words_64(u64 *words, Rows rows, u64 mask, u32 add, u32 count, Pieces pieces) { encode_words(words, rows, mask, add != 0, count, pieces); }

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

// rowkey_both writes the conjunction of two bitmaps. A warp writes a word at a time.
KERNEL LAUNCH_BOUNDS(threads) rowkey_both(u32 *out, const u8 *a, u64 a_bit, const u8 *b, u64 b_bit, u64 n) {
    for (u64 word = thread_in_grid(); word * 32 < n; word += threads_per_grid()) {
        const u64 at = word * 32;
        out[word] = load_bits<32>(a, a_bit + at, a_bit + n) & load_bits<32>(b, b_bit + at, b_bit + n);
    }
}
