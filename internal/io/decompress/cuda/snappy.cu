// Snappy: "Snappy compressed format description" in the repository google/snappy.
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

DEVICE u32 decode(const Work &w, Shared &s, u32 lane) {
    Input in;
    in.begin(w, s.ring, lane);
    s.pieces.clear(lane);
    u32 length = 0;
    const u32 begin = read_length(in, length);
    if (begin == 0 || length != w.length)
        return bad_header;
    return decode_tokens<Snappy>(w, s, in, begin, lane);
}

KERNEL LAUNCH_BOUNDS(32) snappy(const Page *pages, const u8 *input, u64 input_bytes, u8 *output, u64 output_bytes, u32 *status) {
    __shared__ Shared shared;
    each_page(pages, input, input_bytes, output, output_bytes, status, [&](const Work &w, u32 lane) INLINE { return decode(w, shared, lane); });
}

DEVICE u32 decode(const Work &w, BlockShared &s) {
    Window in;
    in.begin(w, s.words);
    in.fill(0);
    u32 length = 0;
    const u32 begin = read_length(in, length);
    synchronize_block();
    if (begin == 0 || length != w.length)
        return bad_header;
    return decode_windows<Snappy>(w, s, in, begin);
}

KERNEL LAUNCH_BOUNDS(block_threads) snappy_block(const Page *pages, const u8 *input, u64 input_bytes, u8 *output, u64 output_bytes, u32 *status) {
    __shared__ BlockShared shared;
    each_page(pages, input, input_bytes, output, output_bytes, status, [&](const Work &w, u32) INLINE { return decode(w, shared); });
}
