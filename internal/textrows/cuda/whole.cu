// Rewrites the bytes of a column of strings as one text, in chunks of 16 bytes in the order
// of the memory: see whole.go.
#include "../../codegen/math.cuh"
#undef FUNCTION
#define FUNCTION static inline __device__ __attribute__((noinline)) // functions that are not called are left out
#include "../../codegen/text.cuh"
#include "bitrow.cuh"
#include "rewrite.cuh"
#include "sizes.cuh"

// Whole is a column of strings without the nulls.
struct Whole {
    const void *offsets;
    const u8 *data;
    u64 extent; // of data, in bytes
    const i64 *counted;
    u64 rows;
    u32 width; // of an offset
};

// Literal is up to 32 bytes. Those after the last one are zero.
struct Literal {
    u64 word[4];
    u64 length;
};

// Range is the bytes of the rows. Places are counted from base, a multiple of 16: the bytes
// are at lead to before limit.
struct Range {
    u64 begin, end, base, lead, limit;
};

static constexpr u64 chunk_bytes = 16, group_chunks = 8, tile_chunks = 2048; // a tile of hits
static constexpr u32 output_words = 3072;                                    // of a block in shared memory

DEVICE u64 offset_at(const Whole &whole, u64 row) { return whole.width == 4 ? (u64)((const i32 *)whole.offsets)[row] : ((const u64 *)whole.offsets)[row]; }

DEVICE u64 rows_of(const Whole &whole) { return device_rows(whole.counted, (i64)whole.rows); }

DEVICE Range range_of(const Whole &whole) {
    u64 begin = offset_at(whole, 0), end = offset_at(whole, rows_of(whole));
    if (begin > end || end > whole.extent)
        begin = end = 0; // an unsound column
    const u64 base = ((u64)whole.data + begin) & ~(chunk_bytes - 1), lead = (u64)whole.data + begin - base;
    return {begin, end, base, lead, lead + end - begin};
}

// inside limits an offset to the range.
DEVICE u64 inside(const Range &range, u64 offset) { return offset < range.begin ? 0 : (offset > range.end ? range.end : offset) - range.begin; }

struct Chunk {
    u64 low, high;
};

DEVICE Buffer buffer_of(const Whole &whole) { return {(u64)whole.data, (u64)whole.data + whole.extent}; }

// chunk_at loads an aligned chunk; bytes outside of the data are zero.
DEVICE Chunk chunk_at(const Whole &whole, u64 address) {
    const Buffer buffer = buffer_of(whole);
    if (address >= buffer.begin && address + chunk_bytes <= buffer.end) {
        const Vector<u64, 2> words = load_whole((const Vector<u64, 2> *)address);
        return {words.lane[0], words.lane[1]};
    }
    return {aligned_word(address, buffer), aligned_word(address + 8, buffer)};
}

// Inner is the chunks that are in the data, with a number of bytes after them.
struct Inner {
    u64 first, count;

    inline __device__ __attribute__((always_inline)) bool has(u64 chunk) const { return chunk - first < count; }
};

DEVICE Inner inner_of(const Whole &whole, const Range &range, u64 more) {
    const u64 begin = (u64)whole.data, end = begin + whole.extent, first = range.base < begin ? 1 : 0, needed = range.base + first * chunk_bytes + more;
    return {first, end > needed ? (end - needed) / chunk_bytes : 0};
}

// whole_bounds writes the first offset, and that behind the last row.
KERNEL whole_bounds(u64 *bounds, Whole whole) {
    const Range range = range_of(whole);
    bounds[0] = range.begin, bounds[1] = range.end;
}

// set_offset writes an offset of the width of the column's.
DEVICE void set_offset(void *offsets, const Whole &whole, u64 i, u64 offset) {
    if (whole.width == 4)
        ((u32 *)offsets)[i] = (u32)offset;
    else
        ((u64 *)offsets)[i] = offset;
}

