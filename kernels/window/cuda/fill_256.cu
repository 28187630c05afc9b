#include "fill.cuh"

// As Arrow aligns them, to 8 bytes.
struct Wide {
    u64 word[4];
};

FILL(fill_256, Wide)
