// Adds columns of float64 without nulls and conditions to the slots of few groups, as tiles.cu does,
// with less work for each row: tile_columns.go selects what is added so.
//
// The values of a column are loaded once, for its sum and its extremes. Rows are present if the sum of a column
// has one of them, so no word is read or changed for that; only values outside of the window mark their group.
#include "tile_columns.cuh"

template <u32 count> DEVICE void count_tile(Counter counter, u32 address, const Tile<count> &tile) {
    if (counter == counts_rows)
#pragma unroll
        for (u32 i = 0; i < count; i++)
            fetch_add(address + tile.slot[i], 1);
    if (counter == marks_rows)
#pragma unroll
        for (u32 i = 0; i < count; i++)
            mark(address + tile.slot[i]);
}

// add_all adds rows. Accumulators of one column follow each other, and rows is set for all of them but the
// first. A counter is the last one.
template <bool halves>
DEVICE void add_all(const u32 *numbers, const Keys &keys, const i64 *rows, i64 capacity, const i64 *groups, i64 most_groups, const TileBatch &arguments) {
    __shared__ TileBatch batch;
    __shared__ Window windows[most_readers];
    const u32 thread = thread_in_block();
    const TileBlock block = begin_block(rows, capacity, groups, most_groups, arguments, batch, windows);
    const TileReader &last = arguments.reader[arguments.readers - 1];
    const bool counted = last.kind == count_rows;
    const Counter counter = !counted ? no_counter : last.words == 0 ? derives_marks : last.least == 0 ? counts_rows : arguments.reader[0].kind == sum_floats ? marks_outside : marks_rows;
    const u32 columns = arguments.readers - counted, counters = block.sums + 4 * last.word * arguments.entries;
    const auto group_at = [&](u32 place) {
        const u32 slot = place >> (batch.copy_bits + 2);
        return slot < batch.slots ? batch.first_group + slot : no_group;
    };
    const Marks marks = {counter == marks_outside ? counters : 0, counter == derives_marks ? &batch.reader[columns] : nullptr};

    constexpr u32 rows_of_block = tile_threads * tile_rows;
    const u64 n = block.rows, whole = n / rows_of_block * rows_of_block, step = (u64)block.parts * rows_of_block;
    const NumberSource source = number_source(numbers, keys);
    Tile<tile_rows> tile;
    u32 next[tile_rows];
    tile.first = (u64)block.part * rows_of_block + thread;
    if (tile.first < whole)
        source.load(tile.first, next);
#pragma unroll 1
    for (; tile.first < whole; tile.first += step) {
        u32 group[tile_rows];
#pragma unroll
        for (u32 i = 0; i < tile_rows; i++)
            group[i] = (next[i] - source.least) * source.factor;
        if (tile.first + step < whole) // in flight during this tile
            source.load(tile.first + step, next);
        find_slots(group, block.known, batch, tile);
        u64 x[tile_rows];
#pragma unroll 1
        for (u32 a = 0; a < columns; a++) {
            const TileReader &r = batch.reader[a];
            if (r.rows == 0)
                load_column(r, tile.first, x);
            add_column<halves>(r, windows[a], batch, block.sums, block.extremes, marks, group_at, tile, x);
        }
        count_tile(counter, counters, tile);
    }
#pragma unroll 1
    for (u64 begin = whole + (u64)block.part * tile_threads; begin < n; begin += (u64)block.parts * tile_threads) {
        Tile<1> single;
        u32 group[1];
        u64 x[1];
        single.first = begin + thread < n ? begin + thread : n - 1;
        source.load(single.first, group);
        group[0] = begin + thread < n ? (group[0] - source.least) * source.factor : no_group;
        find_slots(group, block.known, batch, single);
#pragma unroll 1
        for (u32 a = 0; a < columns; a++) {
            load_column(batch.reader[a], single.first, x);
            add_column<halves>(batch.reader[a], windows[a], batch, block.sums, block.extremes, marks, group_at, single, x);
        }
        count_tile(counter, counters, single);
    }
    synchronize_block();
    if (counter == marks_outside) {
        // The two lowest bits of a sum are not 0 if it has a value.
        const u32 first = block.sums + 4 * batch.reader[0].word * batch.entries;
        for (u32 i = 4 * thread; i < 4 * (batch.entries - warp_threads); i += 4 * tile_threads)
            if ((load_shared(first + i) & 3) != 0)
                fetch_or(counters + i, 1);
        synchronize_block();
    }
    end_block(block, batch);
    if (counter == derives_marks)
        mark_states(batch.reader[0], batch.reader[columns], block, batch);
}

// add_columns compares the high halves of extremes first, add_columns_whole all of their bits.
KERNEL LAUNCH_BOUNDS(tile_threads)
add_columns(const u32 *numbers, const Keys keys, const i64 *rows, i64 capacity, const i64 *groups, i64 most_groups, const TileBatch arguments) {
    add_all<true>(numbers, keys, rows, capacity, groups, most_groups, arguments);
}
KERNEL LAUNCH_BOUNDS(tile_threads)
add_columns_whole(const u32 *numbers, const Keys keys, const i64 *rows, i64 capacity, const i64 *groups, i64 most_groups, const TileBatch arguments) {
    add_all<false>(numbers, keys, rows, capacity, groups, most_groups, arguments);
}