// whole_case changes the case of characters below 128, and sets a flag if there are others.
KERNEL LAUNCH_BOUNDS(block_threads) whole_case(u8 *out, u32 *others, Whole whole, u32 to_upper) {
    const Range range = range_of(whole);
    const Buffer buffer = buffer_of(whole);
    const u64 total = range.end - range.begin;
    bool ascii = true;
    for (u64 at = thread_in_grid() * chunk_bytes; at < total; at += threads_per_grid() * chunk_bytes) {
        const u64 address = range.base + range.lead + at, left = total - at;
        Chunk chunk;
        if (range.lead == 0)
            chunk = chunk_at(whole, address);
        else
            chunk = {text_word(address, 8, buffer), left > 8 ? text_word(address + 8, 8, buffer) : 0};
        if (left < 8)
            chunk.low &= (1ull << 8 * left) - 1;
        if (left < chunk_bytes)
            chunk.high &= left <= 8 ? 0 : (1ull << 8 * (left - 8)) - 1;
        ascii &= ((chunk.low | chunk.high) & high_bits) == 0;
        *(Vector<u64, 2> *)(out + at) = {{cased_word(chunk.low, to_upper != 0), cased_word(chunk.high, to_upper != 0)}};
    }
    if (!ascii)
        *others = 1;
}

// nibble is the highest bits of the bytes of a word.
DEVICE u32 nibble(u32 word) { return (word >> 7 & 0x01010101) * 0x01020408 >> 24 & 0xf; }

// whole_find writes a bit for each place at which a literal begins: a hit. Hits may reach
// into the next row.
KERNEL LAUNCH_BOUNDS(block_threads) whole_find(u16 *hits, Whole whole, Literal literal) {
    const Range range = range_of(whole);
    const Buffer buffer = buffer_of(whole);
    const Inner inner = inner_of(whole, range, 4);
    const Prefix prefix = prefix_of(literal.word[0], literal.length);
    const u64 chunks = (range.limit + tile_chunks * chunk_bytes - 1) / (tile_chunks * chunk_bytes) * tile_chunks;
    for (u64 at = thread_in_grid(); at < chunks; at += threads_per_grid()) {
        const u64 address = range.base + at * chunk_bytes, place = at * chunk_bytes;
        Chunk chunk;
        u32 next;
        if (inner.has(at)) {
            const Vector<u64, 2> bytes = load_whole((const Vector<u64, 2> *)address);
            chunk = {bytes.lane[0], bytes.lane[1]};
            next = *(const u32 *)(address + chunk_bytes);
        } else {
            chunk = {aligned_word(address, buffer), aligned_word(address + 8, buffer)};
            next = (u32)aligned_word(address + chunk_bytes, buffer);
        }
        const u32 words[5] = {(u32)chunk.low, (u32)(chunk.low >> 32), (u32)chunk.high, (u32)(chunk.high >> 32), next};
        u32 marks[4];
#pragma unroll
        for (u32 k = 0; k < 4; k++)
            marks[k] = beginnings(prefix, words[k], words[k + 1]);
        if ((marks[0] | marks[1] | marks[2] | marks[3]) == 0) {
            hits[at] = 0;
            continue;
        }
        u32 found = nibble(marks[0]) | nibble(marks[1]) << 4 | nibble(marks[2]) << 8 | nibble(marks[3]) << 12;
        if (place < range.lead)
            found &= ~0u << (range.lead - place);
        const u64 least = place + literal.length;
        if (least + chunk_bytes - 1 > range.limit)
            found &= least > range.limit ? 0 : low_bits((u32)(range.limit - least) + 1);
        if (literal.length > 4) {
#pragma nounroll
            for (u32 rest = found; rest != 0; rest &= rest - 1) {
                const u32 k = (u32)__builtin_ctz(rest);
                bool same = true;
#pragma nounroll
                for (u32 i = 0; 8 * i < literal.length && same; i++)
                    same = gpuframe_text_word(address + k + 8 * i, literal.length - 8 * i, buffer.begin, buffer.end) == literal.word[i];
                if (!same)
                    found &= ~(1u << k);
            }
        }
        hits[at] = (u16)found;
    }
}

DEVICE void clear_bits(u32 *word, u32 bits) {
    u32 old;
    asm volatile("atom.global.and.b32 %0, [%1], %2;" : "=r"(old) : "l"((__attribute__((address_space(1))) u32 *)word), "r"(~bits) : "memory");
}

