// Adds tiles of rows to the slots of their groups, and slots to states: tiles.cu and
// tile_columns.cu.
//
// Slots have words of 32 bits, which the hardware adds to in one step, and words of 64 bits
// for extremes. Word w of all slots is one array.
#pragma once

#include "tiles.cuh"

// find_slots sets the slots of a tile. groups is the number of the block's groups.
template <u32 count> DEVICE void find_slots(const u32 (&group)[count], u32 groups, const TileBatch &batch, Tile<count> &tile) {
    const u32 thread = thread_in_block(), copy = 4 * (thread & batch.copies - 1), bits = batch.copy_bits + 2;
    tile.trash = 4 * (batch.entries - warp_threads + thread % warp_threads);
#pragma unroll
    for (u32 i = 0; i < count; i++)
        tile.slot[i] = group[i] - batch.first_group < groups ? (group[i] - batch.first_group << bits) + copy : tile.trash;
}

// add_integers adds integers of some words of 32 bits to those of slots, which are a number of
// bytes apart.
template <u32 words, u32 count> DEVICE void add_integers(u32 apart, const u32 (&address)[count], const u32 (&x)[count][words]) {
    u32 carry[count];
#pragma unroll
    for (u32 i = 0; i < count; i++)
        carry[i] = fetch_add(address[i], x[i][0]) + x[i][0] < x[i][0];
#pragma unroll
    for (u32 w = 1; w < words; w++) {
        u32 term[count], some = 0;
#pragma unroll
        for (u32 i = 0; i < count; i++) {
            term[i] = x[i][w] + carry[i];
            carry[i] = term[i] < carry[i];
            some |= term[i];
        }
        if (some != 0) // often all are zero
#pragma unroll
            for (u32 i = 0; i < count; i++)
                carry[i] |= fetch_add(address[i] + w * apart, term[i]) + term[i] < term[i];
    }
}

// raise_images raises slots to the images of values: Source::image, with the decisions before
// the loop.
template <u32 count> DEVICE void raise_images(const TileReader &r, const u32 (&address)[count], const u64 *x) {
    const bool is_float = r.in.is_float();
    const u64 sign = is_float || r.in.is_signed() ? 1ull << 63 : 0, spread = is_float ? ~0ull : 0, reverse = r.least != 0 ? ~0ull : 0;
    u64 image[count], old[count];
    bool some = false;
#pragma unroll
    for (u32 i = 0; i < count; i++)
        old[i] = load_shared_64(address[i]);
#pragma unroll
    for (u32 i = 0; i < count; i++) {
        image[i] = is_float && is_nan_f64(x[i]) ? 0 : x[i] ^ ((u64)((i64)x[i] >> 63) & spread | sign) ^ reverse;
        some |= old[i] < image[i];
    }
    if (some)
#pragma unroll
        for (u32 i = 0; i < count; i++)
            if (old[i] < image[i])
                raise_shared(address[i], image[i]);
}

