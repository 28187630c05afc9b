// How the cumulative operators cut their input, and how a block learns what lies ahead
// of its tiles.
#pragma once

#include "bitrow.cuh"
#include "prefixes.cuh"

// How a tile is cut: each of tile_warps has a run of rows, and each of its lanes a run
// of these. One more warp learns what lies before the tile, so that the others need
// not wait for it: while they load a tile, they hold two more in shared memory, one of
// which the block has told its sum of, and the other of which it knows the prefix.
static constexpr u32 tile_warps = 7, tile_threads = (tile_warps + 1) * warp_threads;

// tile_blocks is how many blocks a multiprocessor shall have: as many as its shared
// memory has room for where it has most.
static constexpr u32 tile_blocks = 3;

// one_block_tiles is the most that a block scans alone, without state: each lane of a
// warp remembers one.
static constexpr u32 one_block_tiles = warp_threads;

// Where in the shared memory of its warp the granules of 16 bytes lie of which a lane
// has a run, a power of two of them. Those of a run change places so that neither lanes
// that take granules side by side meet in a bank nor lanes that take each the first of
// its run, the second and so on.
//
// run_place is where the run of a lane lies: its granule i is at run_place ^ 16 i.
template <u32 run> DEVICE u32 run_place(u32 lane) { return (lane * run + (lane * run / 8 & run - 1)) * 16; }

// side_place is where granule 32 i + lane of the warp lies.
template <u32 run> DEVICE u32 side_place(u32 lane, u32 i) { return (32 * i + (lane ^ lane / 8 & run - 1 ^ 4 * i & run - 1)) * 16; }

// own_lane returns the lane's number, and does so anew each time: else the compiler keeps
// all that follows from it in registers, of which there are too few.
DEVICE u32 own_lane() {
    u32 lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    __builtin_assume(lane < warp_threads);
    return lane;
}

// Exchange is what the warps of a block tell each other of a tile.
template <typename T> struct Exchange {
    T sums[tile_warps], aheads[tile_warps];
    u32 nulls[tile_warps], null_aheads[tile_warps]; // whether there are any
    u32 next;                                       // the number of the block's next tile
};

// look_ahead is what the last warp of a block does: to learn of each tile what lies
// ahead of each warp's rows.
template <typename T, typename Fold> DEVICE void look_ahead(void *state, u32 tile, u32 tiles, Exchange<T> *exchange, Fold f) {
    const u32 lane = lane_in_warp();
    const Prefixes<T> prefixes(state, tiles);
    T remembered = f.none(); // of tile number lane, where there is no state
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
