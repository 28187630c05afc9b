// Extremes of short frames in registers.
//
// A warp has slide_rows elements, and a lane slide_loads consecutive ones. Runs have lengths of
// powers of two, and a run is kept at its last element: one of twice the size is that of the
// element size before it and its own. Sizes below slide_loads take few values of the lane
// before; larger ones take those of the lane size / slide_loads before, at the same place: no
// register is moved. A frame takes two of its longest runs, which may overlap. The elements
// pass through shared memory from the order of the loads and to that of the stores.
#pragma once

#include "slide.cuh"

// SlideRoom is the elements of a warp in shared memory. Sixteen bytes behind those of each lane
// put what lanes read together into different banks.
struct alignas(16) SlideRoom {
    static constexpr u32 padding = 2;
    u64 words[slide_rows + warp_threads * padding];

    METHOD u64 &at(u32 element) { return words[element + element / slide_loads * padding]; }
    METHOD Vector<u64, 2> &pair(u32 lane, u32 i) { return *(Vector<u64, 2> *)(words + lane * (slide_loads + padding) + i); }

    // get returns the elements of the calling lane, put sets them.
    METHOD void get(Elements &x) {
        const u32 lane = lane_in_warp();
#pragma unroll
        for (u32 i = 0; i < slide_loads; i += 2) {
            const Vector<u64, 2> words = pair(lane, i);
            x.of[i] = words.lane[0];
            x.of[i + 1] = words.lane[1];
        }
    }
    METHOD void put(const Elements &x) {
        const u32 lane = lane_in_warp();
#pragma unroll
        for (u32 i = 0; i < slide_loads; i += 2)
            pair(lane, i) = Vector<u64, 2>{{x.of[i], x.of[i + 1]}};
    }
};

// Extremes is the folds of frames, of which each lane has consecutive elements.
template <u32 fold> struct Extremes : Frames {
    // The least of two runs that overlap is the least of all their values.
    static constexpr bool overlaps = fold == fold_least;

    // append folds to each element of x the element of y, behind the one of x that is step
    // elements before.
    template <u32 step> METHOD void append(Elements &x, const Elements &y) const {
        u64 before[step];
#pragma unroll
        for (u32 i = 0; i < step; i++)
            before[i] = shuffle_value_up(x.of[slide_loads - step + i], 1);
#pragma unroll
        for (u32 i = slide_loads; i-- > step;)
            x.of[i] = fold_of(x.of[i - step], y.of[i]);
#pragma unroll
        for (u32 i = 0; i < step; i++)
            x.of[i] = fold_of(before[i], y.of[i]);
    }

    // append_lanes is append for a step of whole lanes.
    template <u32 i = 0> METHOD void append_lanes(Elements &x, const Elements &y, u32 lanes) const {
        if constexpr (i < slide_loads) {
            x.of[i] = fold_of(shuffle_value_up(x.of[i], lanes), y.of[i]);
            append_lanes<i + 1>(x, y, lanes);
        }
    }

    // step adds the runs of a size to the results, if the frames have one of it, and doubles
    // them. It returns false if they are the longest.
    template <u32 size> METHOD bool step() {
        if (!overlaps && (longest & size) != 0) {
            if ((longest & size - 1) == 0)
                results = runs;
            else
                append<size>(results, runs);
        }
        if (2 * size > longest)
            return false;
        append<size>(runs, runs);
        return true;
    }

    // fold_all folds frames of one length, and returns the length of the runs: the fold of a
    // frame is that of two of them if they overlap.
    METHOD u32 fold_all() {
        u32 size = longest < 16 ? 1u << (31 - __builtin_clz(longest)) : 16;
        if (!(step<1>() && step<2>() && step<4>() && step<8>()))
            return size;
#pragma unroll 1
        for (;; size *= 2) {
            const u32 lanes = size / slide_loads;
            if (!overlaps && (longest & size) != 0) {
                if ((longest & size - 1) == 0)
                    results = runs;
                else
                    append_lanes(results, runs, lanes);
            }
            if (2 * size > longest)
                return size;
            append_lanes(runs, runs, lanes);
        }
    }
};

