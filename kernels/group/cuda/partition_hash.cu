// Partitions of scattered keys by hashes: see partition_hash.go.
#include "source.cuh"

static constexpr u32 hash_threads = 512;
// no_key marks an empty slot. The key with this value has slot 0, which no other key has.
static constexpr u64 no_key = 0x8000000000000001;

DEVICE u64 mixed(u64 x) {
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93;
    x = (x ^ x >> 29) * 0xd6e8feb86659fd93;
    return x ^ x >> 32;
}

// hash_places writes the first bits of the hash of each key.
KERNEL hash_places(u32 *places, const Source keys, u32 bits, const i64 *rows, i64 capacity) {
    const u64 n = device_rows(rows, capacity), step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < n; i += step)
        places[i] = (u32)(mixed(keys.load(i)) >> 64 - bits);
}

extern __shared__ __attribute__((aligned(16))) u64 slot_keys[];

// partition_slots replaces the places of the rows of each partition by slots of a hash table: rows
// with equal keys get the same one. It sets failed if a partition has too many keys.
KERNEL LAUNCH_BOUNDS(hash_threads) partition_slots(u16 *places, const u8 *keys, u32 width, u32 is_signed, const u32 *starts, u32 partitions, u32 bits, u32 *failed) {
    const u32 slots = 1u << bits;
    for (u32 partition = block_in_grid(); partition < partitions; partition += blocks_per_grid()) {
        synchronize_block();
        for (u32 i = thread_in_block(); i < slots; i += hash_threads)
            slot_keys[i] = no_key;
        synchronize_block();
        const u64 end = starts[partition + 1];
        for (u64 row = (u64)starts[partition] + thread_in_block(); row < end; row += hash_threads) {
            const u64 key = width == 8 ? ((const u64 *)keys)[row] : is_signed != 0 ? (u64)(i64)((const i32 *)keys)[row] : ((const u32 *)keys)[row];
            u32 slot = key == no_key ? 0 : 1 + (u32)mixed(key) % (slots - 1), probes = 0;
            while (key != no_key) {
                u64 owner = *(volatile u64 *)&slot_keys[slot];
                if (owner == no_key)
                    owner = (u64)__nvvm_atom_cas_gen_ll((long long *)&slot_keys[slot], (long long)no_key, (long long)key);
                if (owner == no_key || owner == key)
                    break;
                slot = slot + 1 == slots ? 1 : slot + 1;
                if (++probes == slots) {
                    *failed = 1;
                    slot = 0;
                    break;
                }
            }
            places[row] = (u16)slot;
        }
    }
}
