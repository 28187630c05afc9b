// The kernels of the table of the build side. Each is compiled alone.
#include "table.cuh"

static constexpr u32 threads = 256;

struct Smallest {
    METHOD u64 none() const { return ~0ull; }
    METHOD u64 fold(u64 a, u64 b) const { return b < a ? b : a; }
};

// bound_keys finds the range of the keys, with the bits of sign inverted, or one with more than
// room keys: a thread stops when its own keys show that these have no places.
template <typename Word> DEVICE void bound_keys(const Table &table, const Keys &keys) {
    __shared__ u64 shared[2][threads / warp_threads];
    const u64 step = threads_per_grid();
    u64 least = ~0ull, rest = ~0ull;
#pragma clang loop unroll(disable)
    for (u64 row = thread_in_grid(); row < keys.rows; row += step)
        if (is_valid(keys, row)) {
            const u64 image = word_of<Word>(keys, row) ^ table.sign;
            least = image < least ? image : least;
            rest = ~image < rest ? ~image : rest;
            if (~rest - least >= table.room)
                break;
        }
    least = warp_fold(least, Smallest());
    rest = warp_fold(rest, Smallest());
    u64 all, others;
    block_fold_before<threads / warp_threads>(least, shared[0], all, Smallest());
    block_fold_before<threads / warp_threads>(rest, shared[1], others, Smallest());
    if (thread_in_block() == 0) {
        __nvvm_atom_min_gen_ull(&table.header->least, all);
        __nvvm_atom_min_gen_ull(&table.header->rest, others);
    }
}

KERNEL LAUNCH_BOUNDS(threads) bound_keys_32(const Table table, const Keys keys) { bound_keys<u32>(table, keys); }
KERNEL LAUNCH_BOUNDS(threads) bound_keys_64(const Table table, const Keys keys) { bound_keys<u64>(table, keys); }

struct alignas(16) Pair {
    u64 low, high;
};

// clear sets all bits of the slots that the range of the keys needs. Without places it
// needs all pairs of words.
DEVICE void clear(const Table &table, u64 pairs) {
    const Range range = range_of(table);
    const u64 n = range.places != 0 ? (range.places + 3) / 4 : pairs, step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < n; i += step)
        ((Pair *)table.slots)[i] = {empty, empty};
}

KERNEL LAUNCH_BOUNDS(threads) clear_slots(const Table table, u64 pairs) { clear(table, pairs); }

// insert_block inserts rows, of which each thread of the block has one at a time. With trial set
// it stops when a key has come twice, in any block, and inserts no keys of a warp in which
// two neighbours are equal. Otherwise threads that look for the same few keys would wait for
// each other.
template <typename Word, typename Slots> DEVICE void insert_block(const Table &table, const Slots &slots, const Keys &keys, u64 begin, u64 end, bool trial) {
    __shared__ u32 distinct;
#pragma clang loop unroll(disable)
    for (u64 first = begin; first < end; first += threads_per_block()) {
        if (trial) {
            if (thread_in_block() == 0)
                distinct = look(&table.header->distinct);
            synchronize_block();
            const bool stops = distinct == 0;
            synchronize_block();
            if (stops)
                return;
        }
        const u64 row = first + thread_in_block();
        const bool valid = row < end && is_valid(keys, row);
        const Word word = valid ? word_of<Word>(keys, row) : 0;
        bool again = false;
        if (trial) {
            const u32 lane = lane_in_warp(), all = ballot(valid);
            const Word before = shuffle_value_up(word, 1);
            again = ballot(lane > 0 && (all >> lane - 1 & 3) == 3 && before == word) != 0;
        }
        if (valid && !again)
            slots.insert(word, (u32)row, again);
        if (again && table.header->distinct != 0)
            table.header->distinct = 0;
    }
}

// insert_rows puts valid rows into the table. Each block has a tile of them.
template <typename Word, typename Slots> DEVICE void insert_rows(const Table &table, const Keys &keys, u32 trial, u32 tile) {
    const u64 begin = (u64)block_in_grid() * tile, end = begin + tile < keys.rows ? begin + tile : keys.rows;
    const Range range = range_of(table);
    if (range.places != 0)
        insert_block<Word>(table, Places<Word>{table, range}, keys, begin, end, trial != 0);
    else
        insert_block<Word>(table, Slots{table}, keys, begin, end, trial != 0);
}

