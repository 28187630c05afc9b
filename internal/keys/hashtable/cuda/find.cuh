// Looks the rows of another column up in the table of a column.
#pragma once

#include "insert_bytes.cuh"

// Others are the rows of the other column, of which some are null if valid is not null.
struct Others {
    const u8 *valid;
    u64 bit, rows;

    __device__ bool is_null(u64 row) const { return valid != nullptr && (valid[(bit + row) >> 3] >> ((bit + row) & 7) & 1) == 0; }
};

// find writes the first row of the table's column that equals each row of the other one. Rows
// without an equal one get the number of the column's rows.
template <typename Offset>
DEVICE void find(const Table &table, const Strings<Offset> &keys, const Others &others, const Strings<Offset> &values, u32 *firsts) {
    const u64 step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < others.rows; i += step) {
        u32 first = (u32)table.capacity;
        if (!others.is_null(i)) {
            const Run key = values.run(i);
            u64 slot = table.home(values.hash(table, key));
            for (u32 row = table.slots[slot]; row != no_row; row = table.slots[slot]) {
                if (keys.equals(row, values, key)) {
                    first = row;
                    break;
                }
                slot = slot + 1 == table.size ? 0 : slot + 1;
            }
        }
        firsts[i] = first;
    }
}

#define FIND(bits, T)                                                                                                  \
    KERNEL find_offsets_##bits(Table table, const T *offsets, const u8 *bytes, u64 length, const T *other_offsets,     \
                               const u8 *other_bytes, u64 other_length, const u8 *valid, u64 bit, u64 rows,            \
                               u32 *firsts) {                                                                          \
        find(table, Strings<T>(offsets, bytes, length), Others{valid, bit, rows},                                      \
             Strings<T>(other_offsets, other_bytes, other_length), firsts);                                            \
    }
FIND(32, i32)
FIND(64, i64)
