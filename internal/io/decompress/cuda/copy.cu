// Pages without compression.
#include "copies.cuh"

KERNEL LAUNCH_BOUNDS(32) copy_pages(const Page *pages, const u8 *input, u64 input_bytes, u8 *output, u64 output_bytes, u32 *status) {
    each_page(pages, input, input_bytes, output, output_bytes, status, [&](const Work &w, u32 lane) INLINE -> u32 {
        if (w.compressed != w.length)
            return w.compressed < w.length ? too_short : too_long;
        copy_bytes(w.to, w.from, w.length, lane);
        return complete;
    });
}
