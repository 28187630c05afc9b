// Chains: streams in which each element has its length in it, so that it shows where the next one begins. The threads of
// a block follow a chain together, and leave marks from which others find any value.
#pragma once

#include "page.cuh"

// Mark is the element of a stream with a value: there is one for each mark_values values.
struct Mark {
    u32 place;  // of the element
    u32 before; // values of the elements before
};

static constexpr u32 mark_values = 256;

DEVICE Mark load_mark(u64 marks, u32 number) {
    const u64 at = marks + 8 * (u64)number;
    return Mark{load<u32>(at), load<u32>(at + 4)};
}

DEVICE void store_mark(u64 marks, u32 number, Mark mark) {
    store<u32>(marks + 8 * (u64)number, mark.place);
    store<u32>(marks + 8 * (u64)number + 4, mark.before);
}

// marks_before is the number of marks of values before one.
DEVICE u32 marks_before(u64 value) { return (u32)((value + mark_values - 1) / mark_values); }

// Segment is the elements of a chain that begin in a part of it.
struct Segment {
    u32 begin, limit; // place of the first element, or none if the chain is broken before; end of the part
    u32 behind;       // end of the whole chain, or none if it is broken
    u64 before;       // values of the elements before
};

// follow divides the bytes of a chain from one place to another among the threads of the block, which all call it. Each
// thread guesses where an element begins in its segment, and follows the chain to the end of the segment. In the next two
// rounds it follows again if the thread before came to another place. Then the first segment with another place and those
// behind it take that place, which is true: in each further round one thread follows again, so that wrong guesses cost
// no more time than one thread needs for the whole chain. total is the number of all values.
//
// A chain has
//
//     u32 next(u32 at, u64 &values) const    place behind the element, or none at the end; adds its values
//     u32 guess(u32 at, u32 end) const       place where an element seems to begin, or end
template <u32 threads, typename Chain> DEVICE Segment follow(const Chain &chain, u32 from, u32 to, u32 least, u64 &total) {
    __shared__ u32 ends[threads], wrong[2];
    __shared__ u64 sums[threads / warp_threads];
    const u32 own = thread_in_block(), share = (to - from) / threads + 1, bytes = share < least ? least : share;
    const u64 first = from + (u64)own * bytes, last = first + bytes;
    Segment segment;
    segment.limit = last < to ? (u32)last : to;
    segment.begin = own == 0 ? from : first < to ? chain.guess((u32)first, segment.limit) : to;
    u64 values = 0;
    bool follows = true;
#pragma nounroll
    for (u32 round = 0;; round++) {
        if (follows) {
            u32 at = segment.begin;
            values = 0;
#pragma nounroll
            while (at < segment.limit)
                at = chain.next(at, values);
            ends[own] = at;
        }
        u32 &least_wrong = wrong[round % 2];
        if (own == 0)
            least_wrong = threads;
        synchronize_block();
        const u32 begin = own == 0 ? from : ends[own - 1];
        follows = begin != segment.begin;
        if (follows)
            __atomic_fetch_min(&least_wrong, own, __ATOMIC_RELAXED);
        synchronize_block();
        if (least_wrong == threads)
            break;
        if (round < 2) {
            segment.begin = begin;
            continue;
        }
        const u32 place = ends[least_wrong - 1];
        follows = own >= least_wrong && (place >= first || place == to);
        if (follows)
            segment.begin = place;
    }
    segment.behind = ends[threads - 1];
    const u64 scanned = warp_scan(values, Sum<u64>());
    segment.before = block_fold_before<threads / warp_threads>(shuffle_value(scanned, warp_threads - 1), sums, total, Sum<u64>());
    segment.before += scanned - values;
    return segment;
}

// scan_sums replaces the sums of a list by the sums of those before them, and returns the sum of all. All threads of the block
// call it.
template <u32 threads> DEVICE u64 scan_sums(u64 list, u32 count, u64 before) {
    __shared__ u64 sums[threads / warp_threads];
#pragma nounroll
    for (u32 first = 0; first < count; first += threads) {
        const u64 at = list + 8 * ((u64)first + thread_in_block());
        const bool within = thread_in_block() < count - first;
        const u64 own = within ? load<u64>(at) : 0, scanned = warp_scan(own, Sum<u64>());
        u64 all;
        const u64 place = block_fold_before<threads / warp_threads>(shuffle_value(scanned, warp_threads - 1), sums, all, Sum<u64>());
        if (within)
            store<u64>(at, before + place + scanned - own);
        before += all;
    }
    return before;
}
