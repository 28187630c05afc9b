// Rewrites the bytes of a column of strings as one text, in chunks of 16 bytes in the order
// of the memory: see whole.go.
#include "../../codegen/math.cuh"
#undef FUNCTION
#define FUNCTION static inline __device__ __attribute__((noinline)) // functions that are not called are left out
#include "../../codegen/text.cuh"
#include "bitrow.cuh"
#include "rewrite.cuh"
#include "sixteen.cuh"
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

// Wanted is a literal that is looked for, and its first bytes in the form of comparisons.
struct Wanted {
    const Literal &literal;
    Prefix first, second;
};

DEVICE Wanted wanted_of(const Literal &literal) {
    return {literal, prefix_of(literal.word[0], literal.length), prefix_of(literal.word[0] >> 32, literal.length > 4 ? literal.length - 4 : 1)};
}

// Window is a chunk and the eight bytes behind it.
struct Window {
    Chunk chunk;
    u64 next;
};

DEVICE Window window_at(const Whole &whole, const Range &range, const Inner &inner, u64 at) {
    const u64 address = range.base + at * chunk_bytes;
    if (inner.has(at)) {
        const Vector<u64, 2> bytes = load_whole((const Vector<u64, 2> *)address);
        return {{bytes.lane[0], bytes.lane[1]}, *(const __attribute__((address_space(1))) u64 *)(address + chunk_bytes)};
    }
    const Buffer buffer = buffer_of(whole);
    return {{aligned_word(address, buffer), aligned_word(address + 8, buffer)}, aligned_word(address + chunk_bytes, buffer)};
}

// hits_in marks the bytes of a chunk at which the literal begins. It may end behind the range.
DEVICE u32 hits_in(const Whole &whole, const Range &range, const Wanted &wanted, const Window &window, u64 at) {
    const u32 words[6] = {(u32)window.chunk.low, (u32)(window.chunk.low >> 32), (u32)window.chunk.high, (u32)(window.chunk.high >> 32),
                          (u32)window.next, (u32)(window.next >> 32)};
    u32 marks[4];
#pragma unroll
    for (u32 k = 0; k < 4; k++)
        marks[k] = beginnings(wanted.first, words[k], words[k + 1]);
    if ((marks[0] | marks[1] | marks[2] | marks[3]) == 0)
        return 0;
    const u64 length = wanted.literal.length;
    if (length > 4) {
#pragma unroll
        for (u32 k = 0; k < 4; k++)
            marks[k] &= beginnings(wanted.second, words[k + 1], words[k + 2]);
    }
    u32 found = nibble(marks[0]) | nibble(marks[1]) << 4 | nibble(marks[2]) << 8 | nibble(marks[3]) << 12;
    if (length > 8) {
        const Buffer buffer = buffer_of(whole);
#pragma nounroll
        for (u32 rest = found; rest != 0; rest &= rest - 1) {
            const u64 address = range.base + at * chunk_bytes + (u64)__builtin_ctz(rest);
            bool same = true;
#pragma nounroll
            for (u32 i = 1; 8 * i < length && same; i++)
                same = gpuframe_text_word(address + 8 * i, length - 8 * i, buffer.begin, buffer.end) == wanted.literal.word[i];
            if (!same)
                found &= ~(rest & 0 - rest);
        }
    }
    return found;
}

// whole_find writes a bit for each place at which a literal begins: a hit. Hits may reach
// into the next row.
KERNEL LAUNCH_BOUNDS(block_threads) whole_find(u16 *hits, Whole whole, Literal literal) {
    const Range range = range_of(whole);
    const Inner inner = inner_of(whole, range, 8);
    const Wanted wanted = wanted_of(literal);
    const u64 chunks = (range.limit + tile_chunks * chunk_bytes - 1) / (tile_chunks * chunk_bytes) * tile_chunks;
    for (u64 at = thread_in_grid(); at < chunks; at += threads_per_grid()) {
        const u64 place = at * chunk_bytes;
        u32 found = hits_in(whole, range, wanted, window_at(whole, range, inner, at), at);
        if (found != 0) {
            if (place < range.lead)
                found &= ~0u << (range.lead - place);
            const u64 least = place + literal.length;
            if (least + chunk_bytes - 1 > range.limit)
                found &= least > range.limit ? 0 : low_bits((u32)(range.limit - least) + 1);
        }
        hits[at] = (u16)found;
    }
}

