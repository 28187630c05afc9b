#include "fill.cuh"

// Aligned to 8 bytes, as in Arrow.
struct Wide {
    u64 word[4];
};

FILL(fill_256, Wide)
