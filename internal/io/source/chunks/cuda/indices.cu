// Indices of dictionaries, and booleans in runs: see decode.go.
#include "runs.cuh"

// Rows finds the row of a page with a value, by the number of those before it.
struct Rows {
    u64 bitmap, ranks, row;
    u32 words;
    bool nulls;

    METHOD Rows(const Page &page, bool nulls) : bitmap(page.bitmap + page.row / 32 * 4), ranks(page.ranks), row(page.row), nulls(nulls) {
        words = (u32)((page.row + page.rows - 1) / 32 - page.row / 32) + 1;
    }

    METHOD u32 at(u32 rank) const {
        if (!nulls)
            return rank;
        u32 word = 0, high = words;
#pragma nounroll
        while (high - word > 1) {
            const u32 middle = (word + high) / 2;
            if (load<u32>(ranks + 4 * (u64)middle) <= rank)
                word = middle;
            else
                high = middle;
        }
        rank -= load<u32>(ranks + 4 * (u64)word);
        u32 bits = load<u32>(bitmap + 4 * (u64)word), bit = 0;
        if (word == 0)
            bits &= whole_warp << row % 32;
#pragma unroll
        for (u32 half = 16; half > 0; half /= 2) {
            const u32 low = __builtin_popcount(bits & (1u << half) - 1);
            if (rank >= low) {
                rank -= low;
                bits >>= half;
                bit += half;
            }
        }
        return word * 32 + bit - (u32)(row % 32);
    }
};

static constexpr int at_once = 4; // values of a thread

// Indices are some of those of a page, with the places where their values go.
struct Indices {
    u32 index[at_once], place[at_once];
    bool written[at_once];

    // gather writes values of a dictionary, as wide as T.
    template <typename T> METHOD void gather(u64 to, u64 dictionary) const {
        T values[at_once];
#pragma unroll
        for (int k = 0; k < at_once; k++)
            if (written[k])
                values[k] = load<T>(dictionary + (u64)index[k] * sizeof(T));
#pragma unroll
        for (int k = 0; k < at_once; k++)
            if (written[k])
                store<T>(to + (u64)place[k] * sizeof(T), values[k]);
    }
    METHOD void gather_wide(u64 to, u64 dictionary) const {
        Wide values[at_once];
#pragma unroll
        for (int k = 0; k < at_once; k++)
            if (written[k])
                values[k] = Wide{load<u64>(dictionary + (u64)index[k] * 16), load<u64>(dictionary + (u64)index[k] * 16 + 8)};
#pragma unroll
        for (int k = 0; k < at_once; k++)
            if (written[k]) {
                store<u64>(to + (u64)place[k] * 16, values[k].low);
                store<u64>(to + (u64)place[k] * 16 + 8, values[k].high);
            }
    }
    // number writes the indices, each increased by base.
    METHOD void number(u64 to, u32 base) const {
#pragma unroll
        for (int k = 0; k < at_once; k++)
            if (written[k])
                store<u32>(to + (u64)place[k] * 4, index[k] + base);
    }
};

// expand writes the values of the indices of a queue. The expanding threads call it. It returns whether all indices of
// a thread are within the dictionary; others are not written.
DEVICE bool expand(const Queue &queue, u32 width, u32 values, const Page &page, u64 dictionary, const Rows &rows) {
    const bool gathered = is_gathered(page);
    bool within = true;
#pragma nounroll
    for (u32 i = queue.begin + thread_in_block(); i < queue.end; i += at_once * expanding) {
        Indices indices;
        queue.at(i, expanding, width, indices.index);
#pragma unroll
        for (int k = 0; k < at_once; k++) {
            const u32 place = i + k * expanding;
            within = within && indices.index[k] < values;
            indices.written[k] = indices.index[k] < values && place < queue.end;
            indices.place[k] = indices.written[k] ? rows.at(place) : 0;
        }
        if (!gathered) {
            indices.number(page.dense, 0);
            continue;
        }
        switch (page.form) {
        case copied4:
            indices.gather<u32>(page.to + page.row * 4, dictionary);
            break;
        case copied8:
            indices.gather<u64>(page.to + page.row * 8, dictionary);
            break;
        case narrowed1:
            indices.gather<u8>(page.to + page.row, dictionary);
            break;
        case narrowed2:
        case copied2:
            indices.gather<u16>(page.to + page.row * 2, dictionary);
            break;
        case code:
            indices.number(page.to + page.row * 4, page.base);
            break;
        default:
            indices.gather_wide(page.to + page.row * 16, dictionary);
        }
    }
    return within;
}

// decode_indices decodes the indices of listed pages, a block for each: into values of the column, or into indices of
// the rows that are not null.
KERNEL LAUNCH_BOUNDS(288) decode_indices(const Page *pages, Outcome *outcomes, const u32 *listed) {
    __shared__ Queue queue[2];
    const u32 number = listed[block_in_grid()];
    const Page page = pages[number];
    Outcome *const outcome = outcomes + number;
    const u32 valid = outcome->valid;
    if (outcome->status != 0 || valid == 0 || page.dictionary != none && outcomes[page.dictionary].status != 0)
        return;
    u64 from = page.bytes + outcome->begin, to = page.bytes + page.length;
    u32 width = 1, values = 2, status = 0;
    if (page.encoding == rle) {
        const u32 length = to - from < 4 ? 0 : load_word(from);
        if (to - from < 4 || length > to - from - 4)
            status = bad_length;
        from += 4;
        to = from + length;
    } else {
        width = from < to ? load<u8>(from++) : 33;
        values = page.dictionary == none ? 0 : pages[page.dictionary].rows;
        if (width > 32)
            status = bad_width;
    }
    synchronize_block(); // before the status changes
    if (status != 0) {
        if (thread_in_block() == 0)
            damage(outcome, status);
        return;
    }
    const Rows rows(page, is_gathered(page) && valid != page.rows);
    const u64 dictionary = page.dictionary == none ? 0 : pages[page.dictionary].to;
    Runs runs(from, to, width, valid);
    const bool lists = thread_in_block() >= expanding;
    bool within = true;
    if (lists)
        runs.list(queue[0]);
    synchronize_block();
#pragma nounroll
    for (u32 k = 0; queue[k].begin != queue[k].end; k ^= 1) {
        if (lists)
            runs.list(queue[k ^ 1]);
        else
            within = expand(queue[k], width, values, page, dictionary, rows) && within;
        synchronize_block();
    }
    if (!within)
        damage(outcome, bad_index);
    if (thread_in_block() == expanding && runs.status != 0)
        damage(outcome, runs.status);
}
