// Histograms: how many values lie in each bin.
#pragma once

#include "warprows.cuh"

static constexpr u32 histogram_threads = 256, histogram_warps = histogram_threads / warp_threads;

// nowhere is the bin of what is not counted.
static constexpr u32 nowhere = ~0u;

// Bins says which bin a value is in. What a and b, c and d are depends on how.
struct Bins {
    u32 how;   // 0: signed integers, 1: unsigned ones, 2: bins of equal width, 3: edges
    u32 count; // of bins
    // copies of the counters in shared memory, a power of two; 0: none, all count in
    // global memory.
    u32 copies;
    u32 clamp; // whether values outside are counted in the outermost bins
    u64 a, b, c, d;
    const f64 *edges; // count + 1 of them

    // settle returns the bin of what may lie outside. Choices, here as elsewhere, are
    // made without branches, on which the lanes would part.
    METHOD u32 settle(bool below, bool above, u32 bin) const {
        const u32 outside = clamp == 0 ? nowhere : below ? 0 : count - 1;
        return below | above ? outside : bin;
    }
};

// A number says what values of a type are as floats.
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

// Integers: from the lowest value a on, b is the largest distance that counts, c the
// width of a bin and d ⌊(2³²−1)/c⌋, or with 2⁶⁴ for wider values. A quotient by way
// of d is at most one too small. Values come unsigned.
template <typename T> struct IntegerBins {
    typedef T Value;
    const Bins &bins;
    METHOD u32 of(Value x) const {
        constexpr u64 sign = 1ull << 8 * sizeof(Value) - 1;
        // The sign is extended, where there is one, by adding and taking it away.
        const u64 flip = bins.how == 0 ? sign : 0, value = ((u64)x ^ flip) - flip, distance = value - bins.a;
        const bool below = bins.how == 0 ? (i64)value < (i64)bins.a : value < bins.a, above = !below & distance > bins.b;
        u32 bin;
        if constexpr (sizeof(Value) <= 4) {
            const u32 short_distance = (u32)distance, width = (u32)bins.c;
            bin = multiply_high(short_distance, (u32)bins.d);
            bin += short_distance - bin * width >= width;
        } else {
            const u64 quotient = multiply_high(distance, bins.d);
            bin = (u32)quotient + (distance - quotient * bins.c >= bins.c);
        }
        return bins.settle(below, above, bin < bins.count ? bin : bins.count - 1);
    }
};

// Edges: the last bin whose lower edge is not above the value. It is a function of
// its own, for else it would stand in the code once for each value that a lane loads.
static inline __device__ __attribute__((noinline)) u32 bin_by_edges(f64 value, const f64 *edges, u32 count) {
    u32 low = 0, high = count; // edges[low] ≤ value, and the answer is below high
    while (high - low > 1) {
        const u32 middle = low + (high - low) / 2;
        if (edges[middle] <= value)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// Floats: of what lies from a to b, by edges or in bins of equal width,
// ⌊(x − a) · c⌋, each operation rounded.
template <typename Number> struct RealBins {
    typedef typename Number::Value Value;
    const Bins &bins;
    METHOD u32 of(Value x) const {
        const f64 value = Number::real(x), low = __builtin_bit_cast(f64, bins.a), high = __builtin_bit_cast(f64, bins.b);
        u32 bin;
        if (bins.how == 3)
            bin = bin_by_edges(value, bins.edges, bins.count);
        else {
            const f64 place = __nvvm_mul_rn_d(__nvvm_add_rn_d(value, -low), __builtin_bit_cast(f64, bins.c));
            bin = place < bins.count ? (u32)place : bins.count - 1;
        }
        // NaN is neither of these, nor equal to itself.
        return value == value ? bins.settle(value < low, value > high, bin) : nowhere;
    }
};

// dynamic_shared is as long as the launch says.
extern __shared__ u32 dynamic_shared[];

// count_rows counts in shared memory or else in global, which is slow in any case, and
// has less code for it.
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
                if (!(bin != nowhere & (there >> j & 1) != 0))
                    continue;
                // Without a use of the old value the hardware adds up the lanes that
                // meet in one counter.
                if constexpr (shared)
                    __nvvm_atom_add_gen_i((int *)&counters[bin], 1);
                else
                    __nvvm_atom_add_gen_ll(&counts[bin], 1);
            }
        }
    }
}

// count_values counts into counts, which are zero at the start but where one block,
// with counters in shared memory, does it all.
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
        // Each block begins elsewhere, lest all add to the same bins at a time.
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
