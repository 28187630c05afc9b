// Definition levels of pages: see doc.go.
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

// Bits are the runs of levels of one bit.
struct Bits {
    Runs runs;
    u64 marks;

    // read returns the levels of up to 32 rows from one on. It notes a level that is above 1.
    METHOD u32 read(u32 first, u32 count, bool &above) const {
        Mark mark = load_mark(marks, first / mark_values);
        u64 before = mark.before;
        u32 bits = 0;
#pragma nounroll
        while (before < first + count) {
            Run run;
            if (runs.read(mark.place, run) != 0)
                break;
            const u64 behind = before + run.count;
            if (behind > first) {
                const u32 skipped = before < first ? (u32)(first - before) : 0, begin = before < first ? 0 : (u32)(before - first);
                const u32 end = behind < first + count ? (u32)(behind - first) : count;
                u32 own = run.value == 0 ? 0 : whole_warp;
                if (run.packed != none)
                    own = (u32)(load_bytes(runs.from + run.packed + skipped / 8) >> skipped % 8);
                above |= run.value > 1;
                bits |= (own & whole_warp >> (32 - (end - begin))) << begin;
            }
            before = behind;
            mark.place = run.behind;
        }
        return bits;
    }
};

// find_length finds the levels of a page, and returns damage.
DEVICE u32 find_length(const Page &page, u64 &from, u32 &length) {
    from = page.levels;
    length = page.level_bytes;
    if (page.optional != flat_levels || page.level_bytes != none)
        return 0;
    from = page.bytes + 4;
    length = page.length < 4 ? 0 : load_word(page.bytes);
    return page.length < 4 ? cut : length > page.length - 4 ? bad_length : 0;
}

// find_levels begins the outcomes of all pages, a block for each, and finds the runs of the levels. It writes the validity bitmap of
// pages without nulls. outcome->valid of the others is set by scan_levels.
KERNEL LAUNCH_BOUNDS(256) find_levels(const Page *pages, Outcome *outcomes) {
    const Page page = pages[block_in_grid()];
    Outcome *const outcome = outcomes + block_in_grid();
    const u32 packed = page.packed == 0 ? 0 : load<u32>(page.packed);
    u64 from = 0;
    u32 length = 0;
    const u32 status = packed == 0 ? find_length(page, from, length) : (u32)bad_compression;
    if (thread_in_block() == 0) {
        outcome->status = status;
        outcome->valid = status == 0 ? page.rows : 0;
        outcome->absent = 0;
        outcome->begin = status == 0 && page.optional == flat_levels && page.level_bytes == none ? 4 + length : 0;
        outcome->data = 0;
        outcome->packed = packed;
        outcome->bytes = 0;
    }
    if (status != 0 || page.rows == 0 || page.optional == nested_levels) // find_nested finds the latter
        return;
    synchronize_block(); // before the status changes
    const bool all = page.optional == 0 || find_runs<256>(Runs{from, length, 1}, page.marks, page.rows, outcome);
    synchronize_block();
    if (all && page.bitmap != 0)
        set_all(page);
    if (!all && outcome->status == 0 && thread_in_block() == 0)
        outcome->valid = none;
}

// write_levels writes the validity bitmap of tiles of pages with nulls, a warp for counted_words words of it, and counts their rows
// with a value.
KERNEL LAUNCH_BOUNDS(64) write_levels(const Page *pages, Outcome *outcomes, const Tile *tiles) {
    const Tile tile = tiles[block_in_grid()];
    const Page page = pages[tile.page];
    Outcome *const outcome = outcomes + tile.page;
    if (outcome->valid != none)
        return;
    const u32 word = tile.first / 32 + thread_in_block(), ahead = (u32)(page.row % 32), all = (ahead + page.rows - 1) / 32 + 1;
    u64 from;
    u32 length, bits = 0;
    find_length(page, from, length);
    if (word < all) {
        const u32 first = word == 0 ? 0 : word * 32 - ahead, shift = word == 0 ? ahead : 0;
        const u32 count = minimum(32 - shift, page.rows - first);
        bool above = false;
        bits = Bits{{from, length, 1}, page.marks}.read(first, count, above) << shift;
        if (above)
            damage(outcome, bad_level);
        write_word(page.bitmap + 4 * (page.row / 32 + word), whole_warp >> (32 - count) << shift, bits);
    }
    count_words(page, word, all, bits);
}

// scan_levels counts the rows with a value of listed pages, a block for each.
KERNEL LAUNCH_BOUNDS(256) scan_levels(const Page *pages, Outcome *outcomes, const u32 *listed) {
    const Page page = pages[listed[block_in_grid()]];
    Outcome *const outcome = outcomes + listed[block_in_grid()];
    if (outcome->valid != none)
        return;
    const u32 words = ((u32)(page.row % 32) + page.rows - 1) / 32 + 1;
    const u64 valid = outcome->status != 0 ? 0 : scan_sums<256>(page.counts, (words - 1) / counted_words + 1, 0);
    synchronize_block(); // the number was read
    if (thread_in_block() == 0)
        outcome->valid = (u32)valid;
}
