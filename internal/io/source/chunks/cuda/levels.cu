// Definition levels of pages: see decode.go.
#include "runs.cuh"

// set_all sets the bits of all rows of a page. All threads of the block call it.
DEVICE void set_all(const Page &page) {
    const u64 first = page.row / 32, last = (page.row + page.rows - 1) / 32;
    for (u64 w = first + thread_in_block(); w <= last; w += threads_per_block()) {
        u32 bits = whole_warp;
        if (w == first)
            bits &= whole_warp << page.row % 32;
        if (w == last)
            bits &= whole_warp >> (31 - (page.row + page.rows - 1) % 32);
        if (bits == whole_warp)
            store<u32>(page.bitmap + 4 * w, bits);
        else
            or_word(page.bitmap + 4 * w, bits);
    }
}

// clear_value writes zeros in place of the value of a null row.
DEVICE void clear_value(const Page &page, u64 row) {
    switch (page.form) {
    case narrowed1:
        store<u8>(page.to + row, 0);
        break;
    case narrowed2:
    case copied2:
        store<u16>(page.to + row * 2, 0);
        break;
    case copied4:
    case code:
        store<u32>(page.to + row * 4, 0);
        break;
    case copied8:
        store<u64>(page.to + row * 8, 0);
        break;
    default:
        store<u64>(page.to + row * 16, 0);
        store<u64>(page.to + row * 16 + 8, 0);
    }
}

// decode_levels begins the outcomes of all pages, a block for each. It writes the validity bitmap, the ranks
// of pages with nulls, and zeros for null rows of which decode_indices writes the others.
KERNEL LAUNCH_BOUNDS(288) decode_levels(const Page *pages, Outcome *outcomes) {
    __shared__ Queue queue[2];
    __shared__ u32 ones[2][run_tile / 32 + 4];
    const Page page = pages[block_in_grid()];
    Outcome *const outcome = outcomes + block_in_grid();
    const u32 warp = thread_in_block() / warp_threads, lane = lane_in_warp();
    u64 from = page.levels, to = page.levels + page.level_bytes;
    const u32 packed = page.packed == 0 ? 0 : load<u32>(page.packed);
    u32 begin = 0, status = packed == 0 ? 0 : bad_compression;
    if (status == 0 && page.optional != 0 && page.level_bytes == none) {
        const u32 length = page.length < 4 ? 0 : load_word(page.bytes);
        if (page.length < 4 || length > page.length - 4)
            status = page.length < 4 ? cut : bad_length;
        else
            begin = 4 + length;
        from = page.bytes + 4;
        to = from + length;
    }
    if (thread_in_block() == 0) {
        outcome->status = status;
        outcome->valid = status == 0 ? page.rows : 0;
        outcome->absent = 0;
        outcome->begin = begin;
        outcome->data = 0;
        outcome->packed = packed;
        outcome->bytes = 0;
    }
    if (status != 0 || page.rows == 0)
        return;
    if (page.optional == 0) {
        if (page.bitmap != 0)
            set_all(page);
        return;
    }
    Runs runs(from, to, 1, page.rows);
    const bool lists = warp == expanding / warp_threads;
    if (lists)
        runs.list(queue[0]);
    synchronize_block();
    if (queue[0].ones) {
        set_all(page);
        return;
    }
    u32 valid = 0;
    const bool clears = is_gathered(page);
#pragma nounroll
    for (u32 k = 0;; k ^= 1) {
        const u32 first = queue[k].begin, end = queue[k].end;
        if (first == end)
            break;
        const u64 word = (page.row + first) / 32, words = (page.row + end - 1) / 32 - word + 1;
        if (lists)
            runs.list(queue[k ^ 1]);
        else {
            constexpr u32 count = 4, warps = expanding / warp_threads;
#pragma nounroll
            for (u32 w = warp; w < words; w += count * warps) {
                u32 levels[count];
                queue[k].at((u32)((word + w) * 32 + lane - page.row), 32 * warps, 1, levels);
#pragma unroll
                for (u32 i = 0; i < count; i++) {
                    const u64 row = (word + w + i * warps) * 32 + lane;
                    const bool within = row >= page.row + first && row < page.row + end;
                    const u32 bits = ballot(within && levels[i] == 1), mask = ballot(within);
                    if (ballot(within && levels[i] > 1) != 0 && lane == 0)
                        damage(outcome, bad_level);
                    if (clears && within && levels[i] == 0)
                        clear_value(page, row);
                    if (lane != 0 || mask == 0)
                        continue;
                    ones[k][w + i * warps] = __builtin_popcount(bits);
                    if (mask == whole_warp)
                        store<u32>(page.bitmap + 4 * (word + w + i * warps), bits);
                    else if (bits != 0)
                        or_word(page.bitmap + 4 * (word + w + i * warps), bits);
                }
            }
        }
        synchronize_block();
        if (warp != 0)
            continue;
#pragma nounroll
        for (u32 w = 0; w < words; w += warp_threads) {
            const u32 own = w + lane < words ? ones[k][w + lane] : 0;
            const u32 sum = warp_scan(own, Sum<u32>());
            // A word that two tiles share has the rank of the first one.
            if (w + lane < words && (w + lane > 0 || first == 0 || (page.row + first) % 32 == 0))
                store<u32>(page.ranks + 4 * (word + w + lane - page.row / 32), valid + sum - own);
            valid += shuffle_value(sum, warp_threads - 1);
        }
    }
    if (thread_in_block() == 0)
        outcome->valid = valid;
    if (lists && lane == 0 && runs.status != 0)
        damage(outcome, runs.status);
}
