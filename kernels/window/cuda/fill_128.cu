#include "fill.cuh"

// As Arrow aligns them, to 8 bytes.
struct Wide {
    u64 word[2];
};

FILL(fill_128, Wide)
