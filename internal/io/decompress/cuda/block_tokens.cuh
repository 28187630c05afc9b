// Snappy and LZ4 by a block for each page: its warps find the tokens of the next 2,048 bytes together,
// then write their output, 4,096 bytes at a time.
//
//   Window    the next bytes of the input, in shared memory
//   Tokens    the tokens that begin there: those of 128 bytes for each warp
//   Output    each thread writes eight bytes, whose address is a multiple of eight
//
// Positions are relative to the window or, of the output, to an aligned address before the batch.
#pragma once
#include "tokens.cuh"

static constexpr u32 block_warps = 16, block_threads = block_warps * warp_threads;

// synchronize_block_or is synchronize_block, and returns whether a predicate is true in any thread.
DEVICE bool synchronize_block_or(bool predicate) { return __nvvm_bar0_or(predicate) != 0; }

// Block copies long tokens by all threads of a block.
struct Block {
    u32 thread, warp, lane;

    METHOD static Block own() { return {thread_in_block(), thread_in_block() / warp_threads, lane_in_warp()}; }

    METHOD void copy(u8 *to, const u8 *from, u32 n) const {
        const u32 part = (n + block_warps - 1) / block_warps, first = least(n, warp * part);
        copy_bytes(to + first, from + first, least(part, n - first), lane);
        synchronize_block();
    }

    // repeat is copy_match. Earlier writes of the block must be synchronized.
    METHOD void repeat(u8 *to, u32 distance, u32 n) const {
        constexpr u32 short_period = block_warps * short_copy;
        const u8 *from = to - distance;
        u32 copied = 0;
        if (distance < short_period && distance < n) {
            copied = least(n, short_period / distance * distance);
            for (u32 i = thread; i < copied; i += block_threads)
                to[i] = from[i % distance];
            synchronize_block();
        }
        while (copied < n) {
            const u32 part = least(n - copied, copied + distance);
            copy(to + copied, from, part);
            copied += part;
        }
    }
};

// Window reads the bytes of a page from a position on. A thread loads 16 bytes.
struct Window {
    // bytes is the number of bytes at which a token may begin; most_short that of a copy in a batch.
    static constexpr u32 bytes = 2048, most_short = 256;
    // A token has two bytes before its literals, and eight bytes are read after them.
    static constexpr u32 parts = (15 + bytes + 2 + most_short + 12 + 15) / 16, words = parts * 4;
    static_assert(parts <= block_threads, "a thread loads a part");

    const u8 *from;
    u32 length, thread;
    u32 lead; // bytes of the first part before the page
    u32 start; // the first byte in the memory, plus lead
    u32 *memory;
    Part next;

    METHOD void begin(const Work &w, u32 *shared) {
        from = w.from, length = w.compressed, memory = shared, thread = thread_in_block();
        lead = (u32)(u64)from & 15;
    }

    // load loads the bytes from a position on, which store makes readable.
    METHOD void load(u32 position) {
        start = (position + lead) & ~15u;
        if (thread < parts)
            next = load_part(from, length, (i64)start + thread * 16 - lead);
    }

    METHOD void store() {
        if (thread < parts)
            *(Part *)(memory + thread * 4) = next;
        synchronize_block();
    }

    METHOD void fill(u32 position) {
        load(position);
        store();
    }

    // eight returns eight bytes from a position on. Those after the page are undefined.
    METHOD u64 eight(u32 position) const {
        const u32 at = position + lead - start, word = at / 4;
        return eight_bytes(memory[word], memory[word + 1], memory[word + 2], at % 4);
    }
};

// Record is a token for those who write its output.
struct alignas(16) Record {
    u32 begin; // of its output
    u32 shape; // bytes of its literals and its match, and the number of the next record, in 10, 10 and 12 bits
    u32 literals; // their position in the page
    u32 distance;

    // Only the last token of a page has a single byte, so tokens have different numbers.
    METHOD static u32 number(u32 position) { return position / 2; }

    METHOD u32 match_begin() const { return begin + (shape & 1023); }
    METHOD u32 end() const { return match_begin() + (shape >> 10 & 1023); }
    METHOD u32 next() const { return shape >> 20; }
};
static_assert(Window::most_short + 270 < 1024, "lengths fit the shape");

