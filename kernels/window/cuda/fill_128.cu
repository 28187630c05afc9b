#include "fill.cuh"

// Aligned to 8 bytes, as in Arrow.
struct Wide {
    u64 word[2];
};

FILL(fill_128, Wide)
