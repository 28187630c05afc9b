// One pass of a radix sort: all rows into the order of one digit, stably.
//
// Onesweep (Adinets and Merrill 2022): each tile ranks its rows in shared memory, learns
// from the tiles before it how many rows with each digit they have, and writes its rows
// to their places. The counts travel by decoupled look-back, a chain for each digit.
//
// The form was chosen by measurements on an H100: docs/kernels.md.
#pragma once

#include "plan.cuh"

// A word of the state is the number of rows with one digit, in a tile or in all tiles of
// the portion up to its end. A portion has less than 2³⁰ rows.
static constexpr u32 known_tile = 1u << 30, known_prefix = 2u << 30, count_mask = (1u << 30) - 1;

// Portion is the rows of one launch, of all tiles even if fewer have rows. Each block takes
// tickets until one is not below tiles, so a launch takes as many as tiles and blocks. state has two
// areas of state_words. Launches alternate between them, and each clears the other one for
// the next. The first area is zero at the start.
struct Portion {
    u32 *state;
    u64 state_words;
    u32 number, portions, tiles;
};

DEVICE void publish(u32 *word, u32 value) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(global_address(word)), "r"(value) : "memory");
}

DEVICE u32 published(const u32 *word) {
    u32 value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(global_address(word)) : "memory");
    return value;
}

// before_digit returns the number of rows with a digit in all tiles before one. own is the
// tile's word of the digit; the words of earlier tiles lie before it. Each thread follows
// the chain of one digit, two tiles at a time.
DEVICE u32 before_digit(const u32 *own, u32 tile) {
    u32 before = 0;
    while (tile > 0) {
        const u32 near = published(own - digit_values);
        const u32 far = tile > 1 ? published(own - 2 * digit_values) : 0;
        if (near == 0)
            continue;
        before += near & count_mask;
        if ((near & known_prefix) != 0)
            break;
        own -= digit_values;
        tile--;
        if (far == 0)
            continue;
        before += far & count_mask;
        if ((far & known_prefix) != 0)
            break;
        own -= digit_values;
        tile--;
    }
    return before;
}

// peers returns the lanes of the warp with the same digit. (match.any takes 1.5 times as
// long in a sort of 2²⁷ rows, masks in shared memory as long.)
DEVICE u32 peers(u32 digit) {
    u32 same = whole_warp;
#pragma unroll
    for (u32 bit = 0; bit < digit_bits; bit++) {
        // The lanes with the same bit. clang would take seven instructions for these four.
        u32 with;
        asm volatile("{\n\t.reg .pred p;\n\tand.b32 %0, %1, %2;\n\tsetp.ne.u32 p, %0, 0;\n\tvote.sync.ballot.b32 %0, p, 0xffffffff;\n\t@!p not.b32 %0, %0;\n\t}"
                     : "=r"(with)
                     : "r"(digit), "r"(1u << bit));
        same &= with;
    }
    return same;
}

// move_rows is the work of a pass that does not sort.
template <typename Key, Payload payload> DEVICE void move_rows(const Call &call, const Slot &slot, u64 begin, u64 end, bool keep_keys) {
    for (u64 i = begin + thread_in_block(); i < end; i += threads_per_block()) {
        if (slot.mode == copy && keep_keys || payload == packed) {
            Key key = call.key<Key>(slot.from)[i];
            if (slot.first != slot.last)
                key = slot.first ? call.encoding.encode(key) : call.encoding.decode(key);
            if (payload == packed && slot.last) {
                call.rows0[i] = call.row(key);
                continue;
            }
            call.key<Key>(slot.to)[i] = key;
        }
        if constexpr (payload == separate)
            call.rows(slot.to)[i] = slot.numbers ? (u32)i : call.rows(slot.from)[i];
    }
}

// PassMemory is the shared memory of a block: Go's passBytes. The keys take the place of
// the counters once the rows are ranked.
template <typename Key, u32 threads, u32 items> struct PassMemory {
    static constexpr u32 warps = threads / warp_threads;
    union {
        u32 counters[warps][digit_values];
        Key keys[threads * items];
        u32 rows[threads * items];
    };
    u32 to[digit_values];
    u32 sums[warps];
    u32 ticket;
};

