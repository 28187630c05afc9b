// Rewrites the bytes of a column of strings as one text, in chunks of 16 bytes in the order
// of the memory: see whole.go.
#include "../../../expr/codegen/math.cuh"
#undef FUNCTION
#define FUNCTION static inline __device__ __attribute__((noinline)) // functions that are not called are left out
#include "../../../expr/codegen/text.cuh"
#include "bitrow.cuh"
#include "rewrite.cuh"
#include "sixteen.cuh"
#include "sizes.cuh"

// Whole is a column of strings without the nulls.
//go:layout wholeLayout any
struct Whole {
    const void *offsets;
    const u8 *data;
    u64 extent; // of data, in bytes
    const i64 *counted;
    u64 rows;
    u32 width; // of an offset
};

// Literal is up to 32 bytes. Those after the last one are zero.
//go:layout literalLayout
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

// nibble is the highest bits of the bytes of a word that has no others.
DEVICE u32 nibble(u32 marks) { return marks * 0x00204081 >> 28; }

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

static __device__ __attribute__((noinline)) Window edge_window(u64 address, u64 begin, u64 end) {
    const Buffer buffer = {begin, end};
    return {{aligned_word(address, buffer), aligned_word(address + 8, buffer)}, aligned_word(address + chunk_bytes, buffer)};
}

DEVICE Window inner_window(u64 address) {
    const Vector<u64, 2> bytes = load_whole((const Vector<u64, 2> *)address);
    return {{bytes.lane[0], bytes.lane[1]}, *(const __attribute__((address_space(1))) u64 *)(address + chunk_bytes)};
}

// hits_in marks the bytes of a chunk at which the literal begins. It may end behind the range.
DEVICE u32 hits_in(const Buffer &buffer, const Wanted &wanted, const Window &window, u64 address) {
    const u32 words[6] = {(u32)window.chunk.low, (u32)(window.chunk.low >> 32), (u32)window.chunk.high, (u32)(window.chunk.high >> 32),
                          (u32)window.next, (u32)(window.next >> 32)};
    const u32 length = (u32)wanted.literal.length;
    u32 found = 0;
    if (length < 4) {
#pragma unroll
        for (u32 k = 0; k < 4; k++) {
            const u32 differ = words[k] ^ wanted.first.bytes[0];
            const u32 marks = length == 1 ? ~((differ & 0x7f7f7f7f) + 0x7f7f7f7f | differ | 0x7f7f7f7f) : beginnings(wanted.first, words[k], words[k + 1]);
            found |= nibble(marks) << 4 * k;
        }
        return found;
    }
    // Few chunks have the first four bytes: whether a word has them takes fewer instructions than where.
    const u32 first = (u32)wanted.literal.word[0];
    bool any[4];
#pragma unroll
    for (u32 k = 0; k < 4; k++)
        any[k] = words[k] == first || __nvvm_prmt(words[k], words[k + 1], 0x4321) == first || __nvvm_prmt(words[k], words[k + 1], 0x5432) == first ||
                 __nvvm_prmt(words[k], words[k + 1], 0x6543) == first;
    if (!(any[0] || any[1] || any[2] || any[3]))
        return 0;
#pragma unroll
    for (u32 k = 0; k < 4; k++)
        if (any[k]) {
            u32 marks = beginnings(wanted.first, words[k], words[k + 1]);
            if (length > 4)
                marks &= beginnings(wanted.second, words[k + 1], words[k + 2]);
            found |= nibble(marks) << 4 * k;
        }
    if (length > 8) {
#pragma nounroll
        for (u32 rest = found; rest != 0; rest &= rest - 1) {
            const u64 at = address + (u64)__builtin_ctz(rest);
            bool same = true;
#pragma nounroll
            for (u32 i = 1; 8 * i < length && same; i++)
                same = gpuframe_text_word(at + 8 * i, length - 8 * i, buffer.begin, buffer.end) == wanted.literal.word[i];
            if (!same)
                found &= ~(rest & 0 - rest);
        }
    }
    return found;
}

