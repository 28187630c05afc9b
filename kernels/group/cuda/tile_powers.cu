// Adds products of floats to the slots of few groups, as tiles.cu adds values: tile_powers.go
// selects what is added so.
//
// A first launch finds the top of each group. A second one adds the two or three floats whose
// sum is the product. The top gives the lowest bit that the state keeps. From this bit up the
// floats of a row are an integer of at most 137 bits with its sign, and the sum of a block's rows
// is one of 160 bits, in five words of a slot. Its bins are added to the state at the end. No
// value is outside, so nothing is computed again.
//
// Behind the words of all slots a byte for each slot and each accumulator has the top.
#include "tiles_add.cuh"

static constexpr u32 power_words = 5, power_bins = 5;

// each_tile calls add for the tiles of a block, with the slots of their rows.
template <typename Add> DEVICE void each_tile(const TileBlock &block, const u32 *numbers, const Keys &keys, const TileBatch &batch, const Add &add) {
    constexpr u32 rows_of_block = tile_threads * tile_rows;
    const u32 thread = thread_in_block();
    const u64 n = block.rows, whole = n / rows_of_block * rows_of_block, step = (u64)block.parts * rows_of_block;
    const NumberSource source = number_source(numbers, keys);
    Tile<tile_rows> tile;
    u32 next[tile_rows];
    tile.first = (u64)block.part * rows_of_block + thread;
    if (source.numbers != nullptr && tile.first < whole)
        source.load(tile.first, next);
#pragma unroll 1
    for (; tile.first < whole; tile.first += step) {
        u32 group[tile_rows];
        if (source.numbers != nullptr) {
#pragma unroll
            for (u32 i = 0; i < tile_rows; i++)
                group[i] = (next[i] - source.least) * source.factor;
            if (tile.first + step < whole) // in flight during this tile
                source.load(tile.first + step, next);
        } else {
            find_groups(keys, tile, group);
        }
        find_slots(group, block.known, batch, tile);
        add(tile);
    }
#pragma unroll 1
    for (u64 begin = whole + (u64)block.part * tile_threads; begin < n; begin += (u64)block.parts * tile_threads) {
        Tile<1> single;
        u32 group[1];
        single.first = begin + thread < n ? begin + thread : n - 1;
        if (source.numbers != nullptr) {
            source.load(single.first, group);
            group[0] = (group[0] - source.least) * source.factor;
        } else {
            find_groups(keys, single, group);
        }
        group[0] = begin + thread < n ? group[0] : no_group;
        find_slots(group, block.known, batch, single);
        add(single);
    }
}

// Factors are the floats of the rows of a tile. A square has equal ones. higher is set for terms of three parts,
// of which there are two.
template <u32 count, bool higher> struct Factors {
    u32 term;
    u64 x[count], y[count];

    METHOD Parts parts(u32 i) const { return parts_of(!higher ? crossed : term == cube ? cube : fourth, __builtin_bit_cast(f64, x[i]), __builtin_bit_cast(f64, y[i])); }
};

template <u32 count> DEVICE void load_reals(const Source &s, const Tile<count> &tile, u64 (&x)[count]) {
    load_tile(s, tile, x);
    if (!s.is_float())
#pragma unroll
        for (u32 i = 0; i < count; i++)
            x[i] = __builtin_bit_cast(u64, s.real(x[i]));
}

template <bool higher, u32 count> DEVICE Factors<count, higher> load_factors(const TileReader &r, const Tile<count> &tile) {
    Factors<count, higher> f;
    f.term = r.term;
    load_reals(r.in, tile, f.x);
    if (r.term == crossed) {
        load_reals(r.other, tile, f.y);
    } else {
#pragma unroll
        for (u32 i = 0; i < count; i++)
            f.y[i] = f.x[i];
    }
    return f;
}

// top_of is Pieces::top of a float.
DEVICE u32 top_of(f64 x) {
    const u64 image = __builtin_bit_cast(u64, x);
    const u32 exponent = (u32)(image >> 52) & 0x7ff, place = exponent == 0 ? 0 : exponent - 1;
    return exponent == 0x7ff || image << 1 == 0 ? 0 : place / bin_bits + 1;
}

