// Adds columns of float64 without nulls and conditions to slots: tile_columns.cu and tile_slices.cu.
#pragma once

#include "tiles_add.cuh"

// Counter is what counts or marks the rows of each group.
enum Counter : u32 { no_counter, counts_rows, marks_rows, marks_outside, derives_marks };

// Marks selects how groups with a value outside of the window are marked: at an address in shared memory
// if it is not 0, or in the states of a count that has no word if it is not null.
struct Marks {
    u32 address;
    const TileReader *count;
};

// mark_state marks a group in the states of a count.
DEVICE void mark_state(const TileReader &count, u64 group) {
    u64 *const state = count.states + group * count.stride;
    if (*(volatile u64 *)state == 0)
        __nvvm_atom_or_gen_ll((long long *)state, 1);
}

// classes_of returns the bits of all copies of the first word of a slot.
DEVICE u32 classes_of(u32 first, u32 entry, u32 copies, u32 turn) {
    u32 classes = 0;
    for (u32 copy = 0; copy < copies; copy++)
        classes |= load_shared(first + 4 * (entry + (copy + turn & copies - 1)));
    return classes;
}

// mark_states marks the groups of a block of which a sum has a value: then the two lowest bits of its first word
// are not 0.
DEVICE void mark_states(const TileReader &sum, const TileReader &count, const TileBlock &block, const TileBatch &batch) {
    const u32 first = block.sums + 4 * sum.word * batch.entries;
    for (u32 slot = thread_in_block(); slot < block.known; slot += tile_threads)
        if ((classes_of(first, slot << batch.copy_bits, batch.copies, slot) & 3) != 0)
            mark_state(count, batch.first_group + slot);
}

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

// raise_floats raises slots to the images of floats. Most values are below those of their slots. If halves is
// set the high halves show that: a load of 32 bits takes fewer cycles of shared memory than one of 64 bits.
template <bool halves, u32 count> DEVICE void raise_floats(bool least, const u32 (&address)[count], const u64 (&x)[count]) {
    const u64 reverse = least ? ~0ull : 0;
    u64 old[count], image[count];
    bool some = false;
#pragma unroll
    for (u32 i = 0; i < count; i++)
        old[i] = halves ? load_volatile(address[i] + 4) : load_shared_64(address[i]);
#pragma unroll
    for (u32 i = 0; i < count; i++) {
        image[i] = is_nan_f64(x[i]) ? 0 : x[i] ^ ((u64)((i64)x[i] >> 63) | 1ull << 63) ^ reverse;
        some |= halves ? (u32)old[i] <= (u32)(image[i] >> 32) : old[i] < image[i];
    }
    if (some)
#pragma unroll
        for (u32 i = 0; i < count; i++)
            if (halves ? (u32)old[i] <= (u32)(image[i] >> 32) && load_shared_64(address[i]) < image[i] : old[i] < image[i])
                raise_shared(address[i], image[i]);
}

// add_column adds a tile to an accumulator. group_at returns the group of a place in a tile, or no_group.
template <bool halves, u32 count, typename GroupAt>
DEVICE void add_column(const TileReader &r, const Window &window, const TileBatch &batch, u32 sums, u32 extremes, const Marks &marks, const GroupAt &group_at, const Tile<count> &tile,
                       const u64 (&x)[count]) {
    const u32 apart = 4 * batch.entries;
    u32 place[count];
    if (r.kind != sum_floats) {
#pragma unroll
        for (u32 i = 0; i < count; i++)
            place[i] = extremes + 2 * (r.word * apart + tile.slot[i]);
        raise_floats<halves>(r.least != 0, place, x);
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
        const u32 shift = ((u32)(x[i] >> 52) & 0x7ff) - first, group = group_at(tile.slot[i]);
        if (shift - 2 <= span || group == no_group)
            continue;
        if (marks.address != 0)
            mark(marks.address + tile.slot[i]);
        if (marks.count != nullptr)
            mark_state(*marks.count, group);
        if ((x[i] << 1) != 0)
            add_outside(r.window, r.states + (u64)group * r.stride, r.list, r.room, group, __builtin_bit_cast(f64, x[i]));
    }
}
