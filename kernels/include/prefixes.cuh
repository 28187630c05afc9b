// The fold of everything before each tile, computed by one block.
//
// It is for kernels with blocks that take many tiles in sequence and continue while
// they wait. In lookback.cuh every tile reads values that a thousand others have
// published; with hundreds of tiles waiting for the same few lines of memory, that
// limits the number of tiles per microsecond. Here the first block to run takes no
// tile. It reads the sums of all tiles as they are published, scans them, and writes
// the prefix of each tile to a separate address, at which the tile's block waits. On an
// H200 the sum of 2²⁷ float64 takes 592 µs this way, 712 µs by look-back with
// everything else equal, and 526 µs without any waiting.
//
// The order of the folds: 32 tiles make a group; the earlier groups are folded in
// sequence, and the tiles of a group as warp_scan does. The order depends only on the
// tile's number.
//
// # Memory
//
// state is 128-byte aligned, has the length of internal/op/lookback.ToldBytes, and is zero
// when the kernel starts: 128 bytes, the first four of which count the tickets
// (take_tile), then a sum for each tile and a prefix for each, as Published values.
//
// # Progress
//
// At least two blocks must run at the same time. Take tickets in order, and publish
// each tile before waiting for the prefix of one that was taken later: the awaited
// values then belong to blocks that run.
#pragma once

#include "lookback.cuh"

// Prefixes is the state of a kernel for a number of tiles.
template <typename T> struct Prefixes {
    u64 sums, befores; // global addresses

    METHOD Prefixes(void *state, u32 tiles) {
        sums = global_address(state) + lookback_header;
        befores = sums + (u64)tiles * Published<T>::bytes;
    }

    // publish publishes the fold of a tile, and whether it is marked. One lane calls
    // it.
    METHOD void publish(u32 tile, const T &sum, bool marked) const {
        Published<T>::write(sums + (u64)tile * Published<T>::bytes, sum, marked);
    }

    // wait returns the fold of all tiles before one, and in marked whether one of them
    // is marked. The whole warp calls it.
    METHOD T wait(u32 tile, bool &marked) const {
        Published<T> before;
        do
            before.read(befores + (u64)tile * Published<T>::bytes);
        while (ballot(!before.there()) != 0);
        marked = before.mark();
        return before.value();
    }
};

// Running is the value that the warps of the prefix block pass to each other in shared
// memory: the prefix of a group, whether it is marked, and the group's number.
//
// If everything fits one word, atomic operations read and write the word.
template <typename T, int words = Words<T>::count> struct Running;

template <typename T> struct Running<T, 1> {
    u64 word;

    // hand_over stores the value of a group. One lane calls it.
    METHOD void hand_over(u32 group, const T &sum, bool marked) {
        const u64 tagged = (u64)(group << 1 | marked) << 32 | Words<T>::of(sum).word[0];
        u64 old;
        asm volatile("atom.relaxed.cta.exch.b64 %0, [%1], %2;" : "=l"(old) : "l"(&word), "l"(tagged) : "memory");
    }

    // is_of reports whether the value belongs to a group, and returns it. The whole
    // warp calls it.
    METHOD bool is_of(u32 group, T &sum, bool &marked) {
        u64 now = 0;
        if (lane_in_warp() == 0)
            asm volatile("atom.relaxed.cta.or.b64 %0, [%1], 0;" : "=l"(now) : "l"(&word) : "memory");
        now = shuffle_value(now, 0);
        Words<T> w;
        w.word[0] = (u32)now;
        sum = w.value();
        marked = (now >> 32 & 1) != 0;
        return now >> 33 == group;
    }
};

// For more than a word, the number is written after a fence and read before one: a
// release and an acquire pattern of PTX's memory model. Both sides are relaxed
// (volatile) accesses of one word with fences of the block's scope.
//
// - Visibility. The writes of the handing lane before its fence are visible to lane 0
// of
//    the next warp after the fence that follows its read of the number.
//    synchronize_warp, a barrier of the warp, passes that on to all its lanes.
// - Overwriting. The warp of the next group writes the value again, in hand_over, which
//    it calls after is_of. is_of ends with a barrier of the warp, so all of its lanes have
//    read by then. Other warps read only the number until it is theirs.
//
// racecheck follows barriers, not fences, and reports these accesses. With atomic
// operations on a word for each part, as above, it does not, but then groups follow
// each other so slowly that the sum of 2²⁷ float64 takes 761 µs instead of 604.
template <typename T, int words> struct Running {
    T sum;
    u32 marked;
    volatile u32 number;

    METHOD void hand_over(u32 group, const T &to, bool mark) {
        sum = to;
        marked = mark;
        asm volatile("fence.acq_rel.cta;" ::: "memory");
        number = group;
    }

    METHOD bool is_of(u32 group, T &to, bool &mark) {
        if (shuffle_value((u32)number, 0) != group)
            return false;
        asm volatile("fence.acq_rel.cta;" ::: "memory");
        synchronize_warp(); // lane 0 has seen the number for all lanes
        to = sum;
        mark = marked != 0;
        synchronize_warp(); // before a lane hands over the next one
        return true;
    }
};

// tell_prefixes is the work of the block with the first ticket. All of its warps call
// it; running is in shared memory.
//
// Each warp takes every warps-th group. It publishes a prefix as soon as all sums
// before it are known: if it waited for the whole group, it would wait for blocks that
// wait for it.
template <u32 warps, typename T, typename Fold> DEVICE void tell_prefixes(const Prefixes<T> &prefixes, u32 tiles, Running<T> &running, Fold f) {
    const u32 lane = lane_in_warp();
    if (thread_in_block() == 0)
        running.hand_over(0, f.none(), false);
    synchronize_block();
#pragma nounroll
    for (u32 group = thread_in_block() / warp_threads; group * warp_threads < tiles; group += warps) {
        const u32 tile = group * warp_threads + lane;
        const u64 offset = (u64)tile * Published<T>::bytes;
        T own = f.none(), before = f.none(), total = f.none(), ahead = f.none();
        bool turn = false, marked = false;
        bool there = tile >= tiles, mark = false;
        // The number of lanes, from the first on, with a known sum, and with a
        // published prefix.
        u32 known = 0, told = 0, marks = 0;
        while (told <= warp_threads) {
            if (known < warp_threads) {
                if (!there) {
                    Published<T> published;
                    published.read(prefixes.sums + offset);
                    there = published.there();
                    own = there ? published.value() : f.none();
                    mark = there && published.mark();
                }
                const u32 missing = ballot(!there);
                known = missing == 0 ? warp_threads : __builtin_ctz(missing);
                const T scanned = warp_scan(own, f);
                before = before_lane(scanned, f);
                total = shuffle_value(scanned, warp_threads - 1);
                marks = ballot(mark);
            }
            // Only this warp hands over the next group's value, so the value it has
            // seen stays.
            if (!turn)
                turn = running.is_of(group, ahead, marked);
            if (!turn || told > known)
                continue;
            if (known == warp_threads && lane == 0)
                running.hand_over(group + 1, f.fold(ahead, total), marked || marks != 0);
            // The prefix of the first lane without a known sum is known.
            if (lane >= told && lane <= known && tile < tiles)
                Published<T>::write(prefixes.befores + offset, f.fold(ahead, before), marked || (marks & (1u << lane) - 1) != 0);
            told = known + 1;
        }
    }
}
