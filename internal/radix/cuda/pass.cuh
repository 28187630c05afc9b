// One pass of a radix sort: all rows into the order of one digit, stably.
//
// Onesweep (Adinets and Merrill 2022): each tile ranks its rows in shared memory, learns
// from the tiles before it how many rows with each digit they have, and writes its rows
// to their places. The counts travel by decoupled look-back, a chain for each digit.
#pragma once

#include "plan.cuh"

// A word of the state is the number of rows with one digit, in a tile or in all tiles of
// the portion up to its end. A portion has less than 2³⁰ rows.
static constexpr u32 known_tile = 1u << 30, known_prefix = 2u << 30, count_mask = (1u << 30) - 1;

// Portion is the rows of one launch, of all tiles even if fewer have rows. state has two
// areas of state_words. Launches alternate between them, and each clears the other one for
// the next. The first area is zero at the start.
struct Portion {
    u32 *state;
    u64 state_words;
    u32 number, portions, tiles;
};

// before_digit publishes a tile's number of rows with a digit, and returns that of all
// tiles before it. Each thread follows the chain of one digit.
DEVICE u32 before_digit(u32 *state, u32 tile, u32 digit, u32 count) {
    const u64 own = global_address(state + (u64)tile * digit_values + digit);
    u32 before = 0;
    if (tile > 0) {
        asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(own), "r"(known_tile | count) : "memory");
        u64 at = own;
        for (;;) {
            at -= digit_values * sizeof(u32);
            u32 word;
            for (;;) {
                asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
                if (word != 0)
                    break;
                __nvvm_nanosleep(20);
            }
            before += word & count_mask;
            if ((word & known_prefix) != 0)
                break;
        }
    }
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(own), "r"(known_prefix | before + count) : "memory");
    return before;
}

// move_rows is the work of a pass that does not sort.
template <typename Key, bool numbers> DEVICE void move_rows(const Call &call, const Slot &slot, u64 begin, u64 end, bool keep_keys) {
    const u32 to = slot.mode == copy ? slot.source ^ 1 : slot.source;
    for (u64 i = begin + thread_in_block(); i < end; i += threads_per_block()) {
        if (slot.mode == copy && keep_keys)
            call.key<Key>(to)[i] = call.key<Key>(slot.source)[i];
        if constexpr (numbers)
            call.rows[to][i] = slot.first ? (u32)i : call.rows[slot.source][i];
    }
}

