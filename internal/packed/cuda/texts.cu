// Strings of rows from the tiles of blocks: see device.go.
#include "block.cuh"

// too_long is the length of a string that is not in the block. It makes each sum of lengths greater than the block.
static constexpr u64 too_long = 1ull << 44;

// length_of returns the length of a string by its code, or by its length.
DEVICE u64 length_of(const Part &part, u64 value) {
    if (part.block.coded == 0)
        return value;
    if (value >= part.column.entries)
        return too_long;
    const u64 at = part.column.offsets + value * 4;
    return load<u32>(at + 4) - load<u32>(at);
}

// load_bytes returns eight bytes from any address on. It reads whole words: up to 15 bytes more.
DEVICE u64 load_bytes(u64 address) {
    const u64 at = address & ~7ull;
    const u32 shift = (u32)(address & 7) * 8;
    const u64 low = load<u64>(at), high = load<u64>(at + 8);
    return low >> shift | high << 1 << (63 - shift);
}

// copy_bytes copies bytes with all threads of the block. The words that load_bytes reads behind them exist.
DEVICE void copy_bytes(u64 to, u64 from, u64 length) {
    const u64 head = (8 - (to & 7)) & 7, before = head < length ? head : length;
    const u64 words = (length - before) / 8, after = before + words * 8;
    if (thread_in_block() < before)
        store<u8>(to + thread_in_block(), load<u8>(from + thread_in_block()));
    constexpr u32 together = 4; // loads that overlap
    u64 i = thread_in_block();
    for (; i + (together - 1) * unpack_threads < words; i += together * unpack_threads) {
        u64 loaded[together];
#pragma unroll
        for (u32 k = 0; k < together; k++)
            loaded[k] = load_bytes(from + before + (i + k * unpack_threads) * 8);
#pragma unroll
        for (u32 k = 0; k < together; k++)
            store<u64>(to + before + (i + k * unpack_threads) * 8, loaded[k]);
    }
    for (; i < words; i += unpack_threads)
        store<u64>(to + before + i * 8, load_bytes(from + before + i * 8));
    for (i = after + thread_in_block(); i < length; i += unpack_threads)
        store<u8>(to + i, load<u8>(from + i));
}

// write_offset writes an offset of a string of the tile.
DEVICE void write_offset(const Part &part, u32 i, u64 at) {
    const u64 row = part.first_row() + i;
    if (part.column.kind == texts)
        store<u32>(part.column.values + row * 4, (u32)at);
    else
        store<u64>(part.column.values + row * 8, at);
}

static constexpr u32 collected_bytes = 2048 * 8;

// unpack_texts has a block for each tile.
KERNEL LAUNCH_BOUNDS(unpack_threads) unpack_texts(const Column *columns, const Block *blocks, u32 *outcomes) {
    __shared__ Staged staged;
    Part part;
    if (!part.begin(columns, blocks, outcomes))
        return;
    part.write_validity();
    if (part.tile.form == deltas)
        sum_deltas(part, staged);
    else if (part.tile.form == runs && !find_runs(part, staged)) {
        if (thread_in_block() == 0)
            part.damage(outcomes);
        return;
    }
    const u32 first = thread_in_block() * rows_per_thread;
    const u32 valid = first < part.rows ? part.valid(first / 32) >> first % 32 : 0;
    u64 values[rows_per_thread], lengths[rows_per_thread], total = 0;
#pragma unroll
    for (u32 k = 0; k < rows_per_thread; k++) {
        const u32 i = first + k;
        values[k] = lengths[k] = 0;
        if (i >= part.rows || (valid >> k & 1) == 0)
            continue;
        values[k] = part.tile.form == offsets ? part.offset_at(i) : staged.values[i];
        lengths[k] = length_of(part, values[k]);
        total += lengths[k] <= part.block.text ? lengths[k] : too_long;
    }
    // The strings are those from tile.text up to that of the next tile.
    u32 end = part.block.text;
    if ((part.index + 1) * tile_rows < part.block.rows)
        end = load<u32>(part.block.bytes + (u64)(part.index + 1) * sizeof(Tile) + 24);
    const Sum<u64> sum;
    const u64 scanned = warp_scan(total, sum);
    u64 all;
    const u64 warps = block_fold_before<unpack_threads / warp_threads>(shuffle_value(scanned, warp_threads - 1), staged.sums, all, sum);
    if (end > part.block.text || part.tile.text > end || all != end - part.tile.text) {
        if (thread_in_block() == 0)
            part.damage(outcomes);
        return;
    }
    const u64 start = part.block.text_at + part.tile.text; // of the tile's strings in the column
    u64 at = warps + before_lane(scanned, sum);            // of the thread's strings in the tile
    u64 place = at;
#pragma unroll
    for (u32 k = 0; k < rows_per_thread; k++) {
        if (first + k >= part.rows)
            continue;
        write_offset(part, first + k, start + place);
        place += lengths[k];
        if (first + k == part.rows - 1)
            write_offset(part, part.rows, start + place);
    }
    const u64 to = part.column.bytes + start;
    if (part.block.coded == 0) {
        copy_bytes(to, part.block.bytes + part.block.length - padding - part.block.text + part.tile.text, all);
        return;
    }
    // Short strings are collected in shared memory, so that neighbouring threads write neighbouring words.
    const bool collects = all + 16 <= collected_bytes;
    u8 *collected = (u8 *)staged.values + (to & 7);
    u64 from[rows_per_thread];
#pragma unroll
    for (u32 k = 0; k < rows_per_thread; k++)
        from[k] = lengths[k] == 0 ? 0 : part.column.strings + load<u32>(part.column.offsets + values[k] * 4);
#pragma unroll
    for (u32 k = 0; k < rows_per_thread; k++) {
        if (collects)
#pragma nounroll
            for (u64 b = 0; b < lengths[k]; b++)
                collected[at + b] = load<u8>(from[k] + b);
        else
#pragma nounroll
            for (u64 b = 0; b < lengths[k]; b++)
                store<u8>(to + at + b, load<u8>(from[k] + b));
        at += lengths[k];
    }
    if (!collects)
        return;
    // Lanes leave the loops at different times, and a barrier of the block counts warps.
    synchronize_warp();
    synchronize_block();
    const u64 aligned_to = to & ~7ull, last = (to & 7) + all;
    for (u64 i = (u64)thread_in_block() * 8; i < last; i += unpack_threads * 8) {
        if (i >= (to & 7) && i + 8 <= last) {
            store<u64>(aligned_to + i, staged.values[i / 8]);
            continue;
        }
        for (u32 b = 0; b < 8; b++)
            if (i + b >= (to & 7) && i + b < last)
                store<u8>(aligned_to + i + b, ((u8 *)staged.values)[i + b]);
    }
}
