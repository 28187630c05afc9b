// Several keys as one: pack.go.
#include "source.cuh"

// Digits are keys. The first ones make a word, the others a second one.
struct Digit {
    Source values;
    u64 least, bound;

    // of returns the digit of a row. Null is the last one.
    METHOD u64 of(u64 row) const { return values.is_valid(row) ? values.load(row) - least : bound - 1; }
};

struct Digits {
    u32 count, first;
    Digit digit[16];

    METHOD u64 word(u64 row, u32 from, u32 end) const {
        u64 word = 0;
#pragma unroll 1
        for (u32 i = from; i < end; i++)
            word = word * digit[i].bound + digit[i].of(row);
        return word;
    }
};

struct alignas(16) Pair {
    u64 low, high;
};

// pack_digits writes the digits of each row as a key of 4, 8 or 16 bytes.
KERNEL pack_digits(u8 *keys, u32 width, const Digits digits, const i64 *rows, i64 capacity) {
    const u64 n = device_rows(rows, capacity), step = threads_per_grid();
    for (u64 row = thread_in_grid(); row < n; row += step) {
        const u64 low = digits.word(row, 0, digits.first);
        switch (width) {
        case 4: ((u32 *)keys)[row] = (u32)low; break;
        case 8: ((u64 *)keys)[row] = low; break;
        default: ((Pair *)keys)[row] = Pair{low, digits.word(row, digits.first, digits.count)};
        }
    }
}
