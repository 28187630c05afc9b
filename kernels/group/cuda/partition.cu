// Moves rows to partitions: see partition.cuh.
#include "partition.cuh"

static constexpr u32 count_items = 8;
static constexpr u32 most_digits = partition_threads;

// Carried is a column that moves with the rows, of width 4 or 8, from a table to memory first
// and then to memory second. The conditions have no source.
//go:layout carriedLayout
struct Carried {
    Source from;
    u8 *first, *second;
    u32 width, conditions;
};

// Columns are the columns that move.
//go:layout columnsLayout
struct Columns {
    u32 count, padding;
    Carried column[most_carried];
};

// flush adds the counters of a block to those of all blocks.
DEVICE void flush(u32 *counts, const u32 *counters, u32 digits) {
    synchronize_block();
    for (u32 i = thread_in_block(); i < digits; i += partition_threads)
        if (counters[i] != 0)
            __nvvm_atom_add_gen_i((int *)&counts[i], (int)counters[i]);
}

DEVICE void clear_counters(u32 *counters) {
    for (u32 i = thread_in_block(); i < most_digits; i += partition_threads)
        counters[i] = 0;
    synchronize_block();
}

// partition_count counts the rows of each part of the first level.
KERNEL LAUNCH_BOUNDS(partition_threads) partition_count(const Keys keys, const i64 *rows, i64 capacity, const Level level) {
    __shared__ u32 counters[most_digits];
    clear_counters(counters);
    const u64 n = device_rows(rows, capacity), step = (u64)blocks_per_grid() * partition_threads * count_items;
    for (u64 begin = (u64)block_in_grid() * partition_threads * count_items; begin < n; begin += step) {
        u32 place[count_items];
        load_places<partition_threads>(keys, begin + thread_in_block(), n, place);
#pragma unroll
        for (u32 i = 0; i < count_items; i++)
            tally(counters, level.digit_of(place[i]), place[i] != no_place);
    }
    flush(level.counts, counters, level.digits);
}

// partition_count_again counts the rows of each part of the second level.
KERNEL LAUNCH_BOUNDS(partition_threads) partition_count_again(const u32 *places, const Level parents, const Level level) {
    __shared__ u32 counters[most_digits];
    __shared__ u32 found;
    clear_counters(counters);
    const Tile tile = parent_tile(parents, &found);
    for (u64 begin = tile.begin; begin < tile.end; begin += partition_threads * count_items) {
        u32 place[count_items];
#pragma unroll
        for (u32 i = 0; i < count_items; i++) {
            const u64 row = begin + i * partition_threads + thread_in_block();
            place[i] = row < tile.end ? places[row] : no_place;
        }
#pragma unroll
        for (u32 i = 0; i < count_items; i++)
            tally(counters, level.digit_of(place[i]), place[i] != no_place);
    }
    flush(level.counts + tile.parent * level.digits, counters, level.digits);
}

// partition_starts finds where the parts of a level begin. A block has one parent.
KERNEL LAUNCH_BOUNDS(partition_threads) partition_starts(const u32 *parent_starts, const Level level, const Chunks chunks) {
    __shared__ u32 sums[partition_warps];
    const u32 thread = thread_in_block(), parent = block_in_grid(), base = parent_starts != nullptr ? parent_starts[parent] : 0;
    const u32 part = parent * level.digits + thread;
    const bool is = thread < level.digits;
    const u32 count = is ? level.counts[part] : 0, tiles = (count + level.tile_rows - 1) / level.tile_rows;
    u32 all, all_tiles;
    const u32 scanned = warp_scan(count, Sum<u32>());
    u32 before = before_lane(scanned, Sum<u32>());
    before += block_fold_before<partition_warps>(shuffle_value(scanned, warp_threads - 1), sums, all, Sum<u32>());
    const u32 scanned_tiles = warp_scan(tiles, Sum<u32>());
    u32 tiles_before = before_lane(scanned_tiles, Sum<u32>());
    tiles_before += block_fold_before<partition_warps>(shuffle_value(scanned_tiles, warp_threads - 1), sums, all_tiles, Sum<u32>());
    if (!is)
        return;
    level.starts[part] = level.cursors[part] = base + before;
    if (parent + 1 == level.parents && thread + 1 == level.digits)
        level.starts[part + 1] = base + all;
    if (level.tiles_before != nullptr) {
        level.tiles_before[part] = tiles_before;
        if (thread + 1 == level.digits)
            level.tiles_before[part + 1] = all_tiles;
    }
    chunks.list_partition(part, count);
}