// add_floats adds floats to the windows of slots. place is where the slots are if the values
// fit, and trash where they are added if not. It returns whether one does not fit.
template <u32 count> DEVICE bool add_floats(u32 first, u32 boundary, u32 span, u32 apart, const u32 *place, u32 trash, const u64 *x) {
    // Word 0 has two bits below the sum: which of the two bins of the window the values begin in.
    u32 term[count][3], address[count], flag[count];
    bool outside = false;
#pragma unroll
    for (u32 i = 0; i < count; i++) {
        const u32 high = (u32)(x[i] >> 32), shift = (high >> 20 & 0x7ff) - first;
        const bool fits = shift - 2 <= span;
        outside |= !fits;
        address[i] = fits ? place[i] : trash;
        flag[i] = shift >= boundary ? 2 : 1;
        const u64 sign = (u64)((i64)x[i] >> 63), whole = ((x[i] & (1ull << 52) - 1 | 1ull << 52) ^ sign) - sign, low = whole << (shift & 31);
        term[i][0] = (u32)low, term[i][1] = (u32)(low >> 32), term[i][2] = (u32)((i32)(whole >> 32) >> (32 - shift & 31));
    }
    u32 missing = 0;
#pragma unroll
    for (u32 i = 0; i < count; i++) {
        const u32 old = fetch_add(address[i], term[i][0]);
        flag[i] &= ~old;
        missing |= flag[i];
        const u64 above = ((u64)term[i][2] << 32 | term[i][1]) + (old + term[i][0] < old);
        term[i][1] = (u32)above, term[i][2] = (u32)(above >> 32);
    }
#pragma unroll
    for (u32 i = 0; i < count; i++) {
        const u32 old = fetch_add(address[i] + apart, term[i][1]);
        term[i][2] += old + term[i][1] < old;
    }
#pragma unroll
    for (u32 i = 0; i < count; i++)
        fetch_add(address[i] + 2 * apart, term[i][2]);
    if (missing != 0)
#pragma unroll
        for (u32 i = 0; i < count; i++)
            if (flag[i] != 0)
                fetch_or(address[i], flag[i]);
    return outside;
}

// part_rows is the number of rows that are added at a time, for the registers.
template <u32 count> constexpr u32 part_rows = count < 4 ? count : 4;

template <u32 count> DEVICE void add_tile_floats(const TileReader &r, const Window &window, const TileBatch &batch, u32 address, u32 apart, const Tile<count> &tile, u64 (&x)[count]) {
    constexpr u32 part = part_rows<count>;
    if (!r.in.is_float())
#pragma unroll
        for (u32 i = 0; i < count; i++)
            x[i] = __builtin_bit_cast(u64, r.in.real(x[i]));
    const u32 first = (u32)(window.low + 1 - 2), boundary = window.boundary + 2, span = batch.span;
    bool outside = false;
#pragma unroll
    for (u32 begin = 0; begin < count; begin += part) {
        u32 place[part];
#pragma unroll
        for (u32 i = 0; i < part; i++)
            place[i] = address + tile.slot[begin + i];
        outside |= add_floats<part>(first, boundary, span, apart, place, address + tile.trash, x + begin);
    }
    if (!outside)
        return;
#pragma unroll
    for (u32 i = 0; i < count; i++) {
        const u32 shift = ((u32)(x[i] >> 52) & 0x7ff) - first, group = tile.slot[i] >> (batch.copy_bits + 2);
        if (shift - 2 > span && group < batch.slots && (x[i] << 1) != 0)
            add_outside(r.window, r.states + (u64)(batch.first_group + group) * r.stride, r.list, r.room, batch.first_group + group, __builtin_bit_cast(f64, x[i]));
    }
}

template <u32 count> DEVICE void add_tile_decimals(const TileReader &r, u32 address, u32 apart, const Tile<count> &tile) {
    constexpr u32 part = part_rows<count>;
#pragma unroll
    for (u32 begin = 0; begin < count; begin += part) {
        const GLOBAL Vector<u64, 2> *const from = (const GLOBAL Vector<u64, 2> *)r.in.values + tile.row(begin);
        u64 low[part], high[part];
        u32 place[part], words[part][5];
#pragma unroll
        for (u32 i = 0; i < part; i++)
            low[i] = from[i * tile_threads].lane[0], high[i] = from[i * tile_threads].lane[1];
#pragma unroll
        for (u32 i = 0; i < part; i++) {
            place[i] = address + tile.slot[begin + i];
            words[i][0] = (u32)low[i], words[i][1] = (u32)(low[i] >> 32), words[i][2] = (u32)high[i], words[i][3] = (u32)(high[i] >> 32);
            words[i][4] = (u32)((i32)words[i][3] >> 31);
        }
        add_integers(apart, place, words);
    }
}