// set_bits sets bits of a word in shared memory.
DEVICE void set_bits(u32 *word, u32 bits) {
    u32 old;
    asm volatile("atom.shared.or.b32 %0, [%1], %2;" : "=r"(old) : "r"((u32)(u64)(__attribute__((address_space(3))) u32 *)word), "r"(bits) : "memory");
}

static constexpr u32 most_rows = 1024; // of a block of whole_contains

// whole_contains writes a bit for each row that has the literal. A block takes the chunks of
// some rows, whose number is a multiple of 32.
KERNEL LAUNCH_BOUNDS(block_threads) whole_contains(u32 *out, Whole whole, Literal literal, u32 block_rows) {
    static __shared__ u64 begins[most_rows + 1];
    static __shared__ u32 bits[most_rows / 32];
    const u64 first = (u64)block_in_grid() * block_rows, rows = rows_of(whole);
    const u32 thread = thread_in_block(), count = rows > first ? (rows - first < block_rows ? (u32)(rows - first) : block_rows) : 0;
    const Range range = range_of(whole);
    const Inner inner = inner_of(whole, range, 8);
    const Wanted wanted = wanted_of(literal);
    if (thread < block_rows / 32)
        bits[thread] = 0;
    for (u32 i = thread; i <= count; i += block_threads)
        begins[i] = range.lead + inside(range, offset_at(whole, first + i < rows ? first + i : rows));
    synchronize_block();
    const u64 begin = begins[0], end = begins[count];
    const f32 each = begin < end ? (f32)count / (f32)(end - begin) : 0;
    constexpr u32 together = 2;
#pragma nounroll
    for (u64 at = begin / chunk_bytes + thread; at * chunk_bytes < end; at += together * block_threads) {
        Window windows[together];
#pragma unroll
        for (u32 k = 0; k < together; k++)
            windows[k] = (at + k * block_threads) * chunk_bytes < end ? window_at(whole, range, inner, at + k * block_threads) : Window{};
#pragma unroll
        for (u32 k = 0; k < together; k++) {
            const u64 chunk = at + k * block_threads;
#pragma nounroll
            for (u32 found = hits_in(whole, range, wanted, windows[k], chunk); found != 0; found &= found - 1) {
                const u64 place = chunk * chunk_bytes + (u64)__builtin_ctz(found);
                if (place < begin || place + literal.length > end)
                    continue;
                // Rows of one length need no search.
                u32 row = (u32)((f32)(place - begin) * each);
                if (row >= count || begins[row] > place || begins[row + 1] <= place) {
                    row = 0;
                    for (u32 above = count; above - row > 1;) {
                        const u32 middle = (row + above) / 2;
                        if (begins[middle] <= place)
                            row = middle;
                        else
                            above = middle;
                    }
                }
                if (place + literal.length <= begins[row + 1])
                    set_bits(bits + row / 32, 1u << row % 32);
            }
        }
    }
    synchronize_block();
    if (thread < block_rows / 32 && first + thread * 32 < whole.rows)
        out[first / 32 + thread] = bits[thread];
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

// written_chunks is a block's part of the text, with 16 bytes before it, and the literal with
// 16 bytes before and behind it.
static constexpr u32 written_bytes = block_threads * (u32)chunk_bytes, literal_place = written_bytes + 2 * (u32)chunk_bytes,
                     written_chunks = literal_place / (u32)chunk_bytes + 4;

// shared_sixteen loads 16 bytes of shared memory from any of them on.
DEVICE Sixteen shared_sixteen(const Vector<u64, 2> *chunks, u32 at) {
    const u64 *words = (const u64 *)chunks + at / 8;
    return sixteen_from(words[0], words[1], words[2], at % 8);
}

// whole_replace writes the bytes with another literal in place of the hits. A block takes
// chunks of the text into shared memory, and makes a list of their hits. The text between two
// hits and the literal behind it are a segment. A thread finds the segment of 16 bytes of the
// result by a binary search, and assembles them from segments.
KERNEL LAUNCH_BOUNDS(block_threads) whole_replace(u8 *out, Hits hits, Whole whole, u64 old_length, Literal with) {
    static __shared__ Vector<u64, 2> text[written_chunks];
    static __shared__ u16 list[written_bytes];
    static __shared__ u32 listed;
    const Range range = range_of(whole);
    const Inner inner = inner_of(whole, range, 0);
    const u32 thread = thread_in_block(), length = (u32)old_length, with_length = (u32)with.length;
    const i32 more = (i32)with_length - (i32)length;
    if (thread < 2)
        text[literal_place / chunk_bytes + thread] = {{with.word[2 * thread], with.word[2 * thread + 1]}};
#pragma nounroll
    for (u64 first = (u64)block_in_grid() * block_threads; first * chunk_bytes < range.limit; first += (u64)blocks_per_grid() * block_threads) {
        const u64 at = first + thread, place = first * chunk_bytes, left = range.limit - place;
        // Tiles of hits are whole, so that chunks behind the text have bits.
        const Vector<u64, 2> group = load_whole((const Vector<u64, 2> *)hits.bits + at / group_chunks);
        const u32 before_block = hits.groups[first / group_chunks];
        u32 rank = hits.groups[at / group_chunks] - before_block;
        if (inner.has(at))
            text[1 + thread] = load_whole((const Vector<u64, 2> *)(range.base + at * chunk_bytes));
        else if (thread * chunk_bytes < left) {
            const Chunk chunk = chunk_at(whole, range.base + at * chunk_bytes);
            text[1 + thread] = {{chunk.low, chunk.high}};
        }
        const u32 bit = thread % group_chunks * 16;
        const u64 word = bit < 64 ? group.lane[0] : group.lane[1];
        rank += (u32)__builtin_popcountll(word & ((1ull << bit % 64) - 1)) + (bit < 64 ? 0 : (u32)__builtin_popcountll(group.lane[0]));
#pragma nounroll
        for (u32 found = (u32)(word >> bit % 64) & 0xffff; found != 0; found &= found - 1)
            list[rank++] = (u16)(thread * (u32)chunk_bytes + (u32)__builtin_ctz(found));
        if (thread == block_threads - 1)
            listed = rank;
        // The block's first bytes may be the rest of a hit before it.
        u32 from = first == 0 ? (u32)range.lead : 0;
        if (first != 0 && length > 1) {
            const u32 ahead = ((const u32 *)hits.bits)[place / 32 - 1], distance = ahead ? (u32)__builtin_clz(ahead) + 1 : 32;
            from = length > distance ? length - distance : 0;
        }
        const u64 origin = (u64)place_after(range, place + from, hits.sums[first / tile_chunks] + before_block, more);
        synchronize_block();
        const u32 count = listed;
        u32 end = left < written_bytes ? (u32)left : written_bytes;
        if (count != 0 && list[count - 1] + length > end)
            end = list[count - 1] + length;
        if (end < from)
            end = from;
        // Positions of the result are counted from a multiple of 16. The text of segment k is
        // there at its own places and base + more·k.
        const u32 skew = (u32)origin % (u32)chunk_bytes, size = skew + end - from + (u32)(more * (i32)count);
        u8 *to = out + (origin - skew);
        const i32 base = (i32)skew - (i32)from;
#pragma nounroll
        for (u32 x = thread * (u32)chunk_bytes; x < size; x += written_bytes) {
            const u32 position = x < skew ? skew : x, until = size - x < chunk_bytes ? size - x : (u32)chunk_bytes;
            u32 k = 0; // the last segment that does not begin behind the position
#pragma nounroll
            for (u32 step = count ? 1u << (31 - (u32)__builtin_clz(count)) : 0; step != 0; step /= 2) {
                const u32 next = k + step;
                if (next <= count && (i32)(list[next - 1] + length) + more * (i32)next + base <= (i32)position)
                    k = next;
            }
            u32 done = position - x, source = (u32)((i32)position - base - more * (i32)k), hit = k < count ? list[k] : ~0u >> 1;
            Sixteen bytes = {};
#pragma nounroll
            while (true) {
                const bool between = source < hit;
                const u32 from_literal = source - hit, place = between ? (u32)chunk_bytes + source : literal_place + from_literal;
                replace_behind(bytes, shared_sixteen(text, place - done), done);
                done += between ? hit - source : with_length - from_literal;
                if (done >= until)
                    break;
                source = hit;
                if (!between || with_length == 0) {
                    source = hit + length;
                    k++;
                    hit = k < count ? list[k] : ~0u >> 1;
                }
            }
            if (position == x && until == chunk_bytes)
                store_whole((Vector<u32, 4> *)(to + x), Vector<u32, 4>{{bytes.word[0], bytes.word[1], bytes.word[2], bytes.word[3]}});
            else
                store_part(to + x, bytes, position - x, until);
        }
        synchronize_block();
    }
}
