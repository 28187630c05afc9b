// Chooses between two columns row by row.
#include "choose_bits.cuh"
#include "choose_rows.cuh"
#include "choose_values.cuh"

CHOOSE(1, u8, 8)
CHOOSE(2, u16, 8)
CHOOSE(4, u32, 8)
CHOOSE(8, u64, 4)
CHOOSE(16, Pair, 2)
