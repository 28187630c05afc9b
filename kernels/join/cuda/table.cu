// The kernels of the table of the build side. Each is compiled alone.
#include "table.cuh"

static constexpr u32 threads = 256;

struct Smallest {
    METHOD u64 none() const { return ~0ull; }
    METHOD u64 fold(u64 a, u64 b) const { return b < a ? b : a; }
};

// bound_keys finds the range of the keys, with the bits of sign inverted.
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

template <typename Word, typename Slots> DEVICE void insert_all(const Table &table, const Slots &slots, const Keys &keys, u32 *slot_of) {
    const u64 step = threads_per_grid();
#pragma clang loop unroll(disable)
    for (u64 row = thread_in_grid(); row < keys.rows; row += step) {
        u32 slot = no_slot;
        if (is_valid(keys, row)) {
            bool again = false;
            slot = (u32)slots.insert(word_of<Word>(keys, row), (u32)row, again);
            if (again && table.header->distinct != 0)
                table.header->distinct = 0;
        }
        if (slot_of != nullptr)
            slot_of[row] = slot;
    }
}

// insert_rows puts all valid rows into the table, and writes the slot of each row to
// slot_of, unless that is null.
template <typename Word, typename Slots> DEVICE void insert_rows(const Table &table, const Keys &keys, u32 *slot_of) {
    const Range range = range_of(table);
    if (range.places != 0)
        insert_all<Word>(table, Places<Word>{table, range}, keys, slot_of);
    else
        insert_all<Word>(table, Slots{table}, keys, slot_of);
}

KERNEL insert_rows_32(const Table table, const Keys keys, u32 *slot_of) { insert_rows<u32, NarrowSlots<u32>>(table, keys, slot_of); }
KERNEL insert_rows_32_wide(const Table table, const Keys keys, u32 *slot_of) { insert_rows<u32, WideSlots<u32>>(table, keys, slot_of); }
KERNEL insert_rows_64(const Table table, const Keys keys, u32 *slot_of) { insert_rows<u64, WideSlots<u64>>(table, keys, slot_of); }

// slot_spans writes the span of each slot in a list of rows that is sorted by slot.
KERNEL slot_spans(const Table table, const u32 *list, const u32 *slot_of, u64 n) {
    const u64 step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < n; i += step) {
        const u32 slot = slot_of[list[i]];
        if (slot == no_slot)
            continue;
        u32 *const halves = (u32 *)(table.spans == nullptr ? &((WideSlot *)table.slots)[slot].value : &table.spans[slot]);
        if (i == 0 || slot_of[list[i - 1]] != slot)
            halves[0] = (u32)i;
        if (i + 1 == n || slot_of[list[i + 1]] != slot)
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
