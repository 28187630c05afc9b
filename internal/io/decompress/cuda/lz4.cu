// LZ4 without a frame: "LZ4 Block Format Description" in the repository lz4/lz4.
#include "block_tokens.cuh"

static constexpr u32 least_match = 4;
static constexpr u32 in_token = 15; // this length continues in the bytes after

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

struct LZ4 {
    // read returns literals and a match. The last sequence of a page has no match. Lengths that
    // continue in more than one byte are not complete, and are long.
    template <u32 most_short, typename Bytes> METHOD static Sequence read(const Bytes &in, u32 at) {
        const u64 x = in.eight(at);
        const u32 token = (u32)x & 0xff;
        Sequence q = {1, token >> 4, 0, 0, 0, true};
        if (q.literals == in_token)
            q.literals += (u32)(x >> 8) & 0xff, q.header = 2;
        q.is_short = q.literals <= most_short;
        const u32 after = at + q.header + q.literals;
        if (!q.is_short || after == in.length)
            return q;
        const u32 y = (u32)in.eight(after);
        q.distance = y & 0xffff;
        q.match = (token & 15) + least_match;
        q.tail = 2;
        if ((token & 15) == in_token)
            q.match += y >> 16 & 0xff, q.tail = 3;
        q.is_short = q.match <= most_short;
        return q;
    }

    template <typename Bytes, typename Team> METHOD static u32 copy_long(const Work &w, const Bytes &, u32 &at, u32 &to, const Team &team) {
        const u32 token = w.from[at++];
        u32 literals = token >> 4;
        if (literals == in_token && !read_run(w, at, literals, team.lane))
            return truncated;
        if (literals > w.compressed - at)
            return truncated;
        if (literals > w.length - to)
            return too_long;
        team.copy(w.to + to, w.from + at, literals);
        at += literals, to += literals;
        if (at == w.compressed)
            return complete;
        if (w.compressed - at < 2)
            return truncated;
        const u32 distance = w.from[at] | w.from[at + 1] << 8;
        at += 2;
        u32 match = token & 15;
        if (match == in_token && !read_run(w, at, match, team.lane))
            return truncated;
        match = least(match + least_match, most_bytes);
        if (distance == 0 || distance > to)
            return bad_distance;
        if (match > w.length - to)
            return too_long;
        team.repeat(w.to + to, distance, match);
        to += match;
        return complete;
    }
};

DEVICE u32 decode(const Work &w, Shared &s, u32 lane) {
    Input in;
    in.begin(w, s.ring, lane);
    s.pieces.clear(lane);
    return decode_tokens<LZ4>(w, s, in, 0, lane);
}

KERNEL LAUNCH_BOUNDS(32) lz4(const Page *pages, const u8 *input, u64 input_bytes, u8 *output, u64 output_bytes, u32 *status) {
    __shared__ Shared shared;
    each_page(pages, input, input_bytes, output, output_bytes, status, [&](const Work &w, u32 lane) INLINE { return decode(w, shared, lane); });
}

KERNEL RESIDENT_BOUNDS(block_threads, 2) lz4_block(const Page *pages, const u8 *input, u64 input_bytes, u8 *output, u64 output_bytes, u32 *status) {
    __shared__ BlockShared shared;
    each_page(pages, input, input_bytes, output, output_bytes, status, [&](const Work &w, u32) INLINE {
        Window in;
        in.begin(w, shared.words);
        return decode_windows<LZ4>(w, shared, in, 0);
    });
}
