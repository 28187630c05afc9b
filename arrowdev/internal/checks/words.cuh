// Several elements of 1, 2, 4 or 8 bytes at a time in a word of 64 bits, so that one
// kernel serves all widths.
#pragma once

#include "gpuframe.cuh"

// Words is a group of 16 bytes.
typedef Vector<u64, 2> Words;

// top_bits has the highest bit of every element of a word.
DEVICE u64 top_bits(u32 width) {
    return width == 1 ? 0x8080808080808080 : width == 2 ? 0x8000800080008000 : width == 4 ? 0x8000000080000000 : 0x8000000000000000;
}

// AtLeast is a bound for unsigned elements.
struct AtLeast {
    u64 top, add, either;
};

// at_least returns the comparison with a bound that fits the width.
DEVICE AtLeast at_least(u64 bound, u32 width) {
    const u64 top = top_bits(width);
    const u32 highest = 8 * width - 1;
    const u64 below = bound & ((1ull << highest) - 1);
    return {top, top - (top >> highest) * below, bound >> highest & 1 ? 0 : ~0ull};
}

// reached returns the top bits of the elements of a word that are at least the bound.
//
// The sum has the top bit of an element set if the bits below it are at least those of
// the bound; no carry reaches the next element. The result combines that bit with the
// element's top bit: by AND if the bound has its top bit set, and by OR if not.
DEVICE u64 reached(AtLeast bound, u64 word) {
    const u64 sum = (word & ~bound.top) + bound.add;
    return ((sum & word) | (bound.either & (sum | word))) & bound.top;
}
