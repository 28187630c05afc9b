// What the kernels of checks.cu have in common: how they read, search and report.
#pragma once

#include "gpuframe.cuh"

// none is the index where nothing is wrong.
static constexpr u64 none = ~0ull;

// Result is what the host gets of a check. The host sets it to {none, 0, 0}
// before the kernel runs.
struct Result {
    u64 bad;
    u64 first, last;
};

DEVICE void report(Result *result, u64 bad) {
    // Few threads have something to report, mostly none.
    if (bad != none)
        __nvvm_atom_min_gen_ull(&result->bad, bad);
}

// load reads element i of memory that may lie anywhere. Where it is not aligned
// to its elements a whole load would take the context down.
template <typename T> DEVICE T load(const u8 *values, u64 i, bool whole) {
    if (whole)
        return ((const T *)values)[i];
    const u8 *from = values + i * sizeof(T);
    u64 bits = 0;
#pragma unroll
    for (u32 b = 0; b < sizeof(T); b++)
        bits |= (u64)from[b] << 8 * b;
    return (T)bits;
}

// valid reports whether a slot is not null; without a bitmap all are valid.
DEVICE bool valid(const u8 *bits, u64 i) { return bits == nullptr || bits[i >> 3] >> (i & 7) & 1; }

// search returns the first index that a thread finds something wrong at. What find
// is given was got by read; reads go out several at a time, which is what keeps
// the memory busy. find returns none, or the index of what is wrong, which ascends
// from one i to the next.
template <u32 batch, typename Read, typename Find> DEVICE u64 search(u64 n, Read read, Find find) {
    const u64 step = threads_per_grid();
    u64 bad = none, i = thread_in_grid();
    for (; i + (batch - 1) * step < n; i += batch * step) {
        decltype(read(0)) got[batch];
#pragma unroll
        for (u32 b = 0; b < batch; b++)
            got[b] = read(i + b * step);
#pragma unroll
        for (u32 b = 0; b < batch; b++) {
            const u64 found = find(i + b * step, got[b]);
            bad = found < bad ? found : bad;
        }
    }
#pragma nounroll
    for (; i < n && bad == none; i += step)
        bad = find(i, read(i));
    return bad;
}

// search_values is search for values that are wrong by themselves, in groups of 16
// bytes where they are aligned. A value that is wrong may be excused for its index.
template <typename T, typename Wrong, typename Excused>
DEVICE u64 search_values(const u8 *values, u64 n, Wrong wrong, Excused excused) {
    constexpr u32 width = 16 / sizeof(T);
    typedef Vector<T, width> Group;
    const bool whole = aligned(values, sizeof(T));
    u64 head = whole ? (-(u64)values & 15) / sizeof(T) : n;
    if (head > n)
        head = n;
    const u64 groups = (n - head) / width;
    const Group *from = (const Group *)(values + head * sizeof(T));
    const auto find = [=](u64 g, Group group) {
        bool fine = true;
#pragma unroll
        for (u32 j = 0; j < width; j++)
            fine &= !wrong(group.lane[j]);
        u64 bad = none;
        if (!fine)
#pragma nounroll
            for (u32 j = 0; j < width && bad == none; j++) {
                const u64 i = head + g * width + j;
                if (wrong(load<T>(values, i, true)) && !excused(i))
                    bad = i;
            }
        return bad;
    };
    u64 bad = search<sizeof(T) == 1 ? 2 : 4>(groups, [=](u64 g) { return from[g]; }, find);
    const u64 rest = n - groups * width, step = threads_per_grid();
#pragma nounroll
    for (u64 r = thread_in_grid(); r < rest; r += step) {
        const u64 i = r < head ? r : r + groups * width;
        if (wrong(load<T>(values, i, whole)) && i < bad && !excused(i))
            bad = i;
    }
    return bad;
}
