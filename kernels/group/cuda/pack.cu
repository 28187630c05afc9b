// Several keys as one: pack.go.
#include "source.cuh"

static constexpr u32 packed_rows = 4; // of a thread

// Digit is a key as a digit of a packed key.
//go:layout packedDigitLayout
struct Digit {
    Source values;
    u64 least, bound;

    // of returns the digits of rows. Null is the last one.
    METHOD void of(const u64 (&row)[packed_rows], u64 (&x)[packed_rows]) const {
        values.load_rows(row, x);
#pragma unroll
        for (u32 j = 0; j < packed_rows; j++)
            x[j] = values.is_valid(row[j]) ? x[j] - least : bound - 1;
    }
};

// Digits are keys. The first ones make a word, the others a second one.
//go:layout packedLayout
struct Digits {
    u32 count, first;
    Digit digit[16];

    // words writes a word of each of several rows, of which the loads are in flight together.
    METHOD void words(u64 (&word)[packed_rows], const u64 (&row)[packed_rows], u32 from, u32 end) const {
#pragma unroll
        for (u32 j = 0; j < packed_rows; j++)
            word[j] = 0;
#pragma unroll 1
        for (u32 i = from; i < end; i++) {
            u64 x[packed_rows];
            digit[i].of(row, x);
#pragma unroll
            for (u32 j = 0; j < packed_rows; j++)
                word[j] = word[j] * digit[i].bound + x[j];
        }
    }
};

struct alignas(16) Pair {
    u64 low, high;
};

// pack_digits writes the digits of each row as a key of 4, 8 or 16 bytes.
KERNEL pack_digits(u8 *keys, u32 width, const Digits digits, const i64 *rows, i64 capacity) {
    const u64 n = device_rows(rows, capacity), step = threads_per_grid();
    for (u64 first = thread_in_grid(); first < n; first += packed_rows * step) {
        u64 row[packed_rows], low[packed_rows], high[packed_rows];
#pragma unroll
        for (u32 j = 0; j < packed_rows; j++)
            row[j] = first + j * step < n ? first + j * step : first;
        digits.words(low, row, 0, digits.first);
        if (width == 16)
            digits.words(high, row, digits.first, digits.count);
#pragma unroll
        for (u32 j = 0; j < packed_rows; j++) {
            switch (width) {
            case 4: ((u32 *)keys)[row[j]] = (u32)low[j]; break;
            case 8: ((u64 *)keys)[row[j]] = low[j]; break;
            default: ((Pair *)keys)[row[j]] = Pair{low[j], high[j]};
            }
        }
    }
}
