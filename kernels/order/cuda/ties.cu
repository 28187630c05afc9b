// The kernels that find and move ties.
#include "entries.cuh"
#include "ties.cuh"

#define TIES(width, Word)                                                                                                                                      \
    KERNEL LAUNCH_BOUNDS(tie_threads)                                                                                                                          \
    order_ties_##width(const Word *words, const i64 *counted, i64 capacity, const u32 *slots, const u32 *rows, const u32 *runs, const u64 *places,             \
                       u64 first_place, u64 step, u32 drop, Ties out, Totals *totals, void *state) {                                                           \
        const Ties from = {(u32 *)slots, (u32 *)rows, (u32 *)runs, nullptr, (u64 *)places};                                                                    \
        find_ties<Word>({words, counted, capacity, from, first_place, step, drop}, out, totals, state);                                                        \
    }                                                                                                                                                          \
    KERNEL LAUNCH_BOUNDS(tie_threads)                                                                                                                          \
    order_move_##width(u32 *order, u32 *moved_rows, Word *moved_words, const Word *words, const u32 *slots, const u32 *rows, const u32 *numbers, u64 n) {      \
        for (u64 i = thread_in_grid(); i < n; i += threads_per_grid()) {                                                                                       \
            const u32 number = numbers[i], row = rows[number];                                                                                                 \
            moved_rows[i] = row;                                                                                                                               \
            moved_words[i] = words[number];                                                                                                                    \
            order[slots[i]] = row;                                                                                                                             \
        }                                                                                                                                                      \
    }

// order_ties finds the ties among rows or ties. order_move puts ties into the order that
// their numbers have after a sort, and writes the rows to their slots.
TIES(32, u32)
TIES(64, u64)

// order_runs writes the runs of ties in the order of their numbers.
KERNEL LAUNCH_BOUNDS(tie_threads) order_runs(u32 *out, const u32 *runs, const u32 *numbers, u64 n) {
    for (u64 i = thread_in_grid(); i < n; i += threads_per_grid())
        out[i] = runs[numbers[i]];
}

// order_numbers writes the numbers of all rows.
KERNEL LAUNCH_BOUNDS(tie_threads) order_numbers(u32 *out, u64 n) {
    for (u64 i = thread_in_grid(); i < n; i += threads_per_grid())
        out[i] = (u32)i;
}

// order_split divides rows by a bitmap, in order: the words and the numbers of valid rows,
// and the numbers of others. *valid_count is the number of valid rows.
KERNEL LAUNCH_BOUNDS(tie_threads) order_split(u64 *valid_words, u32 *valid_rows, u32 *null_rows, u64 *valid_count, const u64 *words, const u8 *valid, u64 bit,
                                              const i64 *counted, i64 capacity, void *state) {
    __shared__ u32 sums[tie_warps], tile_before, ticket;
    if (thread_in_block() == 0)
        ticket = take_tile(state);
    synchronize_block();
    const u32 tile = ticket, lane = lane_in_warp(), warp = thread_in_block() / warp_threads;
    const u64 n = device_rows(counted, capacity), begin = (u64)tile * tie_rows + warp * (tie_loads * warp_threads);
    u32 bits[tie_loads], sum = 0, all;
#pragma unroll
    for (u32 i = 0; i < tie_loads; i++) {
        const u64 row = begin + i * warp_threads;
        bits[i] = row < n ? load_bits<32>(valid, bit + row, bit + n) & low_bits(n - row < 32 ? n - row : 32) : 0;
        sum += __builtin_popcount(bits[i]);
    }
    u32 own = block_fold_before<tie_warps>(sum, sums, all, Sum<u32>());
    if (warp == 0) {
        const u32 before = before_tile(state, tile, all, Sum<u32>());
        if (lane == 0) {
            tile_before = before;
            if ((u64)tile * tie_rows < n && ((u64)tile + 1) * tie_rows >= n)
                *valid_count = before + all;
        }
    }
    synchronize_block();
    own += tile_before;
#pragma unroll
    for (u32 i = 0; i < tie_loads; i++) {
        const u64 row = begin + i * warp_threads + lane;
        const u32 to = own + __builtin_popcount(bits[i] & (1u << lane) - 1);
        if ((bits[i] >> lane & 1) != 0) {
            valid_words[to] = words[row];
            valid_rows[to] = (u32)row;
        } else if (row < n)
            null_rows[row - to] = (u32)row;
        own += __builtin_popcount(bits[i]);
    }
}

// order_join puts the sorted valid rows and the others together. If the others come last,
// the valid rows are in place already.
KERNEL LAUNCH_BOUNDS(tie_threads) order_join(u32 *out, const u32 *valid_rows, const u32 *null_rows, const u64 *valid_count, u32 nulls_first, const i64 *counted, i64 capacity) {
    const u64 n = device_rows(counted, capacity), there = *valid_count, nulls = n - there;
    for (u64 i = thread_in_grid(); i < n; i += threads_per_grid())
        if (nulls_first)
            out[i] = i < nulls ? null_rows[i] : valid_rows[i - nulls];
        else if (i >= there)
            out[i] = null_rows[i - there];
}

