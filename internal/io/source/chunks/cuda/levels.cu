// Definition levels of pages: see decode.go.
#include "runs.cuh"
#include "tiles.cuh"

// set_all sets the bits of all rows of a page. All threads of the block call it.
DEVICE void set_all(const Page &page) {
    const u64 first = page.row / 32, last = (page.row + page.rows - 1) / 32;
    for (u64 w = first + thread_in_block(); w <= last; w += threads_per_block()) {
        u32 bits = whole_warp;
        if (w == first)
            bits &= whole_warp << page.row % 32;
        if (w == last)
            bits &= whole_warp >> (31 - (page.row + page.rows - 1) % 32);
        write_word(page.bitmap + 4 * w, bits, bits);
    }
}

static constexpr u32 threads = 256, warps = threads / warp_threads, at_once = 8; // words of a warp

// decode_levels begins the outcomes of all pages, a block for each. It writes the validity bitmap and the ranks of pages
// with nulls.
KERNEL LAUNCH_BOUNDS(256) decode_levels(const Page *pages, Outcome *outcomes) {
    __shared__ u32 ones[2][warps * at_once];
    const Page page = pages[block_in_grid()];
    Outcome *const outcome = outcomes + block_in_grid();
    const u32 warp = thread_in_block() / warp_threads, lane = lane_in_warp();
    u64 from = page.levels;
    u32 length = page.level_bytes, begin = 0;
    const u32 packed = page.packed == 0 ? 0 : load<u32>(page.packed);
    u32 status = packed == 0 ? 0 : bad_compression;
    if (status == 0 && page.optional != 0 && page.level_bytes == none) {
        length = page.length < 4 ? 0 : load_word(page.bytes);
        if (page.length < 4 || length > page.length - 4)
            status = page.length < 4 ? cut : bad_length;
        else
            begin = 4 + length;
        from = page.bytes + 4;
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
    synchronize_block(); // before the status changes
    const Runs runs = {from, length, 1};
    const bool all = find_runs<threads>(runs, page.marks, page.rows, outcome);
    synchronize_block();
    if (all)
        set_all(page);
    if (all || outcome->status != 0)
        return;
    const u64 first = page.row / 32;
    const u32 words = (u32)((page.row + page.rows - 1) / 32 - first) + 1, ahead = (u32)(page.row % 32);
    u32 valid = 0;
#pragma nounroll
    for (u32 base = 0, k = 0; base < words; base += warps * at_once, k ^= 1) {
        const u32 own = base + warp * at_once;
        Numbers<at_once> levels;
        bool within[at_once];
#pragma unroll
        for (u32 i = 0; i < at_once; i++) {
            const u64 row = ((u64)own + i) * 32 + lane;
            within[i] = row >= ahead && row - ahead < page.rows;
            levels.wanted[i] = within[i] ? (u32)(row - ahead) : none;
        }
        if (own < words) {
            const u32 low = own * 32 < ahead ? 0 : own * 32 - ahead, high = minimum((own + at_once) * 32 - ahead, page.rows);
            levels.read(runs, page.marks, low, high);
        }
#pragma unroll
        for (u32 i = 0; i < at_once; i++) {
            const u32 bits = ballot(own < words && within[i] && levels.value[i] == 1), mask = ballot(within[i]);
            if (ballot(own < words && within[i] && levels.value[i] > 1) != 0 && lane == 0)
                damage(outcome, bad_level);
            if (lane != 0)
                continue;
            ones[k][warp * at_once + i] = __builtin_popcount(bits);
            write_word(page.bitmap + 4 * (first + own + i), mask, bits);
        }
        synchronize_block();
        if (warp != 0)
            continue;
#pragma unroll
        for (u32 w = 0; w < warps * at_once; w += warp_threads) {
            const u32 each = ones[k][w + lane], sum = warp_scan(each, Sum<u32>());
            if (base + w + lane < words)
                store<u32>(page.ranks + 4 * ((u64)base + w + lane), valid + sum - each);
            valid += shuffle_value(sum, warp_threads - 1);
        }
    }
    if (thread_in_block() == 0)
        outcome->valid = valid;
}
