// Rows as threads load them: validity bits from any bit on, and values 16 bytes at a
// time.
#pragma once

#include "gpuframe.cuh"

// load_whole and store_whole move 16 bytes in one instruction. Without them the
// compiler splits some of these accesses if another branch accesses the same values.
template <typename Group> DEVICE Group load_whole(const Group *from) {
    static_assert(sizeof(Group) == 16, "the widest there is");
    u64 word[2];
    asm volatile("ld.global.v2.u64 {%0, %1}, [%2];" : "=l"(word[0]), "=l"(word[1]) : "l"((const __attribute__((address_space(1))) void *)from));
    Group group;
    __builtin_memcpy(&group, word, 16);
    return group;
}

template <typename Group> DEVICE void store_whole(Group *to, const Group &group) {
    static_assert(sizeof(Group) == 16, "the widest there is");
    u64 word[2];
    __builtin_memcpy(word, &group, 16);
    asm volatile("st.global.v2.u64 [%0], {%1, %2};" ::"l"((__attribute__((address_space(1))) void *)to), "l"(word[0]), "l"(word[1]) : "memory");
}

// load_bits returns count bits, at most 32, from bit position on, the first lowest. It
// does not read bytes beyond the one that holds bit end − 1; their bits are 0.
template <int count> DEVICE u32 load_bits(const u8 *bits, u64 position, u64 end) {
    static_assert(count <= 32 && count % 8 == 0, "whole bytes");
    const u64 first = position >> 3;
    const u32 shift = position & 7;
    const u64 bytes = end == 0 ? 0 : (end - 1 >> 3) + 1;
    u64 word = 0;
#pragma unroll
    for (int i = 0; i <= count / 8; i++) {
        // The last byte is needed only if the first is not aligned.
        if (first + i < bytes && (i < count / 8 || shift != 0))
            word |= (u64)bits[first + i] << 8 * i;
    }
    return (u32)(word >> shift) & (u32)((1ull << count) - 1);
}

// low_bits returns a word with the lowest count bits set, at most 32.
DEVICE u32 low_bits(u32 count) { return (u32)((1ull << count) - 1); }

// device_rows returns the number of rows: the count in device memory, but zero if it is
// negative, and at most the capacity.
DEVICE u64 device_rows(const i64 *rows, i64 capacity) {
    if (rows == nullptr)
        return capacity;
    const i64 n = *rows;
    return n < 0 ? 0 : n > capacity ? capacity : n;
}