template <u32 words, u32 count> DEVICE void add_tile_integers(const TileReader &r, u32 address, u32 apart, const Tile<count> &tile, const u64 (&x)[count]) {
    constexpr u32 part = part_rows<count>;
    const u32 sign = r.is_signed != 0 ? 0xffffffff : 0;
#pragma unroll
    for (u32 begin = 0; begin < count; begin += part) {
        u32 place[part], split[part][words];
#pragma unroll
        for (u32 i = 0; i < part; i++) {
            place[i] = address + tile.slot[begin + i];
            split[i][0] = (u32)x[begin + i];
            if (words > 1)
                split[i][words > 1] = (u32)(x[begin + i] >> 32);
            if (words == 3)
                split[i][words - 1] = (u32)((i32)split[i][words > 1] >> 31) & sign;
        }
        add_integers(apart, place, split);
    }
}

// add_tile adds the rows of a tile to an accumulator, which may be a sum of products of integers only if products is
// set.
template <bool products, u32 count> DEVICE void add_tile(const TileReader &r, const Window &window, const TileBatch &batch, u32 sums, u32 extremes, const Tile<count> &all) {
    Tile<count> tile = all;
    drop_rows(r, tile);
    const u32 apart = 4 * batch.entries, address = sums + r.word * apart;
    if (r.kind == count_rows && r.least != 0) {
        u32 marked[count];
#pragma unroll
        for (u32 i = 0; i < count; i++)
            marked[i] = load_volatile(address + tile.slot[i]);
#pragma unroll
        for (u32 i = 0; i < count; i++)
            if (marked[i] == 0)
                fetch_or(address + tile.slot[i], 1);
        return;
    }
    if (r.kind == count_rows) {
#pragma unroll
        for (u32 i = 0; i < count; i++)
            fetch_add(address + tile.slot[i], 1);
        return;
    }
    if (r.kind == sum_decimals)
        return add_tile_decimals(r, address, apart, tile);
    u64 x[count];
    load_tile<products>(r, tile, x);
    switch (r.kind) {
    case sum_floats: return add_tile_floats(r, window, batch, address, apart, tile, x);
    case sum_integers:
        switch (r.words) {
        case 1: return add_tile_integers<1>(r, address, apart, tile, x);
        case 2: return add_tile_integers<2>(r, address, apart, tile, x);
        }
        return add_tile_integers<3>(r, address, apart, tile, x);
    }
    constexpr u32 part = part_rows<count>;
#pragma unroll
    for (u32 begin = 0; begin < count; begin += part) {
        u32 place[part];
#pragma unroll
        for (u32 i = 0; i < part; i++)
            place[i] = extremes + 2 * (r.word * apart + tile.slot[begin + i]);
        raise_images(r, place, x + begin);
    }
}

