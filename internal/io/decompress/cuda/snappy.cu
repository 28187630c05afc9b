// Snappy: "Snappy compressed format description" in the repository google/snappy.
//
// Encoders compress each 64 KiB of a page, a fragment, by itself. A page can be decompressed by its fragments:
//
//   snappy_divide   a block for each page finds where the fragments begin
//   snappy(_block)  decompresses the fragments, then the pages that could not be divided
#include "block_tokens.cuh"

struct Snappy {
    template <u32 most_short, typename Bytes> METHOD static Sequence read(const Bytes &in, u32 at) {
        const u64 x = in.eight(at);
        const u32 tag = (u32)x & 0xff, operand = (u32)(x >> 8), kind = tag & 3, upper = tag >> 2;
        // Few branches, because the lanes read tokens of all kinds.
        const bool is_near = kind == 1;
        const u32 extra = kind == 0 && upper >= 60 ? upper - 59 : 0;
        u32 length = (upper & (is_near ? 7 : 63)) + (is_near ? 4 : 1);
        if (extra != 0)
            length = least(operand & 0xffffffff >> (4 - extra) * 8, most_bytes) + 1;
        const u32 distance = operand & 0xffffffff >> (is_near ? 24 : kind == 2 ? 16 : 0) | (is_near ? tag >> 5 << 8 : 0);
        const u32 header = (0x5321 >> kind * 4 & 15) + extra;
        return {header, kind == 0 ? length : 0, 0, kind == 0 ? 0 : length, distance, kind != 0 || length <= most_short};
    }

    // copy_long copies long literals.
    template <typename Bytes, typename Team> METHOD static u32 copy_long(const Work &w, const Bytes &in, u32 &at, u32 &to, const Team &team) {
        const Sequence q = read<most_short>(in, at);
        if (q.bytes() > w.compressed - at)
            return truncated;
        if (q.literals > w.length - to)
            return too_long;
        team.copy(w.to + to, w.from + at + q.header, q.literals);
        at += q.bytes();
        to += q.literals;
        return complete;
    }
};

// read_length reads the length of the output and returns the number of its bytes, 0 if it is not
// of the format.
template <typename Bytes> DEVICE u32 read_length(const Bytes &in, u32 &length) {
    const u64 x = in.eight(0);
    u64 value = 0;
    for (u32 i = 0; i < 5 && i < in.length; i++) {
        const u32 byte = (u32)(x >> 8 * i) & 0xff;
        value |= (u64)(byte & 0x7f) << 7 * i;
        if (byte < 0x80) {
            length = (u32)least(value, (u64)most_bytes + 1);
            return i + 1;
        }
    }
    return 0;
}

// Fragment is a part of a page by itself: its tokens, without the length, and its output. It has no output
// if the page could not be divided.
struct Fragment {
    Page part;
    u32 owner; // the number of the page
};

// undivided is the status of a page that has to be decompressed as a whole.
static constexpr u32 undivided = ~0u;

// Parts is what a launch decompresses: the fragments, or the pages, of these only the undivided ones if is_rest is set.
struct Parts {
    const Page *pages;
    const Fragment *fragments;
    u32 is_rest;
};

// each_part calls decode(work, is_fragment) for the part of this block and writes the status of its page.
template <typename Decode>
DEVICE void each_part(const Parts &parts, const u8 *input, u64 input_bytes, u8 *output, u64 output_bytes, u32 *status, Decode decode) {
    const u32 block = block_in_grid();
    const bool is_fragment = parts.fragments != nullptr;
    const Page part = is_fragment ? parts.fragments[block].part : parts.pages[block];
    if (is_fragment ? part.length == 0 : parts.is_rest && status[block] != undivided)
        return;
    u32 result = outside;
    if (within(part.source, part.compressed, input_bytes) && within(part.target, part.length, output_bytes)) {
        result = complete;
        if (part.compressed != 0 || part.length != 0)
            result = decode(Work{input + part.source, output + part.target, part.compressed, part.length}, is_fragment);
    }
    if (thread_in_block() != 0)
        return;
    if (!is_fragment)
        status[block] = result;
    else if (result != complete)
        status[parts.fragments[block].owner] = undivided; // a copy from another fragment, or damage
}

// first_token returns the position of the first token of a page, 0 if its length is wrong.
template <typename Bytes> DEVICE u32 first_token(const Work &w, const Bytes &in) {
    u32 length = 0;
    const u32 begin = read_length(in, length);
    return length == w.length ? begin : 0;
}

DEVICE u32 decode(const Work &w, Shared &s, bool is_fragment, u32 lane) {
    Input in;
    in.begin(w, s.ring, lane);
    s.pieces.clear(lane);
    const u32 begin = is_fragment ? 0 : first_token(w, in);
    return begin == 0 && !is_fragment ? bad_header : decode_tokens<Snappy>(w, s, in, begin, lane);
}