// whole_clear removes the hits that begin in one row and end in another.
KERNEL LAUNCH_BOUNDS(block_threads) whole_clear(u32 *hits, Whole whole, u64 length) {
    const Range range = range_of(whole);
    const u64 rows = rows_of(whole);
    for (u64 i = thread_in_grid(); i < rows; i += threads_per_grid()) {
        const u64 end = range.lead + inside(range, offset_at(whole, i + 1)), ahead = end < length - 1 ? end : length - 1;
        const u64 first = end - ahead;
        if (ahead == 0 || end >= range.limit)
            continue;
        const u64 crossing = ((1ull << ahead) - 1) << first % 32;
        if (((u32)crossing & hits[first / 32]) != 0)
            clear_bits(hits + first / 32, (u32)crossing);
        if (crossing >> 32 != 0 && ((u32)(crossing >> 32) & hits[first / 32 + 1]) != 0)
            clear_bits(hits + first / 32 + 1, (u32)(crossing >> 32));
    }
}

// whole_count counts the hits of a tile and of those before each of its groups. The block
// after the tiles writes the range behind the sums.
KERNEL LAUNCH_BOUNDS(block_threads) whole_count(u64 *sums, u16 *groups, const Vector<u64, 2> *hits, u64 tiles, Whole whole) {
    const Range range = range_of(whole);
    const u64 tile = block_in_grid(), group = tile * block_threads + thread_in_block();
    if (tile == tiles) {
        if (thread_in_block() == 0)
            sums[tiles + 1] = range.begin, sums[tiles + 2] = range.end;
        return;
    }
    u64 here = 0, total;
    if (tile * tile_chunks * chunk_bytes < range.limit) {
        const Vector<u64, 2> words = hits[group];
        here = (u64)__builtin_popcountll(words.lane[0]) + (u64)__builtin_popcountll(words.lane[1]);
    }
    groups[group] = (u16)add_before(here, total);
    if (thread_in_block() == 0)
        sums[tile] = total;
}

// Hits is the result of the kernels above.
struct Hits {
    const u64 *sums;
    const u16 *groups;
    const u64 *bits;
};

// before counts the hits before a place.
DEVICE u64 before(const Hits &hits, u64 place) {
    const u64 chunk = place / chunk_bytes, group = chunk / group_chunks, word = place / 64;
    u64 count = hits.sums[chunk / tile_chunks] + hits.groups[group];
    if (word % 2 != 0)
        count += (u64)__builtin_popcountll(hits.bits[word - 1]);
    return count + (u64)__builtin_popcountll(hits.bits[word] & ((1ull << place % 64) - 1));
}

// place_after is the place in the result of the byte at a place, of a hit that is replaced by
// a number of bytes more than it has.
DEVICE i64 place_after(const Range &range, u64 place, u64 hits, i64 more) { return (i64)(place - range.lead) + more * (i64)hits; }

// through counts the hits before a place or at it. The last place of a range has a bit, the
// one after it may have none.
DEVICE u64 through(const Hits &hits, u64 place) { return before(hits, place) + (hits.bits[place / 64] >> place % 64 & 1); }

// whole_offsets writes the offsets of a result with the same bytes, or with others in place
// of the hits.
KERNEL LAUNCH_BOUNDS(block_threads) whole_offsets(void *offsets, Hits hits, Whole whole, i64 more) {
    const Range range = range_of(whole);
    const u64 rows = rows_of(whole);
    for (u64 i = thread_in_grid(); i <= whole.rows; i += threads_per_grid()) {
        const u64 at = inside(range, offset_at(whole, i < rows ? i : rows));
        const u64 count = at == 0 || more == 0 ? 0 : through(hits, range.lead + at - 1);
        set_offset(offsets, whole, i, (u64)place_after(range, range.lead + at, count, more));
    }
}

