// Heads: the places at which runs of equal keys begin, 16 bytes for every 32 places.
#pragma once

#include "scan.cuh"

// HeadWord is 32 places: bit i of bits is set if a run begins at place i of them. before is
// the place of the last head before these places, after that of the first one behind them,
// or the number of rows. count is the number of heads before them. The first place of a
// table is a head.
struct alignas(16) HeadWord {
    u32 bits, before, after, count;
};

// Heads are all words of a table, or null for one run.
//go:layout headsLayout
struct Heads {
    const HeadWord *words;

    METHOD static u32 up_to(u64 place) { return ~0u >> (31 - (u32)place % 32); }
    METHOD u64 begin(u64 place) const {
        if (words == nullptr)
            return 0;
        const HeadWord w = words[place / 32];
        const u32 bits = w.bits & up_to(place);
        return bits == 0 ? w.before : (place & ~31ull) + 31 - __builtin_clz(bits);
    }
    METHOD u64 end(u64 place, u64 n) const {
        if (words == nullptr)
            return n;
        const HeadWord w = words[place / 32];
        const u32 bits = w.bits & ~up_to(place);
        return bits == 0 ? w.after : (place & ~31ull) + __builtin_ctz(bits);
    }
    // number returns the number of the run of a place, from 0.
    METHOD u64 number(u64 place) const {
        const HeadWord w = words[place / 32];
        return w.count + __builtin_popcount(w.bits & up_to(place)) - 1;
    }
    METHOD bool is_head(u64 place) const {
        return place == 0 || words != nullptr && (words[place / 32].bits >> place % 32 & 1) != 0;
    }
};
