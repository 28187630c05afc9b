// Rows and states that are added to the states of groups: accumulator.go describes the
// states.
#pragma once

#include "states.cuh"

// Reader is an accumulator and the columns that it reads.
//go:layout readerLayout
struct Reader {
    u32 kind, term;
    // least makes greatest find the least value. rows makes it find row numbers, merges
    // makes in the states to merge.
    u32 least, rows, merges, conditional;
    // words is the length of a state, offset the number of the first word in a slot, stride
    // the number of words between the states of two groups in global memory. is_signed is set if
    // a sum of integers has negative terms.
    u32 words, offset, stride, is_signed;
    Source in, other, condition;
    u64 *states;
    // needed is a flag: without it the states are made by another kernel. It may be null.
    const u32 *needed;

    METHOD bool takes(u64 row) const {
        return (conditional == 0 || condition.is_true(row) && condition.is_valid(row)) && in.is_valid(row) && other.is_valid(row);
    }
};

// merge adds a state of the same kind.
template <bool in_slot>
static inline __device__ void merge(const State<in_slot> &s, u32 stage, u32 kind, const u64 *other, u32 stride, bool same_top) {
    switch (kind) {
    case count_rows:
        if (other[0] != 0)
            add_word(s, 0, other[0]);
        return;
    case sum_integers:
        add_integer(s, other[0], other[stride]);
        return;
    case sum_decimals:
        add_wide(s, wide(other[0], other[stride], other[2 * stride]));
        return;
    case products:
        multiply_by(s, other[0] ^ 1);
        return;
    case bits_or:
    case bits_xor:
        combine_bits(s, kind, other[0]);
        return;
    case greatest:
        raise(s.word(0), other[0]);
        return;
    case first_greatest:
        if (stage == 0)
            raise(s.word(0), other[0]);
        else if (same_top || other[0] == s.found)
            raise(s.word(1), other[stride]);
        return;
    }
    if (stage == 0) {
        raise(s.word(sum_top), other[0]);
        return;
    }
    const u64 top = same_top ? s.found : other[0], below = s.found - top, flags = moved_flags(other[sum_flags * stride], below);
    if (flags != 0)
        __nvvm_atom_or_gen_ll((long long *)s.word(sum_flags), (long long)flags);
    if (top == 0)
        return;
    for (u32 i = 0; i < s.bins; i++)
        if (const u64 bin = other[(sum_first_bin + i) * stride]; i + below < s.bins && bin != 0)
            add_word(s, sum_first_bin + i + (u32)below, bin);
}

// add_row adds a row that the reader takes.
template <bool in_slot>
static inline __device__ void add_row(const State<in_slot> &s, u32 stage, const Reader &r, u64 row) {
    if (r.merges != 0) {
        merge(s, stage, r.kind, (const u64 *)(r.in.values + row * r.in.width), 1, false);
        return;
    }
    if (r.kind == count_rows) {
        add_word(s, 0, 1);
        return;
    }
    if (r.kind == sum_decimals) {
        const u64 *x = (const u64 *)(r.in.values + 16 * row);
        add_wide(s, wide(x[0], x[1], (u64)((i64)x[1] >> 63)));
        return;
    }
    u64 x = r.rows != 0 ? row + 1 : r.in.load(row);
    switch (r.kind) {
    case sum_integers:
        if (r.term != linear) // a product of 64 bits
            x *= r.term == crossed ? r.other.load(row) : factor_of(r.term, x);
        add_integer(s, x, r.is_signed != 0 ? (u64)((i64)x >> 63) : 0);
        return;
    case products:
        multiply_by(s, x);
        return;
    case bits_or:
    case bits_xor:
        combine_bits(s, r.kind, x);
        return;
    case greatest:
    case first_greatest:
        x = r.in.image(x, r.least != 0, r.kind == first_greatest);
        if (r.kind == greatest || stage == 0)
            raise(s.word(0), x);
        else if (x == s.found)
            raise(s.word(1), ~(row + 1));
        return;
    }
    Parts p = parts_of(r.term, r.in.real(x), r.term == crossed ? r.other.real(r.other.load(row)) : 0);
    const u32 count = stage == 0 ? 1 : p.count; // the first part has the largest exponent
#pragma unroll 1
    for (u32 i = 0; i < count; i++) {
        add_float(s, stage, p.part[0]);
        p.part[0] = p.part[1];
        p.part[1] = p.part[2];
    }
}
