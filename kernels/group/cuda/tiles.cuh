// Tiles of rows, and the columns that accumulators read: tiles.go and records.go.
#pragma once

#include "shared.cuh"
#include "states.cuh"

static constexpr u32 tile_threads = 1024, tile_rows = 4;

// Window is the fixed point of a sum of floats.
struct Window {
    // low is the place of the lowest bit, where the place of a value is that of its lowest
    // bit. From distance boundary on the lowest bin is one higher. Values with a place of
    // limit or more would lose bits of other values.
    i32 low;
    u32 boundary, limit;
    // overflowed is set if the sum has to be computed in another way. listed is the number of
    // values that are outside the window.
    u32 overflowed, listed;
    u32 padding[3];
};

// Outside is a value outside the window.
struct Outside {
    f64 value;
    u64 group;
};

// TileReader is an accumulator and the columns that it reads.
//go:layout tileReaderLayout
struct TileReader {
    // word is the number of the first word in a slot, of those of 64 bits for extremes. stride
    // is the number of words between the states of two groups in global memory. A count with least
    // set may be any number that is not zero, a sum of floats with least set is a state that others are
    // merged with. add_columns loads no values if rows is set. term is
    // the product that a sum adds up; is_signed is set if a sum of integers has negative terms.
    u32 kind, least, rows, conditional, word, words, stride, room, term, is_signed;
    Source in, other, condition;
    u64 *states;
    // window, limbs and list belong to a sum of floats. The list has room for some values.
    Window *window;
    u64 *limbs;
    Outside *list;
};

// TileBatch is the accumulators of a launch.
//go:layout tileBatchLayout
struct TileBatch {
    // words and wide are the numbers of words of 32 and 64 bits of a slot, entries the number
    // of copies of all slots, and of a slot for each lane that takes rows of no group. span is the largest distance of a value from its window's low.
    // slots is the number of groups of a block. If there are more, blocks b, b + slices, … have
    // the groups from b mod slices · slots on, which is first_group in a block's copy.
    u32 readers, words, wide, slots, copies, copy_bits, entries, span, slices, first_group;
    TileReader reader[most_readers];
};

extern __shared__ u64 tile_shared[];

// GLOBAL marks pointers to global memory, which a pointer in an argument does not say.
#define GLOBAL __attribute__((address_space(1)))

// Tile is the rows of a thread: row first, and each tile_threads-th row after it.
template <u32 count> struct Tile {
    u64 first;
    // slot is the place of the copy of a slot that a row is added to, in bytes of a word of
    // 32 bits. Rows that are not added have the place trash, behind all slots.
    u32 slot[count], trash;

    METHOD u64 row(u32 i) const { return first + i * tile_threads; }
};

template <typename T, u32 count> DEVICE void load_as(const u8 *values, u64 first, u64 (&x)[count]) {
    const GLOBAL T *const from = (const GLOBAL T *)values + first;
#pragma unroll
    for (u32 i = 0; i < count; i++)
        x[i] = (u64)(i64)from[i * tile_threads];
}

// load_tile loads the values of a tile, as Source::load does.
template <u32 count> DEVICE void load_tile(const Source &s, const Tile<count> &tile, u64 (&x)[count]) {
    switch (s.form) {
    case from_i8: return load_as<i8>(s.values, tile.first, x);
    case from_i16: return load_as<i16>(s.values, tile.first, x);
    case from_i32: return load_as<i32>(s.values, tile.first, x);
    case from_u8: return load_as<u8>(s.values, tile.first, x);
    case from_u16: return load_as<u16>(s.values, tile.first, x);
    case from_u32: return load_as<u32>(s.values, tile.first, x);
    case from_i64:
    case from_u64:
    case from_f64: return load_as<u64>(s.values, tile.first, x);
    }
#pragma unroll
    for (u32 i = 0; i < count; i++)
        x[i] = s.load(tile.row(i));
}

// load_tile loads the values of an accumulator, products of integers, or the images of the numbers
// of the rows. Without products no registers are kept for those.
template <bool products = true, u32 count> DEVICE void load_tile(const TileReader &r, const Tile<count> &tile, u64 (&x)[count]) {
    if (r.rows != 0) {
#pragma unroll
        for (u32 i = 0; i < count; i++)
            x[i] = tile.row(i) + 1;
        return;
    }
    load_tile(r.in, tile, x);
    if (!products || r.term == linear)
        return;
    u64 y[count];
    if (r.term == crossed) {
        load_tile(r.other, tile, y);
    } else {
#pragma unroll
        for (u32 i = 0; i < count; i++)
            y[i] = factor_of(r.term, x[i]);
    }
#pragma unroll
    for (u32 i = 0; i < count; i++)
        x[i] *= y[i];
}

