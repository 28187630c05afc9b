// Partitions of scattered keys by hashes: see partition_hash.go.
//
// The keys of a partition are in a table with linear probing. Of two keys that want one slot the
// greater has it, and the other one goes on, so the slots depend on the keys alone, not on the order of the
// threads: the groups of a result have the same order in every run.
#include "hash.cuh"
#include "partition.cuh"

static constexpr u32 hash_threads = 512, hash_rows = 4; // rows of a thread that are loaded together

// hash_places writes the first bits of the hash of each key.
KERNEL hash_places(u32 *places, const Source keys, u32 bits, const i64 *rows, i64 capacity) {
    const u64 n = device_rows(rows, capacity), step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < n; i += step)
        places[i] = (u32)(mixed(keys.load(i)) >> 64 - bits);
}

// Hashed is the partitions: partitioning.findSlots makes it. tables has a table of table_words for each
// slot of chunks, of which that of a partition's first chunk is used.
//go:layout hashedLayout
struct Hashed {
    u16 *places;
    const u8 *keys;
    u32 form, bits, partitions, padding;
    const u32 *starts;
    u64 *tables;
    u64 table_words;
    u32 *failed;
};

// Part is the rows of a block: a chunk of a partition.
struct Part {
    u32 partition, chunks;
    u64 begin, end;
};

// part_of finds the rows of a block. Each partition has a block, and then each further chunk, as those of
// partition_groups.
DEVICE Part part_of(const Hashed &h, const Chunks &chunks) {
    u32 partition = block_in_grid(), chunk = 0;
    if (partition >= h.partitions) {
        const u32 i = partition - h.partitions;
        if (i >= *chunks.listed)
            return Part{0, 0, 0, 0};
        partition = chunks.list[2 * i];
        chunk = chunks.list[2 * i + 1];
    }
    const u64 start = h.starts[partition], finish = h.starts[partition + 1], begin = start + (u64)chunk * chunks.chunk_rows;
    const u32 count = (u32)((finish - start + chunks.chunk_rows - 1) / chunks.chunk_rows);
    return Part{partition, count, begin, finish - begin < chunks.chunk_rows ? finish : begin + chunks.chunk_rows};
}

extern __shared__ __attribute__((aligned(16))) u64 table_keys[];

// Slot 0 is that of the key 0, which marks empty slots and is not in the table. Other keys have the others.
DEVICE u32 first_slot(u64 key, u32 slots) { return 1 + (u32)((u64)(u32)mixed(key) * (slots - 1) >> 32); }
DEVICE u32 next_slot(u32 slot, u32 slots) { return slot + 1 == slots ? 1 : slot + 1; }

// add_key adds a key to a table. It returns false if there are more keys than slots.
DEVICE bool add_key(u64 *table, u32 slots, u64 key) {
    if (key == 0)
        return true;
    u32 slot = first_slot(key, slots), passed = 0;
    u64 there = *(volatile u64 *)&table[slot];
    while (there != key) {
        if (there < key) {
            const u64 found = (u64)__nvvm_atom_cas_gen_ll((long long *)&table[slot], (long long)there, (long long)key);
            if (found != there) {
                there = found;
                continue;
            }
            if (there == 0)
                return true;
            key = there;
            passed = 0;
        } else if (++passed == slots - 1)
            return false;
        slot = next_slot(slot, slots);
        there = *(volatile u64 *)&table[slot];
    }
    return true;
}

// slot_of returns the slot of a key that is in a table.
DEVICE u32 slot_of(const u64 *table, u32 slots, u64 key) {
    if (key == 0)
        return 0;
    u32 slot = first_slot(key, slots);
    while (table[slot] > key)
        slot = next_slot(slot, slots);
    return slot;
}

// write_slots replaces the places of rows by the slots of their keys.
DEVICE void write_slots(const Hashed &h, const Part &p, u32 slots) {
    for (u64 begin = p.begin + thread_in_block(); begin < p.end; begin += hash_threads * hash_rows) {
        u64 key[hash_rows];
        load_values<hash_threads>(h.keys, h.form, begin, p.end, key);
#pragma unroll
        for (u32 i = 0; i < hash_rows; i++)
            if (begin + i * hash_threads < p.end)
                h.places[begin + i * hash_threads] = (u16)slot_of(table_keys, slots, key[i]);
    }
}

// partition_slots finds the keys of each partition and replaces the places of its rows by slots. If a partition
// has several chunks it adds the keys of each to a table in memory instead. failed is set if a partition has
// too many keys; then the places have no meaning, but stay below the number of slots.
KERNEL LAUNCH_BOUNDS(hash_threads) partition_slots(const Hashed h, const Chunks chunks) {
    __shared__ u32 crowded;
    const Part p = part_of(h, chunks);
    if (p.begin == p.end)
        return;
    const u32 slots = 1u << h.bits;
    if (thread_in_block() == 0)
        crowded = *(volatile u32 *)h.failed;
    for (u32 i = thread_in_block(); i < slots; i += hash_threads)
        table_keys[i] = 0;
    synchronize_block();
    for (u64 begin = p.begin + thread_in_block(); begin < p.end && *(volatile u32 *)&crowded == 0; begin += hash_threads * hash_rows) {
        u64 key[hash_rows];
        load_values<hash_threads>(h.keys, h.form, begin, p.end, key);
#pragma unroll
        for (u32 i = 0; i < hash_rows; i++)
            if (!add_key(table_keys, slots, key[i])) // 0 behind the last row
                *(volatile u32 *)&crowded = 1;
    }
    synchronize_block();
    const bool fits = crowded == 0;
    synchronize_block(); // no thread sets crowded before all have read it
    if (p.chunks > 1 && fits) {
        u64 *const table = h.tables + chunks.first_slot[p.partition] * h.table_words;
        for (u32 i = thread_in_block(); i < slots; i += hash_threads)
            if (!add_key(table, slots, table_keys[i]))
                *(volatile u32 *)&crowded = 1;
        synchronize_block();
    }
    if (crowded != 0) {
        if (thread_in_block() == 0)
            *h.failed = 1;
        return;
    }
    if (p.chunks == 1)
        write_slots(h, p, slots);
}

// partition_chunk_slots replaces the places of the rows of partitions with several chunks by slots.
KERNEL LAUNCH_BOUNDS(hash_threads) partition_chunk_slots(const Hashed h, const Chunks chunks) {
    const Part p = part_of(h, chunks);
    if (p.chunks < 2 || *(volatile u32 *)h.failed != 0)
        return;
    const u32 slots = 1u << h.bits;
    const u64 *const table = h.tables + chunks.first_slot[p.partition] * h.table_words;
    for (u32 i = thread_in_block(); i < slots; i += hash_threads)
        table_keys[i] = table[i];
    synchronize_block();
    write_slots(h, p, slots);
}