template <bool higher, u32 count> DEVICE void raise_tops(const TileReader &r, u32 address, Tile<count> tile) {
    drop_rows(r, tile);
    const Factors<count, higher> f = load_factors<higher>(r, tile);
    u32 top[count], old[count];
#pragma unroll
    for (u32 i = 0; i < count; i++)
        old[i] = load_volatile(address + tile.slot[i]);
#pragma unroll
    for (u32 i = 0; i < count; i++)
        top[i] = top_of(f.parts(i).part[0]); // the largest part
#pragma unroll
    for (u32 i = 0; i < count; i++)
        if (old[i] < top[i])
            raise_shared_32(address + tile.slot[i], top[i]);
}

// find_tops raises the tops of states to those of the rows.
KERNEL LAUNCH_BOUNDS(tile_threads)
find_tops(const u32 *numbers, const Keys keys, const i64 *rows, i64 capacity, const i64 *groups, i64 most_groups, const TileBatch arguments) {
    __shared__ TileBatch batch;
    __shared__ Window windows[most_readers];
    const TileBlock block = begin_block(rows, capacity, groups, most_groups, arguments, batch, windows);
    const u32 apart = 4 * batch.entries;
    each_tile(block, numbers, keys, batch, [&](const auto &tile) {
#pragma unroll 1
        for (u32 a = 0; a < batch.readers; a++) {
            const TileReader &r = batch.reader[a];
            const u32 address = block.sums + r.word * apart;
            r.term >= cube ? raise_tops<true>(r, address, tile) : raise_tops<false>(r, address, tile);
        }
    });
    synchronize_block();
    for (u32 slot = thread_in_block(); slot < block.known; slot += tile_threads)
#pragma unroll 1
        for (u32 a = 0; a < batch.readers; a++) {
            const TileReader &r = batch.reader[a];
            u32 top = 0;
            for (u32 c = 0; c < batch.copies; c++) {
                const u32 x = load_shared(block.sums + r.word * apart + 4 * ((slot << batch.copy_bits) + (c + slot & batch.copies - 1)));
                top = x > top ? x : top;
            }
            raise(r.states + (u64)(batch.first_group + slot) * r.stride, top);
        }
}

// Fixed is an integer of 192 bits.
struct Fixed {
    u64 word[3];

    // add adds a float that is finite, in units of the bit of number base. Lower bits are
    // dropped. far is set if the lowest bit of the float may be 64 places or more above base.
    template <bool far> METHOD void add(f64 x, i32 base) {
        const u64 image = __builtin_bit_cast(u64, x), fraction = image & (1ull << 52) - 1, sign = (u64)((i64)image >> 63);
        const u32 exponent = (u32)(image >> 52) & 0x7ff;
        u64 whole = exponent == 0 ? fraction : fraction | 1ull << 52;
        i32 up = (i32)(exponent == 0 ? 0 : exponent - 1) - base;
        if (up < 0) {
            whole = up > -64 ? whole >> -up : 0;
            up = 0;
        }
        whole = (whole ^ sign) - sign;
        const u32 n = (u32)up & 63;
        const bool upper = far && up >= 64;
        const u64 low = whole << n, high = (u64)((i64)whole >> 1 >> (63 - n)), above = (u64)((i64)high >> 63);
        const u64 term[3] = {upper ? 0 : low, upper ? low : high, upper ? high : above};
        word[0] += term[0];
        const u64 carry = word[0] < term[0], middle = word[1] + term[1];
        word[2] += term[2] + (middle < term[1]);
        word[1] = middle + carry;
        word[2] += word[1] < carry;
    }
};

// power_rows is the number of rows that are added at a time, for the registers.
template <u32 count> constexpr u32 power_rows = count < 2 ? count : 2;

static __device__ __attribute__((noinline)) void flag(u64 *state, f64 x) {
    const u64 flags = pieces_of(x).flags;
    if ((*(volatile u64 *)&state[sum_flags] & flags) != flags)
        __nvvm_atom_or_gen_ll((long long *)&state[sum_flags], (long long)flags);
}

