// Snappy and LZ4 by a block for each page: its warps find the tokens of the next 1,024 bytes together,
// then write their output, 2,048 bytes at a time.
//
//   Window    the next bytes of the input, in shared memory
//   Tokens    the tokens that begin there: those of 128 bytes for each warp
//   Output    each thread writes eight bytes, whose address is a multiple of eight
//
// Positions are relative to the window or, of the output, to an aligned address before the batch.
#pragma once
#include "tokens.cuh"

static constexpr u32 block_warps = 8, block_threads = block_warps * warp_threads;

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

    // repeat is copy_match.
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
    static constexpr u32 bytes = 1024, most_short = 256;
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
    // The record of the first byte of each thread.
    u16 marks[block_threads];
    i32 sources[block_threads * 8 + block_threads / 4];
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
    u32 end, bytes; // of the chain of the window: its end, and its output

    METHOD u32 first(u32 h) const { return block.warp * warp_bytes + h * warp_threads; }
    METHOD u32 position(u32 h) const { return first(h) + block.lane; }

    // read reads the tokens at all bytes, and joins them to chains within the bytes of the warp.
    template <typename Format> METHOD void read(const Window &in, u32 at, u32 *chain) {
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

    // follow finds the tokens that are reached from the first byte.
    METHOD void follow(const u32 *chain) {
        u32 entry = 0, before = 0;
        end = bytes = 0;
#pragma unroll
        for (u32 warp = 0; warp < block_warps; warp++) {
            if (warp == block.warp)
                entry = end, before = bytes;
            if (end / warp_bytes == warp) {
                const u32 next = chain[end];
                end = next & 0xffff, bytes += next >> 16;
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
    }

    // fault checks the tokens. at is the position of the window, to the length of the output before it.
    METHOD u32 fault(u32 rest, u32 to, u32 &place) const {
        u32 result = complete;
#pragma unroll
        for (u32 h = 0; h < halves; h++) {
            if (has[h] && result == complete)
                result = token[h].fault(rest - position(h), to + begin[h]), place = position(h);
        }
        return result;
    }

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
// high.
struct Output {
    static constexpr u32 part_bytes = block_threads * 8;

    u8 *to;
    const u8 *from;
    u32 low, high;
    BlockShared &shared;

    // write writes the output of tokens.
    METHOD void write(const Tokens &tokens) const {
        for (u32 first = 0; first < high; first += part_bytes) {
            mark(tokens, first);
            synchronize_block();
            const u32 own = first + tokens.block.thread * 8;
            find_sources(first, own);
            i32 source[8];
#pragma unroll
            for (u32 i = 0; i < 8; i++)
                source[i] = has(own + i) ? *place(own - first + i) : -1;
            resolve(source, own - first);
            copy(source, first, own);
        }
    }

    METHOD bool has(u32 position) const { return position >= low && position < high; }

    // place returns the source of a byte of the part. Each 32 sources are a word apart, so that threads
    // use different banks.
    METHOD i32 *place(u32 i) const { return shared.sources + i + i / 32; }

    // mark sets the records of the first bytes of the threads.
    METHOD void mark(const Tokens &tokens, u32 first) const {
#pragma unroll
        for (u32 h = 0; h < Tokens::halves; h++) {
            if (!tokens.has[h])
                continue;
            const u32 begin = low + tokens.begin[h], end = begin + tokens.token[h].output();
            u32 byte = begin == low ? 0 : (begin + 7) & ~7u;
            byte = byte < first ? first : byte;
            for (; byte < least(end, first + part_bytes); byte += 8)
                shared.marks[(byte - first) / 8] = (u16)Record::number(tokens.position(h));
        }
    }

    // find_sources sets the sources of eight bytes of the part from first on. A negative number is
    // output before, eight bytes less because the part may begin before low; below part_bytes, a byte of
    // the part; from there on, literals.
    METHOD void find_sources(u32 first, u32 own) const {
        if (own >= high)
            return;
        const i32 start = (i32)(first < low ? low : first);
        const u32 stop = least(own + 8, high);
        u32 at = own < low ? low : own;
        Record record = shared.records[shared.marks[(own - first) / 8]];
#pragma nounroll
        while (at < stop) {
            if (at == record.end())
                record = shared.records[record.next()];
            const u32 match = record.match_begin();
            if (at < match) {
                u32 literal = record.literals + (at - record.begin) + part_bytes;
                for (const u32 end = least(match, stop); at < end; at++)
                    *place(at - first) = (i32)literal++;
                continue;
            }
            u32 inside = at - match;
            if (inside >= record.distance)
                inside %= record.distance; // the match overlaps its output
            for (const u32 end = least(record.end(), stop); at < end; at++) {
                const i32 source = (i32)(match - record.distance + inside);
                *place(at - first) = source - (i32)first - (source < start ? 8 : 0);
                inside = inside + 1 == record.distance ? 0 : inside + 1;
            }
        }
    }

    METHOD static bool waits(const i32 (&source)[8]) {
        bool any = false;
#pragma unroll
        for (u32 i = 0; i < 8; i++)
            any |= (u32)source[i] < part_bytes;
        return any;
    }

    // resolve replaces sources in the part by their sources, until no byte has one. The distance
    // to the first source doubles in each round (pointer jumping).
    METHOD void resolve(i32 (&source)[8], u32 own) const {
        while (synchronize_block_or(waits(source))) {
            i32 far[8];
#pragma unroll
            for (u32 i = 0; i < 8; i++)
                far[i] = (u32)source[i] < part_bytes ? *place((u32)source[i]) : source[i];
            synchronize_block();
#pragma unroll
            for (u32 i = 0; i < 8; i++) {
                if ((u32)source[i] < part_bytes)
                    *place(own + i) = source[i] = far[i];
            }
        }
    }

    // copy writes eight bytes.
    METHOD void copy(const i32 (&source)[8], u32 first, u32 own) const {
        const u8 *earlier = to + first + 8;
        u8 value[8];
#pragma unroll
        for (u32 i = 0; i < 8; i++) {
            const u8 *at = source[i] < 0 ? earlier + source[i] : from + (source[i] - (i32)part_bytes);
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

// decode_windows is decode_tokens by the threads of a block.
template <typename Format> DEVICE u32 decode_windows(const Work &w, BlockShared &s, Window &in, u32 at) {
    u32 to = 0;
    Tokens tokens;
    tokens.block = Block::own();
    in.load(at);
    while (at < w.compressed) {
        in.store();
        tokens.read<Format>(in, at, s.chain);
        synchronize_block();
        tokens.follow(s.chain);
        if (tokens.bytes > w.length - to)
            return too_long;
        const u32 low = (u32)(u64)(w.to + to) % 8, start = at;
        u32 place = 0;
        const u32 fault = tokens.fault(w.compressed - at, to, place);
        tokens.store(s.records, at, low);
        if (synchronize_block_or(fault != complete))
            return first_fault(s, fault, place);
        at = start + tokens.end;
        const bool is_whole = tokens.end >= Window::bytes || at >= w.compressed;
        if (is_whole)
            in.load(at);
        if (tokens.bytes != 0)
            Output{w.to + to - low, w.from, low, low + tokens.bytes, s}.write(tokens);
        to += tokens.bytes;
        if (is_whole)
            continue;
        // The tokens ended before a long one.
        synchronize_block();
        if (const u32 wrong = Format::copy_long(w, in, at, to, tokens.block))
            return wrong;
        in.load(at);
    }
    return to == w.length ? complete : too_short;
}
