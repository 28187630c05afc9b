// A run of rows of a warp: loaded 16 bytes a lane, with their validity.
#pragma once

#include "bitrow.cuh"
#include "scan.cuh"

// WarpRows are 32 · lanes · loads rows. Lane l holds, of load i, the rows (32 · i + l)
// · lanes + j.
template <typename Value, int loads> struct WarpRows {
    static constexpr int lanes = 16 / sizeof(Value), chunk_rows = lanes * loads;
    static constexpr u32 count = warp_threads * chunk_rows;
    typedef Vector<Value, lanes> Group;

    Group group[loads];
    // chunk holds the validity bits of the rows from chunk_rows · l on; absent rows are
    // not valid.
    u32 chunk;
    bool all;

    // load reads the existing rows from begin on. All lanes call it.
    METHOD void load(const Value *values, const u8 *valid, u64 bit, u64 rows, u64 begin) {
        const u32 lane = lane_in_warp();
        const u32 left = rows <= begin ? 0 : rows - begin < count ? (u32)(rows - begin) : count;
        const Value *const from = values + begin + lane * lanes;
        if (left == count && aligned(values + begin, 16)) {
#pragma unroll
            for (int i = 0; i < loads; i++)
                group[i] = load_whole((const Group *)from + i * warp_threads);
        } else {
            const i32 own = (i32)left - (i32)(lane * lanes);
#pragma unroll
            for (int i = 0; i < loads; i++)
#pragma unroll
                for (int j = 0; j < lanes; j++) {
                    const i32 row = i * warp_threads * lanes + j;
                    group[i].lane[j] = row < own ? from[row] : Value();
                }
        }
        const u32 here = left <= lane * chunk_rows ? 0 : left - lane * chunk_rows;
        chunk = low_bits(here < chunk_rows ? here : chunk_rows);
        if (valid != nullptr)
            chunk &= load_bits<chunk_rows>(valid, bit + begin + lane * chunk_rows, bit + rows);
        all = ballot(chunk != low_bits(chunk_rows)) == 0;
    }

    // bits returns the validity of the lane's rows of load i, the first lowest. All
    // lanes call it.
    METHOD u32 bits(int i) const {
        if (all)
            return low_bits(lanes);
        const u32 lane = lane_in_warp();
        return shuffle_value(chunk, i * warp_threads / loads + lane / loads) >> lane % loads * lanes & low_bits(lanes);
    }

    // row returns the index of a lane's row, counted from begin.
    METHOD static u32 row(int i, int j) { return (i * warp_threads + lane_in_warp()) * lanes + j; }
};