KERNEL LAUNCH_BOUNDS(threads) insert_rows_32(const Table table, const Keys keys, u32 trial, u32 tile) { insert_rows<u32, NarrowSlots<u32>>(table, keys, trial, tile); }
KERNEL LAUNCH_BOUNDS(threads) insert_rows_32_wide(const Table table, const Keys keys, u32 trial, u32 tile) { insert_rows<u32, WideSlots<u32>>(table, keys, trial, tile); }
KERNEL LAUNCH_BOUNDS(threads) insert_rows_64(const Table table, const Keys keys, u32 trial, u32 tile) { insert_rows<u64, WideSlots<u64>>(table, keys, trial, tile); }

// few_threads is the number of threads of the block that makes a table of few rows.
static constexpr u32 few_threads = 1024;

// build_few makes a table of few rows in one block: it finds the range of their keys, if the
// table has room for places, clears the slots, and inserts the rows.
template <typename Word, typename Slots> DEVICE void build_few(const Table &table, const Keys &keys, u64 pairs) {
    __shared__ u64 shared[few_threads / warp_threads];
    u64 least = ~0ull, rest = ~0ull;
    if (table.room != 0) {
#pragma clang loop unroll(disable)
        for (u64 row = thread_in_block(); row < keys.rows; row += few_threads)
            if (is_valid(keys, row)) {
                const u64 image = word_of<Word>(keys, row) ^ table.sign;
                least = image < least ? image : least;
                rest = ~image < rest ? ~image : rest;
            }
        u64 all;
        block_fold_before<few_threads / warp_threads>(warp_fold(least, Smallest()), shared, all, Smallest());
        least = all;
        block_fold_before<few_threads / warp_threads>(warp_fold(rest, Smallest()), shared, all, Smallest());
        rest = all;
    }
    if (thread_in_block() == 0)
        *table.header = {least, rest, ~0u, 0};
    synchronize_block();
    clear(table, pairs);
    synchronize_block();
    const Range range = range_of(table);
    if (range.places != 0)
        insert_block<Word>(table, Places<Word>{table, range}, keys, 0, keys.rows, false);
    else
        insert_block<Word>(table, Slots{table}, keys, 0, keys.rows, false);
}

KERNEL LAUNCH_BOUNDS(few_threads) build_few_32(const Table table, const Keys keys, u64 pairs) { build_few<u32, NarrowSlots<u32>>(table, keys, pairs); }
KERNEL LAUNCH_BOUNDS(few_threads) build_few_32_wide(const Table table, const Keys keys, u64 pairs) { build_few<u32, WideSlots<u32>>(table, keys, pairs); }
KERNEL LAUNCH_BOUNDS(few_threads) build_few_64(const Table table, const Keys keys, u64 pairs) { build_few<u64, WideSlots<u64>>(table, keys, pairs); }

template <typename Word, typename Slots> DEVICE void slot_all(u32 *slot_of, const Slots &slots, const Keys &keys, u32 none) {
    const u64 step = threads_per_grid();
#pragma clang loop unroll(disable)
    for (u64 row = thread_in_grid(); row < keys.rows; row += step)
        slot_of[row] = is_valid(keys, row) ? (u32)slots.slot(word_of<Word>(keys, row), (u32)row) : none;
}

// slots_of_rows writes the slot of each row, none for rows that are not valid. It inserts the
// rows that the table does not have yet.
template <typename Word, typename Slots> DEVICE void slots_of_rows(u32 *slot_of, const Table &table, const Keys &keys, u32 none) {
    const Range range = range_of(table);
    if (range.places != 0)
        slot_all<Word>(slot_of, Places<Word>{table, range}, keys, none);
    else
        slot_all<Word>(slot_of, Slots{table}, keys, none);
}

