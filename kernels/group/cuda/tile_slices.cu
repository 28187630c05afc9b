// Adds a column of float64 without nulls and conditions to the slots of more groups than fit into shared memory:
// tiles.go selects what is added so.
//
// As in tiles.cu, some blocks read the same keys, and each adds the rows of its slice of the groups. Here a
// warp puts these rows into a queue first and adds them when it has two for each lane, so the work of a row is
// done once, not once for each slice, and values of other slices are not read.
//
// The blocks of one slice would wait for each other if most rows were in it, and the lanes of a warp if these
// were of one group. All blocks take the same sample of the rows. The few groups that have a share of it are hot:
// each block has slots of them, one for each lane, and the slices take their rows in turns, tile by tile.
#include "tile_columns.cuh"

static constexpr u32 taken_rows = 2, taken_entries = taken_rows * warp_threads, queue_entries = taken_entries + tile_rows * warp_threads;

// An entry of a queue is the slot of a row (15 bits), its number in the tile of its thread (2), its lane (5),
// and the number of its tile (10). The queue is emptied every oldest_tiles tiles.
static constexpr u32 slot_bits = 15, item_bits = 2, lane_bits = 5, tile_bits = 32 - slot_bits - item_bits - lane_bits, oldest_tiles = 32;
static_assert(oldest_tiles < 1u << tile_bits && tile_rows == 1u << item_bits && warp_threads == 1u << lane_bits);

// A group is hot if it has a sixteenth of the sample, and is one of its first rows.
static constexpr u32 most_hot = 4, sampled_rows = 1024, hot_rows = sampled_rows / 16, hot_candidates = 64;

// HotGroups are the hot groups. Their slots follow those of the slice, which have numbers below slots.
struct HotGroups {
    u32 count, group[most_hot];
};

// find_hot finds the hot groups of n rows. Numbers from groups on belong to no group: there are more groups than the
// caller has room for. sample has room for the groups of the sample, and counts for a word for each candidate. All
// threads call it.
DEVICE void find_hot(const NumberSource &source, u64 n, u64 groups, u32 *sample, u32 *counts, HotGroups &hot) {
    const u32 thread = thread_in_block(), candidate = thread % hot_candidates;
    static_assert(sampled_rows == tile_threads);
    if (thread < hot_candidates)
        counts[thread] = 0;
    sample[thread] = n == 0 ? 0 : (source.numbers[n * thread / sampled_rows] - source.least) * source.factor;
    synchronize_block();
    u32 same = 0;
    for (u32 i = thread / hot_candidates; i < sampled_rows; i += tile_threads / hot_candidates)
        same += sample[i] == sample[candidate * (sampled_rows / hot_candidates)];
    fetch_add(shared_address(&counts[candidate]), same);
    synchronize_block();
    if (thread == 0) {
        const u32 list = shared_address(hot.group);
        u32 count = 0;
        for (u32 i = 0; i < hot_candidates && count < most_hot; i++) {
            const u32 group = sample[i * (sampled_rows / hot_candidates)];
            bool is_new = counts[i] >= hot_rows && group < groups;
            for (u32 h = 0; h < count; h++)
                is_new = is_new && load_volatile(list + 4 * h) != group;
            if (is_new)
                store_shared(list + 4 * count++, group);
        }
        hot.count = count;
    }
    synchronize_block();
}

// Sliced has the arguments that all warps of a block share.
struct Sliced {
    const TileBatch &batch;
    const Window &window;
    const TileBlock &block;
    const HotGroups &hot;
    Marks marks;
    u64 step; // rows from one tile of the block to the next
};

// take adds entries of a queue, at most two for each lane. first is the first row of the warp in the tile with a
// number. All lanes call it.
DEVICE void take(const Sliced &s, u32 queue, u32 entries, u64 first, u32 number) {
    const TileReader &r = s.batch.reader[0];
    const u32 lane = lane_in_warp(), copy = 4 * (lane & s.batch.copies - 1), bits = s.batch.copy_bits + 2;
    const GLOBAL u64 *const values = (const GLOBAL u64 *)r.in.values;
    Tile<taken_rows> tile;
    u64 x[taken_rows];
    tile.first = 0;
    tile.trash = 4 * (s.batch.entries - warp_threads + lane);
#pragma unroll
    for (u32 i = 0; i < taken_rows; i++) {
        const u32 at = i * warp_threads + lane;
        tile.slot[i] = tile.trash;
        x[i] = 0;
        if (at >= entries)
            continue;
        const u32 entry = load_shared(queue + 4 * at), age = number - (entry >> 32 - tile_bits) & (1u << tile_bits) - 1;
        const u32 within = (entry >> slot_bits & tile_rows - 1) * tile_threads + (entry >> slot_bits + item_bits & warp_threads - 1);
        const u32 slot = entry & (1u << slot_bits) - 1;
        tile.slot[i] = slot < s.batch.slots ? (slot << bits) + copy : (s.batch.slots << bits) + 4 * ((slot - s.batch.slots) * warp_threads + lane);
        x[i] = values[first + within - age * s.step];
    }
    synchronize_warp(); // the entries are read
    const auto group_at = [&](u32 place) {
        const u32 slot = place >> bits;
        if (slot < s.batch.slots)
            return s.batch.first_group + slot;
        const u32 of = (place - (s.batch.slots << bits)) / (4 * warp_threads);
        return of < s.hot.count ? s.hot.group[of] : no_group;
    };
    add_column<true>(r, s.window, s.batch, s.block.sums, s.block.extremes, s.marks, group_at, tile, x);
}