// whole_find writes a bit for each place at which a literal begins: a hit. Hits may reach
// into the next row.
KERNEL RESIDENT_BOUNDS(block_threads, 6) whole_find(u16 *hits, Whole whole, Literal literal) {
    const Range range = range_of(whole);
    const Buffer buffer = buffer_of(whole);
    const Inner inner = inner_of(whole, range, 8);
    const Wanted wanted = wanted_of(literal);
    const u64 chunks = (range.limit + tile_chunks * chunk_bytes - 1) / (tile_chunks * chunk_bytes) * tile_chunks;
    // Chunks of the middle have no bytes outside of the range, nor have their hits.
    const u64 first = inner.first | (range.lead != 0), needed = literal.length + chunk_bytes - 1;
    const u64 by_limit = range.limit >= needed ? (range.limit - needed) / chunk_bytes + 1 : 0, by_data = inner.first + inner.count;
    const u64 last = by_limit < by_data ? by_limit : by_data, middle = last > first ? last - first : 0;
    for (u64 at = thread_in_grid(); at < chunks; at += threads_per_grid()) {
        const u64 address = range.base + at * chunk_bytes;
        if (at - first < middle) {
            hits[at] = (u16)hits_in(buffer, wanted, inner_window(address), address);
            continue;
        }
        const u64 place = at * chunk_bytes;
        u32 found = hits_in(buffer, wanted, edge_window(address, buffer.begin, buffer.end), address);
        if (place < range.lead)
            found &= ~0u << (range.lead - place);
        const u64 least = place + literal.length;
        if (least + chunk_bytes - 1 > range.limit)
            found &= least > range.limit ? 0 : low_bits((u32)(range.limit - least) + 1);
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
//go:layout hitsLayout
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

// A block's part of the text has 16 bytes before it in shared memory, the literal has 16 bytes
// before and behind it.
static constexpr u32 written_bytes = block_threads * (u32)chunk_bytes, literal_place = written_bytes + 2 * (u32)chunk_bytes,
                     written_chunks = literal_place / (u32)chunk_bytes + 4;

static constexpr u32 queue_chunks = 4 * block_threads; // of the result, which take several pieces

DEVICE u32 add_shared(u32 *word, u32 value) {
    u32 old;
    asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(old) : "r"((u32)(u64)(__attribute__((address_space(3))) u32 *)word), "r"(value) : "memory");
    return old;
}

// shared_sixteen loads 16 bytes of shared memory from any of them on.
DEVICE Sixteen shared_sixteen(const Vector<u64, 2> *chunks, u32 at) {
    const u64 *words = (const u64 *)chunks + at / 8;
    return sixteen_from(words[0], words[1], words[2], at % 8);
}

// whole_replace writes the bytes with another literal in place of the hits. A block takes
// chunks of the text into shared memory, and makes a list of their hits. The text between two
// hits and the literal behind it are a segment. A thread finds the segment of 16 bytes of the
// result by a binary search, and assembles them from segments.
KERNEL RESIDENT_BOUNDS(block_threads, 6) whole_replace(u8 *out, Hits hits, Whole whole, u64 old_length, Literal with) {
    static __shared__ Vector<u64, 2> text[written_chunks];
    static __shared__ u32 starts[written_bytes];
    static __shared__ u16 queue[queue_chunks];
    static __shared__ u32 listed, queued;
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
        // The block's first bytes may be the rest of a hit before it.
        u32 from = first == 0 ? (u32)range.lead : 0;
        if (first != 0 && length > 1) {
            const u32 ahead = ((const u32 *)hits.bits)[place / 32 - 1], distance = ahead ? (u32)__builtin_clz(ahead) + 1 : 32;
            from = length > distance ? length - distance : 0;
        }
        // Positions of the result are counted from a multiple of 16. The text of segment k is
        // there at its own places and base + more·k.
        const u64 origin = (u64)place_after(range, place + from, hits.sums[first / tile_chunks] + before_block, more);
        const u32 skew = (u32)origin % (u32)chunk_bytes;
        const i32 base = (i32)skew - (i32)from;
#pragma nounroll
        for (u32 found = (u32)(word >> bit % 64) & 0xffff; found != 0; found &= found - 1) {
            const u32 behind = thread * (u32)chunk_bytes + (u32)__builtin_ctz(found) + length;
            starts[rank] = (u32)((i32)behind + more * (i32)(rank + 1) + base);
            rank++;
        }
        if (thread == block_threads - 1)
            listed = rank;
        if (thread == 0)
            queued = 0;
        synchronize_block();
        const u32 count = listed, highest = count ? 1u << (31 - (u32)__builtin_clz(count)) : 0;
        // size is where the last segment ends, which may be empty.
        const u32 whole_end = left < written_bytes ? (u32)left : written_bytes;
        u32 size = (u32)((i32)(whole_end > from ? whole_end : from) + more * (i32)count + base);
        if (count != 0 && starts[count - 1] > size)
            size = starts[count - 1];
        u8 *to = out + (origin - skew);
        const auto hit_of = [&](u32 k) { return k < count ? (u32)((i32)starts[k] - (i32)length - more * (i32)(k + 1) - base) : ~0u >> 1; };
        // segment_of returns the last segment that does not begin behind a position.
        const auto segment_of = [&](u32 position) {
            u32 k = 0;
#pragma nounroll
            for (u32 step = highest; step != 0; step /= 2)
                if (k + step <= count && starts[k + step - 1] <= position)
                    k += step;
            return k;
        };
#pragma nounroll
        for (u32 round = 0; round < size; round += queue_chunks * (u32)chunk_bytes) {
            const u32 behind = size - round < queue_chunks * (u32)chunk_bytes ? size : round + queue_chunks * (u32)chunk_bytes;
            // Most chunks of the result are text. The others wait, so that few warps assemble them.
#pragma nounroll
            for (u32 x = round + thread * (u32)chunk_bytes; x < behind; x += written_bytes) {
                if (x >= skew && size - x >= chunk_bytes) {
                    const u32 k = segment_of(x), source = (u32)((i32)x - base - more * (i32)k), hit = hit_of(k);
                    if (source < hit && hit - source >= chunk_bytes) {
                        const Sixteen bytes = shared_sixteen(text, (u32)chunk_bytes + source);
                        store_whole((Vector<u32, 4> *)(to + x), Vector<u32, 4>{{bytes.word[0], bytes.word[1], bytes.word[2], bytes.word[3]}});
                        continue;
                    }
                }
                queue[add_shared(&queued, 1)] = (u16)((x - round) / chunk_bytes);
            }
            synchronize_block();
#pragma nounroll
            for (u32 i = thread; i < queued; i += block_threads) {
                const u32 x = round + queue[i] * (u32)chunk_bytes, position = x < skew ? skew : x;
                const u32 until = size - x < chunk_bytes ? size - x : (u32)chunk_bytes;
                u32 k = segment_of(position), done = position - x, source = (u32)((i32)position - base - more * (i32)k), hit = hit_of(k);
                Sixteen bytes = {};
#pragma nounroll
                while (true) {
                    const bool between = source < hit;
                    const u32 from_literal = source - hit, at_byte = between ? (u32)chunk_bytes + source : literal_place + from_literal;
                    replace_behind(bytes, shared_sixteen(text, at_byte - done), done);
                    done += between ? hit - source : with_length - from_literal;
                    if (done >= until)
                        break;
                    source = hit;
                    if (!between || with_length == 0) {
                        source = hit + length;
                        k++;
                        hit = hit_of(k);
                    }
                }
                if (position == x && until == chunk_bytes)
                    store_whole((Vector<u32, 4> *)(to + x), Vector<u32, 4>{{bytes.word[0], bytes.word[1], bytes.word[2], bytes.word[3]}});
                else
                    store_part(to + x, bytes, position - x, until);
            }
            synchronize_block();
            if (behind < size) {
                if (thread == 0)
                    queued = 0;
                synchronize_block();
            }
        }
        if (size == 0)
            synchronize_block();
    }
}