extern __shared__ __attribute__((aligned(16))) u8 pass_memory[];

// pass_tile moves the rows of the next tile. It returns false if none is left.
template <typename Key, Payload payload, u32 threads, u32 items>
DEVICE bool pass_tile(const Call &call, const Slot &slot, u32 round, u32 number, const Portion &portion, bool keep_keys) {
    constexpr u32 warps = threads / warp_threads, tile_rows = threads * items;
    static_assert(threads >= digit_values, "a thread for each digit");
    PassMemory<Key, threads, items> &shared = *(PassMemory<Key, threads, items> *)pass_memory;
    const u32 thread = thread_in_block(), warp = thread / warp_threads, lane = lane_in_warp();
    u32 *const counters = shared.counters[warp];
    u32 lanes_below;
    asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(lanes_below)); // kept in a register
    if (thread == 0)
        shared.ticket = take_tile(&call.plan->tickets[round][number]) - portion.number * (portion.tiles + blocks_per_grid());
#pragma unroll
    for (u32 i = 0; i < digit_values; i += warp_threads)
        counters[i + lane] = 0;
    synchronize_block();
    const u32 tile = shared.ticket;
    if (tile >= portion.tiles)
        return false;
    const u64 n = call.count(), begin = ((u64)portion.number * portion.tiles + tile) * tile_rows;
    const u32 area = (slot.index * portion.portions + portion.number) & 1;
    u32 *const own = portion.state + area * portion.state_words + (u64)tile * digit_values + thread;
    if (slot.mode == scatter && thread < digit_values)
        portion.state[(area ^ 1) * portion.state_words + (u64)tile * digit_values + thread] = 0;
    if (begin >= n)
        return true;
    const u32 there = n - begin < tile_rows ? (u32)(n - begin) : tile_rows;
    const bool whole = there == tile_rows, keys_left = keep_keys || !slot.last;
    if (slot.mode != scatter) {
        move_rows<Key, payload>(call, slot, begin, begin + there, keys_left);
        return true;
    }

    // A warp has items · 32 consecutive rows. Absent rows have the highest digit, and so
    // come after all rows of the tile.
    const u32 shift = call.field.shift(number), mask = call.field.mask(number);
    const u32 first = warp * (items * warp_threads) + lane;
    const Key *const from = call.key<Key>(slot.from) + begin + first;
    Key key[items];
    if (whole)
#pragma unroll
        for (u32 i = 0; i < items; i++)
            key[i] = from[i * warp_threads];
    else
#pragma unroll
        for (u32 i = 0; i < items; i++)
            key[i] = first + i * warp_threads < there ? from[i * warp_threads] : (Key)0;
    if (slot.first)
#pragma unroll
        for (u32 i = 0; i < items; i++)
            key[i] = call.encoding.encode(key[i]);
    if (!whole)
#pragma unroll
        for (u32 i = 0; i < items; i++)
            key[i] |= first + i * warp_threads < there ? 0 : ~(Key)0;

    // The digits are counted before they are ranked, so that the tile publishes its counts
    // as early as possible.
#pragma unroll
    for (u32 i = 0; i < items; i++)
        __nvvm_atom_add_gen_i((int *)&counters[(u32)(key[i] >> shift) & mask], 1);
    synchronize_block();
    u32 count = 0, lower = 0, all;
    if (thread < digit_values) {
#pragma unroll
        for (u32 i = 0; i < warps; i++) {
            const u32 here = shared.counters[i][thread];
            shared.counters[i][thread] = count;
            count += here;
        }
        lower = count;
        if (thread == mask)
            count -= tile_rows - there;
        publish(own, (tile == 0 ? known_prefix : known_tile) | count);
    }
    const u32 scanned = warp_scan(lower, Sum<u32>());
    lower = before_lane(scanned, Sum<u32>());
    lower += block_fold_before<warps>(shuffle_value(scanned, warp_threads - 1), shared.sums, all, Sum<u32>());
    if (thread < digit_values)
