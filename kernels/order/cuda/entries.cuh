// Entries of the first rows that are too many for one block: each block sorts a run of them,
// and then every entry looks for its place among the entries of the other runs.
#pragma once

#include "scan.cuh"

static constexpr u32 entry_threads = 1024, run_entries = 2048; // Go's runEntries

// Entry is a row and its sort key. No two entries have one row.
struct Entry {
    u64 key, row;
    METHOD bool before(const Entry &other) const { return key < other.key || key == other.key && row < other.row; }
};

// sort_runs sorts the run of the block by Batcher's bitonic sort. Absent entries come last.
DEVICE void sort_runs(Entry *all, u32 count) {
    __shared__ Entry entries[run_entries];
    const u32 thread = thread_in_block(), begin = block_in_grid() * run_entries;
    if (begin >= count)
        return;
    for (u32 i = thread; i < run_entries; i += entry_threads)
        entries[i] = begin + i < count ? all[begin + i] : Entry{~0ull, ~0ull};
    for (u32 width = 2; width <= run_entries; width *= 2)
        for (u32 distance = width / 2; distance > 0; distance /= 2) {
            synchronize_block();
            const u32 low = thread / distance * distance * 2 + thread % distance, high = low + distance;
            const Entry a = entries[low], b = entries[high];
            if (b.before(a) == ((low & width) == 0)) {
                entries[low] = b;
                entries[high] = a;
            }
        }
    synchronize_block();
    for (u32 i = thread; i < run_entries && begin + i < count; i += entry_threads)
        all[begin + i] = entries[i];
}

// place_of returns the place of an entry among those of all runs.
DEVICE u32 place_of(const Entry *entries, u32 count, u32 own) {
    const Entry e = entries[own];
    u32 place = own % run_entries;
    for (u32 begin = 0; begin < count; begin += run_entries) {
        if (begin == own / run_entries * run_entries)
            continue;
        u32 low = begin, high = count - begin < run_entries ? count : begin + run_entries;
        while (low < high) {
            const u32 middle = (low + high) / 2;
            if (entries[middle].before(e))
                low = middle + 1;
            else
                high = middle;
        }
        place += low - begin;
    }
    return place;
}

// write_top writes the values and the numbers of the first k rows. Those beyond the count are
// null. It writes min(k, rows of the column) to out_count unless that is null.
template <typename Value>
DEVICE void write_top(Value *out, i64 *out_rows, u32 *out_valid, i64 *out_count, const Value *values, const Entry *entries, u32 count, u64 k, u64 rows) {
    if (out_count != nullptr && thread_in_grid() == 0)
        *out_count = rows < k ? rows : k;
    const u64 whole = (k + 31) / 32 * 32, n = whole > count ? whole : (count + 31) / 32 * 32;
    for (u64 i = thread_in_grid(); i < n; i += threads_per_grid()) {
        const u32 place = i < count ? place_of(entries, count, (u32)i) : (u32)i;
        if (place < k) {
            const u64 row = i < count ? entries[i].row : 0;
            out[place] = i < count ? values[row] : Value();
            out_rows[place] = (i64)row;
        }
        const u32 word = ballot(i < count && i < k);
        if (lane_in_warp() == 0 && i < whole)
            out_valid[i / 32] = word;
    }
}
