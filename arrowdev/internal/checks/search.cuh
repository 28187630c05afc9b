// The common part of the kernels of this folder: reading, searching and reporting.
//
// Each kind of check is a separate module, because the driver compiles it on first use
// while a caller waits. For the same reason the code is small: only reads of aligned
// memory in groups of 16 bytes are unrolled. The rest after the groups, groups with a
// possible error, and all unaligned memory go through one plain loop, element by
// element.
#pragma once

#include "gpuframe.cuh"

// none is the index if no element is wrong.
static constexpr u64 none = ~0ull;

// Result is the result of a check for the host. The host sets it to {none, 0, 0} before
// the kernel runs.
struct Result {
    u64 bad;
    u64 first, last;
};

DEVICE void report(Result *result, u64 bad) {
    // Few threads have an error to report, usually none.
    if (bad != none)
        __nvvm_atom_min_gen_ull(&result->bad, bad);
}

// load reads element i at any alignment. A whole load from an address that is not
// aligned to the element would destroy the context.
DEVICE u64 load(const u8 *values, u64 i, u32 width) {
    const u8 *from = values + i * width;
    u64 bits = 0;
    u32 b = 0;
#pragma nounroll
    do
        bits |= (u64)from[b] << 8 * b;
    while (++b < width);
    return bits;
}

// load_signed is load for signed numbers.
DEVICE i64 load_signed(const u8 *values, u64 i, u32 width) {
    const u32 over = 64 - 8 * width;
    return (i64)(load(values, i, width) << over) >> over;
}

// valid reports whether a slot is not null; without a bitmap all are valid.
DEVICE bool valid(const u8 *bits, u64 i) { return bits == nullptr || bits[i >> 3] >> (i & 7) & 1; }

// Groups describes the elements that can be read in groups: those after the first head,
// in count groups of each.
struct Groups {
    u64 head, count;
    u32 each;
};

// groups_of returns aligned groups of 16 bytes, or none if possible is false. The width
// is that of an element.
DEVICE Groups groups_of(const u8 *values, u64 n, u32 width, bool possible) {
    const u32 shift = __builtin_ctz(width);
    u64 head = possible && aligned(values, width) ? (-(u64)values & 15) >> shift : n;
    if (head > n)
        head = n;
    return {head, (n - head) >> (4 - shift), 16u >> shift};
}

// search returns the first index at which a thread finds an error. batch is the number
// of groups that it reads at a time, to keep the memory busy. suspicious receives the
// results of read for the group numbers; if it returns true for valid groups, that only
// costs time. wrong reports whether the element of an index is wrong.
//
// A thread processes, in this order, elements of the head, groups, and elements after
// the groups. Each is a unit, so its first error is at its lowest index.
template <u32 batch, typename Read, typename Suspicious, typename Wrong>
DEVICE u64 search(u64 n, Groups groups, Read read, Suspicious suspicious, Wrong wrong) {
    const u64 step = threads_per_grid();
    const u64 head = groups.head, end = head + groups.count;
    const u64 single = groups.count * (groups.each - 1); // elements that are not the first of a group
    const u64 units = n - single;
    u64 bad = none;
#pragma nounroll
    for (u64 u = thread_in_grid(); u < units && bad == none; u += batch * step) {
        bool fine = false;
        if (head <= u && u < end) {
            decltype(read(0)) got[batch];
            // Beyond the end the last group is read again, which does no harm.
#pragma unroll
            for (u32 b = 0; b < batch; b++) {
                const u64 unit = u + b * step;
                got[b] = read((unit < end ? unit : end - 1) - head);
            }
            fine = !suspicious(got);
            if (fine && u + (batch - 1) * step < end)
                continue;
        }
#pragma nounroll
        for (u64 b = 0, unit = u; b < batch && unit < units && bad == none; b++, unit += step) {
            if (fine && unit < end)
                continue;
            u64 i = unit, to = unit + 1;
            if (unit >= end)
                i += single, to += single;
            else if (unit >= head)
                i = head + (unit - head) * groups.each, to = i + groups.each;
#pragma nounroll
            for (; i < to && bad == none; i++)
                if (wrong(i))
                    bad = i;
        }
    }
    return bad;
}
