// Rows in the order of windows, and frames.
#pragma once

#include "heads.cuh"
#include "state.cuh"

static constexpr u32 over_threads = 256, over_warps = over_threads / warp_threads;

// Rows are the rows of a table in order.
//go:layout rowsLayout any
struct Rows {
    const u32 *listed;       // the numbers of the rows, or null if the table is in order
    Heads partitions, peers; // null for one partition, and if all rows of it are peers
    const i64 *counted;
    i64 capacity;
    u64 by_place; // 1 if results are written in the order of places

    METHOD u64 count() const { return device_rows(counted, capacity); }
    METHOD u64 row(u64 place) const { return listed == nullptr ? place : listed[place]; }
    // result returns where the result of a place is written.
    METHOD u64 result(u64 place) const { return by_place != 0 ? place : row(place); }
    METHOD u64 begin(u64 place) const { return partitions.begin(place); }
    METHOD u64 end(u64 place, u64 n) const { return partitions.end(place, n); }
    METHOD u64 peer_begin(u64 place) const { return peers.words == nullptr ? begin(place) : peers.begin(place); }
    METHOD u64 peer_end(u64 place, u64 n) const { return peers.words == nullptr ? end(place, n) : peers.end(place, n); }
    METHOD bool is_head(u64 place) const { return partitions.is_head(place); }
};

// Frame is the frames of all rows: [lows, highs), or without them the rows from low to
// high, relative to the current one.
//go:layout frameLayout any
struct Frame {
    const u32 *lows, *highs;
    i64 low, high;

    METHOD void bounds(const Rows &rows, u64 place, u64 n, u64 &first, u64 &end) const {
        if (lows != nullptr) {
            first = lows[place];
            end = highs[place];
            return;
        }
        // The offsets are within ±2^33, so that nothing overflows.
        const i64 begin = rows.begin(place), limit = rows.end(place, n);
        const i64 from = (i64)place + low, to = (i64)place + high + 1;
        first = from < begin ? begin : from > limit ? limit : from;
        end = to > limit ? limit : to < (i64)first ? (i64)first : to;
    }
};

// store_places stores the values and the validity of a warp's rows, which have consecutive
// places. All lanes take part; those without a row have place ≥ n.
DEVICE void store_places(const Rows &rows, const Writing &to, u64 place, u64 n, u64 value, bool ok) {
    ok = ok && place < n;
    const u64 row = place < n ? rows.result(place) : 0;
    if (place < n)
        to.store(row, ok ? value : 0);
    if (to.valid == nullptr)
        return;
    if (rows.listed != nullptr && rows.by_place == 0) {
        if (ok)
            __atomic_fetch_or(to.valid + row / 32, 1u << row % 32, __ATOMIC_RELAXED);
        return;
    }
    const u32 word = ballot(ok);
    if (place < n && place % 32 == 0)
        to.valid[place / 32] = word;
}
