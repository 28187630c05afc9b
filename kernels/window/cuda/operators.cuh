// The folds of the cumulative operators.
#pragma once

#include "cumulative.cuh"
#include "keys.cuh"

typedef unsigned __int128 u128;

// Wrapping folds integers of any signedness: the low bits of sums and products do not
// depend on the high bits.
template <typename Stored, typename Word, template <typename> class How> struct Wrapping {
    typedef Stored Value;
    typedef Word Folded;
    typedef How<Word> Fold;
    u64 unused;
    METHOD Folded in(Value x) const { return x; }
    METHOD Value out(Folded x) const { return (Value)x; }
};

// Rounding folds floats. Narrower floats are folded in 64 bits, and each result is
// rounded to the width of the values.
template <typename Stored, template <typename> class How> struct Rounding {
    typedef Stored Value;
    typedef f64 Folded;
    typedef How<f64> Fold;
    u64 unused;
    METHOD Folded in(Value x) const { return x; }
    METHOD Value out(Folded x) const { return (Value)x; }
};

// Half is a 16-bit float, for which clang has no arithmetic here.
template <template <typename> class How> struct RoundingHalf {
    typedef u16 Value;
    typedef f64 Folded;
    typedef How<f64> Fold;
    u64 unused;
    METHOD Folded in(Value x) const {
        f64 wide;
        asm("cvt.f64.f16 %0, %1;" : "=d"(wide) : "h"(x));
        return wide;
    }
    METHOD Value out(Folded x) const {
        u16 narrow;
        asm("cvt.rn.f16.f64 %0, %1;" : "=h"(narrow) : "d"(x));
        return narrow;
    }
};

// Lowest folds integers to the smallest one after inverting the bits that are set in
// `turn`: for the minimum the sign bit of signed integers; for the maximum all other
// bits.
template <typename Stored, typename Word> struct Lowest {
    typedef Stored Value;
    typedef Word Folded;
    typedef Least<Word> Fold;
    u64 turn;
    METHOD Folded in(Value x) const { return x ^ (Value)turn; }
    METHOD Value out(Folded x) const { return (Value)x ^ (Value)turn; }
};

// Wide is a 128-bit integer, aligned to 8 bytes as in Arrow.
struct Wide {
    u64 low, high;
    METHOD u128 whole() const { return (u128)high << 64 | low; }
    METHOD static Wide of(u128 x) { return {(u64)x, (u64)(x >> 64)}; }
};

struct SumDecimal {
    typedef Wide Value;
    typedef u128 Folded;
    typedef Sum<u128> Fold;
    u64 unused;
    METHOD Folded in(Value x) const { return x.whole(); }
    METHOD Value out(Folded x) const { return Wide::of(x); }
};

// LowestDecimal has its sign in the upper of two words, to which turn applies. The
// lower word is inverted if the lowest bit of turn is set, as for the maximum.
struct LowestDecimal {
    typedef Wide Value;
    typedef u128 Folded;
    typedef Least<u128> Fold;
    u64 turn;
    METHOD u128 mask() const { return (u128)turn << 64 | -(turn & 1); }
    METHOD Folded in(Value x) const { return x.whole() ^ mask(); }
    METHOD Value out(Folded x) const { return Wide::of(x ^ mask()); }
};

// LowestFloat orders floats so that NaN is after all numbers, for minimum and maximum,
// and −0 is before 0. turn is 0 for the minimum and all ones for the maximum.
template <typename Word, Word (*ordered)(Word), Word (*unordered)(Word), bool (*is_nan)(Word), Word nan> struct LowestFloat {
    typedef Word Value;
    typedef Word Folded;
    typedef Least<Word> Fold;
    static constexpr Word nan_key = ~(Word)1; // above ∞, below the value that Least uses for none
    u64 turn;
    METHOD Folded in(Value x) const { return is_nan(x) ? nan_key : ordered(x) ^ (Word)turn; }
    METHOD Value out(Folded key) const { return key >= nan_key ? nan : unordered(key ^ (Word)turn); }
};

typedef LowestFloat<u64, ordered_f64, unordered_f64, is_nan_f64, nan_f64> Lowest_f64;
typedef LowestFloat<u32, ordered_f32, unordered_f32, is_nan_f32, nan_f32> Lowest_f32;

struct Lowest_f16 {
    typedef u16 Value;
    typedef u32 Folded;
    typedef Least<u32> Fold;
    static constexpr u32 nan_key = ~1u;
    u64 turn;
    METHOD Folded in(Value x) const { return is_nan_f16(x) ? nan_key : ordered_f16(x) ^ (u32)turn & 0xffff; }
    METHOD Value out(Folded key) const { return key >= nan_key ? nan_f16 : unordered_f16(key ^ (u32)turn & 0xffff); }
};
