// Pages as page.go describes them. A warp or a block decompresses a page.
#pragma once
#include "scan.cuh"

template <typename T> DEVICE T least(T a, T b) { return b < a ? b : a; }

struct Page {
    u64 source, target;
    u32 compressed, length;
};

// Status is the type Status of status.go.
enum Status : u32 { complete, outside, truncated, too_long, too_short, bad_distance, bad_header, bad_block, bad_tree };

// Work is a page in memory.
struct Work {
    const u8 *from;
    u8 *to;
    u32 compressed, length;
};

// most_bytes is the length of a page at most: that of mostBytes in host.go. Sums of a length and
// a few hundred bytes then fit 31 bits.
static constexpr u32 most_bytes = 0x7fff0000;

DEVICE bool within(u64 offset, u32 length, u64 bytes) {
    return length <= most_bytes && offset <= bytes && length <= bytes - offset;
}

// INLINE, behind the parameters of a lambda, inlines it.
#define INLINE __attribute__((always_inline))

// each_page calls decode(work, thread) for the page of this block and writes its status. Blocks have
// the warps of one page, because pages take different times.
template <typename Decode>
DEVICE void each_page(const Page *pages, const u8 *input, u64 input_bytes, u8 *output, u64 output_bytes, u32 *status, Decode decode) {
    const u32 lane = thread_in_block();
    const Page page = pages[block_in_grid()];
    u32 result = outside;
    if (within(page.source, page.compressed, input_bytes) && within(page.target, page.length, output_bytes)) {
        result = complete;
        if (page.compressed != 0 || page.length != 0)
            result = decode(Work{input + page.source, output + page.target, page.compressed, page.length}, lane);
    }
    if (lane == 0)
        status[block_in_grid()] = result;
}