#pragma unroll
        for (u32 i = 0; i < warps; i++)
            shared.counters[i][thread] += lower;
    synchronize_block();

    // A counter is now the rank of the warp's next row with the digit.
    u32 rank[items];
#pragma unroll
    for (u32 i = 0; i < items; i++) {
        const u32 digit = (u32)(key[i] >> shift) & mask;
        const u32 same = peers(digit), below = __builtin_popcount(same & lanes_below);
        const u32 leader = 31 - __builtin_clz(same);
        u32 before = 0;
        if (lane == leader)
            before = (u32)__nvvm_atom_add_gen_i((int *)&counters[digit], below + 1);
        rank[i] = shuffle_value(before, leader) + below;
    }
    synchronize_block();
#pragma unroll
    for (u32 i = 0; i < items; i++)
        shared.keys[rank[i]] = key[i];
    if (thread < digit_values) {
        const u32 before = before_digit(own, tile);
        if (tile > 0)
            publish(own, known_prefix | before + count);
        const u32 start = portion.number == 0 ? call.plan->begins[number][thread] : call.plan->carried[portion.number & 1][thread];
        shared.to[thread] = start + before - lower;
        if (tile == portion.tiles - 1)
            call.plan->carried[portion.number + 1 & 1][thread] = start + before + count;
    }
    synchronize_block();

    Key *const to = call.key<Key>(slot.to);
    u32 place[items];
    // Whole tiles have loops without bounds.
    const auto store = [&](auto put) {
        if (whole) {
#pragma unroll
            for (u32 i = 0; i < items; i++) {
                const u32 at = i * threads + thread;
                const Key moved = shared.keys[at];
                place[i] = shared.to[(u32)(moved >> shift) & mask] + at;
                put(place[i], moved);
            }
        } else {
#pragma unroll
            for (u32 i = 0; i < items; i++) {
                const u32 at = i * threads + thread;
                const Key moved = shared.keys[at];
                place[i] = shared.to[(u32)(moved >> shift) & mask] + at;
                if (at < there)
                    put(place[i], moved);
            }
        }
    };
    if (payload == packed && slot.last)
        store([&](u32 at, Key moved) { call.rows0[at] = call.row(moved); });
    else if (!keys_left)
        store([&](u32, Key) {});
    else if (slot.last)
        store([&](u32 at, Key moved) { to[at] = call.encoding.decode(moved); });
    else
        store([&](u32 at, Key moved) { to[at] = moved; });
    if constexpr (payload == separate) {
        const u32 *const rows = call.rows(slot.from) + begin + first;
        u32 number_of[items];
        if (slot.numbers)
#pragma unroll
            for (u32 i = 0; i < items; i++)
                number_of[i] = (u32)begin + first + i * warp_threads;
        else if (whole)
#pragma unroll
            for (u32 i = 0; i < items; i++)
                number_of[i] = rows[i * warp_threads];
        else
#pragma unroll
            for (u32 i = 0; i < items; i++)
                number_of[i] = first + i * warp_threads < there ? rows[i * warp_threads] : 0;
        synchronize_block();
#pragma unroll
        for (u32 i = 0; i < items; i++)
            shared.rows[rank[i]] = number_of[i];
        synchronize_block();
        u32 *const rows_to = call.rows(slot.to);
        if (whole)
#pragma unroll
            for (u32 i = 0; i < items; i++)
                rows_to[place[i]] = shared.rows[i * threads + thread];
        else
#pragma unroll
            for (u32 i = 0; i < items; i++)
                if (i * threads + thread < there)
                    rows_to[place[i]] = shared.rows[i * threads + thread];
    }
    return true;
}

// pass moves tiles until none is left. A block for each tile would take 100 µs to start
// and end all blocks of a pass that is skipped.
template <typename Key, Payload payload, u32 threads, u32 items> DEVICE void pass(const Call &call, u32 round, u32 number, const Portion &portion, bool keep_keys) {
    const Slot slot = call.plan->slots[round][number];
    if (slot.mode == skip)
        return;
    while (pass_tile<Key, payload, threads, items>(call, slot, round, number, portion, keep_keys))
        synchronize_block();
}