// write_extremes writes the folds of frames of one length, of rest rows from place begin on.
template <u32 fold> DEVICE void write_extremes(Extremes<fold> &s, SlideRoom &room, const Rows &rows, const Writing &to, u64 begin, u32 rest, u64 n) {
    const u32 lane = lane_in_warp(), longest = s.longest;
    room.get(s.runs);
    const u32 behind = longest - s.fold_all();
    synchronize_warp();
    room.put(Extremes<fold>::overlaps ? s.runs : s.results);
    synchronize_warp();
    const bool ok = longest >= to.least;
    const auto value = [&](u32 at) {
        const u32 last = at + longest - 1;
        const u64 x = room.at(last);
        return fold == fold_least ? unkey(s.fold_of(room.at(last - behind), x), s.by.format, s.by.flip) : x;
    };
    if (to.bytes != 8 || !ok) {
#pragma unroll 1
        for (u32 at = lane; at - lane < rest; at += warp_threads)
            store_places(rows, to, begin + at, n, at < rest ? value(at) : 0, ok);
        return;
    }
    u64 *const out = (u64 *)to.values + begin;
    if (fold == fold_least && s.by.format == 4 * class_float + 3) {
        const u32 flip = s.by.flip;
#pragma unroll 4
        for (u32 at = lane; at < rest; at += warp_threads) {
            const u32 last = at + longest - 1;
            out[at] = unkey(s.fold_of(room.at(last - behind), room.at(last)), 4 * class_float + 3, flip);
        }
    } else {
#pragma unroll 1
        for (u32 at = lane; at < rest; at += warp_threads)
            out[at] = value(at);
    }
    if (to.valid != nullptr && lane < (rest + 31) / 32)
        to.valid[begin / 32 + lane] = rest - 32 * lane >= 32 ? ~0u : (1u << (rest - 32 * lane)) - 1;
}

// slide_extremes writes the fold of each frame of a table in order without nulls. Frames are rows from
// frame.low to frame.high, or fewer at the ends of partitions; longest is their number. own is
// the number of rows of a warp with results, a multiple of 32.
template <u32 fold> DEVICE void slide_extremes(const Rows &rows, const Frame &frame, const Values &values, Folding by, const Writing &to, u32 own, u32 longest) {
    by.fold = fold;
    __shared__ SlideRoom rooms[slide_warps];
    const u64 n = rows.count();
    const u32 lane = lane_in_warp(), warp = thread_in_block() / warp_threads;
    SlideRoom &room = rooms[warp];
    const u64 begin = ((u64)block_in_grid() * slide_warps + warp) * own;
    if (begin >= n)
        return;
    // The place of the first element, which may be before the first row.
    const i64 base = (i64)begin + frame.low;
    Extremes<fold> s{{by, longest, {}, {}}};
    if (base >= 0 && base + slide_rows <= (i64)n && by.format == 4 * class_float + 3) {
        const u64 *const words = (const u64 *)values.values + base + lane;
        const u32 flip = by.flip;
        u64 loaded[slide_loads];
#pragma unroll
        for (u32 i = 0; i < slide_loads; i++)
            loaded[i] = words[i * warp_threads];
#pragma unroll
        for (u32 i = 0; i < slide_loads; i++)
            room.at(i * warp_threads + lane) = fold == fold_least ? least_key(loaded[i], 4 * class_float + 3, flip) : loaded[i];
    } else {
#pragma unroll 1
        for (u32 i = 0; i < slide_loads; i++) {
            const i64 at = base + i * warp_threads + lane;
            room.at(i * warp_threads + lane) = by.of(at >= 0 && at < (i64)n ? values.raw(by.format, at) : 0, true).a;
        }
    }

    const bool same = are_equal(rows, begin, base, own, longest, n);
    synchronize_warp();
    if (same) {
        write_extremes(s, room, rows, to, begin, n - begin < own ? (u32)(n - begin) : own, n);
        return;
    }
#pragma unroll
    for (u32 i = 0; i < slide_loads; i++)
        s.runs.of[i] = room.at(i * warp_threads + lane);
    s.write_each(rows, frame, to, begin, base, own, n, room.words);
}