// whole_parts writes the numbers of the first parts of rows, and the offsets of the parts
// between hits.
KERNEL LAUNCH_BOUNDS(block_threads) whole_parts(void *parts, i32 *lists, Hits hits, Whole whole, u64 length) {
    const Range range = range_of(whole);
    const u64 rows = rows_of(whole);
    for (u64 i = thread_in_grid(); i <= whole.rows; i += threads_per_grid()) {
        const u64 first = range.lead + inside(range, offset_at(whole, i < rows ? i : rows));
        u64 count = first == range.lead ? 0 : through(hits, first - 1);
        lists[i] = (i32)(i + count);
        set_offset(parts, whole, i + count, (u64)place_after(range, first, count, -(i64)length));
        if (i >= rows)
            continue;
        const u64 end = range.lead + inside(range, offset_at(whole, i + 1));
#pragma nounroll
        for (u64 at = first; at < end; at = (at | 63) + 1) {
            u64 word = hits.bits[at / 64] & ~0ull << at % 64;
            if ((end - 1) / 64 == at / 64)
                word &= ~0ull >> (63 - (end - 1) % 64);
#pragma nounroll
            for (; word != 0; word &= word - 1) {
                count++;
                const u64 place = (at & ~63ull) + (u64)__builtin_ctzll(word) + length;
                set_offset(parts, whole, i + count, (u64)place_after(range, place, count, -(i64)length));
            }
        }
    }
}

// set_bits sets bits of a word in shared memory.
DEVICE void set_bits(u32 *word, u32 bits) {
    u32 old;
    asm volatile("atom.shared.or.b32 %0, [%1], %2;" : "=r"(old) : "r"((u32)(u64)(__attribute__((address_space(3))) u32 *)word), "r"(bits) : "memory");
}

// put writes up to 16 bytes of a block's output in shared memory. Words that have bytes of
// several calls are united; they are zero at first. Bytes after the last one are zero.
DEVICE void put(u32 *words, u32 at, u64 low, u64 high, u32 count) {
    const u32 shift = (at & 3) * 8, behind = (at & 3) + count;
    const u64 a = low << shift, b = shift ? high << shift | low >> (64 - shift) : high, c = shift ? high >> (64 - shift) : 0;
    const u32 word[5] = {(u32)a, (u32)(a >> 32), (u32)b, (u32)(b >> 32), (u32)c};
#pragma unroll
    for (u32 k = 0; k < 5; k++) {
        if (4 * k >= behind)
            break;
        if ((k > 0 || shift == 0) && 4 * k + 4 <= behind)
            words[at / 4 + k] = word[k];
        else
            set_bits(words + at / 4 + k, word[k]);
    }
}

// bytes_from returns the bytes of a chunk from one of them to before another; the others
// are zero.
DEVICE Chunk bytes_from(const Chunk &chunk, u32 from, u32 to) {
    const u32 shift = from % 8 * 8, count = to - from;
    u64 low = from < 8 ? chunk.low : chunk.high, high = from < 8 ? chunk.high : 0;
    if (shift)
        low = low >> shift | high << (64 - shift), high >>= shift;
    if (count < 8)
        return {low & ((1ull << 8 * count) - 1), 0};
    return {low, count < 16 ? high & ((1ull << 8 * (count - 8)) - 1) : high};
}

