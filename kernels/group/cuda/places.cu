// Groups of integers in a small range, by a table with a place for each.
#include "source.cuh"

static constexpr u32 no_row = 0xffffffff;

// place_of returns the place of a row. Nulls have the last one.
DEVICE u64 place_of(const Source &keys, u64 row, u64 least, u64 places) { return keys.is_valid(row) ? keys.load(row) - least : places - 1; }

DEVICE void add_found(u32 *found) {
    asm volatile("red.shared.add.u32 [%0], 1;" ::"l"((__attribute__((address_space(3))) u32 *)found) : "memory");
}

// lower lowers the first row of a place in global memory. Most rows come after the first one of their
// place: a read is enough.
DEVICE void lower(u32 *first, u32 row) {
    if (*(volatile u32 *)first > row)
        asm volatile("red.relaxed.gpu.global.min.u32 [%0], %1;" ::"l"((__attribute__((address_space(1))) void *)first), "r"(row) : "memory");
}

// first_places writes the first row of each place that has one. firsts has no_row before.
KERNEL first_places(u32 *firsts, const Source keys, u64 least, u64 places, const i64 *rows, i64 capacity) {
    const u64 n = device_rows(rows, capacity), step = threads_per_grid();
    for (u64 row = thread_in_grid(); row < n; row += step) {
        const u64 place = place_of(keys, row, least, places);
        if (place < places)
            lower(&firsts[place], (u32)row);
    }
}

extern __shared__ u32 block_firsts[];

// first_few_places does the same if the places fit shared memory. All blocks would read the few lines of
// firsts from the same slices of the cache, so each has its own copy. A block reads its rows in ascending
// order and stops when it has found a row of every place.
KERNEL LAUNCH_BOUNDS(1024) first_few_places(u32 *firsts, const Source keys, u64 least, u32 places, const i64 *rows, i64 capacity) {
    constexpr u32 rows_of_thread = 8;
    __shared__ u32 found;
    const u64 n = device_rows(rows, capacity);
    const u32 thread = thread_in_block(), threads = threads_per_block();
    if (thread == 0)
        found = 0;
    for (u32 i = thread; i < places; i += threads)
        block_firsts[i] = no_row;
    synchronize_block();
    const u64 tile = (u64)threads * rows_of_thread;
    for (u64 begin = block_in_grid() * tile; begin < n; begin += blocks_per_grid() * tile) {
        for (u32 i = 0; i < rows_of_thread; i++) {
            const u64 row = begin + i * threads + thread;
            const u64 place = row < n ? place_of(keys, row, least, places) : places;
            if (place >= places || *(volatile u32 *)&block_firsts[place] <= (u32)row)
                continue;
            u32 old;
            asm volatile("atom.shared.min.u32 %0, [%1], %2;" : "=r"(old) : "l"((__attribute__((address_space(3))) u32 *)&block_firsts[place]), "r"((u32)row) : "memory");
            if (old == no_row)
                add_found(&found);
        }
        synchronize_block();
        const bool all = *(volatile u32 *)&found == places;
        synchronize_block(); // no thread adds to found before all have read it
        if (all)
            break;
    }
    for (u32 i = thread; i < places; i += threads)
        if (block_firsts[i] != no_row)
            lower(&firsts[i], block_firsts[i]);
}

// rank_places writes the rank of each place in the order of the first rows, the list of
// these rows, and their number. sorted has the places in that order, those without rows
// last.
KERNEL rank_places(u32 *ranks, u32 *list, i64 *count, const u32 *firsts, const u32 *sorted, u64 places) {
    const u64 step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < places; i += step) {
        const u32 place = sorted[i], first = firsts[place];
        ranks[place] = (u32)i;
        list[i] = first;
        if (first == no_row) {
            if (i == 0)
                *count = 0;
            continue;
        }
        if (i + 1 == places || firsts[sorted[i + 1]] == no_row)
            *count = (i64)(i + 1);
    }
}

// number_places writes the number of each row's group.
KERNEL number_places(u32 *numbers, const Source keys, u64 least, u64 places, const u32 *ranks, const i64 *rows, i64 capacity) {
    const u64 n = device_rows(rows, capacity), step = threads_per_grid();
    for (u64 row = thread_in_grid(); row < n; row += step) {
        const u64 place = place_of(keys, row, least, places);
        numbers[row] = place < places ? ranks[place] : no_row;
    }
}

// keys_of_places writes the value of a key for each place of several keys: places is the
// number of places of this key, and factor the distance between them. The last one is null
// if valid is not null, which is written in whole words.
KERNEL keys_of_places(u8 *values, u32 *valid, u64 width, u64 least, u64 places, u64 factor, u64 n) {
    const u64 padded = (n + 63) / 64 * 64, step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < padded; i += step) {
        const u64 place = i / factor % places;
        const bool there = i < n && (valid == nullptr || place + 1 != places);
        const u32 word = ballot(there);
        if (valid != nullptr && lane_in_warp() == 0)
            valid[i / warp_threads] = word;
        if (i >= n)
            continue;
        const u64 value = there ? least + place : 0;
        switch (width) {
        case 1: values[i] = (u8)value; break;
        case 2: ((u16 *)values)[i] = (u16)value; break;
        case 4: ((u32 *)values)[i] = (u32)value; break;
        default: ((u64 *)values)[i] = value;
        }
    }
}
