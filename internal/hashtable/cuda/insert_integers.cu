// Keys of 1 to 8 bytes that are compared by their bits.
#include "insert.cuh"

template <typename T> struct Numbers {
    const T *values;

    __device__ T key(u64 row) const { return values[row]; }
    __device__ u64 hash(const Table &table, T key) const { return table.hash(0, key); }
    __device__ bool same(T key, u32 row) const { return values[row] == key; }
};

KERNEL insert_1(Table table, const u8 *values, u64, u32 *slot_of) { insert(table, Numbers<u8>{values}, slot_of); }
KERNEL insert_2(Table table, const u16 *values, u64, u32 *slot_of) { insert(table, Numbers<u16>{values}, slot_of); }
KERNEL insert_4(Table table, const u32 *values, u64, u32 *slot_of) { insert(table, Numbers<u32>{values}, slot_of); }
KERNEL insert_8(Table table, const u64 *values, u64, u32 *slot_of) { insert(table, Numbers<u64>{values}, slot_of); }