// add_copies adds the copies of a slot, of which the first one is entry number entry, to the state of a group.
DEVICE void add_copies(const TileReader &r, const TileBatch &batch, u32 sums, u32 entry, u32 copies, u32 turn, u32 group) {
    const u32 apart = 4 * batch.entries, address = sums + r.word * apart + entry * 4;
    u64 *const state = r.states + (u64)group * r.stride;
    u64 sum[5] = {0, 0, 0, 0, 0}, most = 0, classes = 0;
    for (u32 c = 0; c < copies; c++) {
        // Copies in another order for each group: the lanes of a warp read different banks.
        const u32 copy = (c + turn) & copies - 1;
        if (r.kind == greatest) {
            const u64 x = tile_shared[r.word * batch.entries + entry + copy];
            most = x > most ? x : most;
            continue;
        }
#pragma unroll
        for (u32 w = 0; w < 5; w++) {
            if (w >= r.words)
                break;
            u32 word = load_shared(address + w * apart + 4 * copy);
            if (r.kind == sum_floats && w == 0) {
                classes |= word & 3;
                word &= ~3u;
            }
            const bool is_signed = w + 1 == r.words && (r.kind == sum_floats || r.kind == sum_decimals || r.kind == sum_integers && r.is_signed != 0);
            sum[w] += is_signed ? (u64)(i64)(i32)word : word;
        }
    }
    const State<false> to = {state, 1, 0, 0};
    switch (r.kind) {
    case greatest:
        raise(state, most);
        return;
    case count_rows:
        if (sum[0] != 0)
            add_word(to, 0, sum[0]);
        return;
    case sum_floats:
        if (classes == 0)
            return;
        for (u32 w = 0; w < 3; w++)
            add_to(r.limbs + 3 * (u64)group + w, sum[w]);
        raise(state, (u64)r.window->low / bin_bits + ((classes & 2) != 0 ? 2 : 1));
        return;
    }
    // Each sum is one of words of 32 bits, the last with a sign.
    Wide total = wide(0, 0, 0);
#pragma unroll
    for (u32 w = 0; w < 5; w++)
        if (w < r.words)
            total = sum_of(total, left(w + 1 == r.words ? with_sign(sum[w]) : wide(sum[w], 0, 0), 32 * w));
    if (is_zero(total))
        return;
    if (r.kind == sum_integers)
        add_integer(to, total.word[0], total.word[1]);
    else
        add_wide(to, total);
}

// arithmetic_right returns ⌊a / 2^n⌋ for n of 1 to 63.
DEVICE Wide arithmetic_right(const Wide &a, u32 n) {
    return wide(a.word[0] >> n | a.word[1] << 64 - n, a.word[1] >> n | a.word[2] << 64 - n, (u64)((i64)a.word[2] >> n));
}

// TileBlock is the part of a block: rows is the number of all rows, of which part of parts is its own, and
// known the number of its groups. sums and extremes are the addresses of its slots.
struct TileBlock {
    u64 rows;
    u32 part, parts, known, sums, extremes;
};

// begin_block copies the arguments to shared memory and clears the slots. Shared memory takes an index in
// less time than the memory of arguments, and windows in global memory would be read again for
// each tile. All threads call it.
DEVICE TileBlock begin_block(const i64 *rows, i64 capacity, const i64 *groups, i64 most_groups, const TileBatch &arguments, TileBatch &batch, Window (&windows)[most_readers]) {
    const u32 thread = thread_in_block();
    for (u32 i = thread; i < sizeof batch / 4; i += tile_threads)
        ((u32 *)&batch)[i] = ((const u32 *)&arguments)[i];
    if (thread < arguments.readers && arguments.reader[thread].window != nullptr)
        windows[thread] = *arguments.reader[thread].window;
    const u32 slices = arguments.slices, part = block_in_grid() / slices, parts = blocks_per_grid() / slices;
    const u32 first_group = block_in_grid() % slices * arguments.slots;
    synchronize_block();
    if (thread == 0)
        batch.first_group = first_group;
    synchronize_block();
    const u64 n = device_rows(rows, capacity);
    const u32 all = (u32)device_rows(groups, most_groups), left = all > first_group ? all - first_group : 0, known = left < batch.slots ? left : batch.slots;
    const u32 extremes = shared_address(tile_shared), sums = extremes + 8 * batch.wide * batch.entries;
    u32 *const words = (u32 *)tile_shared;
    for (u32 i = thread; i < (2 * batch.wide + batch.words) * batch.entries; i += tile_threads)
        words[i] = 0;
    synchronize_block();
    return TileBlock{n, part, parts, known, sums, extremes};
}

// end_block adds the slots to the states of their groups. All threads call it.
DEVICE void end_block(const TileBlock &block, const TileBatch &batch) {
    for (u32 slot = thread_in_block(); slot < block.known; slot += tile_threads)
#pragma unroll 1
        for (u32 a = 0; a < batch.readers; a++)
            add_copies(batch.reader[a], batch, block.sums, slot << batch.copy_bits, batch.copies, slot, batch.first_group + slot);
}
