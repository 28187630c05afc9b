// Runs of equal numbers and of packed ones: levels, indices and booleans.
#pragma once

#include "segments.cuh"

// Run is numbers that are equal to value, or packed ones.
struct Run {
    u32 behind; // place of the next run
    u32 count;  // numbers
    u32 packed; // place of packed numbers, or none
    u32 value;
};

static constexpr u32 least_segment = 256, most_run = 2048, warp_steps = 96;

// Runs is the chain of the runs of a stream.
struct Runs {
    u64 from;
    u32 length, width; // bits of a number, at most 32

    // read reads a run, and returns its damage. Some writers cut the last run behind its last number.
    METHOD u32 read(u32 at, Run &run) const {
        const u64 bytes = at < length ? load_bytes(from + at) : 0;
        u64 head = bytes & 127;
        u32 size = 1; // of the head
        if ((bytes & 0x80) != 0) {
            u64 place = from + at;
            if (!read_varint(place, from + length, head))
                return cut;
            size = (u32)(place - from) - at;
        }
        if (at >= length || head >> 1 == 0)
            return cut;
        const u64 count = head >> 1 < 0x7fffffff ? head >> 1 : 0x7fffffff;
        const u32 place = at + size, left = length - place;
        run = Run{place, (u32)count, none, 0};
        if ((head & 1) == 0) {
            const u32 bytes_of_value = (width + 7) / 8;
            if (bytes_of_value > left)
                return cut;
            run.behind += bytes_of_value;
            const u64 value = size == 1 ? bytes >> 8 : load_bytes(from + place);
            run.value = (u32)(value & (1ull << 8 * bytes_of_value) - 1);
            return 0;
        }
        if (count > 1 << 25)
            return bad_length;
        run.count = (u32)count * 8;
        if (width == 0)
            return 0;
        run.packed = place;
        if (count * width <= left) {
            run.behind += (u32)count * width;
            return 0;
        }
        run.behind = length;
        run.count = minimum(run.count, (u32)((u64)left * 8 / width));
        return run.count == 0 ? cut : 0;
    }

    METHOD u32 next(u32 at, u64 &numbers) const {
        Run run;
        if (read(at, run) != 0)
            return none;
        numbers += run.count;
        return run.behind;
    }

    // guess returns where a few runs that are not long seem to follow each other.
    METHOD u32 guess(u32 at, u32 end) const {
#pragma nounroll
        for (; at < end; at++) {
            u32 place = at, runs = 0;
            Run run;
#pragma nounroll
            while (runs < 4 && place < length && read(place, run) == 0 && run.behind - place < most_run && run.value >> 1 >> (width == 0 ? 0 : width - 1) == 0) {
                place = run.behind;
                runs++;
            }
            if (runs == 4 || place == length)
                return at;
        }
        return end;
    }

    // mark leaves the marks of a run, whose numbers begin before those of a total.
    METHOD void mark(u64 marks, u32 at, u64 before, u32 count, u32 total) const {
        const u64 end = before + count < total ? before + count : total;
#pragma nounroll
        for (u32 i = marks_before(before); i < marks_before(end); i++)
            store_mark(marks, i, Mark{at, (u32)before});
    }

    // mark_together is mark for a long run of each lane of a warp.
    METHOD void mark_together(u64 marks, bool has, u32 at, u64 before, u32 count, u32 total) const {
        const bool is_long = has && count > 8 * mark_values;
        if (has && !is_long)
            mark(marks, at, before, count, total);
#pragma nounroll
        for (u32 lanes = ballot(is_long); lanes != 0; lanes &= lanes - 1) {
            const u32 lane = (u32)__builtin_ctz(lanes);
            const u64 begin = shuffle_value(before, lane), behind = begin + shuffle_value(count, lane);
            const u32 place = shuffle_value(at, lane), last = marks_before(behind < total ? behind : total);
#pragma nounroll
            for (u32 i = marks_before(begin) + lane_in_warp(); i < last; i += warp_threads)
                store_mark(marks, i, Mark{place, (u32)begin});
        }
    }
};

// Start is the runs of a stream that a warp found.
struct Start {
    u32 at, status; // behind them
    u64 numbers;
    bool ones; // whether the first run is the whole stream, of ones
};

