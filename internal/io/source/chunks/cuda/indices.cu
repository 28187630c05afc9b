// Indices of dictionaries, and booleans in runs: see decode.go.
#include "runs.cuh"

struct Wide {
    u64 low, high;
};

// Gather writes the values of a dictionary, T wide.
template <typename T> struct Gather {
    using Value = T;
    u64 to, from;
    METHOD T value(u32 index) const { return load<T>(from + (u64)index * sizeof(T)); }
    METHOD void put(u32 i, T value) const { store<T>(to + (u64)i * sizeof(T), value); }
};

template <> struct Gather<Wide> {
    using Value = Wide;
    u64 to, from;
    METHOD Wide value(u32 index) const { return Wide{load<u64>(from + (u64)index * 16), load<u64>(from + (u64)index * 16 + 8)}; }
    METHOD void put(u32 i, Wide value) const {
        store<u64>(to + (u64)i * 16, value.low);
        store<u64>(to + (u64)i * 16 + 8, value.high);
    }
};

// Number writes the indices.
struct Number {
    using Value = u32;
    u64 to;
    u32 base;
    METHOD u32 value(u32 index) const { return index + base; }
    METHOD void put(u32 i, u32 value) const { store<u32>(to + (u64)i * 4, value); }
};

// expand writes the indices of a queue. The expanding threads call it. An index outside of the dictionary
// is not written.
template <typename Output> DEVICE void expand(const Queue &queue, u32 width, u32 values, Outcome *outcome, Output out) {
    constexpr int count = 4;
    bool outside = false;
#pragma nounroll
    for (u32 i = queue.begin + thread_in_block(); i < queue.end; i += count * expanding) {
        u32 indices[count];
        typename Output::Value list[count];
        queue.at(i, expanding, width, indices);
#pragma unroll
        for (int k = 0; k < count; k++) {
            outside = outside || indices[k] >= values;
            if (indices[k] < values)
                list[k] = out.value(indices[k]);
        }
#pragma unroll
        for (int k = 0; k < count; k++)
            if (indices[k] < values && i + k * expanding < queue.end)
                out.put(i + k * expanding, list[k]);
    }
    if (outside)
        damage(outcome, bad_index);
}

// decode_indices decodes the indices of listed pages, a block for each: into values of the column if no row is
// null, else into indices of the rows that are not.
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
    const bool direct = valid == page.rows && page.form != text && page.form != boolean && page.form != instant;
    const u64 dictionary = page.dictionary == none ? 0 : pages[page.dictionary].to;
    Runs runs(from, to, width, valid);
    const bool lists = thread_in_block() >= expanding;
    if (lists)
        runs.list(queue[0]);
    synchronize_block();
#pragma nounroll
    for (u32 k = 0; queue[k].begin != queue[k].end; k ^= 1) {
        const Queue &now = queue[k];
        if (lists)
            runs.list(queue[k ^ 1]);
        else {
            if (!direct)
                expand(now, width, values, outcome, Number{page.dense, 0});
            else
                switch (page.form) {
                case copied4:
                    expand(now, width, values, outcome, Gather<u32>{page.to + page.row * 4, dictionary});
                    break;
                case copied8:
                    expand(now, width, values, outcome, Gather<u64>{page.to + page.row * 8, dictionary});
                    break;
                case narrowed1:
                    expand(now, width, values, outcome, Gather<u8>{page.to + page.row, dictionary});
                    break;
                case narrowed2:
                    expand(now, width, values, outcome, Gather<u16>{page.to + page.row * 2, dictionary});
                    break;
                case code:
                    expand(now, width, values, outcome, Number{page.to + page.row * 4, page.base});
                    break;
                default:
                    expand(now, width, values, outcome, Gather<Wide>{page.to + page.row * 16, dictionary});
                }
        }
        synchronize_block();
    }
    if (thread_in_block() == expanding && runs.status != 0)
        damage(outcome, runs.status);
}
