// The division of the cumulative operators' input, and the computation of the folds
// before a block's tiles.
#pragma once

#include "bitrow.cuh"
#include "prefixes.cuh"

// Each of tile_warps warps has a run of a tile's rows, and each of its lanes a run of
// these. One more warp waits for the fold of the tiles before, so that the others do
// not. While the others load a tile, they hold two more in shared memory: for one the
// block has published its sum, for the other the prefix is known.
static constexpr u32 tile_warps = 7, tile_threads = (tile_warps + 1) * warp_threads;

// tile_blocks is the number of blocks per multiprocessor: the number that fits into the
// shared memory of the devices with the most of it.
static constexpr u32 tile_blocks = 3;

// one_block_tiles is the maximum number of tiles that one block scans without state:
// each lane of a warp stores one tile's fold.
static constexpr u32 one_block_tiles = warp_threads;

// The positions, in a warp's shared memory, of the granules of 16 bytes. A lane has a
// run of granules; run is a power of two. The granules of a run are permuted to avoid
// bank conflicts, both when lanes access adjacent granules and when each lane accesses
// its own run in order.
//
// run_place is the position of a lane's run: its granule i is at run_place ^ 16 i.
template <u32 run> DEVICE u32 run_place(u32 lane) { return (lane * run + (lane * run / 8 & run - 1)) * 16; }

// side_place is the position of the warp's granule 32 i + lane.
template <u32 run> DEVICE u32 side_place(u32 lane, u32 i) { return (32 * i + (lane ^ lane / 8 & run - 1 ^ 4 * i & run - 1)) * 16; }

// own_lane returns the lane's number and recomputes it on each call. Otherwise the
// compiler would keep values derived from it in registers, of which there are too few.
DEVICE u32 own_lane() {
    u32 lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    __builtin_assume(lane < warp_threads);
    return lane;
}

// Exchange holds a tile's data that the warps of a block share.
template <typename T> struct Exchange {
    T sums[tile_warps], aheads[tile_warps];
    u32 nulls[tile_warps], null_aheads[tile_warps]; // whether there are any
    u32 next;                                       // the number of the block's next tile
};

// look_ahead is the code of the last warp of a block: for each tile it computes the
// fold before each warp's rows.
template <typename T, typename Fold> DEVICE void look_ahead(void *state, u32 tile, u32 tiles, Exchange<T> *exchange, Fold f) {
    const u32 lane = lane_in_warp();
    const Prefixes<T> prefixes(state, tiles);
    T remembered = f.none(); // without state: the fold of tile number lane
    bool remembered_null = false;
#pragma nounroll
    for (u32 slot = 0; tile < tiles; slot ^= 1) {
        synchronize_block();
        Exchange<T> &now = exchange[slot];
        T tile_sum = f.none(), warp_ahead = f.none();
        u32 null_before = 0, null_in_tile = 0;
#pragma unroll
        for (u32 i = 0; i < tile_warps; i++) {
            if (i == lane) {
                warp_ahead = tile_sum;
                null_before = null_in_tile;
            }
            tile_sum = f.fold(tile_sum, now.sums[i]);
            null_in_tile |= now.nulls[i];
        }
        T ahead = f.none();
        bool marked = remembered_null;
        if (state != nullptr) {
            if (lane == 0)
                prefixes.publish(tile, tile_sum, null_in_tile != 0);
            ahead = prefixes.wait(tile, marked);
        } else {
            if (tile > 0)
                ahead = shuffle_value(warp_scan(remembered, f), tile - 1);
            if (lane == tile)
                remembered = tile_sum;
            remembered_null |= null_in_tile != 0;
        }
        if (lane < tile_warps) {
            now.aheads[lane] = f.fold(ahead, warp_ahead);
            now.null_aheads[lane] = marked || null_before != 0;
        }
        tile = now.next;
    }
    synchronize_block();
}
