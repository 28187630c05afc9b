// The holes of the cumulative templates, which are functions; a definition in Go (templates.go) fills
// them:
//
//     none    = the identity of the fold
//     fold    = (a, b) folded; a comes before b
//     absorbs = (a, b) not 0 if a does not change when the values that b is the fold of are
//               folded to it, and otherwise 0
//     widen   = (value, flip) a value of the column as an accumulator
//     narrow  = (accumulator, flip) and back
//
// Accumulators are words of 32 or 64 bits, or two words of 64 bits, the lower one first.
// Values of 8 and 16 bits are in words of 32 bits; widen gets them with zeros above, and
// what narrow writes there is ignored. flip has as many bits as the value, or 64.
#pragma once

#include "scan.cuh"

typedef unsigned __int128 u128;

// Wide is a value of 128 bits, aligned to 8 bytes as in Arrow.
struct Wide {
    u64 low, high;
};

// Fold is the fold of a kernel. Its constructor gets the identity, once: clang repeats an
// asm statement at each call.
template <typename T> struct Fold;

template <> struct Fold<u32> {
    u32 identity;
    METHOD Fold() { asm("//@none %0 =" : "=&r"(identity)); }
    METHOD u32 none() const { return identity; }
    METHOD u32 fold(u32 a, u32 b) const {
        u32 result;
        asm("//@fold %0 = %1 %2" : "=&r"(result) : "r"(a), "r"(b));
        return result;
    }
    METHOD bool absorbs(u32 a, u32 b) const {
        u32 result;
        asm("//@absorbs %0 = %1 %2" : "=&r"(result) : "r"(a), "r"(b));
        return result != 0;
    }
};

template <> struct Fold<u64> {
    u64 identity;
    METHOD Fold() { asm("//@none %0 =" : "=&l"(identity)); }
    METHOD u64 none() const { return identity; }
    METHOD u64 fold(u64 a, u64 b) const {
        u64 result;
        asm("//@fold %0 = %1 %2" : "=&l"(result) : "l"(a), "l"(b));
        return result;
    }
    METHOD bool absorbs(u64 a, u64 b) const {
        u32 result;
        asm("//@absorbs %0 = %1 %2" : "=&r"(result) : "l"(a), "l"(b));
        return result != 0;
    }
};

DEVICE u64 low_word(u128 x) { return (u64)x; }
DEVICE u64 high_word(u128 x) { return (u64)(x >> 64); }
DEVICE u128 joined(u64 low, u64 high) { return (u128)high << 64 | low; }

template <> struct Fold<u128> {
    u128 identity;
    METHOD Fold() {
        u64 low, high;
        asm("//@none %0 %1 =" : "=&l"(low), "=&l"(high));
        identity = joined(low, high);
    }
    METHOD u128 none() const { return identity; }
    METHOD u128 fold(u128 a, u128 b) const {
        u64 low, high;
        asm("//@fold %0 %1 = %2 %3 %4 %5"
            : "=&l"(low), "=&l"(high)
            : "l"(low_word(a)), "l"(high_word(a)), "l"(low_word(b)), "l"(high_word(b)));
        return joined(low, high);
    }
    METHOD bool absorbs(u128 a, u128 b) const {
        u32 result;
        asm("//@absorbs %0 = %1 %2 %3 %4" : "=&r"(result) : "l"(low_word(a)), "l"(high_word(a)), "l"(low_word(b)), "l"(high_word(b)));
        return result != 0;
    }
};

// InRegister is the type in which a hole takes a value, and Flip that of the bits to
// invert.
template <typename Value> struct InRegister { typedef Value Word; typedef Value Flip; };
template <> struct InRegister<u8> { typedef u32 Word; typedef u32 Flip; };
template <> struct InRegister<u16> { typedef u32 Word; typedef u32 Flip; };
template <> struct InRegister<Wide> { typedef Wide Word; typedef u64 Flip; };

// flip_of returns the bits that an operator inverts: of 128-bit values in the upper word.
template <typename Value> DEVICE u64 flip_of(const Value &, u64 flip) { return (Value)flip; }
DEVICE u64 flip_of(const Wide &, u64 flip) { return flip; }

// widen_word and narrow_word convert between words; their first argument only chooses
// the type of the result.
DEVICE u32 widen_word(u32, u32 value, u32 flip) {
    u32 result;
    asm("//@widen %0 = %1 %2" : "=&r"(result) : "r"(value), "r"(flip));
    return result;
}

DEVICE u64 widen_word(u64, u32 value, u32 flip) {
    u64 result;
    asm("//@widen %0 = %1 %2" : "=&l"(result) : "r"(value), "r"(flip));
    return result;
}

DEVICE u64 widen_word(u64, u64 value, u64 flip) {
    u64 result;
    asm("//@widen %0 = %1 %2" : "=&l"(result) : "l"(value), "l"(flip));
    return result;
}

DEVICE u128 widen_word(u128, Wide value, u64 flip) {
    u64 low, high;
    asm("//@widen %0 %1 = %2 %3 %4" : "=&l"(low), "=&l"(high) : "l"(value.low), "l"(value.high), "l"(flip));
    return joined(low, high);
}

DEVICE u32 narrow_word(u32, u32 folded, u32 flip) {
    u32 result;
    asm("//@narrow %0 = %1 %2" : "=&r"(result) : "r"(folded), "r"(flip));
    return result;
}

DEVICE u32 narrow_word(u32, u64 folded, u32 flip) {
    u32 result;
    asm("//@narrow %0 = %1 %2" : "=&r"(result) : "l"(folded), "r"(flip));
    return result;
}

DEVICE u64 narrow_word(u64, u64 folded, u64 flip) {
    u64 result;
    asm("//@narrow %0 = %1 %2" : "=&l"(result) : "l"(folded), "l"(flip));
    return result;
}

DEVICE Wide narrow_word(Wide, u128 folded, u64 flip) {
    Wide result;
    asm("//@narrow %0 %1 = %2 %3 %4" : "=&l"(result.low), "=&l"(result.high) : "l"(low_word(folded)), "l"(high_word(folded)), "l"(flip));
    return result;
}

template <typename T, typename Value> DEVICE T widen(Value value, u64 flip) {
    typedef InRegister<Value> In;
    return widen_word(T(), (typename In::Word)value, (typename In::Flip)flip);
}

template <typename Value, typename T> DEVICE Value narrow(T folded, u64 flip) {
    typedef InRegister<Value> In;
    return (Value)narrow_word(typename In::Word(), folded, (typename In::Flip)flip);
}
