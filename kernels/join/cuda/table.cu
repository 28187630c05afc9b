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

// insert_row inserts the row of a thread. With trial set it reports keys that come twice, and
// inserts no keys of a warp in which two neighbours are equal. Otherwise threads that look for the
// same few keys would wait for each other.
template <typename Word, typename Rows> DEVICE void insert_row(const Table &table, const Rows &slots, Word word, u64 row, bool valid, bool trial) {
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

// insert_rows puts valid rows into the filter and the table, each by one thread. With trial set a block
// only fills the filter if a key has come twice, in any block.
template <typename Word> DEVICE void insert_rows(const Table &table, const Keys &keys, u32 trial) {
    __shared__ u32 distinct;
    const u64 row = thread_in_grid();
    const bool valid = row < keys.rows && is_valid(keys, row);
    const Word word = valid ? word_of<Word>(keys, row) : 0;
    if (valid && table.filter != nullptr)
        filter_of(table).add(word);
    if (trial != 0) {
        if (thread_in_block() == 0)
            distinct = look(&table.header->distinct);
        synchronize_block();
        if (distinct == 0)
            return;
    }
    const Range range = range_of(table);
    if (range.places != 0)
        insert_row(table, Places<Word>{table, range}, word, row, valid, trial != 0);
    else
        insert_row(table, Slots<Word>{table}, word, row, valid, trial != 0);
}

KERNEL LAUNCH_BOUNDS(threads) insert_rows_32(const Table table, const Keys keys, u32 trial) { insert_rows<u32>(table, keys, trial); }
KERNEL LAUNCH_BOUNDS(threads) insert_rows_64(const Table table, const Keys keys, u32 trial) { insert_rows<u64>(table, keys, trial); }

// few_threads is the number of threads of the block that makes a table of few rows.
static constexpr u32 few_threads = 1024;

// build_few makes a table of few rows in one block: it finds the range of their keys, if the
// table has room for places, clears the slots, and inserts the rows.
template <typename Word> DEVICE void build_few(const Table &table, const Keys &keys, u64 pairs) {
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
        *table.header = {least, rest, ~0u, {}, {}};
    if (table.filter != nullptr)
        for (u32 i = thread_in_block(); i < (1u << table.filter_bits) / 32; i += few_threads)
            table.filter[i] = ~0u;
    synchronize_block();
    clear(table, pairs);
    synchronize_block();
    const Range range = range_of(table);
#pragma clang loop unroll(disable)
    for (u64 row = thread_in_block(); row < keys.rows; row += few_threads) {
        const bool valid = is_valid(keys, row);
        const Word word = word_of<Word>(keys, row);
        if (valid && table.filter != nullptr)
            filter_of(table).add(word);
        if (range.places != 0)
            insert_row(table, Places<Word>{table, range}, word, row, valid, false);
        else
            insert_row(table, Slots<Word>{table}, word, row, valid, false);
    }
}

KERNEL LAUNCH_BOUNDS(few_threads) build_few_32(const Table table, const Keys keys, u64 pairs) { build_few<u32>(table, keys, pairs); }
KERNEL LAUNCH_BOUNDS(few_threads) build_few_64(const Table table, const Keys keys, u64 pairs) { build_few<u64>(table, keys, pairs); }

template <typename Word, typename Rows> DEVICE void slot_all(u32 *slot_of, const Rows &slots, const Keys &keys, u32 none) {
    const u64 step = threads_per_grid();
#pragma clang loop unroll(disable)
    for (u64 row = thread_in_grid(); row < keys.rows; row += step)
        slot_of[row] = is_valid(keys, row) ? (u32)slots.slot(word_of<Word>(keys, row), (u32)row) : none;
}

// slots_of_rows writes the slot of each row, none for rows that are not valid. It inserts the
// rows that the table does not have yet.
template <typename Word> DEVICE void slots_of_rows(u32 *slot_of, const Table &table, const Keys &keys, u32 none) {
    const Range range = range_of(table);
    if (range.places != 0)
        slot_all<Word>(slot_of, Places<Word>{table, range}, keys, none);
    else
        slot_all<Word>(slot_of, Slots<Word>{table}, keys, none);
}

KERNEL slots_of_rows_32(u32 *slot_of, const Table table, const Keys keys, u32 none) { slots_of_rows<u32>(slot_of, table, keys, none); }
KERNEL slots_of_rows_64(u32 *slot_of, const Table table, const Keys keys, u32 none) { slots_of_rows<u64>(slot_of, table, keys, none); }

// slot_spans writes the span of each slot in the sorted slots of rows, to which least was added.
// A thread has four of them, and reads the one before and the one after these.
KERNEL LAUNCH_BOUNDS(threads) slot_spans(const Table table, const u32 *sorted, u32 least, u32 none, u64 n) {
    constexpr u32 count = 4;
    const u64 begin = thread_in_grid() * count;
    if (begin >= n)
        return;
    u32 slots[count + 2];
    if (begin + count <= n) {
        const u64 low = ((const u64 *)(sorted + begin))[0], high = ((const u64 *)(sorted + begin))[1];
        slots[1] = (u32)low;
        slots[2] = (u32)(low >> 32);
        slots[3] = (u32)high;
        slots[4] = (u32)(high >> 32);
    } else {
#pragma unroll
        for (u32 i = 0; i < count; i++)
            slots[i + 1] = begin + i < n ? sorted[begin + i] : 0;
    }
    slots[0] = begin > 0 ? sorted[begin - 1] : 0;
    slots[count + 1] = begin + count < n ? sorted[begin + count] : 0;
#pragma unroll
    for (u32 i = 1; i <= count; i++) {
        const u64 at = begin + i - 1;
        const u32 slot = slots[i] - least;
        if (at >= n || slot == none)
            continue;
        u32 *const halves = (u32 *)&table.spans[slot];
        if (at == 0 || slots[i - 1] != slots[i])
            halves[0] = (u32)at;
        if (at + 1 == n || slots[i + 1] != slots[i])
            halves[1] = (u32)(at + 1);
    }
}

// digit_spans writes the spans of all places, from the number of rows with a lower place. values
// is the number of begins.
KERNEL LAUNCH_BOUNDS(threads) digit_spans(const Table table, const u32 *begins, u32 values, u64 rows) {
    const u64 place = thread_in_grid();
    if (place >= table.places)
        return;
    const u32 begin = begins[place], end = place + 1 < values ? begins[place + 1] : (u32)rows;
    table.spans[place] = (u64)end << 32 | begin;
}

template <typename Word, typename Rows> DEVICE void find_all(u32 *first, u32 *counts, const Rows &slots, const Keys &keys) {
    const Filter filter = filter_of(slots.table);
    const u64 step = threads_per_grid();
#pragma clang loop unroll(disable)
    for (u64 row = thread_in_grid(); row < keys.rows; row += step) {
        const bool valid = may_match<Word>(filter, keys, row);
        if (counts == nullptr) {
            first[row] = valid ? slots.row(word_of<Word>(keys, row)) : no_row;
            continue;
        }
        const u64 span = valid ? slots.span(word_of<Word>(keys, row)) : empty;
        first[row] = (u32)span;
        counts[row] = (u32)(span >> 32) - (u32)span;
    }
}

// probe_rows writes the row of each key or, if there are counts, the begin and the length of
// its span. With trial set it writes nothing if a key of the table occurs twice.
template <typename Word> DEVICE void probe_rows(u32 *first, u32 *counts, const Table &table, const Keys &keys, u32 trial) {
    if (trial != 0 && table.header->distinct == 0)
        return;
    const Range range = range_of(table);
    if (range.places != 0)
        find_all<Word>(first, counts, Places<Word>{table, range}, keys);
    else
        find_all<Word>(first, counts, Slots<Word>{table}, keys);
}

KERNEL probe_rows_32(u32 *first, u32 *counts, const Table table, const Keys keys, u32 trial) {
    probe_rows<u32>(first, counts, table, keys, trial);
}
KERNEL probe_rows_64(u32 *first, u32 *counts, const Table table, const Keys keys, u32 trial) {
    probe_rows<u64>(first, counts, table, keys, trial);
}

// alone_threads is the number of threads of a block that pairs all rows: Go's aloneThreads.
static constexpr u32 alone_threads = 1024, alone_warps = alone_threads / warp_threads;

// compact_alone moves the pairs of rows with a match to the front, in order, if a row has none.
// The only block has all rows.
DEVICE void compact_alone(const PairsOut &out, u64 n, bool missing, u64 *outcome) {
    __shared__ u32 sums[alone_warps];
    u32 all;
    block_fold_before<alone_warps>((u32)__builtin_popcount(ballot(missing)), sums, all, Sum<u32>());
    u64 to = n;
    if (all != 0) {
        to = 0;
        for (u64 begin = 0; begin < n; begin += alone_threads) {
            synchronize_block();
            const u64 row = begin + thread_in_block();
            const u32 found = row < n ? out.build_row(row) : no_row;
            const u32 bits = ballot(found != no_row);
            const u32 before = block_fold_before<alone_warps>((u32)__builtin_popcount(bits), sums, all, Sum<u32>());
            if (found != no_row)
                out.write(to + before + __builtin_popcount(bits & (1u << lane_in_warp()) - 1), (u32)row, found);
            to += all;
        }
    }
    if (thread_in_block() == 0) {
        outcome[0] = to;
        outcome[1] = 1;
    }
}

// probe_pairs writes a pair of each key, at the place of the key. These are the pairs of the
// join if each key has a row, which is usual: then no block waits for others. compact_pairs
// moves them otherwise or, with alone set, the block itself, which is the only one. With trial set
// nothing is written if a key of the table occurs twice.
template <typename Word> DEVICE void probe_pairs(const PairsOut &out, const Table &table, const Keys &keys, u32 trial, u32 alone, u64 *outcome, void *state) {
    if (trial != 0 && table.header->distinct == 0) {
        if (thread_in_grid() == 0) {
            outcome[1] = 0;
            if (alone == 0)
                *finding_of(state) = repeated_keys;
        }
        return;
    }
    bool missing = false;
#pragma clang loop unroll(disable)
    for (u64 row = thread_in_grid(); row < keys.rows; row += threads_per_grid()) {
        const Word word = word_of<Word>(keys, row);
        const Range range = range_of(table);
        u32 found = no_row;
        if (is_valid(keys, row))
            found = range.places != 0 ? Places<Word>{table, range}.row(word) : Slots<Word>{table}.row(word);
        out.write(row, (u32)row, found);
        missing = missing || found == no_row;
    }
    if (alone != 0)
        compact_alone(out, keys.rows, missing, outcome);
    else if (missing && *finding_of(state) == 0) // most threads find it set in their cache
        *finding_of(state) = missing_rows;
}

KERNEL LAUNCH_BOUNDS(alone_threads) probe_pairs_32(const PairsOut out, const Table table, const Keys keys, u32 trial, u32 alone, u64 *outcome, void *state) {
    probe_pairs<u32>(out, table, keys, trial, alone, outcome, state);
}
KERNEL LAUNCH_BOUNDS(alone_threads) probe_pairs_64(const PairsOut out, const Table table, const Keys keys, u32 trial, u32 alone, u64 *outcome, void *state) {
    probe_pairs<u64>(out, table, keys, trial, alone, outcome, state);
}

// span_of returns the span of a word as its first place and its length, zero without one.
template <typename Word, typename Rows> DEVICE u32 span_of(const Rows &slots, Word word, bool distinct, u32 &first) {
    if (distinct) {
        first = slots.row(word);
        return first != no_row;
    }
    const u64 span = slots.span(word);
    first = (u32)span;
    return (u32)(span >> 32) - (u32)span;
}

// probe_sums writes the sums of the matches of keys. distinct is set if no key of the table
// occurs twice. Places are read several at a time; searches in a hash table are not unrolled:
// they would be several loops.
template <typename Word>
DEVICE void probe_sums(const Sums &out, const Table &table, const Keys &keys, u32 distinct, u32 form, u32 loads, u64 *outcome, void *state) {
    const Range range = range_of(table);
    const Filter filter = filter_of(table);
    sum_rows(out, form, keys.rows, loads, outcome, state, [&](u32 *firsts, u32 *counts, u64 begin) {
        if (range.places == 0) {
            const Slots<Word> slots{table};
#pragma clang loop unroll(disable)
            for (u32 i = 0; i < loads; i++) {
                const u64 row = begin + i * warp_threads;
                u32 first = no_row, count = 0;
                if (row < keys.rows && may_match<Word>(filter, keys, row))
                    count = span_of(slots, word_of<Word>(keys, row), distinct != 0, first);
                firsts[i * warp_threads] = first;
                counts[i * warp_threads] = count;
            }
            return;
        }
        constexpr u32 together = 4;
        const Places<Word> places{table, range};
#pragma clang loop unroll(disable)
        for (u32 i = 0; i < loads; i += together) {
            Word words[together];
            bool valid[together];
            u32 first[together], count[together];
#pragma unroll
            for (u32 k = 0; k < together; k++) {
                const u64 row = begin + (i + k) * warp_threads;
                valid[k] = i + k < loads && row < keys.rows && is_valid(keys, row);
                words[k] = valid[k] ? word_of<Word>(keys, row) : 0;
            }
            if (filter.words != nullptr)
#pragma unroll
                for (u32 k = 0; k < together; k++)
                    valid[k] = valid[k] && filter.may_have(words[k]);
#pragma unroll
            for (u32 k = 0; k < together; k++) {
                first[k] = no_row;
                count[k] = valid[k] ? span_of(places, words[k], distinct != 0, first[k]) : 0;
            }
#pragma unroll
            for (u32 k = 0; k < together; k++)
                if (i + k < loads) {
                    firsts[(i + k) * warp_threads] = first[k];
                    counts[(i + k) * warp_threads] = count[k];
                }
        }
    });
}

KERNEL LAUNCH_BOUNDS(match_threads) probe_sums_32(const Sums out, const Table table, const Keys keys, u32 distinct, u32 form, u32 loads, u64 *outcome, void *state) {
    probe_sums<u32>(out, table, keys, distinct, form, loads, outcome, state);
}
KERNEL LAUNCH_BOUNDS(match_threads) probe_sums_64(const Sums out, const Table table, const Keys keys, u32 distinct, u32 form, u32 loads, u64 *outcome, void *state) {
    probe_sums<u64>(out, table, keys, distinct, form, loads, outcome, state);
}
