// Histograms: the number of values in each bin.
#pragma once

#include "warprows.cuh"

static constexpr u32 histogram_threads = 256, histogram_warps = histogram_threads / warp_threads;

// not_counted is the bin of values that are not counted.
static constexpr u32 not_counted = ~0u;

// Bins maps values to bins. The meaning of a, b, c and d depends on the mapping: see
// IntegerBins and RealBins.
struct Bins {
    u32 mapping; // 0: signed integers, 1: unsigned integers, 2: bins of equal width, 3: edges
    u32 count;   // number of bins
    // copies is the number of copies of the counters in shared memory, a power of two,
    // or 0 if the counters are in global memory only.
    u32 copies;
    u32 clamp; // 1 to count the values outside in the outermost bins
    u64 a, b, c, d;
    const f64 *edges; // count + 1 of them

    // clamped returns the bin of a value that may be outside. The code selects without
    // branches, because the lanes of a warp would diverge.
    METHOD u32 clamped(bool below, bool above, u32 bin) const {
        const u32 outside = clamp == 0 ? not_counted : below ? 0 : count - 1;
        return below | above ? outside : bin;
    }
};

// A number converts values of a type to floats.
template <typename T> struct PlainNumber {
    typedef T Value;
    METHOD static f64 real(Value x) { return (f64)x; }
};

struct HalfNumber {
    typedef u16 Value;
    METHOD static f64 real(Value x) {
        f64 wide;
        asm("cvt.f64.f16 %0, %1;" : "=d"(wide) : "h"(x));
        return wide;
    }
};

DEVICE u64 multiply_high(u64 a, u64 b) { return (u64)((unsigned __int128)a * b >> 64); }

DEVICE u32 multiply_high(u32 a, u32 b) { return (u32)((u64)a * b >> 32); }

// IntegerBins compares integers. a is the lowest value, b the largest distance from it
// that is counted, c the width of a bin, and d is ⌊(2³²−1)/c⌋, or ⌊(2⁶⁴−1)/c⌋ for 64-bit
// values. A quotient computed with d is at most one too small. Values are passed as
// unsigned words.
template <typename T> struct IntegerBins {
    typedef T Value;
    const Bins &bins;
    METHOD u32 of(Value x) const {
        constexpr u64 sign = 1ull << 8 * sizeof(Value) - 1;
        // Flipping the sign bit and subtracting it extends the sign.
        const u64 flip = bins.mapping == 0 ? sign : 0, value = ((u64)x ^ flip) - flip, distance = value - bins.a;
        const bool below = bins.mapping == 0 ? (i64)value < (i64)bins.a : value < bins.a, above = !below & distance > bins.b;
        u32 bin;
        if constexpr (sizeof(Value) <= 4) {
            const u32 short_distance = (u32)distance, width = (u32)bins.c;
            bin = multiply_high(short_distance, (u32)bins.d);
            bin += short_distance - bin * width >= width;
        } else {
            const u64 quotient = multiply_high(distance, bins.d);
            bin = (u32)quotient + (distance - quotient * bins.c >= bins.c);
        }
        return bins.clamped(below, above, bin < bins.count ? bin : bins.count - 1);
    }
};

