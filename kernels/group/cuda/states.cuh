// States of groups, and the keys of dense groups: accumulator.go and dense.go describe them.
#pragma once

#include "dense.cuh"
#include "exact_sum.cuh"
#include "kinds.cuh"
#include "shared.cuh"

// most_readers is the most accumulators of a launch.
//go:layout
static constexpr u32 most_readers = 12;

// Term is the product of values that sum_floats adds up. Those from cube on have three parts.
//go:layout term
enum Term : u32 {
    linear,  // x
    square,  // x²
    crossed, // x·y
    cube,    // x³
    fourth,  // x⁴
};

// Parts are floats with a term as their sum, the largest first.
struct Parts {
    f64 part[3];
    u32 count;
};

DEVICE Parts parts_of(u32 term, f64 x, f64 y) {
    f64 low = 0;
    if (term == linear)
        return Parts{{x, 0, 0}, 1};
    if (term == square)
        y = x;
    if (term >= cube) {
        const Double p = exact_product(x, x);
        y = term == cube ? x : p.high;
        low = multiply(p.low, term == cube ? x : 2 * p.high);
        x = p.high;
    }
    const Double p = exact_product(x, y);
    return Parts{{p.high, p.low, low}, !is_finite(p.high) ? 1u : term >= cube ? 3u : 2u};
}

// factor_of returns what an integer is multiplied by for one of its powers.
DEVICE u64 factor_of(u32 term, u64 x) { return term == square ? x : term == cube ? x * x : x * x * x; }

DEVICE u64 add_to(u64 *word, u64 x) { return (u64)__nvvm_atom_add_gen_ll((long long *)word, (long long)x); }

DEVICE void raise(u64 *word, u64 x) {
    if (*(volatile u64 *)word < x)
        __nvvm_atom_max_gen_ull((unsigned long long *)word, x);
}

// State is the words of a state, stride words apart, its number of bins if it is a sum of
// floats, and the greatest value that stage 0 has found. It is in a slot or in global
// memory.
template <bool in_slot> struct State {
    u64 *words;
    u32 stride, bins;
    u64 found;

    METHOD u64 *word(u32 i) const { return words + i * stride; }
};

// add_words adds an integer of n words to the words of a state from word first on. In a slot
// it adds halves of words: carries are rare, and most of the halves are zero or become
// zero by them.
template <u32 n> DEVICE void add_words(const State<true> &s, u32 first, const u64 (&x)[n]) {
    u32 half[2 * n];
#pragma unroll
    for (u32 i = 0; i < 2 * n; i++)
        half[i] = (u32)(x[i / 2] >> 32 * (i % 2));
    add_with_carry(half, [&](u32 i, u32 term) { return fetch_add((u32 *)s.word(first + i / 2) + i % 2, term); });
}

template <u32 n> DEVICE void add_words(const State<false> &s, u32 first, const u64 (&x)[n]) {
    add_with_carry(x, [&](u32 i, u64 term) { return add_to(s.word(first + i), term); });
}

template <typename S> DEVICE void add_word(const S &s, u32 i, u64 x) {
    const u64 word[1] = {x};
    add_words(s, i, word);
}

template <typename S> DEVICE void add_integer(const S &s, u64 low, u64 high) {
    const u64 words[2] = {low, high};
    add_words(s, 0, words);
}

template <typename S> DEVICE void add_wide(const S &s, const Wide &x) { add_words(s, 0, x.word); }

template <typename S> DEVICE void multiply_by(const S &s, u64 x) {
    if (x == 1)
        return;
    u64 old = *(volatile u64 *)s.word(0);
    while (true) {
        const u64 found = (u64)__nvvm_atom_cas_gen_ll((long long *)s.word(0), (long long)old, (long long)((old ^ 1) * x ^ 1));
        if (found == old)
            return;
        old = found;
    }
}

// combine_bits adds the bits of a value to bits_or or bits_xor.
template <typename S> DEVICE void combine_bits(const S &s, u32 kind, u64 x) {
    if (x == 0)
        return;
    if (kind == bits_or)
        __nvvm_atom_or_gen_ll((long long *)s.word(0), (long long)x);
    else
        __nvvm_atom_xor_gen_ll((long long *)s.word(0), (long long)x);
}

// add_float adds a float in stage 1. In stage 0 it raises the top.
template <typename S> DEVICE void add_float(const S &s, u32 stage, f64 x) {
    const Pieces p = pieces_of(x);
    if (stage == 0) {
        raise(s.word(sum_top), p.top);
        return;
    }
    if (p.flags != 0)
        __nvvm_atom_or_gen_ll((long long *)s.word(sum_flags), (long long)p.flags);
    if (p.top == 0)
        return;
    const u64 below = s.found - p.top;
#pragma unroll
    for (u32 i = 0; i < sum_pieces; i++)
        if (i + below < s.bins && p.piece[i] != 0)
            add_word(s, sum_first_bin + i + (u32)below, p.piece[i]);
}