struct BlockShared {
    alignas(16) u32 words[Window::words];
    // The end of the tokens from a byte to the end of its warp's bytes, and from bit 16 on, their output.
    u32 chain[Window::bytes];
    Record records[Window::bytes / 2];
    // The record of the first byte of each thread, in two parts of the output.
    u16 marks[2 * block_threads];
    i32 sources[block_threads * 33 / 4];
    u32 end, bytes; // of the tokens: the end in the window, and their output
    u32 fault;
};

// Tokens is the tokens of a window. A warp has those that begin at warp_bytes of it, a lane one in each
// half. The chain from a byte is the tokens from there on. It ends before a long token, too.
struct Tokens {
    static constexpr u32 halves = Window::bytes / block_threads, warp_bytes = halves * warp_threads;

    Block block;
    Sequence token[halves];
    Half half[halves]; // end is that of the chain within the half
    u32 begin[halves]; // of the output
    bool has[halves]; // the token is in the chain of the window

    // clear is called once, because a warp behind the end of the input has no tokens.
    METHOD void clear() {
        block = Block::own();
#pragma unroll
        for (u32 h = 0; h < halves; h++)
            token[h] = {}, half[h] = {};
    }

    METHOD u32 first(u32 h) const { return block.warp * warp_bytes + h * warp_threads; }
    METHOD u32 position(u32 h) const { return first(h) + block.lane; }

    // read reads the tokens at all bytes, and joins them to chains within the bytes of the warp.
    template <typename Format> METHOD void read(const Window &in, u32 at, u32 *chain) {
        if (at + first(0) >= in.length) {
            // The tokens may end in these bytes.
#pragma unroll
            for (u32 h = 0; h < halves; h++)
                half[h] = {0, 0, position(h)}, chain[position(h)] = position(h);
            return;
        }
#pragma unroll
        for (u32 h = 0; h < halves; h++) {
            const u32 own = at + position(h);
            token[h] = Format::template read<Window::most_short>(in, own);
            half[h].follow(token[h].is_short && own < in.length, token[h].bytes(), token[h].output(), block.lane);
            const u32 last = shuffle_value(half[h].end, 31 - __builtin_clz(half[h].tokens | 1));
            half[h].end = first(h) + (half[h].tokens == 0 ? block.lane : last);
        }
#pragma unroll
        for (u32 h = halves; h-- > 0;) {
            u32 tail = half[h].end, output = half[h].bytes;
            if (tail >= first(h + 1) && tail < first(halves)) {
                const u32 after = chain[tail];
                tail = after & 0xffff, output += after >> 16;
            }
            chain[position(h)] = tail | output << 16;
            synchronize_warp();
        }
    }

    // follow finds the tokens that are reached from a byte, and sets the end and the output of all.
    METHOD void follow(BlockShared &s, u32 entry) {
        u32 before = 0;
#pragma nounroll
        for (u32 warp = 0; warp < block.warp; warp++) {
            if (entry / warp_bytes == warp) {
                const u32 next = s.chain[entry];
                entry = next & 0xffff, before += next >> 16;
            }
        }
#pragma unroll
        for (u32 h = 0; h < halves; h++) {
            const u32 from = (entry - first(h)) % warp_threads;
            const Half chained = shuffle_value(half[h], from);
            const bool inside = entry - first(h) < warp_threads;
            has[h] = inside && (chained.tokens >> block.lane & 1);
            begin[h] = before + chained.bytes - half[h].bytes;
            if (inside)
                entry = chained.end, before += chained.bytes;
        }
        if (block.thread == block_threads - 1)
            s.end = entry, s.bytes = before;
    }

    // fault checks the tokens, given the rest of the input from the window on and the length of the
    // output before. place is that of the wrong one.
    METHOD u32 fault(u32 rest, u32 to, u32 &place) const {
        u32 result = complete;
#pragma unroll
        for (u32 h = 0; h < halves; h++) {
            if (has[h] && result == complete)
                result = token[h].fault(rest - position(h), to + begin[h]), place = position(h);
        }
        return result;
    }

