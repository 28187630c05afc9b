// Makes columns of strings. The first kernel computes the length of each row, the second
// adds up the sums of its blocks, and the third turns the lengths into offsets. The last
// one copies the bytes.
#include "sixteen.cuh"
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

// copy_words assigns 16 bytes of the result to each thread, so that long and short strings
// cost the same and every store is full. The bytes from first to last are of two rows and
// those between them.
template <typename T>
DEVICE void copy_words(u8 *out, const T *__restrict__ offsets, u64 lowest, u64 highest, u64 first, u64 last, u32 each, const Layout &layout, const Text &text) {
#pragma nounroll
    for (u32 k = 0; k < each; k++) {
        const u64 at = first + (thread_in_block() + k * block_threads) * 16;
        if (at > last)
            return;
        const u64 count = last + 1 - at < 16 ? last + 1 - at : 16;
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

// write_copies copies the parts of rows.
template <typename T> DEVICE void write_copies(u8 *out, const T *__restrict__ offsets, u64 rows, u64 total, const Layout &layout, const Text &text) {
    static __shared__ u64 between[2];
    constexpr u64 span = block_threads * items * 16;
    const u64 first = (u64)block_in_grid() * span;
    const u64 last = (first + span < total ? first + span : total) - 1;
    if (thread_in_block() < 2)
        between[thread_in_block()] = place_of(offsets, 0, rows, thread_in_block() == 0 ? first : last);
    synchronize_block();
    copy_words(out, offsets, between[0], between[1], first, last, items, layout, text);
}

// warp_place_of is place_of by the lanes of a warp, each of which reads an offset.
template <typename T> DEVICE u64 warp_place_of(const T *offsets, u64 low, u64 high, u64 position) {
    while (high - low > 1) {
        const u64 step = (high - low + warp_threads - 1) / warp_threads, probe = low + lane_in_warp() * step;
        const u32 before = ballot(probe < high && (u64)offsets[probe] <= position);
        low += (u64)(__builtin_popcount(before) - 1) * step;
        high = low + step < high ? low + step : high;
    }
    return low;
}

static constexpr u32 staged_rows = 1024;
static constexpr u64 at_an_end = 1ull << 63;

// global_sixteen loads 16 bytes of global memory from any of them on.
DEVICE Sixteen global_sixteen(u64 address) {
    const auto *words = (const __attribute__((address_space(1))) u64 *)(address & ~7ull);
    return sixteen_from(words[0], words[1], words[2], (u32)address & 7);
}

// end_sixteen returns bytes of a row behind a number of others.
static __device__ __attribute__((noinline)) Sixteen end_sixteen(u64 begin, u64 end, u64 address, u32 count, u32 done) {
    const Buffer buffer = {begin, end};
    const u64 low = text_word(address, count < 8 ? count : 8, buffer), high = count > 8 ? text_word(address + 8, count - 8, buffer) : 0;
    const u32 shift = done % 8 * 8;
    const u64 a = low << shift, b = shift ? high << shift | low >> (64 - shift) : high;
    return done < 8 ? Sixteen{{(u32)a, (u32)(a >> 32), (u32)b, (u32)(b >> 32)}} : Sixteen{{0, 0, (u32)a, (u32)(a >> 32)}};
}

// write_rows copies one part of each row, which is in a column. Blocks take some multiples of
// 16 bytes of the result, as write_copies. They keep in shared memory where their rows begin
// in the result, and the address from which to read the first byte of the block's result if
// the row began there. Rows that are close to an end of their memory are read by the word.
template <typename T>
DEVICE void write_rows(u8 *out, const T *__restrict__ offsets, u64 rows, u64 total, u32 each, const Layout &layout, const Text &text) {
    static __shared__ u64 between[2];
    static __shared__ u64 addresses[staged_rows];
    static __shared__ u32 begins[staged_rows];
    const u64 span = (u64)block_threads * 16 * each, first = (u64)block_in_grid() * span;
    const u64 last = (first + span < total ? first + span : total) - 1;
    const u32 thread = thread_in_block();
    if (thread < 2 * warp_threads) {
        const u64 row = warp_place_of(offsets, 0, rows, thread < warp_threads ? first : last);
        if (lane_in_warp() == 0)
            between[thread / warp_threads] = row;
    }
    synchronize_block();
    const u64 lowest = between[0], highest = between[1];
    if (highest - lowest >= staged_rows) {
        copy_words(out, offsets, lowest, highest, first, last, each, layout, text);
        return;
    }
    const u32 count = (u32)(highest - lowest) + 1;
#pragma nounroll
    for (u32 i = thread; i < count; i += block_threads) {
        const u64 place = place_in(text, 0, lowest + i), begin = (u64)offsets[lowest + i], length = (u64)offsets[lowest + i + 1] - begin;
        const u32 source = layout.sources + 2 * (u32)(place >> 56);
        const u64 memory = text.word[source], end = text.word[source + 1], offset = place & place_bits;
        u64 address = memory + offset + first - begin;
        if (offset < 24 || offset + length + 24 > end - memory)
            address |= at_an_end;
        addresses[i] = address;
        begins[i] = begin < first ? 0 : (u32)(begin - first);
    }
    synchronize_block();
#pragma nounroll
    for (u32 k = 0; k < each; k++) {
        const u32 at = (thread + k * block_threads) * 16;
        if (at > last - first)
            return;
        const u64 left = last + 1 - first - at;
        const u32 wanted = left < 16 ? (u32)left : 16;
        u32 row = 0; // the last one that does not begin behind the position
#pragma nounroll
        for (u32 step = 1u << (31 - (u32)__builtin_clz(count)); step != 0; step /= 2)
            if (row + step < count && begins[row + step] <= at)
                row += step;
        Sixteen bytes = {};
#pragma nounroll
        for (u32 done = 0; done < wanted; row++) {
            const u32 behind = row + 1 < count ? begins[row + 1] - at : 16; // where the row ends
            if (behind == done)
                continue; // an empty row
            const u64 address = addresses[row];
            const u32 piece = (behind < wanted ? behind : wanted) - done;
            if (address < at_an_end)
                replace_behind(bytes, global_sixteen(address + at), done);
            else {
                const u32 source = layout.sources + 2 * (u32)(place_in(text, 0, lowest + row) >> 56);
                replace_behind(bytes, end_sixteen(text.word[source], text.word[source + 1], (u64)((i64)(address << 1) >> 1) + at + done, piece, done), done);
            }
            done += piece;
        }
        store_whole((Vector<u32, 4> *)(out + first + at), Vector<u32, 4>{{bytes.word[0], bytes.word[1], bytes.word[2], bytes.word[3]}});
    }
}

#define FOR_OFFSETS(width, T)                                 \
    KERNEL LAUNCH_BOUNDS(block_threads) text_offsets_##width(T *offsets, const u64 *lengths, const u64 *sums, u64 rows) { \
        write_offsets(offsets, lengths, sums, rows);          \
    }                                                         \
    KERNEL LAUNCH_BOUNDS(block_threads) text_copy_##width(u8 *out, const T *offsets, u64 rows, u64 total, Layout layout, Text text) { \
        write_copies(out, offsets, rows, total, layout, text); \
    }                                                         \
    KERNEL LAUNCH_BOUNDS(block_threads) text_copy_rows_##width(u8 *out, const T *offsets, u64 rows, u64 total, u32 each, Layout layout, Text text) { \
        write_rows(out, offsets, rows, total, each, layout, text); \
    }

FOR_OFFSETS(4, u32)
FOR_OFFSETS(8, u64)