template <bool higher, u32 count> DEVICE void add_powers_of(const TileReader &r, const TileBatch &batch, u32 address, const u8 *tops, Tile<count> tile) {
    constexpr u32 part = power_rows<count>;
    drop_rows(r, tile);
    const Factors<count, higher> f = load_factors<higher>(r, tile);
    bool special = false;
#pragma unroll
    for (u32 begin = 0; begin < count; begin += part) {
        u32 place[part], words[part][power_words];
#pragma unroll
        for (u32 i = 0; i < part; i++) {
            const u32 slot = tile.slot[begin + i];
            // The lowest bin that is kept has number top − 3.
            const i32 base = (i32)bin_bits * ((i32)tops[slot >> batch.copy_bits + 2] - (i32)(power_bins - sum_pieces) - 1);
            const Parts p = f.parts(begin + i);
            Fixed sum = {{0, 0, 0}};
            if (is_finite(p.part[0])) {
                sum.add<true>(p.part[0], base);
                sum.add<false>(p.part[1], base);
                if (higher)
                    sum.add<false>(p.part[2], base);
            } else {
                special = true;
            }
            place[i] = address + slot;
#pragma unroll
            for (u32 w = 0; w < power_words; w++)
                words[i][w] = (u32)(sum.word[w / 2] >> 32 * (w % 2));
        }
        add_integers(4 * batch.entries, place, words);
    }
    if (!special)
        return;
#pragma unroll
    for (u32 i = 0; i < count; i++) {
        const u32 group = tile.slot[i] >> batch.copy_bits + 2;
        const f64 first = f.parts(i).part[0];
        if (!is_finite(first) && group < batch.slots)
            flag(r.states + (u64)(batch.first_group + group) * r.stride, first);
    }
}

// add_powers adds products to states of which the tops are known.
KERNEL LAUNCH_BOUNDS(tile_threads)
add_powers(const u32 *numbers, const Keys keys, const i64 *rows, i64 capacity, const i64 *groups, i64 most_groups, const TileBatch arguments) {
    __shared__ TileBatch batch;
    __shared__ Window windows[most_readers];
    const u32 thread = thread_in_block();
    const TileBlock block = begin_block(rows, capacity, groups, most_groups, arguments, batch, windows);
    const u32 apart = 4 * batch.entries;
    u8 *const tops = (u8 *)tile_shared + batch.words * apart;
#pragma unroll 1
    for (u32 a = 0; a < batch.readers; a++) {
        const TileReader &r = batch.reader[a];
        for (u32 slot = thread; slot < batch.entries; slot += tile_threads)
            tops[a * batch.entries + slot] = slot < block.known ? (u8)r.states[(u64)(batch.first_group + slot) * r.stride + sum_top] : 0;
    }
    synchronize_block();
    each_tile(block, numbers, keys, batch, [&](const auto &tile) {
#pragma unroll 1
        for (u32 a = 0; a < batch.readers; a++) {
            const TileReader &r = batch.reader[a];
            const u32 address = block.sums + r.word * apart;
            const u8 *const top = tops + a * batch.entries;
            r.term >= cube ? add_powers_of<true>(r, batch, address, top, tile) : add_powers_of<false>(r, batch, address, top, tile);
        }
    });
    synchronize_block();
    for (u32 slot = thread; slot < block.known; slot += tile_threads)
#pragma unroll 1
        for (u32 a = 0; a < batch.readers; a++) {
            const TileReader &r = batch.reader[a];
            const u32 top = tops[a * batch.entries + slot];
            if (top == 0)
                continue;
            u64 sum[power_words] = {0, 0, 0, 0, 0};
            for (u32 c = 0; c < batch.copies; c++)
#pragma unroll
                for (u32 w = 0; w < power_words; w++) {
                    const u32 word = load_shared(block.sums + (r.word + w) * apart + 4 * ((slot << batch.copy_bits) + (c + slot & batch.copies - 1)));
                    sum[w] += w + 1 == power_words ? (u64)(i64)(i32)word : word;
                }
            Wide total = wide(0, 0, 0);
#pragma unroll
            for (u32 w = 0; w < power_words; w++)
                total = sum_of(total, left(w + 1 == power_words ? with_sign(sum[w]) : wide(sum[w], 0, 0), 32 * w));
            const State<false> to = {r.states + (u64)(batch.first_group + slot) * r.stride, 1, power_bins, top};
#pragma unroll
            for (u32 i = 0; i < power_bins; i++) {
                const u64 bin = i + 1 < power_bins ? total.word[0] & (1ull << bin_bits) - 1 : total.word[0];
                if (bin != 0)
                    add_word(to, sum_first_bin + power_bins - 1 - i, bin);
                total = arithmetic_right(total, bin_bits);
            }
        }
}
