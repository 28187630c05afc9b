// Partitions of rows whose places never decrease: the rows of a partition lie together already, and nothing moves. See
// partition_sorted.go.
#include "partition.cuh"

static constexpr u32 sorted_items = 4; // rows of a thread that are loaded at once

// load_neighbours loads the places of rows row + i · threads, and those of the rows behind them.
DEVICE void load_neighbours(const Keys &keys, u64 row, u64 n, u32 (&place)[sorted_items], u32 (&next)[sorted_items]) {
    load_places<partition_threads>(keys, row, n, place);
    load_places<partition_threads>(keys, row + 1, n, next);
}

// find_descents sets a flag if a row has no place, or a higher one than the row behind it.
KERNEL LAUNCH_BOUNDS(partition_threads) find_descents(const Keys keys, const i64 *rows, i64 capacity, u32 *descends) {
    const u64 n = device_rows(rows, capacity), step = (u64)blocks_per_grid() * partition_threads * sorted_items;
#pragma clang loop unroll(disable)
    for (u64 begin = (u64)block_in_grid() * partition_threads * sorted_items; begin < n; begin += step) {
        if (*(const volatile u32 *)descends != 0)
            return;
        const u64 row = begin + thread_in_block();
        u32 place[sorted_items], next[sorted_items];
        load_neighbours(keys, row, n, place, next);
        bool descent = false;
#pragma unroll
        for (u32 i = 0; i < sorted_items; i++)
            descent = descent || (row + i * partition_threads < n && place[i] == no_place) || (row + i * partition_threads + 1 < n && place[i] > next[i]);
        if (descent)
            *descends = 1;
    }
}

// place_sorted writes the place of each row in its partition, which conditions it meets, and where partitions begin.
KERNEL LAUNCH_BOUNDS(partition_threads)
place_sorted(const Keys keys, const i64 *rows, i64 capacity, u32 bits, u32 partitions, u32 *starts, u16 *places, const Conditions conditions, u32 *met) {
    const u64 n = device_rows(rows, capacity), step = (u64)blocks_per_grid() * partition_threads * sorted_items;
    if (n == 0)
        for (u64 i = thread_in_grid(); i <= partitions; i += threads_per_grid())
            starts[i] = 0;
#pragma clang loop unroll(disable)
    for (u64 begin = (u64)block_in_grid() * partition_threads * sorted_items; begin < n; begin += step) {
        const u64 first = begin + thread_in_block();
        u32 place[sorted_items], next[sorted_items];
        load_neighbours(keys, first, n, place, next);
#pragma unroll
        for (u32 i = 0; i < sorted_items; i++) {
            const u64 row = first + i * partition_threads;
            if (row >= n)
                continue;
            places[row] = (u16)(place[i] & (1u << bits) - 1);
            const u32 own = place[i] >> bits, behind = row + 1 < n ? next[i] >> bits : partitions;
            if (row == 0)
                for (u32 p = 0; p <= own; p++)
                    starts[p] = 0;
            for (u32 p = own; p < behind; p++)
                starts[p + 1] = (u32)row + 1;
        }
        if (met != nullptr)
#pragma unroll 1
            for (u32 i = 0; i < sorted_items; i++)
                if (const u64 row = first + i * partition_threads; row < n)
                    met[row] = conditions.met(row);
    }
}

// list_chunks lists the chunks of partitions with many rows.
KERNEL LAUNCH_BOUNDS(partition_threads) list_chunks(const u32 *starts, u32 partitions, const Chunks chunks) {
    const u32 partition = (u32)thread_in_grid();
    if (partition < partitions)
        chunks.list_partition(partition, starts[partition + 1] - starts[partition]);
}