template <typename Key, bool numbers, u32 threads, u32 items> DEVICE void pass(const Call &call, u32 round, u32 number, const Portion &portion, bool keep_keys) {
    constexpr u32 warps = threads / warp_threads, tile_rows = threads * items;
    static_assert(threads >= digit_values, "a thread for each digit");
    __shared__ u32 counters[warps][digit_values];
    __shared__ Key exchanged[tile_rows];
    __shared__ u32 sums[warps], to[digit_values], ticket;
    const Slot slot = call.plan->slots[round][number];
    if (slot.mode == skip)
        return;
    const u32 thread = thread_in_block(), warp = thread / warp_threads, lane = lane_in_warp();
    if (thread == 0)
        ticket = take_tile(&call.plan->tickets[round][number]) - portion.number * portion.tiles;
    for (u32 i = lane; i < digit_values; i += warp_threads)
        counters[warp][i] = 0;
    synchronize_block();
    const u32 tile = ticket;
    const u64 n = call.count(), begin = ((u64)portion.number * portion.tiles + tile) * tile_rows;
    // Launches alternate between the areas of the state.
    const u32 area = (slot.index * portion.portions + portion.number) & 1;
    u32 *const state = portion.state + area * portion.state_words;
    u32 *const next = portion.state + (area ^ 1) * portion.state_words;
    if (slot.mode == scatter && thread < digit_values)
        next[(u64)tile * digit_values + thread] = 0;
    if (begin >= n)
        return;
    const u32 there = n - begin < tile_rows ? (u32)(n - begin) : tile_rows;
    const bool keys_left = keep_keys || !slot.last;
    if (slot.mode != scatter) {
        move_rows<Key, numbers>(call, slot, begin, begin + there, keys_left);
        return;
    }
    const u32 shift = call.field.shift(number), mask = call.field.mask(number);
    // A warp has items · 32 consecutive rows. Absent rows have the highest digit, and so
    // come after all rows of the tile.
    const u32 first = warp * (items * warp_threads) + lane;
    const Key *const from = call.key<Key>(slot.source) + begin;
    Key key[items];
    u32 rank[items];
#pragma unroll
    for (u32 i = 0; i < items; i++) {
        const u32 row = first + i * warp_threads;
        key[i] = row < there ? from[row] : ~(Key)0;
    }
#pragma unroll
    for (u32 i = 0; i < items; i++) {
        const u32 digit = (u32)(key[i] >> shift) & mask;
        u32 same = whole_warp;
#pragma unroll
        for (u32 bit = 0; bit < digit_bits; bit++) {
            const bool one = digit >> bit & 1;
            const u32 ones = ballot(one);
            same &= one ? ones : ~ones;
        }
        const u32 leader = 31 - __builtin_clz(same);
        u32 before = 0;
        if (lane == leader) {
            before = counters[warp][digit];
            counters[warp][digit] = before + __builtin_popcount(same);
        }
        rank[i] = shuffle_value(before, leader) + __builtin_popcount(same & (1u << lane) - 1);
        synchronize_warp();
    }
    synchronize_block();

    // The rows of the digit in the tile, and in the warps before each warp.
    u32 count = 0;
    if (thread < digit_values)
#pragma unroll
        for (u32 i = 0; i < warps; i++) {
            const u32 here = counters[i][thread];
            counters[i][thread] = count;
            count += here;
        }
    u32 all;
    const u32 scanned = warp_scan(count, Sum<u32>());
    u32 lower = before_lane(scanned, Sum<u32>());
    lower += block_fold_before<warps>(shuffle_value(scanned, warp_threads - 1), sums, all, Sum<u32>());
    if (thread < digit_values)
#pragma unroll
        for (u32 i = 0; i < warps; i++)
            counters[i][thread] += lower;
    synchronize_block();
#pragma unroll
    for (u32 i = 0; i < items; i++) {
        rank[i] += counters[warp][(u32)(key[i] >> shift) & mask];
        exchanged[rank[i]] = key[i];
    }
    if (thread < digit_values) {
        if (thread == mask)
            count -= tile_rows - there;
        const u32 before = before_digit(state, tile, thread, count);
        const u32 start = portion.number == 0 ? call.plan->begins[number][thread] : call.plan->carried[portion.number & 1][thread];
        to[thread] = start + before - lower;
        if (tile == portion.tiles - 1)
            call.plan->carried[portion.number + 1 & 1][thread] = start + before + count;
    }
    synchronize_block();

    u32 place[items];
#pragma unroll
    for (u32 i = 0; i < items; i++) {
        const u32 at = i * threads + thread;
        const Key moved = exchanged[at];
        place[i] = to[(u32)(moved >> shift) & mask] + at;
        if (keys_left && at < there)
            call.key<Key>(slot.source ^ 1)[place[i]] = moved;
    }
    if constexpr (numbers) {
        u32 *const rows = (u32 *)exchanged;
        const u32 *const numbers_from = call.rows[slot.source] + begin;
        u32 payload[items];
#pragma unroll
        for (u32 i = 0; i < items; i++) {
            const u32 row = first + i * warp_threads;
            payload[i] = slot.first ? (u32)begin + row : row < there ? numbers_from[row] : 0;
        }
        synchronize_block();
#pragma unroll
        for (u32 i = 0; i < items; i++)
            rows[rank[i]] = payload[i];
        synchronize_block();
#pragma unroll
        for (u32 i = 0; i < items; i++) {
            const u32 at = i * threads + thread;
            if (at < there)
                call.rows[slot.source ^ 1][place[i]] = rows[at];
        }
    }
}