KERNEL LAUNCH_BOUNDS(32) snappy(Parts parts, const u8 *input, u64 input_bytes, u8 *output, u64 output_bytes, u32 *status) {
    __shared__ Shared shared;
    each_part(parts, input, input_bytes, output, output_bytes, status,
        [&](const Work &w, bool is_fragment) INLINE { return decode(w, shared, is_fragment, lane_in_warp()); });
}

DEVICE u32 decode(const Work &w, BlockShared &s, bool is_fragment) {
    Window in;
    in.begin(w, s.words);
    u32 begin = 0;
    if (!is_fragment) {
        in.fill(0);
        begin = first_token(w, in);
        synchronize_block();
        if (begin == 0)
            return bad_header;
    }
    return decode_windows<Snappy>(w, s, in, begin);
}

KERNEL LAUNCH_BOUNDS(block_threads) snappy_block(Parts parts, const u8 *input, u64 input_bytes, u8 *output, u64 output_bytes, u32 *status) {
    __shared__ BlockShared shared;
    each_part(parts, input, input_bytes, output, output_bytes, status,
        [&](const Work &w, bool is_fragment) INLINE { return decode(w, shared, is_fragment); });
}

// Division is the division of a page into fragments of so many bytes.
struct Division {
    u64 source; // of the page
    Fragment *fragments;
    u32 bytes, length;

    // begins notes the fragment that begins with a token, and returns whether the output of the token is in one fragment.
    METHOD bool begins(u32 position, u32 begin, u32 output) const {
        if (output > length || begin > length - output)
            return false;
        if (begin % bytes == 0)
            fragments[begin / bytes].part.source = source + position;
        return begin % bytes + output <= bytes;
    }
};

// divide finds where the fragments of a page begin. It returns false if a token is in two of them, or wrong.
DEVICE bool divide(const Work &w, BlockShared &s, const Division &division) {
    Window in;
    in.begin(w, s.words);
    in.fill(0);
    u32 at = first_token(w, in), to = 0;
    synchronize_block();
    Tokens tokens;
    tokens.clear();
    in.load(at);
    while (at != 0 && at < w.compressed) {
        const u32 window = at;
        in.store();
        tokens.read<Snappy>(in, window, s.chain);
        synchronize_block();
        for (;;) {
            tokens.follow(s, at - window);
            bool is_whole = true;
#pragma unroll
            for (u32 h = 0; h < Tokens::halves; h++) {
                const u32 own = window + tokens.position(h);
                if (tokens.has[h])
                    is_whole &= tokens.token[h].bytes() <= w.compressed - own && division.begins(own, to + tokens.begin[h], tokens.token[h].output());
            }
            if (synchronize_block_or(!is_whole))
                return false;
            at = window + s.end, to += s.bytes;
            if (s.end >= Window::bytes || at >= w.compressed)
                break;
            // The tokens ended before a long one.
            const Sequence q = Snappy::read<Window::most_short>(in, at);
            synchronize_block();
            if (q.bytes() > w.compressed - at || !division.begins(at, to, q.literals))
                return false;
            at += q.bytes(), to += q.literals;
            if (at >= w.compressed || at - window >= Window::bytes)
                break;
        }
        in.load(at);
    }
    return to == w.length;
}

// Fragments is the memory for fragments, of which used are taken.
struct Fragments {
    Fragment *first;
    u32 *used;
    u32 count, bytes;
};

KERNEL LAUNCH_BOUNDS(block_threads) snappy_divide(const Page *pages, const u8 *input, u64 input_bytes, u64 output_bytes, u32 *status, Fragments fragments) {
    __shared__ BlockShared shared;
    __shared__ u32 place;
    const u32 number = block_in_grid(), thread = thread_in_block();
    const Page page = pages[number];
    const u32 count = page.length / fragments.bytes + (page.length % fragments.bytes != 0);
    if (thread == 0)
        place = (u32)__nvvm_atom_add_gen_i((int *)fragments.used, (int)count);
    synchronize_block();
    Fragment *own = fragments.first + place;
    bool has_parts = count > 0 && (u64)place + count <= fragments.count &&
        within(page.source, page.compressed, input_bytes) && within(page.target, page.length, output_bytes);
    if (has_parts)
        has_parts = divide(Work{input + page.source, nullptr, page.compressed, page.length}, shared, {page.source, own, fragments.bytes, page.length});
    if (thread == 0)
        status[number] = has_parts ? complete : undivided;
    if (!has_parts)
        return;
    synchronize_block();
    for (u32 i = thread; i < count; i += block_threads) {
        Page &part = own[i].part;
        const u64 end = i + 1 < count ? own[i + 1].part.source : page.source + page.compressed;
        part.target = page.target + (u64)i * fragments.bytes;
        part.compressed = (u32)(end - part.source);
        part.length = least(fragments.bytes, page.length - i * fragments.bytes);
        own[i].owner = number;
    }
}
