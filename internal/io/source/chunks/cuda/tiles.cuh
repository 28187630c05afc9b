// Rows of pages, as blocks have them in tiles.
#pragma once

#include "page.cuh"

static constexpr u32 tile_rows = 2048, tile_threads = 128;

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
        p.rank = load<u32>(page.ranks + 4 * (word - page.row / 32)) + __builtin_popcount(bits & (1u << lane_in_warp()) - 1);
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
