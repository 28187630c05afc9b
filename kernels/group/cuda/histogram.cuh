// Histograms: the number of values in each bin.
#pragma once

#include "warprows.cuh"

static constexpr u32 histogram_threads = 256, histogram_warps = histogram_threads / warp_threads;

// not_counted is the bin of values that are not counted.
static constexpr u32 not_counted = ~0u;

// Mapping is how the bin of a value is found.
//go:layout mapping
enum Mapping : u32 { signed_width, unsigned_width, equal_width, between_edges };

// Bins describes bins. The meaning of a, b, c and d depends on the hole: see
// histogram_kernels.go.
//go:layout binsLayout
struct Bins {
    u32 mapping;
    u32 count;   // number of bins
    // copies is the number of copies of the counters in shared memory, a power of two,
    // or 0 if the counters are in global memory only.
    u32 copies;
    u32 clamp; // 1 to count the values outside in the outermost bins
    u64 a, b, c, d;
    const f64 *edges; // count + 1 of them
};

// BinFinder finds the bins of values. Its fields are the same for all values.
template <typename Value> struct BinFinder {
    // An integer x has the key (x ^ flip) + offset, and lowest is the key of the lowest
    // bin. Keys of signed integers are in the order of unsigned ones.
    Value flip;
    u64 offset, lowest;
    u64 a, b, c, d, edges;
    u64 size; // the number of bins as a float
    u32 mapping, last, below, above;

    METHOD BinFinder(const Bins &bins) : a(bins.a), b(bins.b), c(bins.c), d(bins.d), edges((u64)bins.edges), mapping(bins.mapping) {
        const u64 sign = 1ull << 63;
        flip = mapping == signed_width ? (Value)(sign >> 8 * (8 - sizeof(Value))) : 0;
        offset = mapping == signed_width ? sign - (u64)flip : 0;
        lowest = mapping == signed_width ? a ^ sign : a;
        size = __builtin_bit_cast(u64, (f64)bins.count);
        last = bins.count - 1;
        below = bins.clamp != 0 ? 0 : not_counted;
        above = bins.clamp != 0 ? last : not_counted;
    }

    // of returns the bin of a value, or not_counted. It is called for null rows, too:
    // clang does not turn a branch around a hole into a selection.
    METHOD u32 of(Value x) const {
        u32 bin;
        if constexpr (sizeof(Value) == 8)
            asm("//@bin %0 = %1 %2 %3 %4 %5 %6 %7 %8 %9 %10 %11 %12 %13 %14"
                : "=&r"(bin)
                : "l"(x), "l"(flip), "l"(offset), "l"(lowest), "l"(a), "l"(b), "l"(c), "l"(d), "l"(edges), "l"(size), "r"(mapping),
                  "r"(last), "r"(below), "r"(above));
        else
            asm("//@bin %0 = %1 %2 %3 %4 %5 %6 %7 %8 %9 %10 %11 %12 %13 %14"
                : "=&r"(bin)
                : "r"((u32)x), "r"((u32)flip), "l"(offset), "l"(lowest), "l"(a), "l"(b), "l"(c), "l"(d), "l"(edges), "l"(size),
                  "r"(mapping), "r"(last), "r"(below), "r"(above));
        return bin;
    }
};

// dynamic_shared has the size that the launch passes.
extern __shared__ u32 dynamic_shared[];

// count_rows counts in shared memory or in global memory. Counting in global memory is
// slow in any case, so it loads less at a time to keep the code small.
template <bool shared, typename Value>
DEVICE void count_rows(i64 *counts, const Value *values, const u8 *valid, u64 bit, u64 rows, const Bins &bins, const BinFinder<Value> &finder) {
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
                const u32 bin = finder.of(run.group[i].lane[j]);
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
template <typename Value>
DEVICE void count_values(i64 *counts, const Value *values, const u8 *valid, u64 bit, u64 rows, const Bins &bins) {
    const BinFinder<Value> finder(bins);
    const u32 thread = thread_in_block();
    for (u32 i = thread; i < bins.copies * bins.count; i += histogram_threads)
        dynamic_shared[i] = 0;
    synchronize_block();

    if (bins.copies == 0) {
        count_rows<false>(counts, values, valid, bit, rows, bins, finder);
        return;
    }
    count_rows<true>(counts, values, valid, bit, rows, bins, finder);

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

// HISTOGRAM declares a template. Its hole bin has the result and the arguments that BinFinder
// lists.
#define HISTOGRAM(name, Value)                                                                                           \
    KERNEL LAUNCH_BOUNDS(histogram_threads)                                                                              \
    name(i64 *counts, const Value *values, const u8 *valid, u64 bit, const i64 *rows, i64 capacity, Bins bins) {         \
        count_values(counts, values, valid, bit, device_rows(rows, capacity), bins);                                     \
    }
