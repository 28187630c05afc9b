#include "lookback.cuh"

// A tile holds one value, so that a few values make many tiles.
template <typename T, typename Fold> DEVICE void before_each(T *out, const T *in, u32 tiles, void *state, Fold f) {
    __shared__ u32 shared_tile;
    if (thread_in_block() == 0)
        shared_tile = take_tile(state);
    synchronize_block();
    const u32 tile = shared_tile;
    if (tile >= tiles)
        return;
    const T before = before_tile(state, tile, in[tile], f);
    if (lane_in_warp() == 0)
        out[tile] = before;
}

struct Pair {
    u64 low, high;
};

// LastPair keeps the last pair that is not zero: its order matters.
struct LastPair {
    METHOD Pair none() const { return {0, 0}; }
    METHOD Pair fold(Pair a, Pair b) const { return b.low | b.high ? b : a; }
};

KERNEL before_u32(u32 *out, const u32 *in, u32 tiles, void *state) { before_each(out, in, tiles, state, Sum<u32>()); }
KERNEL before_u64(u64 *out, const u64 *in, u32 tiles, void *state) { before_each(out, in, tiles, state, Sum<u64>()); }
KERNEL before_f64(f64 *out, const f64 *in, u32 tiles, void *state) { before_each(out, in, tiles, state, Sum<f64>()); }
KERNEL before_pair(Pair *out, const Pair *in, u32 tiles, void *state) { before_each(out, in, tiles, state, LastPair()); }
