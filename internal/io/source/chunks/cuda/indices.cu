// Indices of dictionaries, and booleans in runs: see doc.go.
#include "runs.cuh"
#include "tiles.cuh"

// Indexed is a page with its stream of indices, or of booleans.
struct Indexed {
    Page page;
    Outcome *outcome;
    Runs runs;
    u32 values; // of the dictionary
    u64 dictionary;

    // begin returns whether the page has a row with a value, and it and its dictionary are without damage so far.
    METHOD bool begin(const Page *pages, Outcome *outcomes, u32 number) {
        page = pages[number];
        outcome = outcomes + number;
        const u32 status = shuffle_value(outcome->status, 0);
        return status == 0 && (page.dictionary == none || outcomes[page.dictionary].status == 0);
    }

    // find finds the stream, and returns its damage.
    METHOD u32 find(const Page *pages) {
        u64 from = page.bytes + outcome->begin;
        const u64 to = page.bytes + page.length;
        values = 2;
        dictionary = 0;
        if (page.encoding == rle) {
            const u32 length = to - from < 4 ? 0 : load_word(from);
            runs = Runs{from + 4, length, 1};
            return to - from < 4 || length > to - from - 4 ? bad_length : 0;
        }
        const u32 width = from < to ? load<u8>(from++) : 33;
        runs = Runs{from, (u32)(to - from), width};
        values = 0;
        if (page.dictionary != none) {
            values = pages[page.dictionary].rows;
            dictionary = pages[page.dictionary].to;
        }
        return width > 32 ? bad_width : 0;
    }
};

// find_indices finds the runs of the streams of listed pages, a block for each.
KERNEL LAUNCH_BOUNDS(256) find_indices(const Page *pages, Outcome *outcomes, const u32 *listed) {
    Indexed indexed;
    const bool begins = indexed.begin(pages, outcomes, listed[block_in_grid()]);
    synchronize_block(); // before the status changes
    if (!begins || indexed.outcome->valid == 0)
        return;
    const u32 status = indexed.find(pages);
    if (status == 0) {
        Runs runs = indexed.runs;
        find_runs<256>(runs, indexed.page.marks, indexed.outcome->valid, indexed.outcome);
    } else if (thread_in_block() == 0)
        damage(indexed.outcome, status);
}

static constexpr u32 at_once = 8; // words of the bitmap

// Rows are those of some words of the bitmap, which the lanes of a warp have.
struct Rows {
    Place row[at_once];
    u64 word;
    u32 words;

    // write writes values of a dictionary as wide as T, and zeros for nulls.
    template <typename T> METHOD void write(u64 to, u64 dictionary, const u32 (&index)[at_once]) const {
        T values[at_once];
#pragma unroll
        for (u32 i = 0; i < at_once; i++)
            values[i] = row[i].valid ? load<T>(dictionary + (u64)index[i] * sizeof(T)) : 0;
#pragma unroll
        for (u32 i = 0; i < at_once; i++)
            if (row[i].within)
                store<T>(to + (u64)row[i].row * sizeof(T), values[i]);
    }
    METHOD void write_wide(u64 to, u64 dictionary, const u32 (&index)[at_once]) const {
        Wide values[at_once];
#pragma unroll
        for (u32 i = 0; i < at_once; i++) {
            values[i] = Wide{0, 0};
            if (row[i].valid)
                values[i] = Wide{load<u64>(dictionary + (u64)index[i] * 16), load<u64>(dictionary + (u64)index[i] * 16 + 8)};
        }
#pragma unroll
        for (u32 i = 0; i < at_once; i++)
            if (row[i].within) {
                store<u64>(to + (u64)row[i].row * 16, values[i].low);
                store<u64>(to + (u64)row[i].row * 16 + 8, values[i].high);
            }
    }
    // write_codes writes the indices, each increased by base.
    METHOD void write_codes(u64 to, u32 base, const u32 (&index)[at_once]) const {
#pragma unroll
        for (u32 i = 0; i < at_once; i++)
            if (row[i].within)
                store<u32>(to + (u64)row[i].row * 4, row[i].valid ? index[i] + base : 0);
    }
    // write_dense writes the indices of rows with a value behind each other.
    METHOD void write_dense(u64 to, const u32 (&index)[at_once]) const {
#pragma unroll
        for (u32 i = 0; i < at_once; i++)
            if (row[i].valid)
                store<u32>(to + (u64)row[i].rank * 4, index[i]);
    }
    METHOD void write_booleans(u64 to, const u32 (&index)[at_once]) const {
#pragma unroll
        for (u32 i = 0; i < at_once; i++) {
            const u32 bits = ballot(row[i].valid && index[i] != 0), mask = ballot(row[i].within);
            if (lane_in_warp() == 0)
                write_word(to + 4 * (word + i), mask, bits);
        }
    }
    METHOD void write_instants(const Page &page, Outcome *outcome, u64 dictionary, const u32 (&index)[at_once]) const {
#pragma unroll
        for (u32 i = 0; i < at_once; i++) {
            const u64 value = row[i].valid ? load<u64>(dictionary + (u64)index[i] * 8) : 0;
            write_instant(page, outcome, word + i, row[i], value);
        }
    }
};