// add_slices adds rows to one accumulator. A count that marks the rows of groups, and has no word, may follow it.
KERNEL LAUNCH_BOUNDS(tile_threads)
add_slices(const u32 *numbers, const Keys keys, const i64 *rows, i64 capacity, const i64 *groups, i64 most_groups, const TileBatch arguments) {
    __shared__ TileBatch batch;
    __shared__ Window windows[most_readers];
    __shared__ HotGroups hot;
    const u32 thread = thread_in_block(), lane = lane_in_warp(), lower = (1u << lane) - 1;
    const TileBlock block = begin_block(rows, capacity, groups, most_groups, arguments, batch, windows);
    constexpr u32 rows_of_block = tile_threads * tile_rows;
    const bool marks = arguments.readers > 1;
    const Sliced sliced = {batch, windows[0], block, hot, Marks{0, marks ? &batch.reader[1] : nullptr}, (u64)block.parts * rows_of_block};
    const u32 queue = block.sums + 4 * (batch.words * batch.entries + thread / warp_threads * queue_entries);
    const u64 n = block.rows;
    const NumberSource source = number_source(numbers, keys);
    u32 *const queues = (u32 *)tile_shared + (2 * batch.wide + batch.words) * batch.entries;
    find_hot(source, n, device_rows(groups, most_groups), queues, queues + sampled_rows, hot);
    const u32 hot_groups = hot.count, slices = batch.slices, slice = block_in_grid() % slices;
    const u32 least = source.least, factor = source.factor, first_group = batch.first_group, known = block.known;
    u32 next[tile_rows], waiting = 0, number = 0;
    const auto load = [&](u64 first) {
        if (first - thread + rows_of_block <= n)
            return source.load(first, next);
#pragma unroll
        for (u32 i = 0; i < tile_rows; i++)
            next[i] = first + i * tile_threads < n ? source.numbers[first + i * tile_threads] : 0;
    };
    u64 first = (u64)block.part * rows_of_block + thread;
    if (first - thread < n)
        load(first);
#pragma unroll 1
    for (bool more = true; more; first += sliced.step, number++) {
        more = first - thread < n;
        if (more) {
            u32 slot[tile_rows];
            bool is[tile_rows];
#pragma unroll
            for (u32 i = 0; i < tile_rows; i++) {
                slot[i] = (next[i] - least) * factor - first_group;
                is[i] = slot[i] < known;
            }
#pragma unroll 1
            for (u32 h = 0; h < hot_groups; h++) {
                const bool mine = (number + h) % slices == slice;
                const u32 found = hot.group[h] - first_group;
#pragma unroll
                for (u32 i = 0; i < tile_rows; i++)
                    if ((next[i] - least) * factor - first_group == found)
                        is[i] = mine, slot[i] = batch.slots + h;
            }
            if (first - thread + rows_of_block > n)
#pragma unroll
                for (u32 i = 0; i < tile_rows; i++)
                    is[i] = is[i] && first + i * tile_threads < n;
            if (first - thread + sliced.step < n) // in flight during this tile
                load(first + sliced.step);
            const u32 origin = lane << slot_bits + item_bits | number << 32 - tile_bits;
#pragma unroll
            for (u32 i = 0; i < tile_rows; i++) {
                const u32 lanes = ballot(is[i]);
                if (is[i])
                    store_shared(queue + 4 * (waiting + (u32)__builtin_popcount(lanes & lower)), slot[i] | i << slot_bits | origin);
                waiting += (u32)__builtin_popcount(lanes);
            }
            synchronize_warp(); // the entries are written
        }
        const u32 fewest = more && number % oldest_tiles != oldest_tiles - 1 ? taken_entries : 1;
#pragma unroll 1
        while (waiting >= fewest) {
            const u32 entries = waiting < taken_entries ? waiting : taken_entries;
            waiting -= entries;
            take(sliced, queue + 4 * waiting, entries, first - lane, number);
        }
    }
    synchronize_block();
    end_block(block, batch);
    if (marks)
        mark_states(batch.reader[0], batch.reader[1], block, batch);
    if (thread < hot.count) {
        const TileReader &r = batch.reader[0];
        const u32 entry = (batch.slots << batch.copy_bits) + thread * warp_threads;
        add_copies(r, batch, block.sums, entry, warp_threads, thread, hot.group[thread]);
        if (marks && (classes_of(block.sums + 4 * r.word * batch.entries, entry, warp_threads, thread) & 3) != 0)
            mark_state(batch.reader[1], hot.group[thread]);
    }
}