// find_first finds the first runs of a stream. The lanes of a warp call it. Runs of many writers have one length: each lane reads
// where a run begins if the following ones are as long as the one before. Those up to the first one of another length are runs.
DEVICE void find_first(const Runs &runs, u64 marks, u32 total, Start &start) {
    u32 at = 0, stride = 0, status = 0;
    u64 numbers = 0;
    bool ones = false;
#pragma nounroll
    for (u32 step = 0; step < warp_steps && numbers < total; step++) {
        const u64 place = at + (u64)stride * lane_in_warp();
        const bool reads = place < runs.length && (lane_in_warp() == 0 || stride > 0) || lane_in_warp() == 0;
        Run run = {none, 0, none, 0};
        const u32 own = reads ? runs.read((u32)place, run) : (u32)cut;
        const u32 other = ballot(own != 0 || run.behind != place + stride), last = other == 0 ? warp_threads - 1 : (u32)__builtin_ctz(other);
        const u32 failed = shuffle_value(own, last);
        if (step == 0)
            ones = shuffle_value(run.packed == none && run.value == 1 && run.count >= total, 0) && failed == 0;
        const bool has = lane_in_warp() <= last && own == 0;
        const u64 count = has ? run.count : 0, scanned = warp_scan(count, Sum<u64>()), before = numbers + scanned - count;
        runs.mark_together(marks, has && before < total, (u32)place, before, run.count, total);
        numbers += shuffle_value(scanned, warp_threads - 1);
        if (failed != 0) {
            status = numbers < total ? failed : 0;
            break;
        }
        const u32 behind = shuffle_value(run.behind, last);
        stride = behind - shuffle_value((u32)place, last);
        at = behind;
    }
    if (lane_in_warp() == 0)
        start = Start{at, status, numbers, ones};
}

// find_runs leaves the marks of the first total numbers of a stream. All threads of the block call it. It returns whether the whole
// stream is one run of ones, and notes damage.
template <u32 threads> DEVICE bool find_runs(const Runs &runs, u64 marks, u32 total, Outcome *outcome) {
    __shared__ Start start;
    if (thread_in_block() < warp_threads)
        find_first(runs, marks, total, start);
    synchronize_block();
    if (start.status != 0 && thread_in_block() == 0)
        damage(outcome, start.status);
    if (start.status != 0 || start.numbers >= total)
        return start.ones;
    u64 all;
    const Segment segment = follow<threads>(runs, start.at, runs.length, least_segment, all);
    u64 k = start.numbers + segment.before;
    u32 at = segment.begin;
#pragma nounroll
    while (at < segment.limit && k < total) {
        Run run;
        const u32 status = runs.read(at, run);
        if (status != 0) {
            damage(outcome, status);
            break;
        }
        runs.mark(marks, at, k, run.count, total);
        k += run.count;
        at = run.behind;
    }
    if (thread_in_block() == 0 && segment.behind != none && start.numbers + all < total)
        damage(outcome, cut);
    return false;
}

// Numbers are some of a stream, as many as count for each lane of a warp.
template <u32 count> struct Numbers {
    u32 wanted[count]; // which number of the stream
    u32 value[count];

    // read reads those from low to before high, which all lanes have.
    METHOD void read(const Runs &runs, u64 marks, u32 low, u32 high) {
        u64 packed[count];
        u32 shift[count];
#pragma unroll
        for (u32 i = 0; i < count; i++)
            packed[i] = 0, shift[i] = 0, value[i] = 0;
        Mark mark = load_mark(marks, low / mark_values);
        u64 before = mark.before;
#pragma nounroll
        while (before < high) {
            Run run;
            if (runs.read(mark.place, run) != 0)
                break;
#pragma unroll
            for (u32 i = 0; i < count; i++) {
                const u64 place = wanted[i] - before;
                if (wanted[i] < before || place >= run.count)
                    continue;
                value[i] = run.value;
                if (run.packed != none) {
                    const u64 bit = place * runs.width;
                    packed[i] = runs.from + run.packed + bit / 8;
                    shift[i] = bit % 8;
                }
            }
            before += run.count;
            mark.place = run.behind;
        }
#pragma unroll
        for (u32 i = 0; i < count; i++)
            if (packed[i] != 0)
                value[i] = (u32)(load_bytes(packed[i]) >> shift[i]) & (u32)((1ull << runs.width) - 1);
    }
};
