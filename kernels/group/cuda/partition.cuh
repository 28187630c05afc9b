// Partitions of rows by the places of their keys: partition.go has the plan.
//
// A place is a combination of keys. A partition is the rows of 2^bits consecutive places.
// Rows are moved to their partitions with the values that the aggregates read, in one pass
// or in two: the first one by the leading bits of the partition, the second one by the
// others. Rows of a partition are in any order: all results are the same for every order.
#pragma once

#include "dense.cuh"
#include "digits.cuh"

static constexpr u32 partition_threads = 512, partition_warps = partition_threads / warp_threads;
// most_carried and the others are limits of the arguments of kernels.
//go:layout
static constexpr u32 most_carried = 6, most_conditions = 8, most_terms = 8, most_outputs = 8;
static constexpr u32 no_place = 0xffffffff;

// load_as loads rows begin + i · step, all at once, and 0 from end on.
template <u32 step, typename T, u32 items, typename Value> DEVICE void load_as(const u8 *values, u64 begin, u64 end, Value (&value)[items]) {
    const T *const from = (const T *)values + begin;
    const u32 left = begin < end ? (u32)(end - begin) : 0;
#pragma unroll
    for (u32 i = 0; i < items; i++)
        value[i] = i * step < left ? (Value)from[i * step] : 0;
}

// load_values loads integers, extended by their sign, and other values as they are.
template <u32 step, u32 items> DEVICE void load_values(const u8 *values, u32 form, u64 begin, u64 end, u64 (&value)[items]) {
    switch (form) {
    case from_i8: return load_as<step, i8>(values, begin, end, value);
    case from_u8: return load_as<step, u8>(values, begin, end, value);
    case from_i16: return load_as<step, i16>(values, begin, end, value);
    case from_u16: return load_as<step, u16>(values, begin, end, value);
    case from_i32: return load_as<step, i32>(values, begin, end, value);
    case from_u32:
    case from_f32: return load_as<step, u32>(values, begin, end, value);
    default: return load_as<step, u64>(values, begin, end, value);
    }
}

// load_plain_places is load_places of a key of 4 bytes without nulls. It takes half of the registers.
template <u32 step, u32 items> DEVICE void load_plain_places(const DenseKey &k, u64 begin, u64 end, u32 (&place)[items]) {
    const u32 left = begin < end ? (u32)(end - begin) : 0;
    load_as<step, u32>(k.values.values, begin, end, place);
#pragma unroll
    for (u32 i = 0; i < items; i++) {
        place[i] -= (u32)k.least;
        place[i] = i * step < left && place[i] < k.places ? place[i] : no_place;
    }
}

// load_places loads the places of rows begin + i · step, and no_place from end on.
template <u32 step, u32 items> DEVICE void load_places(const Keys &keys, u64 begin, u64 end, u32 (&place)[items]) {
    if (const DenseKey &k = keys.key[0]; keys.count == 1 && k.values.width == 4 && k.values.valid == nullptr)
        return load_plain_places<step>(k, begin, end, place);
    const u32 left = begin < end ? (u32)(end - begin) : 0;
#pragma unroll
    for (u32 i = 0; i < items; i++)
        place[i] = i * step < left ? 0 : no_place;
#pragma unroll 1
    for (u32 j = 0; j < keys.count; j++) {
        const DenseKey &k = keys.key[j];
        u64 value[items];
        load_values<step>(k.values.values, k.values.form, begin, end, value);
#pragma unroll
        for (u32 i = 0; i < items; i++) {
            u64 digit = value[i] - k.least;
            if (k.values.valid != nullptr && place[i] != no_place && !k.values.is_valid(begin + i * step))
                digit = k.places - 1;
            place[i] = place[i] != no_place && digit < k.places ? place[i] + (u32)digit * (u32)k.factor : no_place;
        }
    }
}

// Conditions are what an aggregate may ask of a row: that a column is not null or, if its bit in
// truths is set, that it is true. Rows carry a bit for each.
//go:layout conditionsLayout
struct Conditions {
    u32 count, truths;
    Source condition[most_conditions];

    METHOD u32 met(u64 row) const {
        u32 all = 0;
#pragma unroll 1
        for (u32 i = 0; i < count; i++) {
            const Source &s = condition[i];
            const bool is = s.is_valid(row) && ((truths >> i & 1) == 0 || s.is_true(row));
            all |= (u32)is << i;
        }
        return all;
    }
};

// Level is a division of rows: of all rows, or of each part of the level before. Part i of
// parent p has number p · digits + i. The digit of a place is (place >> shift) mod digits.
//go:layout levelLayout
struct Level {
    u32 shift, digits, parents, tile_rows;
    // counts has the rows of each part, starts where they begin and a last end, cursors where
    // the next row goes. tiles_before is the number of tiles of the parts before each part.
    u32 *counts, *starts, *cursors, *tiles_before;

    METHOD u32 digit_of(u32 place) const { return place >> shift & digits - 1; }
};

// Tile is the rows that a block moves at a time: of one parent.
struct Tile {
    u32 parent;
    u64 begin, end;
};

// parent_tile finds the tile of a block in the parts of a level. begin is end if there are
// fewer tiles. All threads call it.
DEVICE Tile parent_tile(const Level &parents, u32 *shared) {
    const u32 tile = block_in_grid(), parts = parents.digits * parents.parents;
    if (thread_in_block() == 0)
        *shared = no_place;
    synchronize_block();
    for (u32 i = thread_in_block(); i < parts; i += threads_per_block())
        if (parents.tiles_before[i] <= tile && tile < parents.tiles_before[i + 1])
            *shared = i;
    synchronize_block();
    const u32 parent = *shared;
    if (parent == no_place)
        return Tile{0, 0, 0};
    const u64 begin = parents.starts[parent] + (u64)(tile - parents.tiles_before[parent]) * parents.tile_rows, end = parents.starts[parent + 1];
    return Tile{parent, begin, end - begin < parents.tile_rows ? end : begin + parents.tile_rows};
}

// Chunks are the parts of a partition that different blocks add up, if it has more than
// chunk_rows. Their states are slots of memory. list has chunks other than the first one of
// each partition: the partition and the number of the chunk.
//go:layout chunksLayout
struct Chunks {
    u32 chunk_rows, padding;
    u32 *slots, *listed; // how many there are
    u32 *first_slot;     // of each partition
    u32 *done;           // chunks of each partition
    u32 *list;

    // list_partition lists the chunks of a partition of a number of rows.
    METHOD void list_partition(u32 partition, u32 rows) const {
        const u32 needed = chunk_rows == 0 ? 0 : (rows + chunk_rows - 1) / chunk_rows;
        if (needed < 2)
            return;
        first_slot[partition] = (u32)__nvvm_atom_add_gen_i((int *)slots, (int)needed);
        const u32 first = (u32)__nvvm_atom_add_gen_i((int *)listed, (int)needed - 1);
        for (u32 i = 1; i < needed; i++) {
            list[2 * (first + i - 1)] = partition;
            list[2 * (first + i - 1) + 1] = i;
        }
    }
};
