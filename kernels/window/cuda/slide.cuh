// Folds of short frames in registers.
//
// The order of a fold is that of roll.cuh: runs with a length of a power of two, the shortest
// first, each the fold of its halves. A warp has slide_rows elements, lane i elements i,
// i + 32, …, and doubles the runs that begin at each with those of other lanes, by one shuffle
// for each element and step. Shared memory is used only if the frames of a warp's rows differ
// in length, at the ends of tables and partitions: there a row reads its runs from it.
#pragma once

#include "over.cuh"

static constexpr u32 slide_threads = 128, slide_loads = 16, slide_rows = warp_threads * slide_loads;
static constexpr u32 slide_warps = slide_threads / warp_threads;

// Elements is one value for each element of a warp.
struct Elements {
    u64 of[slide_loads];
};

// move moves the elements of each lane by some.
template <u32 step> DEVICE void move(Elements &x) {
#pragma unroll
    for (u32 i = 0; i + step < slide_loads; i++)
        x.of[i] = x.of[i + step];
}

// behind returns for each element the value delta elements behind it. Those that are not
// there are undefined. A delta that is known when the kernel is compiled moves no registers.
DEVICE Elements behind(const Elements &x, u32 delta) {
    Elements y = x;
    const u32 lanes = delta % warp_threads;
    if (lanes != 0) {
        const u32 from = (lane_in_warp() + lanes) % warp_threads;
        const bool same = from >= lanes;
        u64 here = shuffle_value(x.of[0], from);
#pragma unroll
        for (u32 i = 0; i < slide_loads; i++) {
            const u64 next = i + 1 < slide_loads ? shuffle_value(x.of[(i + 1) % slide_loads], from) : here;
            y.of[i] = same ? here : next;
            here = next;
        }
    }
    const u32 whole = delta / warp_threads;
    if ((whole & 1) != 0)
        move<1>(y);
    if ((whole & 2) != 0)
        move<2>(y);
    if ((whole & 4) != 0)
        move<4>(y);
    return y;
}

// Frames is the rows of a warp, and the folds of their frames.
struct Frames {
    const Folding &by;
    u32 longest;
    Elements runs, results;

    METHOD u64 fold_of(u64 x, u64 y) const { return by.fold_values(State{x, 0, 1, 0}, State{y, 0, 1, 0}).a; }

    // fold_each folds frames that begin at cursors, in the low halves, and have lengths, in the
    // high ones. shared has room for the runs of the warp.
    METHOD void fold_each(u32 (&frames)[slide_loads], u64 *shared) {
        const u32 lane = lane_in_warp();
#pragma unroll 1
        for (u32 size = 1; size <= longest; size *= 2) {
            synchronize_warp();
#pragma unroll
            for (u32 i = 0; i < slide_loads; i++)
                shared[i * warp_threads + lane] = runs.of[i];
            synchronize_warp();
#pragma unroll
            for (u32 i = 0; i < slide_loads; i++) {
                const u32 at = i * warp_threads + lane, length = frames[i] >> 16;
                if ((length & size) != 0) {
                    const u64 run = shared[frames[i] & 0xffff];
                    results.of[i] = (length & size - 1) == 0 ? run : fold_of(results.of[i], run);
                    frames[i] += size;
                }
                if (at + size < slide_rows)
                    runs.of[i] = fold_of(runs.of[i], shared[at + size]);
            }
        }
    }

    // write_each writes the folds of frames that differ in length: of own rows from place begin on, whose first
    // element is at base.
    METHOD void write_each(const Rows &rows, const Frame &frame, const Writing &to, u64 begin, i64 base, u32 own, u64 n, u64 *shared) {
        const u32 lane = lane_in_warp();
        u32 frames[slide_loads];
#pragma unroll
        for (u32 i = 0; i < slide_loads; i++) {
            const u32 at = i * warp_threads + lane;
            u64 first = base, end = base;
            if (at < own && begin + at < n)
                frame.bounds(rows, begin + at, n, first, end);
            frames[i] = ((u32)((i64)first - base) & 0xffff) | (u32)(end - first) << 16;
        }
        fold_each(frames, shared);
#pragma unroll
        for (u32 i = 0; i < slide_loads; i++) {
            if (i * warp_threads >= own)
                break;
            bool ok;
            const u64 value = to.value(by, State{results.of[i], 0, frames[i] >> 16, 0}, ok);
            store_places(rows, to, begin + i * warp_threads + lane, n, value, ok);
        }
    }
};

// are_equal reports whether the frames of own rows from place begin on have the same length: no partition ends among
// the rows and those that their frames reach, from base on.
DEVICE bool are_equal(const Rows &rows, u64 begin, i64 base, u32 own, u32 longest, u64 n) {
    const i64 limit = base + own + longest - 1;
    bool equal = base >= 0 && limit <= (i64)n;
    if (equal && rows.partitions.words != nullptr) {
        const u64 last = begin + own < n ? begin + own : n;
        equal = rows.end(base < (i64)begin ? base : begin, n) >= ((u64)limit > last ? limit : last);
    }
    return equal;
}