KERNEL slots_of_rows_32(u32 *slot_of, const Table table, const Keys keys, u32 none) { slots_of_rows<u32, NarrowSlots<u32>>(slot_of, table, keys, none); }
KERNEL slots_of_rows_32_wide(u32 *slot_of, const Table table, const Keys keys, u32 none) { slots_of_rows<u32, WideSlots<u32>>(slot_of, table, keys, none); }
KERNEL slots_of_rows_64(u32 *slot_of, const Table table, const Keys keys, u32 none) { slots_of_rows<u64, WideSlots<u64>>(slot_of, table, keys, none); }

// slot_spans writes the span of each slot in the sorted slots of rows.
KERNEL slot_spans(const Table table, const u32 *sorted, u32 none, u64 n) {
    const u64 step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < n; i += step) {
        const u32 slot = sorted[i];
        if (slot == none)
            continue;
        u32 *const halves = (u32 *)(table.spans == nullptr ? &((WideSlot *)table.slots)[slot].value : &table.spans[slot]);
        if (i == 0 || sorted[i - 1] != slot)
            halves[0] = (u32)i;
        if (i + 1 == n || sorted[i + 1] != slot)
            halves[1] = (u32)(i + 1);
    }
}

template <typename Word, typename Slots> DEVICE void find_all(u32 *first, u32 *counts, const Slots &slots, const Keys &keys) {
    const u64 step = threads_per_grid();
#pragma clang loop unroll(disable)
    for (u64 row = thread_in_grid(); row < keys.rows; row += step) {
        if (counts == nullptr) {
            first[row] = is_valid(keys, row) ? slots.row(word_of<Word>(keys, row)) : no_row;
            continue;
        }
        const u64 span = is_valid(keys, row) ? slots.span(word_of<Word>(keys, row)) : empty;
        first[row] = (u32)span;
        counts[row] = (u32)(span >> 32) - (u32)span;
    }
}

// probe_rows writes the row of each key or, if there are counts, the begin and the length of
// its span. With trial set it writes nothing if a key of the table occurs twice.
template <typename Word, typename Slots> DEVICE void probe_rows(u32 *first, u32 *counts, const Table &table, const Keys &keys, u32 trial) {
    if (trial != 0 && table.header->distinct == 0)
        return;
    const Range range = range_of(table);
    if (range.places != 0)
        find_all<Word>(first, counts, Places<Word>{table, range}, keys);
    else
        find_all<Word>(first, counts, Slots{table}, keys);
}

KERNEL probe_rows_32(u32 *first, u32 *counts, const Table table, const Keys keys, u32 trial) {
    probe_rows<u32, NarrowSlots<u32>>(first, counts, table, keys, trial);
}
KERNEL probe_rows_32_wide(u32 *first, u32 *counts, const Table table, const Keys keys, u32 trial) {
    probe_rows<u32, WideSlots<u32>>(first, counts, table, keys, trial);
}
KERNEL probe_rows_64(u32 *first, u32 *counts, const Table table, const Keys keys, u32 trial) {
    probe_rows<u64, WideSlots<u64>>(first, counts, table, keys, trial);
}

// rows_of writes the rows of the keys of a thread, as pair_rows has them. Places are read all
// at a time. Searches in a hash table are not unrolled: they would be eight loops.
template <typename Word> DEVICE void rows_of(u32 *rows, const Places<Word> &places, const Keys &keys, u64 begin, u32 loads) {
    Word words[match_loads];
    u32 found[match_loads];
#pragma unroll
    for (u32 i = 0; i < match_loads; i++) {
        const u64 row = begin + i * warp_threads;
        words[i] = i < loads && row < keys.rows ? word_of<Word>(keys, row) : 0;
    }
#pragma unroll
    for (u32 i = 0; i < match_loads; i++) {
        const u64 row = begin + i * warp_threads;
        found[i] = i < loads && row < keys.rows && is_valid(keys, row) ? places.row(words[i]) : no_row;
    }
#pragma unroll
    for (u32 i = 0; i < match_loads; i++)
        if (i < loads)
            rows[i * warp_threads] = found[i];
}