    // bits returns the bit h if token h is in the chain of the window.
    METHOD u32 bits() const {
        u32 result = 0;
#pragma unroll
        for (u32 h = 0; h < halves; h++)
            result |= (has[h] ? 1u : 0u) << h;
        return result;
    }

    // store sets the records of the tokens.
    METHOD void store(Record *records, u32 at, u32 low) const {
#pragma unroll
        for (u32 h = 0; h < halves; h++) {
            const Sequence &q = token[h];
            const u32 next = Record::number(position(h) + q.bytes());
            if (has[h])
                records[Record::number(position(h))] = {low + begin[h], q.literals | q.match << 10 | next << 20, at + position(h) + q.header, q.distance};
        }
    }
};

// Output is the output of a window, from an aligned address on. Its bytes have positions from low to
// high, and are written in parts. The source of a byte is
//
//   negative            output before, eight bytes less because a part may begin before low
//   below unused        a byte of the part: the offset of its own source in the shared memory
//   from literals on    a byte of the input
struct Output {
    static constexpr u32 part_bytes = block_threads * 8, mark_bytes = 2 * part_bytes;
    static constexpr u32 literals = sizeof(BlockShared::sources), unused = literals - 4;

    u8 *to;
    const u8 *from;
    u32 low, high;
    BlockShared &shared;