// whole_replace writes the bytes with another literal in place of the hits. A thread takes
// a chunk, and a block assembles the result of its chunks in shared memory.
KERNEL LAUNCH_BOUNDS(block_threads) whole_replace(u8 *out, Hits hits, Whole whole, u64 old_length, Literal with) {
    static __shared__ u32 words[output_words];
    static __shared__ i64 ends[2];
    const Range range = range_of(whole);
    const i64 more = (i64)with.length - (i64)old_length;
    const u32 thread = thread_in_block();
    const Inner inner = inner_of(whole, range, 0);
    const u32 length = (u32)old_length, with_length = (u32)with.length;
#pragma nounroll
    for (u64 first = (u64)block_in_grid() * block_threads; first * chunk_bytes < range.limit; first += (u64)blocks_per_grid() * block_threads) {
        const u64 at = first + thread;
        const u32 left = range.limit - first * chunk_bytes < 1u << 30 ? (u32)(range.limit - first * chunk_bytes) : 1u << 30;
        const u32 skipped = first == 0 ? (u32)range.lead : 0, place = thread * (u32)chunk_bytes; // in the block's bytes
        // The result of the block's first byte, and the hits before it. A tile of hits has
        // all hits of the block.
        const u64 ahead_of_block = hits.sums[first / tile_chunks] + hits.groups[first / group_chunks];
        const i64 origin = place_after(range, first * chunk_bytes + skipped, ahead_of_block, more) - skipped;
        // The bytes from one to before another, without the rest of a hit of a chunk before.
        u32 from = 0, to = 0, found = 0;
        Chunk chunk = {0, 0};
        i32 begin = 0, end = 0; // relative to origin
        const bool active = place < left;
        if (active) {
            if (inner.has(at)) {
                const Vector<u64, 2> bytes = load_whole((const Vector<u64, 2> *)(range.base + at * chunk_bytes));
                chunk = {bytes.lane[0], bytes.lane[1]};
            } else
                chunk = chunk_at(whole, range.base + at * chunk_bytes);
            const Vector<u64, 2> group = load_whole((const Vector<u64, 2> *)hits.bits + at / group_chunks);
            const u32 bit = thread % group_chunks * 16;
            const u64 word = bit < 64 ? group.lane[0] : group.lane[1], below = word & ((1ull << bit % 64) - 1);
            found = (u32)(word >> bit % 64) & 0xffff;
            const u32 count = hits.groups[at / group_chunks] - hits.groups[first / group_chunks] + (u32)__builtin_popcountll(below) +
                              (bit < 64 ? 0 : (u32)__builtin_popcountll(group.lane[0]));
            from = thread == 0 ? skipped : 0;
            if (length > 1) {
                const u32 ahead = (at > 0 ? (u32)((const u16 *)hits.bits)[at - 1] << 16 : 0) | (at > 1 ? ((const u16 *)hits.bits)[at - 2] : 0);
                const u32 distance = ahead ? (u32)__builtin_clz(ahead) + 1 : 32;
                if (ahead && length > distance)
                    from = length - distance;
            }
            to = left - place < chunk_bytes ? left - place : (u32)chunk_bytes;
            begin = (i32)(place + from) + (i32)more * (i32)count;
            u32 behind = from > to ? from : to;
            if (found && 32 - (u32)__builtin_clz(found) + length - 1 > behind)
                behind = 32 - (u32)__builtin_clz(found) + length - 1;
            end = (i32)(place + behind) + (i32)more * (i32)(count + (u32)__builtin_popcount(found));
        }
        if (thread == 0)
            ends[0] = origin + begin;
        if (active && (thread == block_threads - 1 || place + chunk_bytes >= left))
            ends[1] = origin + end;
        synchronize_block();
        const u64 low = (u64)ends[0] & ~(chunk_bytes - 1), high = (u64)ends[1];
        const u32 size = (u32)(high - low), before_block = (u32)((u64)ends[0] - low);
        const bool fits = high - low <= 4 * output_words;
        begin += (i32)(origin - (i64)low);
        if (fits) {
            for (u32 i = thread; i < (size + 3) / 4; i += block_threads)
                words[i] = 0;
            synchronize_block();
        }
        const auto emit = [&](const Chunk &bytes, u32 count) {
            if (fits)
                put(words, (u32)begin, bytes.low, bytes.high, count);
            else {
#pragma nounroll
                for (u32 i = 0; i < count; i++)
                    out[low + (u32)begin + i] = (u8)((i < 8 ? bytes.low : bytes.high) >> i % 8 * 8);
            }
            begin += count;
        };
#pragma nounroll
        while (from < to) {
            const u32 hit = found ? (u32)__builtin_ctz(found) : to;
            if (hit > from)
                emit(bytes_from(chunk, from, hit), hit - from);
            from = hit;
            if (found == 0)
                continue;
            found &= found - 1;
            from = hit + length;
#pragma nounroll
            for (u32 i = 0; i < with_length; i += 16)
                emit({with.word[i / 8], with.word[i / 8 + 1]}, with_length - i < 16 ? with_length - i : 16);
        }
        synchronize_block();
        if (fits) {
#pragma nounroll
            for (u32 i = thread * (u32)chunk_bytes; i < size; i += block_threads * (u32)chunk_bytes) {
                const u32 *word = words + i / 4;
                if (i >= before_block && i + chunk_bytes <= size) {
                    store_whole((Vector<u32, 4> *)(out + low + i), Vector<u32, 4>{{word[0], word[1], word[2], word[3]}});
                    continue;
                }
                for (u32 k = 0; k < chunk_bytes; k++)
                    if (i + k >= before_block && i + k < size)
                        out[low + i + k] = (u8)(word[k / 4] >> k % 4 * 8);
            }
        }
        synchronize_block();
    }
}