template <typename Word, typename Slots> DEVICE void rows_of(u32 *rows, const Slots &slots, const Keys &keys, u64 begin, u32 loads) {
    Word next = begin < keys.rows ? word_of<Word>(keys, begin) : 0;
#pragma clang loop unroll(disable)
    for (u32 i = 0; i < loads; i++) {
        const u64 row = begin + i * warp_threads, ahead = row + warp_threads;
        const Word word = next;
        next = i + 1 < loads && ahead < keys.rows ? word_of<Word>(keys, ahead) : 0;
        rows[i * warp_threads] = row < keys.rows && is_valid(keys, row) ? slots.row(word) : no_row;
    }
}

// probe_pairs writes a pair of each key that has a row, in the order of the keys. outcome is
// the number of pairs and then whether they are right. With trial set they are not, and
// nothing is written, if a key of the table occurs twice.
template <typename Word, typename Slots>
DEVICE void probe_pairs(const PairsOut &out, const Table &table, const Keys &keys, u32 trial, u32 loads, u64 *outcome, void *state) {
    if (trial != 0 && table.header->distinct == 0) {
        if (thread_in_grid() == 0)
            outcome[1] = 0;
        return;
    }
    const Range range = range_of(table);
    pair_rows(out, keys.rows, loads, outcome, state, [&](u32 *rows, u64 begin) {
        if (range.places != 0)
            rows_of(rows, Places<Word>{table, range}, keys, begin, loads);
        else
            rows_of<Word>(rows, Slots{table}, keys, begin, loads);
    });
}

KERNEL LAUNCH_BOUNDS(match_threads) probe_pairs_32(const PairsOut out, const Table table, const Keys keys, u32 trial, u32 loads, u64 *outcome, void *state) {
    probe_pairs<u32, NarrowSlots<u32>>(out, table, keys, trial, loads, outcome, state);
}
KERNEL LAUNCH_BOUNDS(match_threads) probe_pairs_32_wide(const PairsOut out, const Table table, const Keys keys, u32 trial, u32 loads, u64 *outcome, void *state) {
    probe_pairs<u32, WideSlots<u32>>(out, table, keys, trial, loads, outcome, state);
}
KERNEL LAUNCH_BOUNDS(match_threads) probe_pairs_64(const PairsOut out, const Table table, const Keys keys, u32 trial, u32 loads, u64 *outcome, void *state) {
    probe_pairs<u64, WideSlots<u64>>(out, table, keys, trial, loads, outcome, state);
}

// probe_sums writes the sums of the matches of keys. distinct is set if no key of the table
// occurs twice.
template <typename Word, typename Slots>
DEVICE void probe_sums(const Sums &out, const Table &table, const Keys &keys, u32 distinct, u32 form, u32 loads, u64 *outcome, void *state) {
    const Range range = range_of(table);
    const auto find = [&](const auto &slots, u64 row, u32 &first) -> u32 {
        const Word word = word_of<Word>(keys, row);
        if (distinct != 0) {
            first = slots.row(word);
            return first != no_row;
        }
        const u64 span = slots.span(word);
        first = (u32)span;
        return (u32)(span >> 32) - (u32)span;
    };
    sum_rows(out, form, keys.rows, loads, outcome, state, [&](u64 row, u32 &first) -> u32 {
        if (!is_valid(keys, row))
            return 0;
        return range.places != 0 ? find(Places<Word>{table, range}, row, first) : find(Slots{table}, row, first);
    });
}

KERNEL LAUNCH_BOUNDS(match_threads) probe_sums_32(const Sums out, const Table table, const Keys keys, u32 distinct, u32 form, u32 loads, u64 *outcome, void *state) {
    probe_sums<u32, NarrowSlots<u32>>(out, table, keys, distinct, form, loads, outcome, state);
}
KERNEL LAUNCH_BOUNDS(match_threads) probe_sums_32_wide(const Sums out, const Table table, const Keys keys, u32 distinct, u32 form, u32 loads, u64 *outcome, void *state) {
    probe_sums<u32, WideSlots<u32>>(out, table, keys, distinct, form, loads, outcome, state);
}
KERNEL LAUNCH_BOUNDS(match_threads) probe_sums_64(const Sums out, const Table table, const Keys keys, u32 distinct, u32 form, u32 loads, u64 *outcome, void *state) {
    probe_sums<u64, WideSlots<u64>>(out, table, keys, distinct, form, loads, outcome, state);
}
