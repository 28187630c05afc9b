// The kernels of the hash table. Each is compiled alone.
#include "table.cuh"

// insert_rows puts all valid rows into the table, and writes the slot of each row to
// slot_of, unless that is null. again becomes 1 if a key occurs twice.
template <typename Word> DEVICE void insert_rows(const Table &table, const Keys &keys, u32 *slot_of, u32 *again) {
    const u64 step = threads_per_grid();
    for (u64 row = thread_in_grid(); row < keys.rows; row += step) {
        u32 slot = no_slot;
        if (is_valid(keys, row)) {
            bool twice = false;
            slot = (u32)insert(table, word_of<Word>(keys, row), row, twice);
            if (twice && *again == 0)
                *again = 1;
        }
        if (slot_of != nullptr)
            slot_of[row] = slot;
    }
}

KERNEL insert_rows_32(const Table table, const Keys keys, u32 *slot_of, u32 *again) { insert_rows<u32>(table, keys, slot_of, again); }
KERNEL insert_rows_64(const Table table, const Keys keys, u32 *slot_of, u32 *again) { insert_rows<u64>(table, keys, slot_of, again); }

// slot_spans makes the value of each slot the span of its rows in a list that is sorted by
// slot.
KERNEL slot_spans(const Table table, const u32 *list, const u32 *slot_of, u64 n) {
    const u64 step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < n; i += step) {
        const u32 slot = slot_of[list[i]];
        if (slot == no_slot)
            continue;
        u32 *const halves = (u32 *)&table.slots[slot].value;
        if (i == 0 || slot_of[list[i - 1]] != slot)
            halves[0] = (u32)i;
        if (i + 1 == n || slot_of[list[i + 1]] != slot)
            halves[1] = (u32)(i + 1);
    }
}

// probe_rows writes the span of each row: its begin, and its length. With distinct the
// values of slots are rows.
template <typename Word> DEVICE void probe_rows(u32 *first, u32 *counts, const Table &table, const Keys &keys, u32 distinct) {
    const u64 step = threads_per_grid();
    for (u64 row = thread_in_grid(); row < keys.rows; row += step) {
        u32 begin = no_row, count = 0;
        if (is_valid(keys, row)) {
            const u64 value = value_of(table, word_of<Word>(keys, row));
            if (value != empty) {
                begin = (u32)value;
                count = distinct != 0 ? 1 : (u32)(value >> 32) - begin;
            }
        }
        first[row] = begin;
        counts[row] = count;
    }
}

KERNEL probe_rows_32(u32 *first, u32 *counts, const Table table, const Keys keys, u32 distinct) {
    probe_rows<u32>(first, counts, table, keys, distinct);
}
KERNEL probe_rows_64(u32 *first, u32 *counts, const Table table, const Keys keys, u32 distinct) {
    probe_rows<u64>(first, counts, table, keys, distinct);
}
