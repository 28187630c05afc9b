#include "fill.cuh"

// fill_1 fills booleans, which are bits. The bits after the last row in the last word
// become 0.
KERNEL LAUNCH_BOUNDS(fill_threads)
fill_1(u32 *out, u32 *out_valid, const u8 *values, const u8 *valid, u64 bit, const i64 *row_count, i64 capacity, void *state,
       u32 backward) {
    const u64 rows = device_rows(row_count, capacity);
    fill_tiles(out_valid, valid, bit, rows, state, backward != 0, [&](const Tile &tile) {
        const u32 first = 32 * tile.word;
        if (first >= tile.rows)
            return;
        // Valid rows set their bit in made; null rows, with a bit set in handed, take
        // it from a neighbour. A word takes five steps, like a carry-lookahead adder.
        u32 made = tile.bits & load_bits<32>(values, bit + tile.begin + first, bit + rows), handed = ~tile.bits;
#pragma unroll
        for (u32 delta = 1; delta < 32; delta *= 2) {
            made |= handed & (backward ? made >> delta : made << delta);
            handed &= backward ? handed >> delta | ~(~0u >> delta) : handed << delta | low_bits(delta);
        }
        if (tile.source != 0) {
            const u64 at = bit + tile.source - 1;
            if ((values[at >> 3] >> (at & 7) & 1) != 0)
                made |= handed;
        }
        const u32 left = tile.rows - first;
        out[(tile.begin + first) / 32] = made & low_bits(left < 32 ? left : 32);
    });
}