// Slide is the folds of frames that are shuffled.
template <u32 fold> struct Slide : Frames {
    // step adds the runs of a size to the results, if the frames have one of it, and doubles
    // them. It returns false if they are the longest. before is the number of elements of a
    // frame in shorter runs.
    template <u32 size> METHOD bool step(u32 &before) {
        if ((longest & size) != 0) {
            const Elements run = behind(runs, before);
#pragma unroll
            for (u32 i = 0; i < slide_loads; i++)
                results.of[i] = before == 0 ? run.of[i] : fold_of(results.of[i], run.of[i]);
            before += size;
        }
        if (2 * size > longest)
            return false;
        const Elements next = behind(runs, size);
#pragma unroll
        for (u32 i = 0; i < slide_loads; i++)
            runs.of[i] = fold_of(runs.of[i], next.of[i]);
        return true;
    }

    // fold_all folds frames of one length.
    METHOD void fold_all() {
        u32 before = 0;
        (void)(step<1>(before) && step<2>(before) && step<4>(before) && step<8>(before) && step<16>(before) && step<32>(before) &&
               step<64>(before) && step<128>(before) && step<256>(before));
    }
};

// slide writes the fold of each frame of a table in order without nulls. Frames are rows from
// frame.low to frame.high, or fewer at the ends of partitions; longest is their number. own is
// the number of rows of a warp with results, a multiple of 32.
template <u32 fold> DEVICE void slide(const Rows &rows, const Frame &frame, const Values &values, Folding by, const Writing &to, u32 own, u32 longest) {
    by.fold = fold;
    __shared__ u64 shared[slide_warps][slide_rows];
    const u64 n = rows.count();
    const u32 lane = lane_in_warp();
    const u64 begin = ((u64)block_in_grid() * slide_warps + thread_in_block() / warp_threads) * own;
    if (begin >= n)
        return;
    // The place of the first element, which may be before the first row.
    const i64 base = (i64)begin + frame.low;
    const bool inside = base >= 0 && base + slide_rows <= (i64)n;
    Slide<fold> s{{by, longest, {}, {}}};
    if (inside && by.format % 4 == 3) {
        const u64 *const words = (const u64 *)values.values + base + lane;
#pragma unroll
        for (u32 i = 0; i < slide_loads; i++)
            s.runs.of[i] = words[i * warp_threads];
    } else if (inside && by.format % 4 == 2) {
        const u32 *const words = (const u32 *)values.values + base + lane;
#pragma unroll
        for (u32 i = 0; i < slide_loads; i++)
            s.runs.of[i] = words[i * warp_threads];
    } else {
#pragma unroll
        for (u32 i = 0; i < slide_loads; i++) {
            const i64 at = base + i * warp_threads + lane;
            s.runs.of[i] = at >= 0 && at < (i64)n ? values.raw(by.format, at) : 0;
        }
    }
    if (fold != fold_floats || by.format != 4 * class_float + 3) {
#pragma unroll
        for (u32 i = 0; i < slide_loads; i++)
            s.runs.of[i] = by.of(s.runs.of[i], true).a;
    }

    if (are_equal(rows, begin, base, own, longest, n)) {
        s.fold_all();
        if (fold == fold_floats && to.result == result_mean) {
            const f64 count = longest, reciprocal = over(1.0, count);
#pragma unroll
            for (u32 i = 0; i < slide_loads; i++)
                s.results.of[i] = as_bits(over_count(as_float(s.results.of[i]), count, reciprocal));
        }
        if (fold == fold_least) {
#pragma unroll
            for (u32 i = 0; i < slide_loads; i++)
                s.results.of[i] = unkey(s.results.of[i], by.format, by.flip);
        }
        const bool ok = longest >= to.least;
        if (to.bytes == 8 && begin + own <= n) {
            u64 *const out = (u64 *)to.values + begin + lane;
#pragma unroll
            for (u32 i = 0; i < slide_loads; i++)
                if (i * warp_threads < own)
                    out[i * warp_threads] = ok ? s.results.of[i] : 0;
            if (to.valid != nullptr && lane < own / 32)
                to.valid[begin / 32 + lane] = ok ? ~0u : 0;
            return;
        }
#pragma unroll
        for (u32 i = 0; i < slide_loads; i++)
            if (i * warp_threads < own)
                store_places(rows, to, begin + i * warp_threads + lane, n, s.results.of[i], ok);
        return;
    }
    s.write_each(rows, frame, to, begin, base, own, n, shared[thread_in_block() / warp_threads]);
}
