// Rows of pages, as blocks have them in tiles.
#pragma once

#include "page.cuh"

static constexpr u32 tile_rows = 2048, tile_threads = 128;
static constexpr u32 counted_words = 32; // of the bitmap

// Place is a row of a page as a thread of a warp has it: the warp has the 32 rows of a word of the bitmap.
struct Place {
    bool within, valid;
    u32 row, rank; // of the page; among its rows with a value
};

DEVICE Place place_of(const Page &page, u64 word, bool nulls) {
    const u64 row = word * 32 + lane_in_warp();
    Place p;
    p.within = row >= page.row && row < page.row + page.rows;
    p.valid = p.within;
    p.row = (u32)(row - page.row);
    p.rank = p.row;
    if (nulls) {
        u32 bits = load<u32>(page.bitmap + 4 * word);
        if (word * 32 < page.row)
            bits &= whole_warp << page.row % 32;
        p.valid = p.within && (bits >> lane_in_warp() & 1) != 0;
        const u64 own = word - page.row / 32;
        p.rank = load<u32>(page.ranks + 4 * own) + load<u32>(page.counts + 8 * (own / counted_words));
        p.rank += __builtin_popcount(bits & (1u << lane_in_warp()) - 1);
    }
    return p;
}

// Span is the words of the bitmap that a warp has of a tile.
struct Span {
    u64 word, end;
    METHOD Span(const Page &page, u32 first) {
        const u64 begin = page.row / 32 + first / 32, last = (page.row + page.rows - 1) / 32 + 1;
        end = begin + tile_rows / 32 < last ? begin + tile_rows / 32 : last;
        word = begin + thread_in_block() / warp_threads;
    }
};

// write_word writes bits of a word, those of a mask of which are a page's.
DEVICE void write_word(u64 to, u32 mask, u32 bits) {
    if (mask == whole_warp)
        store<u32>(to, bits);
    else if (bits != 0)
        or_word(to, bits);
}

// count_words stores the numbers of rows with a value before words of the bitmap. Each lane has the bits of one, up to all of the page.
DEVICE void count_words(const Page &page, u32 word, u32 all, u32 bits) {
    const u32 ones = __builtin_popcount(bits), scanned = warp_scan(ones, Sum<u32>());
    if (word < all)
        store<u32>(page.ranks + 4 * (u64)word, scanned - ones);
    const u32 sum = shuffle_value(scanned, warp_threads - 1);
    if (word < all && lane_in_warp() == 0)
        store<u64>(page.counts + 8 * (u64)(word / counted_words), sum);
}

static constexpr u64 no_instant = 0x8000000000000000;

// write_instant writes the instants of a word, and makes rows null whose type does not hold their value.
DEVICE void write_instant(const Page &page, Outcome *outcome, u64 word, const Place &p, u64 value) {
    if (p.within)
        store<u64>(page.to + (page.row + p.row) * 8, value);
    const u32 absent = page.bitmap == 0 ? 0 : ballot(p.valid && value == no_instant);
    if (absent != 0 && lane_in_warp() == 0) {
        __atomic_fetch_and((u32 *)(page.bitmap + 4 * word), ~absent, __ATOMIC_RELAXED);
        __atomic_fetch_add(&outcome->absent, (u32)__builtin_popcount(absent), __ATOMIC_RELAXED);
    }
}