// load_bits loads the bits of a tile from bit number bit on, as bit 0 of each word.
template <u32 count> DEVICE void load_bits(const u8 *bits, u64 bit, const Tile<count> &tile, u32 (&x)[count]) {
    const u64 at = bit + tile.first;
    const GLOBAL u8 *const from = (const GLOBAL u8 *)bits + (at >> 3);
#pragma unroll
    for (u32 i = 0; i < count; i++)
        x[i] = from[i * (tile_threads / 8)];
#pragma unroll
    for (u32 i = 0; i < count; i++)
        x[i] = x[i] >> (at & 7) & 1;
}

// drop drops the rows of a tile that are null, or not true.
template <u32 count> DEVICE void drop(const u8 *bits, u64 bit, Tile<count> &tile) {
    if (bits == nullptr)
        return;
    u32 is[count];
    load_bits(bits, bit, tile, is);
#pragma unroll
    for (u32 i = 0; i < count; i++)
        tile.slot[i] = is[i] != 0 ? tile.slot[i] : tile.trash;
}

// drop_rows drops the rows of a tile that an accumulator skips.
template <u32 count> DEVICE void drop_rows(const TileReader &r, Tile<count> &tile) {
    if (r.conditional != 0) {
        drop(r.condition.values, r.condition.bit, tile);
        drop(r.condition.valid, r.condition.bit, tile);
    }
    drop(r.in.valid, r.in.bit, tile);
    drop(r.other.valid, r.other.bit, tile);
}

// NumberSource is where groups are read from, if each is (number − least) · factor of one column
// of 32 bits without nulls. Otherwise numbers is null.
struct NumberSource {
    const GLOBAL u32 *numbers;
    u32 least, factor;

    template <u32 count> METHOD void load(u64 first, u32 (&x)[count]) const {
#pragma unroll
        for (u32 i = 0; i < count; i++)
            x[i] = numbers[first + i * tile_threads];
    }
};

DEVICE NumberSource number_source(const u32 *numbers, const Keys &keys) {
    const DenseKey &key = keys.key[0];
    if (keys.direct == 0)
        return NumberSource{(const GLOBAL u32 *)numbers, 0, 1};
    if (keys.count == 1 && key.values.width == 4 && key.values.valid == nullptr)
        return NumberSource{(const GLOBAL u32 *)key.values.values, (u32)key.least, (u32)key.factor};
    return NumberSource{nullptr, 0, 0};
}

// find_groups finds the groups of a tile by dense keys, or no_group.
template <u32 count> DEVICE void find_groups(const Keys &keys, const Tile<count> &tile, u32 (&group)[count]) {
#pragma unroll
    for (u32 i = 0; i < count; i++)
        group[i] = 0;
#pragma unroll 1
    for (u32 k = 0; k < keys.count; k++) {
        const DenseKey &key = keys.key[k];
        u64 x[count];
        u32 is[count];
        load_tile(key.values, tile, x);
#pragma unroll
        for (u32 i = 0; i < count; i++)
            is[i] = 1;
        if (key.values.valid != nullptr)
            load_bits(key.values.valid, key.values.bit, tile, is);
        const u32 places = (u32)key.places, factor = (u32)key.factor;
#pragma unroll
        for (u32 i = 0; i < count; i++) {
            const u64 place = is[i] != 0 ? x[i] - key.least : places - 1;
            group[i] = place < places && group[i] != no_group ? group[i] + (u32)place * factor : no_group;
        }
    }
}

// add_outside adds a value that does not fit its window: it lists the value, or
// sets the flag of the window.
static inline __device__ __attribute__((noinline)) void add_outside(Window *w, u64 *state, Outside *list, u32 room, u32 group, f64 x) {
    const Pieces p = pieces_of(x);
    if (p.flags != 0 && (*(volatile u64 *)&state[sum_flags] & p.flags) == 0)
        __nvvm_atom_or_gen_ll((long long *)&state[sum_flags], (long long)p.flags);
    if (p.top == 0 || *(volatile u32 *)&w->overflowed != 0)
        return;
    const u32 exponent = (u32)(__builtin_bit_cast(u64, x) >> 52) & 0x7ff, place = exponent == 0 ? 0 : exponent - 1;
    raise(&state[sum_top], p.top);
    u32 at = room;
    if (place < w->limit)
        at = (u32)__nvvm_atom_add_gen_i((int *)&w->listed, 1);
    if (at < room)
        list[at] = Outside{x, group};
    else
        *(volatile u32 *)&w->overflowed = 1;
}
