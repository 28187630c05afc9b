#include "histogram.cuh"

HISTOGRAM(histogram_8, u8)
HISTOGRAM(histogram_16, u16)
HISTOGRAM(histogram_32, u32)
HISTOGRAM(histogram_64, u64)

// histogram_bin_by_edges returns the last bin with a lower edge that is not above a value,
// the bits of which it takes. The holes of floats call it: its code would be repeated for
// each value that a lane loads.
extern "C" __device__ __attribute__((used, noinline)) u64 histogram_bin_by_edges(u64 bits, const f64 *edges, u64 last) {
    const f64 value = __builtin_bit_cast(f64, bits);
    u32 low = 0, high = (u32)last + 1; // edges[low] ≤ value, and the result is below high
    while (high - low > 1) {
        const u32 middle = low + (high - low) / 2;
        if (edges[middle] <= value)
            low = middle;
        else
            high = middle;
    }
    return low;
}
