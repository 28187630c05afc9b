// The largest or smallest values of each group without a sort: tops.go.
#include "finish.cuh"
#include "source.cuh"

// Tops are the values of rows and their groups. Every group has limit slots of 64 bits for its greatest keys, the
// greatest one first. An empty slot is 0, which is no key.
//
// A key is pushed into the first slot by an atomic maximum, and the smaller of it and the key that was there goes on to
// the next slot. So each slot but the first gets all keys except those in the slots before it, and keeps their
// maximum: the order of the threads does not matter.
//go:layout topsLayout
struct Tops {
    const u32 *numbers;
    Source values;
    u64 *slots;
    u32 *refused;
    u64 groups, tiles, factor;
    u32 limit, least;

    // key_of returns the key of a value, or 0 for values that keys cannot give back: NaN, −0 and the greatest
    // integer of 64 bits.
    METHOD u64 key_of(u64 loaded) const {
        if (values.is_float() && (is_nan_f64(loaded) || loaded == 1ull << 63))
            return 0;
        const u64 image = values.image(loaded, false, false);
        return least != 0 ? ~image : image + 1;
    }
};

// push pushes a key into slots, which only grow. A key that is not above the last one would be lost.
DEVICE void push(u64 *slots, u32 limit, u64 key) {
    for (u32 i = 0; i < limit && key != 0; i++) {
        if (*(volatile u64 *)&slots[i] >= key)
            continue;
        const u64 old = (u64)__nvvm_atom_max_gen_ull((unsigned long long *)&slots[i], key);
        key = old < key ? old : key;
    }
}

extern __shared__ u64 block_slots[];

// push_rows pushes the keys of all rows. Sorted rows would all be above those before them, so a block takes its tiles in
// a scattered order: tile i is i·factor modulo tiles.
template <bool in_block> DEVICE void push_rows(const Tops &t, const i64 *rows, i64 capacity) {
    constexpr u32 rows_of_tile = 8, batch = 4; // rows of a thread
    const u64 n = device_rows(rows, capacity), all_slots = t.groups * t.limit;
    const u32 thread = thread_in_block(), threads = threads_per_block();
    u64 *const slots = in_block ? block_slots : t.slots;
    if (in_block) {
        for (u64 i = thread; i < all_slots; i += threads)
            slots[i] = 0;
        synchronize_block();
    }
    bool refused = false;
    for (u64 i = block_in_grid(); i < t.tiles; i += blocks_per_grid()) {
        const u64 begin = i * t.factor % t.tiles * threads * rows_of_tile + thread;
        for (u32 j = 0; j < rows_of_tile; j += batch) {
            // The loads of a batch are in flight together.
            u64 row[batch], group[batch], key[batch], last[batch];
#pragma unroll
            for (u32 k = 0; k < batch; k++) {
                row[k] = begin + (j + k) * threads;
                group[k] = row[k] < n ? t.numbers[row[k]] : t.groups;
                row[k] = row[k] < n ? row[k] : 0;
            }
            if (n > 0)
                t.values.load_rows(row, key);
#pragma unroll
            for (u32 k = 0; k < batch; k++)
                last[k] = group[k] < t.groups ? *(volatile u64 *)&slots[group[k] * t.limit + t.limit - 1] : ~0ull;
#pragma unroll
            for (u32 k = 0; k < batch; k++) {
                key[k] = t.key_of(key[k]);
                refused |= key[k] == 0 && group[k] < t.groups;
                if (last[k] < key[k])
                    push(slots + group[k] * t.limit, t.limit, key[k]);
            }
        }
    }
    if (refused)
        *(volatile u32 *)t.refused = 1;
    if (!in_block)
        return;
    synchronize_block();
    for (u64 i = thread; i < all_slots; i += threads) {
        u64 *const to = t.slots + i / t.limit * t.limit;
        if (*(volatile u64 *)&to[t.limit - 1] < slots[i])
            push(to, t.limit, slots[i]);
    }
}

KERNEL LAUNCH_BOUNDS(1024) push_tops(const Tops t, const i64 *rows, i64 capacity) { push_rows<false>(t, rows, capacity); }

// push_few_tops keeps the slots of the block in shared memory.
KERNEL LAUNCH_BOUNDS(1024) push_few_tops(const Tops t, const i64 *rows, i64 capacity) { push_rows<true>(t, rows, capacity); }

// count_tops writes the number of keys of each group.
KERNEL count_tops(u64 *counts, const u64 *slots, u32 limit, u64 groups) {
    const u64 step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < groups; i += step) {
        u32 n = 0;
        while (n < limit && slots[i * limit + n] != 0)
            n++;
        counts[i] = n;
    }
}

struct Steps {
    u32 form, is_signed, least;
};

// list_tops writes the values of all groups, of which each ends at ends.
KERNEL list_tops(u8 *values, const u64 *slots, const u64 *ends, u32 limit, u64 groups, u32 width, u32 form, u32 is_signed, u32 least) {
    const Steps steps = {form, is_signed, least};
    const u64 step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < groups; i += step) {
        const u64 begin = i == 0 ? 0 : ends[i - 1], n = ends[i] - begin;
        for (u64 j = 0; j < n; j++) {
            const u64 key = slots[i * limit + j], value = extreme(steps, least != 0 ? key : key - 1), to = begin + j;
            switch (width) {
            case 1: values[to] = (u8)value; break;
            case 2: ((u16 *)values)[to] = (u16)value; break;
            case 4: ((u32 *)values)[to] = (u32)value; break;
            default: ((u64 *)values)[to] = value;
            }
        }
    }
}
