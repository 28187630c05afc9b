// Counters of digits in shared memory, for partitions in which the order of the rows does not
// matter.
#pragma once

#include "scan.cuh"

// With is the lanes that have the same number as the first one. Many rows of one key, or
// sorted rows, would otherwise wait for each other at one word of shared memory.
struct With {
    u32 lanes;
    bool many;

    METHOD bool calling() const { return (lanes >> lane_in_warp() & 1) != 0; }
    METHOD bool leads() const { return lane_in_warp() == (u32)__builtin_ctz(lanes); }
    METHOD u32 count() const { return (u32)__builtin_popcount(lanes); }
};

DEVICE With with_first(u32 number, bool takes) {
    const u32 first = shuffle_value(number, 0), lanes = ballot(takes && number == first);
    return With{lanes, __builtin_popcount(lanes) >= 8};
}

// tally adds a row to the counter of its digit. All lanes call it.
DEVICE void tally(u32 *counters, u32 digit, bool takes) {
    const With with = with_first(digit, takes);
    if (with.many && with.calling()) {
        if (with.leads())
            __nvvm_atom_add_gen_i((int *)&counters[digit], (int)with.count());
    } else if (takes)
        __nvvm_atom_add_gen_i((int *)&counters[digit], 1);
}

// count_digit adds a row to the counter of its digit and returns its rank. All lanes call it.
DEVICE u32 count_digit(u32 *counters, u32 digit, bool takes) {
    const With with = with_first(digit, takes);
    u32 rank = 0;
    if (!with.many) {
        if (takes)
            rank = (u32)__nvvm_atom_add_gen_i((int *)&counters[digit], 1);
        return rank;
    }
    if (with.leads())
        rank = (u32)__nvvm_atom_add_gen_i((int *)&counters[digit], (int)with.count());
    else if (takes && !with.calling())
        rank = (u32)__nvvm_atom_add_gen_i((int *)&counters[digit], 1);
    const u32 first = shuffle_value(rank, (u32)__builtin_ctz(with.lanes));
    return with.calling() ? first + (u32)__builtin_popcount(with.lanes & (1u << lane_in_warp()) - 1) : rank;
}
