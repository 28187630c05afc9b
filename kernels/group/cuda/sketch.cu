// A sketch of the number of different keys, and their bounds: see sketch.go.
#include "hash.cuh"
#include "partition.cuh"

static constexpr u32 sketch_threads = 1024, sketch_rows = 4; // rows of a thread that are loaded together
static constexpr u32 index_bits = 11, registers = 1 << index_bits;

// The first bits of the hash of a key are the number of a register, which has the greatest rank of its keys:
// the number of zeros that follow, and 1.
DEVICE void sketch_key(u32 *ranks, u64 key) {
    const u64 hash = mixed(key);
    u32 *const rank = &ranks[hash >> 64 - index_bits];
    const u32 own = (u32)__builtin_clzll(hash << index_bits | 1ull << index_bits - 1) + 1;
    if (*(volatile u32 *)rank < own)
        __nvvm_atom_max_gen_ui(rank, own);
}

// sketch_keys raises the registers. It also raises bounds to the greatest key and to the complement of the
// least one, as unsigned numbers of the same order. All are zero before.
KERNEL LAUNCH_BOUNDS(sketch_threads) sketch_keys(u64 *bounds, u32 *sketch, const Source keys, const i64 *rows, i64 capacity) {
    __shared__ u32 ranks[registers];
    for (u32 i = thread_in_block(); i < registers; i += sketch_threads)
        ranks[i] = 0;
    synchronize_block();
    const u64 n = device_rows(rows, capacity), tile = sketch_threads * sketch_rows;
    const u64 sign = keys.is_signed() ? 1ull << 63 : 0;
    u64 greatest = 0, least = 0;
    for (u64 begin = block_in_grid() * tile + thread_in_block(); begin < n; begin += blocks_per_grid() * tile) {
        u64 key[sketch_rows];
        load_values<sketch_threads>(keys.values, keys.form, begin, n, key);
#pragma unroll
        for (u32 i = 0; i < sketch_rows; i++) {
            if (begin + i * sketch_threads >= n)
                continue;
            const u64 image = key[i] ^ sign;
            greatest = image > greatest ? image : greatest;
            least = ~image > least ? ~image : least;
            sketch_key(ranks, key[i]);
        }
    }
    greatest = warp_fold(greatest, Most<u64>());
    least = warp_fold(least, Most<u64>());
    if (lane_in_warp() == 0) {
        if (*(volatile u64 *)&bounds[0] < greatest)
            __nvvm_atom_max_gen_ull(&bounds[0], greatest);
        if (*(volatile u64 *)&bounds[1] < least)
            __nvvm_atom_max_gen_ull(&bounds[1], least);
    }
    synchronize_block();
    for (u32 i = thread_in_block(); i < registers; i += sketch_threads)
        if (*(volatile u32 *)&sketch[i] < ranks[i])
            __nvvm_atom_max_gen_ui(&sketch[i], ranks[i]);
}
