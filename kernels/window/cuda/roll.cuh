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

    // All loads are in flight together; what depends on the type is not unrolled.
#pragma unroll
    for (u32 i = 0; i < roll_loads; i++) {
        const u32 at = i * roll_threads + thread;
        const i64 place = base + at;
        bool valid = place >= 0 && place < (i64)n;
        u64 raw = 0;
        if (valid) {
            const u64 row = rows.row(place);
            valid = !counted || values.is_valid(row);
            raw = values.raw(by.format, row);
        }
        a[0][at] = raw;
        counts[at] = valid;
    }
#pragma unroll 1
    for (u32 at = thread; at < roll_rows; at += roll_threads)
        put(at, by.of(a[0][at], counts[at] != 0), counted);

    State runs[roll_loads], results[roll_loads];
    u32 cursors[roll_loads], lengths[roll_loads];
#pragma unroll
    for (u32 i = 0; i < roll_loads; i++) {
        const u32 at = i * roll_threads + thread;
        runs[i] = run_at(at, 1);
        const u64 place = begin + at;
        results[i] = by.none();
        cursors[i] = lengths[i] = 0;
        if (at < own && place < n) {
            u64 first, end;
            frame.bounds(rows, place, n, first, end);
            cursors[i] = (u32)((i64)first - base);
            lengths[i] = (u32)(end - first);
        }
    }
    synchronize_block();
#pragma unroll 1
    for (u32 size = 1; size <= longest; size *= 2) {
#pragma unroll
        for (u32 i = 0; i < roll_loads; i++) {
            if ((lengths[i] & size) == 0)
                continue;
            results[i] = by.fold_of(results[i], run_at(cursors[i], size));
            cursors[i] += size;
        }
        if (2 * size > longest)
            break;
        // The runs of twice the size.
#pragma unroll
        for (u32 i = 0; i < roll_loads; i++) {
            const u32 at = i * roll_threads + thread;
            if (at + size < roll_rows)
                runs[i] = by.fold_of(runs[i], run_at(at + size, size));
            else if (!counted)
                runs[i].n = 2 * size;
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
