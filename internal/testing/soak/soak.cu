// Kernels that write patterns into blocks of memory and check them later. Word i of a
// block holds the seed of its pattern plus i.
#include "gpuframe.cuh"

static constexpr u32 most_blocks = 8;

// Batch describes the memory of a launch: its length in words of eight bytes and the
// seed of its pattern, for each of up to eight blocks.
struct Batch {
    u64 words[most_blocks];
    u64 seeds[most_blocks];
};

// Up to 64 KiB every word of a block is written and checked. Of larger blocks the first
// and the last 16 KiB are, and the same number of words in between.
static constexpr u64 most_checked = 8192, edge = 2048;

DEVICE u64 checked_words(u64 words) { return words < most_checked ? words : most_checked; }

// place returns the position of the k-th checked word.
DEVICE u64 place(u64 k, u64 words) {
    if (words <= most_checked || k < edge)
        return k;
    if (k < 2 * edge)
        return words - 2 * edge + k;
    return edge + (k - 2 * edge) * ((words - 2 * edge) / (most_checked - 2 * edge));
}

DEVICE u64 cycle_counter() {
    u64 cycles;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles));
    return cycles;
}

// hold_back keeps the block of threads busy, so that its work on the memory is still
// pending long after the host has freed the memory.
DEVICE void hold_back(u64 cycles) {
    if (cycles == 0)
        return;
    if (thread_in_block() == 0) {
        const u64 begin = cycle_counter();
        while (cycle_counter() - begin < cycles) {
        }
    }
    synchronize_block();
}

// Each address is a parameter, because the host tracks each argument that is memory.
#define ADDRESSES u64 *m0, u64 *m1, u64 *m2, u64 *m3, u64 *m4, u64 *m5, u64 *m6, u64 *m7

DEVICE u64 *select(u32 which, ADDRESSES) {
    switch (which) {
    case 0: return m0;
    case 1: return m1;
    case 2: return m2;
    case 3: return m3;
    case 4: return m4;
    case 5: return m5;
    case 6: return m6;
    default: return m7;
    }
}

// soak_write writes the patterns. `share` blocks of threads work on each block of
// memory of the batch.
KERNEL soak_write(ADDRESSES, Batch batch, u32 share, u64 delay) {
    const u32 which = block_in_grid() / share;
    u64 *memory = select(which, m0, m1, m2, m3, m4, m5, m6, m7);
    const u64 words = batch.words[which], seed = batch.seeds[which], n = checked_words(words);
    hold_back(delay);
    for (u64 k = (u64)(block_in_grid() % share) * threads_per_block() + thread_in_block(); k < n; k += (u64)share * threads_per_block()) {
        const u64 i = place(k, words);
        memory[i] = seed + i;
    }
}

static constexpr u64 most_records = 64;

// Record is a word with a wrong value.
struct Record {
    u64 address, words, seed, index, found, stream;
};

// Findings is the sum of the findings of all checks.
struct Findings {
    u64 checked, mismatches, records, reserved;
    Record record[most_records];
};

DEVICE u64 add(u64 *to, u64 value) { return __atomic_fetch_add(to, value, __ATOMIC_RELAXED); }

// warp_sum returns the sum over a warp in its first lane.
DEVICE u32 warp_sum(u32 value) {
    for (u32 delta = warp_threads / 2; delta > 0; delta /= 2)
        value += shuffle_down(value, delta);
    return value;
}

// soak_verify compares memory with its patterns, in a launch of the shape of
// soak_write. Each thread records the first mismatch it finds, while there is room.
KERNEL soak_verify(ADDRESSES, Batch batch, u32 share, u64 delay, Findings *findings, u64 stream) {
    const u32 which = block_in_grid() / share;
    // Volatile, because the memory changes under the kernel in exactly the case that
    // the kernel must detect.
    const volatile u64 *memory = select(which, m0, m1, m2, m3, m4, m5, m6, m7);
    const u64 words = batch.words[which], seed = batch.seeds[which], n = checked_words(words);
    u32 checked = 0, mismatches = 0;
    hold_back(delay);
    for (u64 k = (u64)(block_in_grid() % share) * threads_per_block() + thread_in_block(); k < n; k += (u64)share * threads_per_block()) {
        const u64 i = place(k, words);
        const u64 found = memory[i];
        checked++;
        if (found == seed + i)
            continue;
        if (mismatches++ == 0) {
            const u64 slot = add(&findings->records, 1);
            if (slot < most_records)
                findings->record[slot] = {(u64)memory, words, seed, i, found, stream};
        }
    }
    checked = warp_sum(checked);
    mismatches = warp_sum(mismatches);
    if (lane_in_warp() != 0)
        return;
    if (checked != 0)
        add(&findings->checked, checked);
    if (mismatches != 0)
        add(&findings->mismatches, mismatches);
}