// write_indices writes the values of the rows of tiles, a block for each. Of strings it writes the indices.
KERNEL LAUNCH_BOUNDS(128) write_indices(const Page *pages, Outcome *outcomes, const Tile *tiles) {
    Indexed indexed;
    const Tile tile = tiles[block_in_grid()];
    if (!indexed.begin(pages, outcomes, tile.page))
        return;
    const Page &page = indexed.page;
    const bool nulls = indexed.outcome->valid != page.rows;
    indexed.find(pages);
    const u64 first = page.row / 32 + tile.first / 32, last = (page.row + page.rows - 1) / 32 + 1;
    const u64 end = first + tile_rows / 32 < last ? first + tile_rows / 32 : last;
#pragma nounroll
    for (u64 word = first + thread_in_block() / warp_threads * at_once; word < end; word += tile_threads / warp_threads * at_once) {
        Rows rows;
        Numbers<at_once> numbers;
        rows.word = word;
        u32 low = none, high = 0;
#pragma unroll
        for (u32 i = 0; i < at_once; i++) {
            Place &p = rows.row[i];
            p = Place{false, false, 0, 0};
            if (word + i < end)
                p = place_of(page, word + i, nulls);
            numbers.wanted[i] = none;
            if (!p.valid)
                continue;
            numbers.wanted[i] = p.rank;
            low = minimum(low, p.rank);
            high = p.rank + 1;
        }
        low = ~warp_fold(~low, Most<u32>());
        high = warp_fold(high, Most<u32>());
        if (high > 0)
            numbers.read(indexed.runs, page.marks, low, high);
        bool beyond = false;
#pragma unroll
        for (u32 i = 0; i < at_once; i++)
            if (rows.row[i].valid && numbers.value[i] >= indexed.values) {
                beyond = true;
                rows.row[i].valid = false;
            }
        if (beyond)
            damage(indexed.outcome, bad_index);
        switch (page.form) {
        case copied4:
            rows.write<u32>(page.to + page.row * 4, indexed.dictionary, numbers.value);
            break;
        case copied8:
            rows.write<u64>(page.to + page.row * 8, indexed.dictionary, numbers.value);
            break;
        case narrowed1:
            rows.write<u8>(page.to + page.row, indexed.dictionary, numbers.value);
            break;
        case narrowed2:
        case copied2:
            rows.write<u16>(page.to + page.row * 2, indexed.dictionary, numbers.value);
            break;
        case code:
            rows.write_codes(page.to + page.row * 4, page.base, numbers.value);
            break;
        case text:
            rows.write_dense(page.dense, numbers.value);
            break;
        case boolean:
            rows.write_booleans(page.to, numbers.value);
            break;
        case instant:
            rows.write_instants(page, indexed.outcome, indexed.dictionary, numbers.value);
            break;
        default:
            rows.write_wide(page.to + page.row * 16, indexed.dictionary, numbers.value);
        }
    }
}
