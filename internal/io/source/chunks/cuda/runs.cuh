// Runs of equal numbers and of packed ones: levels, indices and booleans. One warp lists the runs of a
// stream in shared memory, the others expand those that it listed before.
#pragma once

#include "page.cuh"

static constexpr u32 expanding = 128, listing = 32; // threads
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
    u32 same; // whether the first run is of equal numbers and is the whole stream

    // at returns a number of the queue.
    METHOD u32 at(u32 i, u32 width) const {
        u32 low = 0, high = runs;
#pragma nounroll
        while (high - low > 1) {
            const u32 middle = (low + high) / 2;
            if (run[middle].begin <= i)
                low = middle;
            else
                high = middle;
        }
        const Run r = run[low];
        if (r.packed == 0)
            return r.value;
        const u64 bit = (u64)(i - r.begin) * width;
        return (u32)(load_bytes(r.packed + bit / 8) >> bit % 8) & (u32)((1ull << width) - 1);
    }
};

// Runs is the reader of a stream. One thread has it.
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

    // list lists the next runs.
    METHOD void list(Queue &queue) {
        queue.begin = done;
        queue.same = 0;
        const u32 limit = done + minimum(total - done, run_tile);
        u32 runs = 0;
#pragma nounroll
        while (done < limit && runs < most_runs && status == 0) {
            if (left == 0 && !begin())
                break;
            if (done == 0 && run.packed == 0 && left >= total)
                queue.same = 1;
            queue.run[runs++] = run;
            const u32 count = minimum(left, limit - done);
            left -= count;
            done += count;
        }
        queue.runs = runs;
        queue.end = done;
    }
};
