// The kernels that fill nulls with the last valid value before them, or with the next
// one after them. The validity bits alone determine the source row; its value is then
// read once.
#pragma once

#include "bitrow.cuh"
#include "lookback.cuh"

static constexpr u32 fill_threads = 256, fill_rows = 32 * fill_threads, fill_warps = fill_threads / warp_threads;

// Later folds two positions to the second one, or to the first if the second is 0,
// which means no position. Positions are row numbers plus one.
struct Later {
    METHOD u64 none() const { return 0; }
    METHOD u64 fold(u64 a, u64 b) const { return b != 0 ? b : a; }
};

DEVICE u32 lowest_bit(u32 bits) { return __builtin_ctz(bits); }
DEVICE u32 highest_bit(u32 bits) { return 31 - __builtin_clz(bits); }

// Tile is a block's data about its tile when all positions are known.
struct Tile {
    u64 begin;
    u32 rows;
    // The thread's word of 32 rows: its number, its validity bits, and the position of
    // the value for null rows without a value before them in the word, or 0.
    u32 word;
    u32 bits;
    u64 source;
};

// fill_tiles calls write for each tile, by all threads together. If backward is set, it
// starts with the last tile, and within a tile with the last word. state is null if one
// block handles all tiles.
template <typename Write>
DEVICE void fill_tiles(u32 *out_valid, const u8 *valid, u64 bit, u64 rows, void *state, bool backward, Write write) {
    __shared__ u32 shared_tile;
    __shared__ u32 latest[fill_warps];
    __shared__ u64 shared_before;

    const u32 thread = thread_in_block(), warp = thread / warp_threads;
    const u32 tiles = (u32)((rows + fill_rows - 1) / fill_rows);
    const Most<u32> most;
    u64 carried = 0;
    for (u32 round = 0;; round++) {
        u32 number = round;
        if (state != nullptr) {
            if (thread == 0)
                shared_tile = take_tile(state);
            synchronize_block();
            number = shared_tile;
        }
        if (number >= tiles)
            return;
        Tile tile;
        tile.begin = (u64)(backward ? tiles - 1 - number : number) * fill_rows;
        tile.rows = rows - tile.begin < fill_rows ? (u32)(rows - tile.begin) : fill_rows;
        tile.word = backward ? fill_threads - 1 - thread : thread;
        const u32 first = 32 * tile.word;
        const u32 present = tile.rows <= first ? 0 : low_bits(tile.rows - first < 32 ? tile.rows - first : 32);
        tile.bits = present;
        if (valid != nullptr && present != 0)
            tile.bits &= load_bits<32>(valid, bit + tile.begin + first, bit + rows);

        // Within the tile, later rows have larger numbers, from 1 on, in either
        // direction.
        u32 own = 0;
        if (tile.bits != 0)
            own = backward ? fill_rows - (first + lowest_bit(tile.bits)) : first + highest_bit(tile.bits) + 1;
        const u32 scanned = warp_scan(own, most);
        u32 before = before_lane(scanned, most), all;
        before = most.fold(before, block_fold_before<fill_warps>(shuffle_value(scanned, warp_threads - 1), latest, all, most));
        const auto position = [&](u32 later) { return later == 0 ? 0 : tile.begin + (backward ? fill_rows - later : later - 1) + 1; };
        if (state == nullptr) {
            tile.source = before != 0 ? position(before) : carried;
            carried = all != 0 ? position(all) : carried;
        } else {
            if (warp == 0) {
                const u64 ahead = before_tile(state, number, position(all), Later());
                if (thread == 0)
                    shared_before = ahead;
            }
            synchronize_block();
            tile.source = before != 0 ? position(before) : shared_before;
        }
        if (present != 0) {
            u32 filled = present;
            if (tile.source == 0)
                filled = tile.bits == 0 ? 0 : backward ? low_bits(highest_bit(tile.bits) + 1) : present & -(tile.bits & -tile.bits);
            out_valid[(tile.begin + first) / 32] = filled;
        }
        write(tile);
    }
}
