// Dense keys, of which the combination of values is a place: dense.go.
#pragma once

#include "source.cuh"

static constexpr u32 no_group = 0xffffffff;

// most_dense_keys is the most keys of a table.
//go:layout
static constexpr u32 most_dense_keys = 4;

// DenseKey is a dense key: the place of a row is a sum of those of its keys.
//go:layout denseKeyLayout
struct DenseKey {
    Source values;
    u64 least, places, factor;
};

// Keys give the place of a row. If direct is 0 the groups are given instead.
//go:layout keysLayout
struct Keys {
    u32 count, direct;
    DenseKey key[most_dense_keys];

    METHOD u32 group_of(u64 row) const {
        u64 group = 0;
#pragma unroll 1
        for (u32 i = 0; i < count; i++) {
            const DenseKey &k = key[i];
            const u64 place = k.values.is_valid(row) ? k.values.load(row) - k.least : k.places - 1;
            if (place >= k.places)
                return no_group;
            group += place * k.factor;
        }
        return (u32)group;
    }
};