    // write writes the output of tokens that are stored as records. has has the bit h if that at position(h) is among them.
    METHOD void write(u32 has) const {
        const u32 thread = thread_in_block();
        for (u32 first = 0; first < high; first += part_bytes) {
            if (first % mark_bytes == 0)
                mark(has, first);
            synchronize_block();
            const u32 own = first + thread * 8;
            i32 source[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
            if (own < high)
                find_sources(source, first, own);
            synchronize_block();
            resolve(source, own - first);
            if (own < high)
                copy(source, first, own);
        }
    }

    METHOD bool has(u32 position) const { return position >= low && position < high; }

    // offset returns the offset of the source of a byte of the part. Each 32 sources are a word apart, so
    // that threads use different banks.
    METHOD static u32 offset(u32 i) { return (i + i / 32) * 4; }
    METHOD volatile i32 *source_at(u32 offset) const { return (volatile i32 *)((u8 *)shared.sources + offset); }

    // mark sets the records of the first bytes of the threads, for two parts. A thread reads the records that it has stored: its
    // tokens would take registers until the output is written.
    METHOD void mark(u32 has, u32 first) const {
#pragma nounroll
        for (; has != 0; has &= has - 1) {
            const u32 number = Record::number(Block::own().warp * Tokens::warp_bytes + (u32)__builtin_ctz(has) * warp_threads + lane_in_warp());
            const u32 begin = shared.records[number].begin, end = least(shared.records[number].end(), first + mark_bytes);
            u32 byte = begin == low ? 0 : (begin + 7) & ~7u;
#pragma clang loop interleave(disable) vectorize(disable)
            for (byte = byte < first ? first : byte; byte < end; byte += 8)
                shared.marks[(byte - first) / 8] = (u16)number;
        }
    }

    // find_sources finds the sources of eight bytes of the part from first on.
    METHOD void find_sources(i32 (&source)[8], u32 first, u32 own) const {
        Record record = shared.records[shared.marks[own % mark_bytes / 8]];
        u32 distance[8], less, end = find_copy(record, own < low ? low : own, first, less);
#pragma unroll
        for (u32 i = 0; i < 8; i++)
            distance[i] = less;
#pragma nounroll
        while (end < least(own + 8, high)) {
            const u32 at = end;
            if (at == record.end())
                record = shared.records[record.next()];
            end = find_copy(record, at, first, less);
#pragma unroll
            for (u32 i = 1; i < 8; i++)
                distance[i] = own + i < at ? distance[i] : less;
        }
        const i32 start = first < low ? (i32)low : 0;
#pragma unroll
        for (u32 i = 0; i < 8; i++) {
            const i32 near = (i32)(own + i - distance[i]);
            source[i] = near < start ? near - 8 : (u32)near < part_bytes ? (i32)offset((u32)near) : near;
            source[i] = has(own + i) ? source[i] : -1;
            *source_at(offset(own - first) + i * 4) = source[i];
        }
    }

    // find_copy returns the end of the literals or the match of a record that a byte belongs to. distance
    // is what the sources of its bytes are less.
    METHOD static u32 find_copy(const Record &record, u32 at, u32 first, u32 &distance) {
        const u32 match = record.match_begin();
        if (at < match) {
            distance = record.begin - record.literals - literals;
            return match;
        }
        distance = first + record.distance;
        if (at - match >= record.distance) // the match overlaps its output
            distance += (at - match) / record.distance * record.distance;
        return record.end();
    }

    METHOD static bool waits(const i32 (&source)[8]) {
        u32 nearest = ~0u;
#pragma unroll
        for (u32 i = 0; i < 8; i++)
            nearest = least(nearest, (u32)source[i]);
        return nearest < unused;
    }

    // resolve replaces sources in the part by their sources, until no byte of the warp has one. Threads
    // do not wait for each other: whether a source was replaced already or not, it is one of the byte.
    METHOD void resolve(i32 (&source)[8], u32 own) const {
        while (ballot(waits(source)) != 0) {
#pragma unroll
            for (u32 i = 0; i < 8; i++) {
                const i32 far = *source_at(least((u32)source[i], unused));
                source[i] = (u32)source[i] < unused ? far : source[i];
            }
#pragma unroll
            for (u32 i = 0; i < 8; i++)
                *source_at(offset(own) + i * 4) = source[i];
        }
    }

    // copy writes eight bytes.
    METHOD void copy(const i32 (&source)[8], u32 first, u32 own) const {
        const u8 *earlier = to + first + 8;
        u8 value[8];
#pragma unroll
        for (u32 i = 0; i < 8; i++) {
            const u8 *at = source[i] < 0 ? earlier + source[i] : from + (source[i] - (i32)literals);
            value[i] = has(own + i) ? *at : 0;
        }
        if (has(own) && has(own + 7)) {
            u64 word = 0;
#pragma unroll
            for (u32 i = 0; i < 8; i++)
                word |= (u64)value[i] << 8 * i;
            *(u64 *)(to + own) = word;
            return;
        }
#pragma unroll
        for (u32 i = 0; i < 8; i++) {
            if (has(own + i))
                to[own + i] = value[i];
        }
    }
};

// first_fault returns the fault of the first wrong token, given that of this thread's. All threads call it.
DEVICE u32 first_fault(BlockShared &s, u32 fault, u32 place) {
    if (thread_in_block() == 0)
        s.fault = ~0u;
    synchronize_block();
    if (fault != complete)
        __nvvm_atom_min_gen_ui(&s.fault, place << 8 | fault);
    synchronize_block();
    return s.fault & 255;
}

// decode_windows is decode_tokens by the threads of a block. A long token ends a window: to read the tokens behind it again
// costs less than to keep them, in registers, while the output is written.
template <typename Format> DEVICE u32 decode_windows(const Work &w, BlockShared &s, Window &in, u32 at) {
    u32 to = 0;
    Tokens tokens;
    in.load(at);
    while (at < w.compressed) {
        const u32 window = at;
        in.store();
        tokens.clear();
        tokens.read<Format>(in, window, s.chain);
        synchronize_block();
        tokens.follow(s, 0);
        const u32 low = (u32)(u64)(w.to + to) % 8;
        u32 place = 0;
        const u32 fault = tokens.fault(w.compressed - window, to, place);
        tokens.store(s.records, window, low);
        const u32 has = tokens.bits();
        if (synchronize_block_or(fault != complete))
            return first_fault(s, fault, place);
        const u32 end = s.end, bytes = s.bytes;
        if (bytes > w.length - to)
            return too_long;
        at = window + end;
        const bool is_whole = end >= Window::bytes || at >= w.compressed;
        if (is_whole)
            in.load(at);
        if (bytes != 0)
            Output{w.to + to - low, w.from, low, low + bytes, s}.write(has);
        to += bytes;
        if (is_whole)
            continue;
        // The tokens ended before a long one. Its first step is a copy, which synchronizes the block.
        if (const u32 wrong = Format::copy_long(w, in, at, to, Block::own()))
            return wrong;
        in.load(at);
    }
    return to == w.length ? complete : too_short;
}
