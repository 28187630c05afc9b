// Makes columns of strings. The first kernel computes the length of each row, the second
// adds up the sums of its blocks, and the third turns the lengths into offsets. The last
// one copies the bytes.
#include "sizes.cuh"

// text_sizes adds up the lengths of the parts.
KERNEL LAUNCH_BOUNDS(block_threads)
    text_sizes(u64 *lengths, u64 *sums, u32 *out_valid, const u32 *valid, const i64 *rows, u64 capacity, Layout layout, Text text) {
    write_sizes(lengths, sums, out_valid, valid, rows, capacity, [&](u64 row) {
        u64 length = 0;
#pragma nounroll
        for (u32 part = 0; part < layout.parts; part++)
            length += length_of(text, layout, part, row);
        return length;
    });
}

// text_add_sums turns the sums of count blocks into the sum before each, with the total
// after them. One block; a thread takes several sums, because each round waits for memory.
KERNEL LAUNCH_BOUNDS(block_threads) text_add_sums(u64 *sums, u64 count) {
    constexpr u32 each = 16;
    u64 ahead = 0;
#pragma nounroll
    for (u64 first = 0; first < count; first += block_threads * each) {
        const u64 at = first + thread_in_block() * each;
        u64 value[each], sum = 0, total;
#pragma unroll
        for (u32 k = 0; k < each; k++) {
            value[k] = at + k < count ? sums[at + k] : 0;
            sum += value[k];
        }
        u64 before = ahead + add_before(sum, total);
#pragma unroll
        for (u32 k = 0; k < each; k++) {
            if (at + k < count)
                sums[at + k] = before;
            before += value[k];
        }
        ahead += total;
    }
    if (thread_in_block() == 0)
        sums[count] = ahead;
}

template <typename T> DEVICE void write_offsets(T *offsets, const u64 *lengths, const u64 *sums, u64 rows) {
    const u64 first = (u64)block_in_grid() * tile + thread_in_block() * items;
    u64 length[items], sum = 0, total;
#pragma unroll
    for (u32 k = 0; k < items; k++) {
        length[k] = first + k < rows ? lengths[first + k] : 0;
        sum += length[k];
    }
    u64 offset = sums[block_in_grid()] + add_before(sum, total);
#pragma unroll
    for (u32 k = 0; k < items; k++) {
        if (first + k <= rows)
            offsets[first + k] = (T)offset;
        offset += length[k];
    }
}

// place_of returns the index, from low to high, of the last offset that is not beyond a
// position; the offset at high is beyond it. So empty rows are skipped.
template <typename T> DEVICE u64 place_of(const T *offsets, u64 low, u64 high, u64 position) {
    while (high - low > 1) {
        const u64 middle = low + (high - low) / 2;
        if ((u64)offsets[middle] <= position)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// write_copies assigns 16 bytes of the result to each thread, so that long and short
// strings cost the same and every store is full.
template <typename T> DEVICE void write_copies(u8 *out, const T *__restrict__ offsets, u64 rows, u64 total, const Layout &layout, const Text &text) {
    static __shared__ u64 between[2];
    constexpr u64 span = block_threads * items * 16;
    const u64 first = (u64)block_in_grid() * span;
    const u64 last = (first + span < total ? first + span : total) - 1;
    if (thread_in_block() < 2)
        between[thread_in_block()] = place_of(offsets, 0, rows, thread_in_block() == 0 ? first : last);
    synchronize_block();
    const u64 lowest = between[0], highest = between[1];
#pragma nounroll
    for (u32 k = 0; k < items; k++) {
        const u64 at = first + (thread_in_block() + k * block_threads) * 16;
        if (at > last)
            return;
        const u64 count = total - at < 16 ? total - at : 16;
        u64 row = place_of(offsets, lowest, highest + 1, at);
        u64 low = 0, high = 0, from = at - (u64)offsets[row];
        u32 part = 0;
#pragma nounroll
        for (u64 done = 0; done < count;) {
            if (part == layout.parts) {
                row = place_of(offsets, row, highest + 1, at + done);
                part = 0, from = 0;
            }
            const u64 length = length_of(text, layout, part, row);
            if (from >= length) {
                from -= length;
                part++;
                continue;
            }
            u64 bytes = length - from < count - done ? length - from : count - done;
            bytes = bytes < 8 ? bytes : 8;
            const u64 x = bytes_at(text, layout, place_in(text, part, row), from, bytes);
            if (done < 8) {
                low |= x << 8 * done;
                high |= done == 0 ? 0 : x >> (64 - 8 * done);
            } else
                high |= x << (8 * done - 64);
            done += bytes;
            from += bytes;
        }
        *(Vector<u64, 2> *)(out + at) = {{low, high}};
    }
}

#define FOR_OFFSETS(width, T)                                 \
    KERNEL LAUNCH_BOUNDS(block_threads) text_offsets_##width(T *offsets, const u64 *lengths, const u64 *sums, u64 rows) { \
        write_offsets(offsets, lengths, sums, rows);          \
    }                                                         \
    KERNEL LAUNCH_BOUNDS(block_threads) text_copy_##width(u8 *out, const T *offsets, u64 rows, u64 total, Layout layout, Text text) { \
        write_copies(out, offsets, rows, total, layout, text); \
    }

FOR_OFFSETS(4, u32)
FOR_OFFSETS(8, u64)
