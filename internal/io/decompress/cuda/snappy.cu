// Snappy: "Snappy compressed format description" in the repository google/snappy.
#include "tokens.cuh"

// Token is a literal or a copy.
struct Token {
    bool literal;
    u32 header, bytes, distance;
};

// token_of returns the token at the beginning of eight bytes. bytes is most_bytes + 1 if it is more.
DEVICE Token token_of(u64 x) {
    Token t;
    const u32 tag = (u32)x & 0xff, operand = (u32)(x >> 8), kind = tag & 3;
    t.literal = kind == 0;
    t.bytes = (tag >> 2) + 1;
    t.distance = operand & 0xffff;
    t.header = 3;
    if (kind == 0) {
        t.header = 1;
        if (t.bytes > 60) {
            const u32 extra = t.bytes - 60;
            const u32 size = operand & 0xffffffff >> (4 - extra) * 8;
            t.header += extra;
            t.bytes = least(size, most_bytes) + 1;
        }
    } else if (kind == 1) {
        t.header = 2;
        t.bytes = (tag >> 2 & 7) + 4;
        t.distance = tag >> 5 << 8 | operand & 0xff;
    } else if (kind == 3) {
        t.header = 5;
        t.distance = operand;
    }
    return t;
}

// read_length reads the length of the output and returns the number of its bytes, 0 if it is not
// of the format.
DEVICE u32 read_length(const Input &in, u32 &length) {
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

DEVICE u32 decode(const Work &w, Shared &s, u32 lane) {
    Input in;
    in.begin(w, s.ring, lane);
    s.pieces.clear(lane);
    u32 length = 0, at = read_length(in, length), to = 0;
    if (at == 0 || length != w.length)
        return bad_header;
    while (at < w.compressed) {
        in.prepare(at);
        const u32 own = at + lane;
        const Token t = token_of(in.eight(own));
        const u32 whole = t.header + (t.literal ? t.bytes : 0);
        const bool is_long = t.bytes > most_short, usable = own < w.compressed && !is_long;
        Chain chain;
        chain.follow(usable, lane + whole, t.bytes, lane);
        if (chain.tokens != 0) {
            u32 fault = complete;
            if (chain.has(lane)) {
                if (whole > w.compressed - own)
                    fault = truncated;
                else if (!t.literal && (t.distance == 0 || t.distance > to + chain.begin))
                    fault = bad_distance;
            }
            fault = first_fault(chain.bytes > w.length - to ? too_long : fault);
            if (fault != complete)
                return fault;
            if (chain.has(lane))
                s.pieces.add(__builtin_popcount(chain.tokens & (1u << lane) - 1), chain.begin, t.bytes,
                    t.literal ? own + t.header : t.distance, t.literal);
            s.pieces.write(w.to, to, chain.bytes, w.from, lane);
            to += chain.bytes;
        }
        // The next token may be a long literal.
        const u32 next = chain.next(lane + whole);
        const bool follows = next < warp_threads && at + next < w.compressed;
        const Token l = {true, shuffle_value(t.header, next % warp_threads), shuffle_value(t.bytes, next % warp_threads), 0};
        at += next;
        if (!follows)
            continue;
        if (l.header + l.bytes > w.compressed - at)
            return truncated;
        if (l.bytes > w.length - to)
            return too_long;
        copy_bytes(w.to + to, w.from + at + l.header, l.bytes, lane);
        synchronize_warp();
        at += l.header + l.bytes;
        to += l.bytes;
    }
    return to == w.length ? complete : too_short;
}

KERNEL LAUNCH_BOUNDS(32) snappy(const Page *pages, const u8 *input, u64 input_bytes, u8 *output, u64 output_bytes, u32 *status) {
    __shared__ Shared shared;
    each_page(pages, input, input_bytes, output, output_bytes, status, [&](const Work &w, u32 lane) INLINE { return decode(w, shared, lane); });
}