// bin_by_edges returns the last bin with a lower edge that is not above the value. It is
// not inlined: the code would be repeated for each value that a lane loads.
static inline __device__ __attribute__((noinline)) u32 bin_by_edges(f64 value, const f64 *edges, u32 count) {
    u32 low = 0, high = count; // edges[low] ≤ value, and the result is below high
    while (high - low > 1) {
        const u32 middle = low + (high - low) / 2;
        if (edges[middle] <= value)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// RealBins compares floats. a and b are the bits of the lowest and the highest value. The
// bin of x is found by edges, or is ⌊(x − a) · c⌋ with each operation rounded.
template <typename Number> struct RealBins {
    typedef typename Number::Value Value;
    const Bins &bins;
    METHOD u32 of(Value x) const {
        const f64 value = Number::real(x), low = __builtin_bit_cast(f64, bins.a), high = __builtin_bit_cast(f64, bins.b);
        u32 bin;
        if (bins.mapping == 3)
            bin = bin_by_edges(value, bins.edges, bins.count);
        else {
            const f64 place = __nvvm_mul_rn_d(__nvvm_add_rn_d(value, -low), __builtin_bit_cast(f64, bins.c));
            bin = place < bins.count ? (u32)place : bins.count - 1;
        }
        // NaN is not equal to itself.
        return value == value ? bins.clamped(value < low, value > high, bin) : not_counted;
    }
};

// dynamic_shared has the size that the launch passes.
extern __shared__ u32 dynamic_shared[];

// count_rows counts in shared memory or in global memory. Counting in global memory is
// slow in any case, so it loads less at a time to keep the code small.
template <bool shared, typename Which>
DEVICE void count_rows(i64 *counts, const typename Which::Value *values, const u8 *valid, u64 bit, u64 rows, const Bins &bins, Which which) {
    typedef typename Which::Value Value;
    constexpr int loads = !shared || sizeof(Value) == 1 ? 16 / sizeof(Value) < 8 ? 8 * sizeof(Value) / 16 : 1 : sizeof(Value) == 2 ? 2 : 4;
    WarpRows<Value, loads> run;
    const u32 warp = thread_in_block() / warp_threads;
    u32 *const counters = dynamic_shared + (warp & bins.copies - 1) * bins.count;
    const u64 step = (u64)blocks_per_grid() * histogram_warps * run.count;
    for (u64 begin = ((u64)block_in_grid() * histogram_warps + warp) * run.count; begin < rows; begin += step) {
        run.load(values, valid, bit, rows, begin);
#pragma unroll
        for (int i = 0; i < loads; i++) {
            const u32 there = run.bits(i);
#pragma unroll
            for (int j = 0; j < run.lanes; j++) {
                const u32 bin = which.of(run.group[i].lane[j]);
                if (!(bin != not_counted & (there >> j & 1) != 0))
                    continue;
                // The old value is not used, so the hardware combines the lanes that update
                // one counter.
                if constexpr (shared)
                    __nvvm_atom_add_gen_i((int *)&counters[bin], 1);
                else
                    __nvvm_atom_add_gen_ll(&counts[bin], 1);
            }
        }
    }
}

// count_values adds to counts. They are zero at the start, except if the grid is a single
// block with counters in shared memory, which overwrites them.
template <typename Which>
DEVICE void count_values(i64 *counts, const typename Which::Value *values, const u8 *valid, u64 bit, u64 rows, const Bins &bins) {
    const u32 thread = thread_in_block();
    for (u32 i = thread; i < bins.copies * bins.count; i += histogram_threads)
        dynamic_shared[i] = 0;
    synchronize_block();

    if (bins.copies == 0) {
        count_rows<false>(counts, values, valid, bit, rows, bins, Which{bins});
        return;
    }
    count_rows<true>(counts, values, valid, bit, rows, bins, Which{bins});

    synchronize_block();
    for (u32 i = thread; i < bins.count; i += histogram_threads) {
        // Each block starts at another bin, so that the blocks do not update the same bins
        // at the same time.
        const u32 bin = (u32)((i + (u64)block_in_grid() * 37) % bins.count);
        u64 sum = 0;
        for (u32 copy = 0; copy < bins.copies; copy++)
            sum += dynamic_shared[copy * bins.count + bin];
        if (blocks_per_grid() == 1)
            counts[bin] = (i64)sum;
        else if (sum != 0)
            __nvvm_atom_add_gen_ll(&counts[bin], (i64)sum);
    }
}

#define HISTOGRAM(name, Which)                                                                                          \
    KERNEL LAUNCH_BOUNDS(histogram_threads)                                                                             \
    name(i64 *counts, const Which::Value *values, const u8 *valid, u64 bit, const i64 *rows, i64 capacity, Bins bins) { \
        count_values<Which>(counts, values, valid, bit, device_rows(rows, capacity), bins);                             \
    }
