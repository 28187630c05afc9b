// LZ4 without a frame: "LZ4 Block Format Description" in the repository lz4/lz4.
#include "tokens.cuh"

static constexpr u32 least_match = 4;
static constexpr u32 in_token = 15; // this length continues in the bytes after

// Sequence is literals and a match. The last one of a page has no match.
struct Sequence {
    u32 header, literals, tail, match, distance;
};

// sequence_at returns the sequence at a position of the prepared input. usable is false if it has
// long copies.
DEVICE Sequence sequence_at(const Input &in, u32 at, bool &usable) {
    const u64 x = in.eight(at);
    const u32 token = (u32)x & 0xff;
    Sequence s = {1, token >> 4, 0, 0, 0};
    if (s.literals == in_token)
        s.literals += (u32)(x >> 8) & 0xff, s.header = 2;
    usable = s.literals <= most_short;
    const u32 after = at + s.header + s.literals;
    if (!usable || after == in.length)
        return s;
    const u32 y = (u32)in.eight(after);
    s.distance = y & 0xffff;
    s.match = (token & 15) + least_match;
    s.tail = 2;
    if ((token & 15) == in_token)
        s.match += y >> 16 & 0xff, s.tail = 3;
    usable = s.match <= most_short;
    return s;
}

// read_run adds the bytes that continue a length, up to the first that is not 255. It returns
// whether the page has them.
DEVICE bool read_run(const Work &w, u32 &at, u32 &length, u32 lane) {
    for (;;) {
        const bool inside = at + lane < w.compressed;
        const u32 byte = inside ? w.from[at + lane] : 0;
        const u32 others = ballot(byte != 255), whole = others == 0 ? warp_threads : __builtin_ctz(others);
        length = least(length + whole * 255, most_bytes);
        at += whole;
        if (others == 0)
            continue;
        length = least(length + shuffle_value(byte, whole), most_bytes);
        return at++ < w.compressed;
    }
}

// copy_sequence decompresses the sequence at a position by all lanes.
DEVICE u32 copy_sequence(const Work &w, u32 &at, u32 &to, u32 lane) {
    const u32 token = w.from[at++];
    u32 literals = token >> 4;
    if (literals == in_token && !read_run(w, at, literals, lane))
        return truncated;
    if (literals > w.compressed - at)
        return truncated;
    if (literals > w.length - to)
        return too_long;
    copy_bytes(w.to + to, w.from + at, literals, lane);
    synchronize_warp();
    at += literals, to += literals;
    if (at == w.compressed)
        return complete;
    if (w.compressed - at < 2)
        return truncated;
    const u32 distance = w.from[at] | w.from[at + 1] << 8;
    at += 2;
    u32 match = token & 15;
    if (match == in_token && !read_run(w, at, match, lane))
        return truncated;
    match = least(match + least_match, most_bytes);
    if (distance == 0 || distance > to)
        return bad_distance;
    if (match > w.length - to)
        return too_long;
    copy_match(w.to + to, distance, match, lane);
    to += match;
    return complete;
}

DEVICE u32 decode(const Work &w, Shared &s, u32 lane) {
    Input in;
    in.begin(w, s.ring, lane);
    s.pieces.clear(lane);
    u32 at = 0, to = 0;
    while (at < w.compressed) {
        in.prepare(at);
        const u32 own = at + lane;
        bool usable;
        const Sequence q = sequence_at(in, own, usable);
        const u32 whole = q.header + q.literals + q.tail;
        Chain chain;
        chain.follow(usable && own < w.compressed, lane + whole, q.literals + q.match, lane);
        if (chain.tokens != 0) {
            const bool has = chain.has(lane);
            u32 fault = complete;
            if (has) {
                if (whole > w.compressed - own)
                    fault = truncated;
                else if (q.match != 0 && (q.distance == 0 || q.distance > to + chain.begin + q.literals))
                    fault = bad_distance;
            }
            fault = first_fault(chain.bytes > w.length - to ? too_long : fault);
            if (fault != complete)
                return fault;
            const u32 with_literals = ballot(has && q.literals != 0), with_match = ballot(has && q.match != 0), below = (1u << lane) - 1;
            u32 number = __builtin_popcount(with_literals & below) + __builtin_popcount(with_match & below);
            if (has && q.literals != 0)
                s.pieces.add(number++, chain.begin, q.literals, own + q.header, true);
            if (has && q.match != 0)
                s.pieces.add(number, chain.begin + q.literals, q.match, q.distance, false);
            s.pieces.write(w.to, to, chain.bytes, w.from, lane);
            to += chain.bytes;
        }
        // The next sequence may have long copies.
        const u32 next = chain.next(lane + whole);
        at += next;
        if (next >= warp_threads || at >= w.compressed)
            continue;
        const u32 fault = copy_sequence(w, at, to, lane);
        if (fault != complete)
            return fault;
    }
    return to == w.length ? complete : too_short;
}

KERNEL LAUNCH_BOUNDS(32) lz4(const Page *pages, const u8 *input, u64 input_bytes, u8 *output, u64 output_bytes, u32 *status) {
    __shared__ Shared shared;
    each_page(pages, input, input_bytes, output, output_bytes, status, [&](const Work &w, u32 lane) INLINE { return decode(w, shared, lane); });
}
