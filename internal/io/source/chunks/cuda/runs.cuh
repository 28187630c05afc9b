// Runs of equal numbers and of packed ones: levels, indices and booleans. One warp lists the runs of a
// stream in shared memory, the others expand those that it listed before.
#pragma once

#include "page.cuh"

static constexpr u32 expanding = 256; // threads, next to a warp that lists
static constexpr u32 most_runs = 256, run_tile = 4096;

// Run is a run of numbers, which begins before the one with the number begin of the stream.
struct Run {
    u64 packed; // address of the numbers, or 0 if all are equal to value
    u32 begin, value;
};

// Queue has the runs of the numbers from begin to end.
struct Queue {
    Run run[most_runs];
    u32 runs, begin, end;
    bool ones; // whether the first run is the whole stream, of ones

    // run_of returns the run with a number.
    METHOD Run run_of(u32 i) const {
        u32 low = 0, high = runs;
#pragma nounroll
        while (high - low > 1) {
            const u32 middle = (low + high) / 2;
            if (run[middle].begin <= i)
                low = middle;
            else
                high = middle;
        }
        return run[low];
    }

    // at returns numbers of the queue, stride apart from each other, and any number for those outside of it. The loads
    // of packed numbers overlap.
    template <int count> METHOD void at(u32 first, u32 stride, u32 width, u32 (&numbers)[count]) const {
        u64 packed[count];
        u32 shift[count];
#pragma unroll
        for (int k = 0; k < count; k++) {
            const u32 wanted = first + k * stride, i = wanted >= begin && wanted < end ? wanted : begin;
            const Run r = run_of(i);
            const u64 bit = (u64)(i - r.begin) * width;
            packed[k] = r.packed == 0 ? 0 : r.packed + bit / 8;
            shift[k] = bit % 8;
            numbers[k] = r.value;
        }
#pragma unroll
        for (int k = 0; k < count; k++)
            if (packed[k] != 0)
                numbers[k] = (u32)(load_bytes(packed[k]) >> shift[k]) & (u32)((1ull << width) - 1);
    }
};

// Runs is the reader of a stream, which a lane has.
struct Runs {
    u64 position, end; // addresses
    u32 width;         // bits of a number, at most 32
    u32 total, done;   // numbers
    u32 status;
    Run run;
    u32 left; // numbers of the current run

    METHOD Runs(u64 position, u64 end, u32 width, u32 total) : position(position), end(end), width(width), total(total), done(0), status(0), left(0) {}

    // begin reads the head of the next run. Some writers cut the last run behind its last number.
    METHOD bool begin() {
        u64 head;
        if (!read_varint(position, end, head) || head >> 1 == 0) {
            status = cut;
            return false;
        }
        const u64 length = head >> 1 < 0x7fffffff ? head >> 1 : 0x7fffffff;
        run.packed = 0, run.begin = done, run.value = 0;
        if ((head & 1) == 0) {
            const u32 bytes = (width + 7) / 8;
            if (bytes > end - position) {
                status = cut;
                return false;
            }
#pragma nounroll
            for (u32 i = 0; i < bytes; i++)
                run.value |= (u32)load<u8>(position + i) << 8 * i;
            position += bytes;
            left = (u32)length;
            return true;
        }
        if (length > 1 << 25) {
            status = bad_length;
            return false;
        }
        left = (u32)length * 8;
        if (width > 0) {
            const u64 bytes = length * width < end - position ? length * width : end - position;
            run.packed = position;
            position += bytes;
            const u64 numbers = bytes * 8 / width;
            if (numbers < left)
                left = (u32)numbers;
            if (left == 0)
                status = cut;
        }
        return status == 0;
    }

    // list lists the next runs. The lanes of a warp call it, of which the first has the reader.
    METHOD void list(Queue &queue) {
        const u64 ahead = shuffle_value(position, 0) + lane_in_warp() * 128;
        if (ahead < shuffle_value(end, 0))
            asm volatile("prefetch.global.L1 [%0];" ::"l"(ahead));
        if (lane_in_warp() == 0)
            list_runs(queue);
    }

    METHOD void list_runs(Queue &queue) {
        queue.begin = done;
        bool ones = false;
        const u32 limit = done + minimum(total - done, run_tile);
        u32 runs = 0;
#pragma nounroll
        while (done < limit && runs < most_runs && status == 0) {
            if (left == 0 && !begin())
                break;
            if (done == 0 && run.packed == 0 && run.value == 1 && left >= total)
                ones = true;
            queue.run[runs++] = run;
            const u32 count = minimum(left, limit - done);
            left -= count;
            done += count;
        }
        queue.runs = runs;
        queue.ones = ones;
        queue.end = done;
    }
};