// load_words loads every second word of 64 bits: the low or the high words of decimals.
template <u32 step, u32 items> DEVICE void load_words(const u8 *values, u64 begin, u64 end, u64 (&value)[items]) {
    const u64 *const from = (const u64 *)values + 2 * begin;
    const u32 left = begin < end ? (u32)(end - begin) : 0;
#pragma unroll
    for (u32 i = 0; i < items; i++)
        value[i] = i * step < left ? from[2 * i * step] : 0;
}

// MoveMemory is the shared memory of a block that moves rows. The values of a column lie in
// staging in the order in which they are written, so that the rows of a part are written
// together. A line of memory that two blocks write is written twice, so tiles are as large as two
// blocks of a multiprocessor allow.
template <u32 items> struct MoveMemory {
    static constexpr u32 rows = partition_threads * items;
    u64 staging[rows];
    u16 digits[rows];          // of the staged rows
    u32 counters[most_digits]; // then the rows of the tile with a lower digit
    u32 to[most_digits];       // the place of the first row with the digit, less its rank in the tile
    u32 sums[partition_warps];
    u32 parent;
};

extern __shared__ __attribute__((aligned(16))) u8 move_memory[];

// Moved is where the places go. narrow are the low bits of places that the aggregates need, in
// 16 bits each, or 0 to write whole places.
//go:layout movedLayout
struct Moved {
    const u32 *from;
    void *places;
    u32 narrow, padding;
};

// Reads selects the input of a kernel that moves rows: any keys and columns of a table, one key of 4 bytes
// without nulls and columns of 4 or 8 bytes, or rows that were moved before. The first kind wrote 0.7 GB more
// than its rows for 2²⁷ rows on an H100, the last one none, so registers of the first are probably kept in
// memory, for conditions and several keys.
enum Reads { any, plain, moved_rows };

// move moves the rows of a tile. place are those of rows tile.begin + i · threads + thread.
template <Reads reads, u32 items>
DEVICE void move(u32 (&place)[items], const Tile &tile, const Level &level, const Columns &columns, const Conditions &conditions, const Moved &moved) {
    typedef MoveMemory<items> Memory;
    Memory &shared = *(Memory *)move_memory;
    const u32 thread = thread_in_block();
    u32 rank[items];
#pragma unroll
    for (u32 i = 0; i < items; i++)
        rank[i] = count_digit(shared.counters, level.digit_of(place[i]), place[i] != no_place);
    synchronize_block();
    const u32 count = thread < level.digits ? shared.counters[thread] : 0;
    u32 there;
    const u32 scanned = warp_scan(count, Sum<u32>());
    u32 lower = before_lane(scanned, Sum<u32>());
    lower += block_fold_before<partition_warps>(shuffle_value(scanned, warp_threads - 1), shared.sums, there, Sum<u32>());
    if (thread < level.digits) {
        shared.counters[thread] = lower;
        if (count != 0)
            shared.to[thread] = (u32)__nvvm_atom_add_gen_i((int *)&level.cursors[tile.parent * level.digits + thread], (int)count) - lower;
    }
    synchronize_block();
    u32 *const staged = (u32 *)shared.staging;
#pragma unroll
    for (u32 i = 0; i < items; i++) {
        if (place[i] == no_place) {
            rank[i] = no_place;
            continue;
        }
        const u32 digit = level.digit_of(place[i]);
        rank[i] += shared.counters[digit];
        staged[rank[i]] = place[i];
        shared.digits[rank[i]] = (u16)digit;
    }
    synchronize_block();
    const auto to = [&](u32 at) { return shared.to[shared.digits[at]] + at; };
    const u32 mine = there <= thread ? 0 : there - thread; // rows that this thread writes are those with i · threads below
#pragma unroll
    for (u32 i = 0; i < items; i++) {
        const u32 at = i * partition_threads + thread;
        if (i * partition_threads >= mine)
            continue;
        if (moved.narrow != 0)
            ((u16 *)moved.places)[to(at)] = (u16)(staged[at] & moved.narrow);
        else
            ((u32 *)moved.places)[to(at)] = staged[at];
    }
#pragma unroll 1
    for (u32 column = 0; column < columns.count; column++) {
        const Carried &c = columns.column[column];
        constexpr bool first = reads != moved_rows;
        u8 *const out = first ? c.first : c.second;
        constexpr u32 half = items / 2;
        synchronize_block();
#pragma unroll
        for (u32 part = 0; part < 2; part++) {
            const u64 begin = tile.begin + part * half * partition_threads + thread;
            u64 value[half];
            if (reads == any && c.conditions != 0)
#pragma unroll
                for (u32 i = 0; i < half; i++) {
                    const u64 row = begin + i * partition_threads;
                    value[i] = row < tile.end ? conditions.met(row) : 0;
                }
            else if (reads == any && c.from.form == from_decimal)
                load_words<partition_threads>(c.from.values, begin, tile.end, value);
            else
                load_values<partition_threads>(first ? c.from.values : c.first, reads == any ? c.from.form : c.width == 8 ? from_u64 : from_u32, begin, tile.end, value);
#pragma unroll
            for (u32 i = 0; i < half; i++) {
                const u32 at = rank[part * half + i];
                if (at == no_place)
                    continue;
                if (c.width == 8)
                    shared.staging[at] = value[i];
                else
                    staged[at] = (u32)value[i];
            }
        }
        synchronize_block();
#pragma unroll
        for (u32 i = 0; i < items; i++) {
            const u32 at = i * partition_threads + thread;
            if (i * partition_threads >= mine)
                continue;
            if (c.width == 8)
                ((u64 *)out)[to(at)] = shared.staging[at];
            else
                ((u32 *)out)[to(at)] = staged[at];
        }
    }
}

