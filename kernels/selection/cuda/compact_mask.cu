#include "compact.cuh"

// A tile is 64 segments: four words of bits per thread of a block.
static constexpr u32 tile_segments = 64, thread_words = 4, thread_rows = 32 * thread_words;
static constexpr u32 tile_rows = compact_threads * thread_rows, segment_threads = segment_words / thread_words;

typedef Vector<u32, thread_words> Four;

DEVICE Four both(const Four &a, const Four &b) { return {a.lane[0] & b.lane[0], a.lane[1] & b.lane[1], a.lane[2] & b.lane[2], a.lane[3] & b.lane[3]}; }

// compact_count counts the kept rows of each tile, and for each segment the kept rows
// before it in its tile.
KERNEL LAUNCH_BOUNDS(compact_threads) compact_count(Mask mask, u32 *__restrict__ within, u64 *__restrict__ totals) {
    __shared__ u32 counts[tile_segments];
    const u64 n = rows_of(mask.rows, mask.capacity);
    const u64 tile = block_in_grid(), begin = tile * tile_rows;
    if (begin >= n)
        return;
    const u32 limit = n - begin < tile_rows ? n - begin : tile_rows, row = thread_rows * thread_in_block();
    const u8 *bits = global_of(mask.bits) + (begin >> 3), *valid = global_of(mask.valid) + (begin >> 3);
    const bool whole = limit == tile_rows && mask.bit == 0 && aligned(bits, 16) &&
                       (mask.valid == nullptr || mask.valid_bit == 0 && aligned(valid, 16));
    u32 count = 0;
    if (whole) {
        Four words = ((const Four *)bits)[thread_in_block()];
        if (mask.valid != nullptr)
            words = both(words, ((const Four *)valid)[thread_in_block()]);
#pragma unroll
        for (u32 i = 0; i < thread_words; i++)
            count += __builtin_popcount(words.lane[i]);
    } else {
#pragma nounroll
        for (u32 i = row; i < row + thread_rows && i < limit; i += 32)
            count += __builtin_popcount(keep_bits(mask, begin + i, limit - i < 32 ? limit - i : 32));
    }
#pragma unroll
    for (u32 delta = 1; delta < segment_threads; delta *= 2)
        count += shuffle_down(count, delta);
    if (thread_in_block() % segment_threads == 0)
        counts[thread_in_block() / segment_threads] = count;
    synchronize_block();
    if (thread_in_block() >= warp_threads)
        return;
    const u32 lane = lane_in_warp(), low = counts[2 * lane], high = counts[2 * lane + 1];
    const u32 scanned = warp_scan(low + high, Sum<u32>());
    u32 *to = within + tile * tile_segments + 2 * lane;
    to[0] = scanned - low - high;
    to[1] = scanned - high;
    if (lane == warp_threads - 1)
        totals[tile] = scanned;
}

static constexpr u32 offsets_threads = 1024;

// compact_offsets turns the tiles' counts into the positions at which their rows begin,
// and writes the total number of kept rows. One block.
KERNEL LAUNCH_BOUNDS(offsets_threads) compact_offsets(u64 *totals, const i64 *rows, i64 capacity, i64 *kept) {
    __shared__ u64 before_warp[offsets_threads / warp_threads], all;
    const u64 n = rows_of(rows, capacity), tiles = (n + tile_rows - 1) / tile_rows;
    const u32 warp = thread_in_block() / warp_threads, lane = lane_in_warp();
    u64 before = 0;
#pragma nounroll
    for (u64 from = 0; from < tiles; from += offsets_threads) {
        const u64 tile = from + thread_in_block();
        const u64 count = tile < tiles ? totals[tile] : 0;
        const u64 scanned = warp_scan(count, Sum<u64>());
        if (lane == warp_threads - 1)
            before_warp[warp] = scanned;
        synchronize_block();
        if (warp == 0) {
            const u64 own = before_warp[lane], sum = warp_scan(own, Sum<u64>());
            before_warp[lane] = sum - own;
            if (lane == warp_threads - 1)
                all = sum;
        }
        synchronize_block();
        if (tile < tiles)
            totals[tile] = before + before_warp[warp] + scanned - count;
        before += all;
        synchronize_block();
    }
    if (thread_in_block() == 0)
        *kept = before;
}
