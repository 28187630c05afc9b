// Adds columns of float64 without nulls and conditions to the slots of few groups, as tiles.cu does,
// with less work for each row: tile_columns.go selects what is added so.
//
// The values of a column are loaded once, for its sum and its extremes. Rows are present if the sum of a column has one of them, so no word is read or
// changed for that; only values outside of the window mark their group.
#include "tiles_add.cuh"

// Counter is what counts or marks the rows of each group.
enum Counter : u32 { no_counter, counts_rows, marks_rows, marks_outside };

// load_column loads the values of a tile.
template <u32 count> DEVICE void load_column(const TileReader &r, u64 first, u64 (&x)[count]) {
    const GLOBAL u64 *const from = (const GLOBAL u64 *)r.in.values + first;
#pragma unroll
    for (u32 i = 0; i < count; i++)
        x[i] = from[i * tile_threads];
}

DEVICE void mark(u32 address) {
    if (load_volatile(address) == 0)
        fetch_or(address, 1);
}

// raise_floats raises slots to the images of floats.
template <u32 count> DEVICE void raise_floats(bool least, const u32 (&address)[count], const u64 (&x)[count]) {
    const u64 reverse = least ? ~0ull : 0;
    u64 old[count], image[count];
    bool some = false;
#pragma unroll
    for (u32 i = 0; i < count; i++)
        old[i] = load_shared_64(address[i]);
#pragma unroll
    for (u32 i = 0; i < count; i++) {
        image[i] = is_nan_f64(x[i]) ? 0 : x[i] ^ ((u64)((i64)x[i] >> 63) | 1ull << 63) ^ reverse;
        some |= old[i] < image[i];
    }
    if (some)
#pragma unroll
        for (u32 i = 0; i < count; i++)
            if (old[i] < image[i])
                raise_shared(address[i], image[i]);
}

// add_column adds a tile to an accumulator. Groups of values outside of the window are marked at
// address marks, if it is not 0.
template <u32 count>
DEVICE void add_column(const TileReader &r, const Window &window, const TileBatch &batch, u32 sums, u32 extremes, u32 marks, const Tile<count> &tile, const u64 (&x)[count]) {
    const u32 apart = 4 * batch.entries;
    u32 place[count];
    if (r.kind != sum_floats) {
#pragma unroll
        for (u32 i = 0; i < count; i++)
            place[i] = extremes + 2 * (r.word * apart + tile.slot[i]);
        raise_floats(r.least != 0, place, x);
        return;
    }
    const u32 address = sums + r.word * apart, first = (u32)(window.low + 1 - 2), span = batch.span;
#pragma unroll
    for (u32 i = 0; i < count; i++)
        place[i] = address + tile.slot[i];
    if (!add_floats<count>(first, window.boundary + 2, span, apart, place, address + tile.trash, x))
        return;
#pragma unroll
    for (u32 i = 0; i < count; i++) {
        const u32 shift = ((u32)(x[i] >> 52) & 0x7ff) - first, group = tile.slot[i] >> (batch.copy_bits + 2);
        if (shift - 2 <= span || group >= batch.slots)
            continue;
        if (marks != 0)
            mark(marks + tile.slot[i]);
        if ((x[i] << 1) != 0)
            add_outside(r.window, r.states + (u64)(batch.first_group + group) * r.stride, r.list, r.room, batch.first_group + group, __builtin_bit_cast(f64, x[i]));
    }
}

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

// add_columns adds rows. Accumulators of one column follow each other, and rows is set for all of them but the
// first. A counter is the last one.
KERNEL LAUNCH_BOUNDS(tile_threads)
add_columns(const u32 *numbers, const Keys keys, const i64 *rows, i64 capacity, const i64 *groups, i64 most_groups, const TileBatch arguments) {
    __shared__ TileBatch batch;
    __shared__ Window windows[most_readers];
    const u32 thread = thread_in_block();
    const TileBlock block = begin_block(rows, capacity, groups, most_groups, arguments, batch, windows);
    const TileReader &last = arguments.reader[arguments.readers - 1];
    const bool counted = last.kind == count_rows;
    const Counter counter = !counted ? no_counter : last.least == 0 ? counts_rows : arguments.reader[0].kind == sum_floats ? marks_outside : marks_rows;
    const u32 columns = arguments.readers - counted, counters = block.sums + 4 * last.word * arguments.entries, marks = counter == marks_outside ? counters : 0;

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
            add_column(r, windows[a], batch, block.sums, block.extremes, marks, tile, x);
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
            add_column(batch.reader[a], windows[a], batch, block.sums, block.extremes, marks, single, x);
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
}