template <Reads reads, u32 items>
DEVICE void move_first(const Keys &keys, const i64 *rows, i64 capacity, const Level &level, const Columns &columns, const Conditions &conditions, const Moved &moved) {
    typedef MoveMemory<items> Memory;
    clear_counters(((Memory *)move_memory)->counters);
    const u64 n = device_rows(rows, capacity), begin = (u64)block_in_grid() * Memory::rows;
    if (begin >= n)
        return;
    u32 place[items];
    if (reads == plain)
        load_plain_places<partition_threads>(keys.key[0], begin + thread_in_block(), n, place);
    else
        load_places<partition_threads>(keys, begin + thread_in_block(), n, place);
    move<reads>(place, Tile{0, begin, n}, level, columns, conditions, moved);
}

template <u32 items>
DEVICE void move_again(const Level &parents, const Level &level, const Columns &columns, const Conditions &conditions, const Moved &moved) {
    typedef MoveMemory<items> Memory;
    Memory &shared = *(Memory *)move_memory;
    clear_counters(shared.counters);
    const Tile tile = parent_tile(parents, &shared.parent);
    if (tile.begin == tile.end)
        return;
    u32 place[items];
#pragma unroll
    for (u32 i = 0; i < items; i++) {
        const u64 row = tile.begin + i * partition_threads + thread_in_block();
        place[i] = row < tile.end ? moved.from[row] : no_place;
    }
    move<moved_rows>(place, tile, level, columns, conditions, moved);
}

// partition_move moves the rows of a table to the parts of the first level, partition_move_plain those
// of a plain key and plain columns, and partition_move_again to those of the second level. The small ones are
// for devices with less shared memory.
#define MOVE_FIRST(name, reads, items)                                                                                                            \
    KERNEL RESIDENT_BOUNDS(partition_threads, 2)                                                                                                  \
    name(const Keys keys, const i64 *rows, i64 capacity, const Level level, const Columns columns, const Conditions conditions, const Moved moved) { \
        move_first<reads, items>(keys, rows, capacity, level, columns, conditions, moved);                                                        \
    }
#define MOVE_AGAIN(name, items)                                                                                                                   \
    KERNEL RESIDENT_BOUNDS(partition_threads, 2)                                                                                                  \
    name(const Level parents, const Level level, const Columns columns, const Conditions conditions, const Moved moved) {                         \
        move_again<items>(parents, level, columns, conditions, moved);                                                                            \
    }

MOVE_FIRST(partition_move, any, 12)
MOVE_FIRST(partition_move_small, any, 8)
MOVE_FIRST(partition_move_plain, plain, 12)
MOVE_FIRST(partition_move_plain_small, plain, 8)
MOVE_AGAIN(partition_move_again, 12)
MOVE_AGAIN(partition_move_again_small, 8)