// order_low_bits writes the numbers in the low bits of items, in a width of 1, 2 or 4 bytes.
KERNEL LAUNCH_BOUNDS(tie_threads) order_low_bits(u8 *out, const u64 *items, u32 bits, u32 width, const i64 *counted, i64 capacity) {
    const u64 n = device_rows(counted, capacity);
    for (u64 i = thread_in_grid(); i < n; i += threads_per_grid()) {
        const u32 low = (u32)(items[i] & (1ull << bits) - 1);
        if (width == 1)
            out[i] = low;
        else if (width == 2)
            ((u16 *)out)[i] = low;
        else
            ((u32 *)out)[i] = low;
    }
}

// order_groups numbers the groups of equal rows, which begin where a row is not equal to
// its predecessor: groups is the number of each row's group, begins the first row of each,
// and the number of rows behind the last one.
KERNEL LAUNCH_BOUNDS(tie_threads) order_groups(u32 *groups, u32 *begins, const u8 *orders, const i64 *counted, i64 capacity, void *state) {
    __shared__ u32 sums[tie_warps], tile_before, ticket;
    if (thread_in_block() == 0)
        ticket = take_tile(state);
    synchronize_block();
    const u32 tile = ticket, lane = lane_in_warp(), warp = thread_in_block() / warp_threads;
    const u64 n = device_rows(counted, capacity), begin = (u64)tile * tie_rows + warp * (tie_loads * warp_threads) + lane;
    u32 heads[tie_loads], sum = 0, all;
#pragma unroll
    for (u32 i = 0; i < tie_loads; i++) {
        const u64 at = begin + i * warp_threads;
        heads[i] = ballot(at < n && (at == 0 || orders[at] != 0));
        sum += __builtin_popcount(heads[i]);
    }
    u32 own = block_fold_before<tie_warps>(sum, sums, all, Sum<u32>());
    if (warp == 0) {
        const u32 before = before_tile(state, tile, all, Sum<u32>());
        if (lane == 0)
            tile_before = before;
    }
    synchronize_block();
    own += tile_before;
#pragma unroll
    for (u32 i = 0; i < tie_loads; i++) {
        const u64 at = begin + i * warp_threads;
        const u32 group = own + __builtin_popcount(heads[i] & (2u << lane) - 1) - 1;
        if (at < n) {
            groups[at] = group;
            if ((heads[i] >> lane & 1) != 0)
                begins[group] = (u32)at;
            if (at == n - 1)
                begins[group + 1] = (u32)n;
        }
        own += __builtin_popcount(heads[i]);
    }
}

// Method is order.Method.
enum Method : u32 { rank_min, rank_max, rank_dense, rank_first, rank_average };

// order_ranks writes the rank of each row, and 0 after the row count. If null_word is set
// and its bit null_bit is 0, the first group are nulls and have rank 0.
KERNEL LAUNCH_BOUNDS(tie_threads) order_ranks(u32 *ranks, f64 *averages, const u32 *sorted, const u32 *groups, const u32 *begins, const i64 *counted,
                                              i64 capacity, u32 method, const u64 *null_word, u32 null_bit) {
    const u64 n = device_rows(counted, capacity);
    const u32 first = null_word != nullptr && (*null_word >> null_bit & 1) == 0 ? 0 : 1;
    for (u64 i = thread_in_grid(); i < (u64)capacity; i += threads_per_grid()) {
        if (i >= n) {
            if (method == rank_average)
                averages[i] = 0;
            else
                ranks[i] = 0;
            continue;
        }
        const u32 row = sorted[i];
        if (method == rank_dense) {
            ranks[row] = groups[i] + first;
            continue;
        }
        if (method == rank_first) {
            ranks[row] = (u32)i + 1;
            continue;
        }
        const u32 group = groups[i], begin = begins[group] + 1, end = begins[group + 1];
        if (method == rank_average)
            averages[row] = ((f64)begin + (f64)end) / 2;
        else
            ranks[row] = method == rank_max ? end : begin;
    }
}

// order_limits writes the bounds of a search before the first word.
KERNEL LAUNCH_BOUNDS(tie_threads) order_limits(u32 *lows, u32 *highs, u32 sorted, u64 n) {
    for (u64 i = thread_in_grid(); i < n; i += threads_per_grid()) {
        lows[i] = 0;
        highs[i] = sorted;
    }
}

// order_entries sorts each run of most_top entries in one block, by key and row.
KERNEL LAUNCH_BOUNDS(entry_threads) order_entries(Entry *entries, const u32 *collected, u32 capacity) {
    sort_runs(entries, *collected < capacity ? *collected : capacity);
}

#define ORDER_TOP(width, Value)                                                                                                                                \
    KERNEL LAUNCH_BOUNDS(tie_threads)                                                                                                                          \
    order_top_##width(Value *out, i64 *out_rows, u32 *out_valid, i64 *out_count, const Value *values, const Entry *entries, const u32 *collected,              \
                      u32 most, u64 k, const i64 *counted, i64 capacity) {                                                                                     \
        write_top(out, out_rows, out_valid, out_count, values, entries, *collected < most ? *collected : most, k, device_rows(counted, capacity));             \
    }

ORDER_TOP(8, u8)
ORDER_TOP(16, u16)
ORDER_TOP(32, u32)
ORDER_TOP(64, u64)
