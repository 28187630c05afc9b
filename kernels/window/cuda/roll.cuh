// Folds of frames in shared memory.
//
// A frame is divided into runs with a length of a power of two, the shortest first: a frame
// of 100 rows into 4, 32 and 64. The fold of a run is that of its halves. The result
// depends on the values in the frame only.
//
// A block has roll_rows places, those that the frames of its rows reach included. Each
// thread keeps the runs that begin at its own places in registers and doubles them with
// the runs of other threads, so a step reads and writes one word of shared memory for
// each place. The fold is known at compile time: a switch in each step takes several
// times as long as the fold.
#pragma once

#include "over.cuh"

static constexpr u32 roll_threads = 512, roll_loads = 4, roll_rows = roll_threads * roll_loads;

// roll writes the fold of each frame. before is the number of rows that any frame has
// before its row, own the number of rows of a block with results, a multiple of 32, and
// longest the length of the longest frame. Without counted no value is null, and a run has as
// many values as rows; runs beyond the table are in no frame.
template <u32 fold, bool counted>
DEVICE void roll(const Rows &rows, const Frame &frame, const Values &values, Folding by, const Writing &to, u32 before, u32 own, u32 longest) {
    if (fold != any_fold)
        by.fold = fold;
    constexpr bool wide = fold == any_fold || fold == fold_integers || fold == fold_moments;
    // Steps alternate between two copies if there is room, and need one barrier then.
    constexpr u32 copies = wide || counted ? 1 : 2;
    __shared__ u64 a[copies][roll_rows], b[wide ? roll_rows : 1];
    __shared__ u32 counts[roll_rows];
    __shared__ u16 begins[roll_rows], ends[roll_rows];
    const u64 n = rows.count();
    const u32 thread = thread_in_block();
    const u64 begin = (u64)block_in_grid() * own;
    // The place of the first element, which may be before the first row.
    const i64 base = (i64)begin - before;
    u32 copy = 0;
    const auto run_at = [&](u32 at, u32 size) { return State{a[copy][at], wide ? b[at] : 0, counted ? counts[at] : size, 0}; };
    const auto put = [&](u32 at, const State &s, bool count) {
        a[copy][at] = s.a;
        if (wide)
            b[at] = s.b;
        if (count)
            counts[at] = s.n;
    };

    const bool inside = base >= 0 && base + roll_rows <= (i64)n && rows.listed == nullptr;
    const auto load = [&](u32 at, bool there, auto read) {
        const u64 row = there ? rows.row(base + at) : 0;
        const bool valid = there && (!counted || values.is_valid(row));
        a[0][at] = there ? read(row) : 0;
        counts[at] = valid;
    };
    if (inside && by.format % 4 == 3) {
        const u64 *const words = (const u64 *)values.values;
#pragma unroll
        for (u32 i = 0; i < roll_loads; i++)
            load(i * roll_threads + thread, true, [&](u64 row) { return words[row]; });
    } else {
#pragma unroll 1
        for (u32 at = thread; at < roll_rows; at += roll_threads)
            load(at, base + at >= 0 && base + at < (i64)n, [&](u64 row) { return values.raw(by.format, row); });
    }
#pragma unroll 1
    for (u32 at = thread; at < roll_rows; at += roll_threads)
        put(at, by.of(a[0][at], counts[at] != 0), counted);

    const u32 same = inside && rows.partitions.words == nullptr && frame.lows == nullptr && frame.high >= frame.low ? (u32)(frame.high - frame.low + 1) : 0;
    State runs[roll_loads], results[roll_loads];
    u32 cursors[roll_loads], lengths[roll_loads];
#pragma unroll
    for (u32 i = 0; i < roll_loads; i++) {
        const u32 at = i * roll_threads + thread;
        runs[i] = run_at(at, 1);
        results[i] = by.none();
        // Most blocks have frames of one length, which end within them.
        cursors[i] = (u32)(at + before + frame.low);
        lengths[i] = at < own ? same : 0;
    }
    if (same == 0) {
#pragma unroll 1
        for (u32 at = thread; at < own && begin + at < n; at += roll_threads) {
            u64 first, end;
            frame.bounds(rows, begin + at, n, first, end);
            // The slot of a row is its own until the results.
            begins[at] = (u16)((i64)first - base);
            ends[at] = (u16)((i64)end - base);
        }
#pragma unroll
        for (u32 i = 0; i < roll_loads; i++) {
            const u32 at = i * roll_threads + thread;
            const bool there = at < own && begin + at < n;
            cursors[i] = there ? begins[at] : 0;
            lengths[i] = there ? ends[at] - cursors[i] : 0;
        }
    }
    synchronize_block();
#pragma unroll 1
    for (u32 size = 1; size <= longest; size *= 2) {
#pragma unroll
        for (u32 i = 0; i < roll_loads; i++) {
            if ((lengths[i] & size) == 0)
                continue;
            const State run = run_at(cursors[i], size);
            results[i] = counted ? by.fold_of(results[i], run) : results[i].n == 0 ? run : by.fold_values(results[i], run);
            cursors[i] += size;
        }
        if (2 * size > longest)
            break;
        // The runs of twice the size.
#pragma unroll
        for (u32 i = 0; i < roll_loads; i++) {
            const u32 at = i * roll_threads + thread;
            if (at + size >= roll_rows)
                continue; // in no frame
            const State next = run_at(at + size, size);
            runs[i].n = counted ? runs[i].n : size;
            runs[i] = counted ? by.fold_of(runs[i], next) : by.fold_values(runs[i], next);
        }
        if (copies == 1)
            synchronize_block();
        copy = copies - 1 - copy;
#pragma unroll
        for (u32 i = 0; i < roll_loads; i++)
            put(i * roll_threads + thread, runs[i], counted);
        synchronize_block();
    }
    synchronize_block();
#pragma unroll
    for (u32 i = 0; i < roll_loads; i++)
        put(i * roll_threads + thread, results[i], true);
#pragma unroll 1
    for (u32 at = thread; at < roll_rows; at += roll_threads) {
        bool ok;
        const u64 value = to.value(by, State{a[copy][at], wide ? b[at] : 0, counts[at], 0}, ok);
        store_places(rows, to, at < own ? begin + at : n, n, value, ok);
    }
}
