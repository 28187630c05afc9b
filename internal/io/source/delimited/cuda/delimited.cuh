// Delimited text, as the host describes it: plan.go.
#pragma once

#include "scan.cuh"

// Fault is a reason for the host to read the text: bits of the faults of an outcome.
enum Fault : u32 { bad_quote = 1, bad_width = 2, bad_count = 4, bad_value = 8 };

// Form is the kind of a column's values.
enum Form : u32 { integer, natural, floating, boolean, date32, date64, instant, decimal, text_form };

// none is the place of a column that the text does not have.
static constexpr u32 none = 0xffffffff;

// Text is rows behind each other. All end with a line end.
//go:layout textLayout
struct Text {
    const u8 *bytes;
    u32 length;
    u32 delimiter;
    u32 width; // fields of a row
    u32 rows;  // lines without contents are none if rows have several fields
};

// Column is a column that is read.
struct Column {
    u64 values;  // address of the values, or of the offsets of texts
    u64 bitmap;  // address of the validity bitmap
    u64 texts;   // address of the bytes of texts
    u64 lengths; // address of the length of the texts of each 32 rows, then of those before
    i64 unit;    // units of a second
    u32 place;   // among the fields of a row, or none: all rows are null
    u32 form;
    u32 bytes;   // of a value, or of an offset
    u32 cut;     // whether digits of fractions are cut off
    u32 precision;
    i32 scale;
};

// Outcome is the result of the kernels, without the values.
struct Outcome {
    u32 faults;
    u32 refused; // whether the ends of fields were not written, because there is another number of them
};

// Result is that of a column.
struct Result {
    u64 bytes; // of its texts
    u64 absent; // rows without a value
};

template <typename T> using Global = __attribute__((address_space(1))) T;

// load and store access global memory at an address that is aligned to T.
template <typename T> DEVICE T load(u64 address) { return *(const Global<T> *)address; }
template <typename T> DEVICE void store(u64 address, T value) { *(Global<T> *)address = value; }

DEVICE void fault(Outcome *outcome, u32 kind) { __atomic_fetch_or(&outcome->faults, kind, __ATOMIC_RELAXED); }

// below returns the bits below a number.
DEVICE u32 below(u32 number) { return (1u << number) - 1; }

DEVICE u32 is_odd(u32 bits) { return __builtin_popcount(bits) & 1; }
