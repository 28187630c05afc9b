// Tokens of Snappy and LZ4, which are whole bytes: the lanes of a warp read those that begin in the
// next 32 bytes.
#pragma once
#include "copies.cuh"
#include "input.cuh"
#include "pieces.cuh"

struct Shared {
    alignas(16) u32 ring[Input::ring_words];
    Pieces pieces;
};

static constexpr u32 most_short = 64; // bytes of a copy in a batch; longer ones are copied apart

// first_fault returns the status of the first lane that has another one than complete.
DEVICE u32 first_fault(u32 status) {
    const u32 faults = ballot(status != complete);
    return faults == 0 ? complete : shuffle_value(status, __builtin_ctz(faults));
}

// Chain is the tokens that begin at lanes of a warp, where each lane knows the token that would
// begin there.
struct Chain {
    u32 tokens; // a bit for each lane at which a token begins
    u32 bytes; // of the output of all tokens
    u32 begin; // in the output, of the token of this lane

    // follow finds the tokens from that of lane 0 on, sixteen at most. next is the lane of the
    // next token, 32 or more for none; usable is false if no token begins at this lane.
    METHOD void follow(bool usable, u32 next, u32 output, u32 lane) {
        u32 rest = usable ? output : 0, set = usable ? 1u << lane : 0;
        next = usable ? next : warp_threads;
#pragma unroll
        for (u32 round = 0; round < 4; round++) {
            const u32 from = next % warp_threads;
            const u32 far_set = shuffle_value(set, from), far_rest = shuffle_value(rest, from), far_next = shuffle_value(next, from);
            if (next < warp_threads)
                set |= far_set, rest += far_rest, next = far_next;
        }
        tokens = shuffle_value(set, 0);
        bytes = shuffle_value(rest, 0);
        begin = bytes - rest;
    }

    METHOD bool has(u32 lane) const { return tokens >> lane & 1; }

    // next returns the lane after the last token, where end is the one after the token of this lane.
    METHOD u32 next(u32 end) const { return tokens == 0 ? 0 : shuffle_value(end, 31 - __builtin_clz(tokens | 1)); }
};
