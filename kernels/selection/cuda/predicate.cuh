// What the kernels with a hole for a predicate share.
#pragma once

#include "compact.cuh"

// Found is the output that kernels for further columns need: see Mask and Where.
struct Found {
    u32 *bits; // null without further columns
    u32 *within;
    u64 *bases;
};

// Arguments holds the predicate's arguments, one word for each. codegen.Splice sets the
// number of words.
struct Arguments {
    u64 word[1];
};
