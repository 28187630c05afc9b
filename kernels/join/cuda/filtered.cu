// Lookups of many rows of which few have a match. A block tests the filter of the table for each row of
// its tile, lists those that may have a match, and looks these up with all of its threads: threads whose rows
// have no match do not wait for those of their warp that have one, and no memory is written for them.
#include "table.cuh"

// Candidates are the rows of a tile that may have a match, by their places in the tile.
struct Candidates {
    u32 count;
    u16 places[match_rows];
};

// list_candidates adds the rows of a warp that may have a match. A thread has rows begin, and places own, and those a warp
// apart.
template <typename Word> DEVICE void list_candidates(Candidates &list, const Table &table, const Keys &keys, u64 begin, u32 own, u32 loads) {
    const Filter filter = filter_of(table);
    Word words[match_loads];
    u32 may = 0, listed[match_loads], total = 0;
#pragma unroll
    for (u32 i = 0; i < match_loads; i++) {
        const u64 row = begin + i * warp_threads;
        const bool valid = i < loads && row < keys.rows && is_valid(keys, row);
        words[i] = valid ? word_of<Word>(keys, row) : 0;
        may |= (u32)valid << i;
    }
    if (filter.words != nullptr)
#pragma unroll
        for (u32 i = 0; i < match_loads; i++)
            if ((may >> i & 1) != 0 && !filter.may_have(words[i]))
                may &= ~(1u << i);
#pragma unroll
    for (u32 i = 0; i < match_loads; i++) {
        listed[i] = ballot((may >> i & 1) != 0);
        total += __builtin_popcount(listed[i]);
    }
    if (total == 0)
        return;
    const u32 lane = lane_in_warp();
    u32 at = 0;
    if (lane == 0)
        at = (u32)__nvvm_atom_add_gen_i((int *)&list.count, (int)total);
    at = shuffle_value(at, 0);
#pragma unroll
    for (u32 i = 0; i < match_loads; i++) {
        if ((may >> i & 1) != 0)
            list.places[at + __builtin_popcount(listed[i] & (1u << lane) - 1)] = (u16)(own + i * warp_threads);
        at += __builtin_popcount(listed[i]);
    }
}

// find_candidates calls found(place, row) for each candidate of the tile that begins with row first, with the row of the build
// side, or no_row.
template <typename Word, typename Found> DEVICE void find_candidates(const Candidates &list, const Table &table, const Keys &keys, u64 first, Found found) {
    const Range range = range_of(table);
    if (range.places != 0) {
        const Places<Word> places{table, range};
#pragma clang loop unroll(disable)
        for (u32 i = thread_in_block(); i < list.count; i += match_threads)
            found(list.places[i], places.row(word_of<Word>(keys, first + list.places[i])));
        return;
    }
    const Slots<Word> slots{table};
#pragma clang loop unroll(disable)
    for (u32 i = thread_in_block(); i < list.count; i += match_threads)
        found(list.places[i], slots.row(word_of<Word>(keys, first + list.places[i])));
}

// probe_filtered writes the pairs of rows with a match, in order. With trial set nothing is written if a key of the table
// occurs twice.
template <typename Word>
DEVICE void probe_filtered(const PairsOut &out, const Table &table, const Keys &keys, u32 trial, u32 loads, u64 *outcome, void *state) {
    __shared__ Candidates list;
    if (trial != 0 && table.header->distinct == 0) {
        if (thread_in_grid() == 0)
            outcome[1] = 0;
        return;
    }
    if (thread_in_block() == 0)
        list.count = 0;
    pair_rows(out, keys.rows, loads, outcome, state, [&](u32 *rows, u64 begin) { // after a barrier
        const u32 own = thread_in_block() / warp_threads * (loads * warp_threads) + lane_in_warp();
#pragma clang loop unroll(disable)
        for (u32 i = 0; i < loads; i++)
            rows[i * warp_threads] = no_row;
        list_candidates<Word>(list, table, keys, begin, own, loads);
        synchronize_block();
        u32 *const tile = rows - own;
        find_candidates<Word>(list, table, keys, begin - own, [&](u32 place, u32 row) { tile[place] = row; });
        synchronize_block();
    });
}

KERNEL LAUNCH_BOUNDS(match_threads) probe_filtered_32(const PairsOut out, const Table table, const Keys keys, u32 trial, u32 loads, u64 *outcome, void *state) {
    probe_filtered<u32>(out, table, keys, trial, loads, outcome, state);
}
KERNEL LAUNCH_BOUNDS(match_threads) probe_filtered_64(const PairsOut out, const Table table, const Keys keys, u32 trial, u32 loads, u64 *outcome, void *state) {
    probe_filtered<u64>(out, table, keys, trial, loads, outcome, state);
}

// probe_bits writes a bit for each row with a match or, with without set, for each that has none. Bits of whole words of 64 bits
// are written.
template <typename Word> DEVICE void probe_bits(u32 *bits, const Table &table, const Keys &keys, u32 without) {
    __shared__ Candidates list;
    __shared__ u32 words[match_rows / warp_threads];
    const u32 thread = thread_in_block(), own = thread / warp_threads * (match_loads * warp_threads) + lane_in_warp();
    const u64 first = (u64)block_in_grid() * match_rows;
    if (thread == 0)
        list.count = 0;
    if (thread < match_rows / warp_threads)
        words[thread] = 0;
    synchronize_block();
    list_candidates<Word>(list, table, keys, first + own, own, match_loads);
    synchronize_block();
    find_candidates<Word>(list, table, keys, first, [&](u32 place, u32 row) {
        if (row != no_row)
            __nvvm_atom_or_gen_i((int *)&words[place / warp_threads], (int)(1u << place % warp_threads));
    });
    synchronize_block();
    const u64 begin = first + thread * warp_threads;
    if (thread >= match_rows / warp_threads || begin >= (keys.rows + 63) / 64 * 64)
        return;
    const u32 there = begin >= keys.rows ? 0 : keys.rows - begin < warp_threads ? (1u << keys.rows - begin) - 1 : ~0u;
    bits[begin / warp_threads] = (without != 0 ? ~words[thread] : words[thread]) & there;
}

KERNEL LAUNCH_BOUNDS(match_threads) probe_bits_32(u32 *bits, const Table table, const Keys keys, u32 without) { probe_bits<u32>(bits, table, keys, without); }
KERNEL LAUNCH_BOUNDS(match_threads) probe_bits_64(u32 *bits, const Table table, const Keys keys, u32 without) { probe_bits<u64>(bits, table, keys, without); }
