// Chooses between the rows of two columns of any type.
#pragma once

#include "choice.cuh"

// choose_rows writes indices into the concatenation of both columns: those of the
// second column begin at n.
KERNEL LAUNCH_BOUNDS(block_threads) choose_rows(u64 *out, CHOICE, u64 n) {
    for (u64 i = thread_in_grid(), step = threads_per_grid(); i < n; i += step) {
        const u64 index = bit(mask, mask_at + i) ? i : n + i;
        out[i] = bit(mask_valid, mask_valid_at + i) ? index : none;
    }
}
