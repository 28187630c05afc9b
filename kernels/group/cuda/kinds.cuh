// Kinds of states of groups.
#pragma once

#include "gpuframe.cuh"

// Kind selects the state that an accumulator keeps for a group.
//
// The state of an accumulator is a few words of 64 bits. All begin as zero. The order of
// the values does not matter, and the states of two parts of the rows can be merged.
//go:layout accumulatorKind
enum Kind : u32 {
    // count_rows counts the values.
    count_rows,
    // sum_integers is a sum of 128 bits, the low word first.
    sum_integers,
    // sum_decimals is a sum of 192 bits, the low word first.
    sum_decimals,
    // products is the product modulo 2^64, XOR 1.
    products,
    // greatest is the greatest image of a value; see Source::image.
    greatest,
    // first_greatest is the greatest image, and the image of the first row that has it.
    first_greatest,
    // sum_floats is described in exact_sum.go.
    sum_floats,
    // bits_or has the bits that a value has.
    bits_or,
    // bits_xor has the bits that an odd number of values has.
    bits_xor,
};
