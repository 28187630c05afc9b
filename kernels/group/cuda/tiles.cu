// Adds the rows of a table to the states of few groups, at the speed of memory: tiles.go
// selects what is added so.
//
// A block has a slot for each group in shared memory, in up to 32 copies, so that lanes that
// add to one group do not wait for each other. A thread takes a tile of some rows. It finds
// the slots of all of them, then adds the tile to one accumulator after another. What an
// accumulator does is decided once for a tile, and all loads of a tile are in flight
// together.
//
// If shared memory has no room for all groups, some blocks read the same rows, mostly from the
// cache, and each adds those of its slice of the groups.
//
// # Windows of sums
//
// A sum of floats is in fixed point, in three words of a slot: fixed_point.go describes it.
#include "tiles_add.cuh"

// add_rows adds the rows of a tile to the slots of their groups, for all accumulators.
template <bool products, u32 count> DEVICE void add_rows(const u32 (&group)[count], u32 groups, const TileBatch &batch, const Window *windows, u32 sums, u32 extremes, Tile<count> &tile) {
    find_slots(group, groups, batch, tile);
#pragma unroll 1
    for (u32 a = 0; a < batch.readers; a++)
        add_tile<products>(batch.reader[a], windows[a], batch, sums, extremes, tile);
}

template <bool products>
DEVICE void add_all(const u32 *numbers, const Keys &keys, const i64 *rows, i64 capacity, const i64 *groups, i64 most_groups, const TileBatch &arguments) {
    __shared__ TileBatch batch;
    __shared__ Window windows[most_readers];
    const u32 thread = thread_in_block();
    const TileBlock block = begin_block(rows, capacity, groups, most_groups, arguments, batch, windows);
    const u64 n = block.rows;
    const u32 part = block.part, parts = block.parts, known = block.known, sums = block.sums, extremes = block.extremes;

    constexpr u32 rows_of_block = tile_threads * tile_rows;
    const u64 whole = n / rows_of_block * rows_of_block, step = (u64)parts * rows_of_block;
    const NumberSource source = number_source(numbers, keys);
    Tile<tile_rows> tile;
    u32 next[tile_rows];
    tile.first = (u64)part * rows_of_block + thread;
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
        add_rows<products>(group, known, batch, windows, sums, extremes, tile);
    }
#pragma unroll 1
    for (u64 begin = whole + (u64)part * tile_threads; begin < n; begin += (u64)parts * tile_threads) {
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
        add_rows<products>(group, known, batch, windows, sums, extremes, single);
    }
    synchronize_block();

    end_block(block, batch);
}

// add_tiles adds rows. rows is the number of rows or null; groups is the number of groups
// or null. add_tile_products also adds products of integers, for which the other one has no registers.
KERNEL LAUNCH_BOUNDS(tile_threads)
add_tiles(const u32 *numbers, const Keys keys, const i64 *rows, i64 capacity, const i64 *groups, i64 most_groups, const TileBatch arguments) {
    add_all<false>(numbers, keys, rows, capacity, groups, most_groups, arguments);
}
KERNEL LAUNCH_BOUNDS(tile_threads)
add_tile_products(const u32 *numbers, const Keys keys, const i64 *rows, i64 capacity, const i64 *groups, i64 most_groups, const TileBatch arguments) {
    add_all<true>(numbers, keys, rows, capacity, groups, most_groups, arguments);
}

static constexpr u32 settle_threads = 256, window_threads = 1024, window_samples = 2048, exponents = 2048;

// choose_windows chooses the window of each sum of floats, which most of a sample of its values
// fit, and clears its sums. A block has an accumulator.
KERNEL LAUNCH_BOUNDS(window_threads)
choose_windows(const i64 *rows, i64 capacity, i64 groups, const TileBatch batch) {
    __shared__ u32 counts[exponents];
    __shared__ u32 least, most, best;
    const TileReader &r = batch.reader[block_in_grid()];
    if (r.kind != sum_floats)
        return;
    const u32 thread = thread_in_block(), span = batch.span;
    for (u64 i = thread; i < 3 * (u64)groups; i += window_threads)
        r.limbs[i] = 0;
    for (u32 i = thread; i < exponents; i += window_threads)
        counts[i] = 0;
    if (thread == 0)
        least = exponents, most = 0, best = 0;
    synchronize_block();
    const u64 n = device_rows(rows, capacity);
    const u32 samples = n < window_samples ? (u32)n : window_samples;
    constexpr u32 each = window_samples / window_threads;
    u32 exponent[each];
#pragma unroll
    for (u32 i = 0; i < each; i++) { // all loads in flight
        const u32 sample = i * window_threads + thread;
        const u64 row = sample < samples ? sample * n / samples : 0;
        const u64 x = n == 0 ? 0 : __builtin_bit_cast(u64, r.in.real(r.in.load(row)));
        exponent[i] = sample < samples && r.in.is_valid(row) ? (u32)(x >> 52) & 0x7ff : 0;
    }
    for (u32 i = 0; i < each; i++) {
        if (exponent[i] == 0 || exponent[i] == 0x7ff)
            continue;
        fetch_add(shared_address(&counts[exponent[i]]), 1);
        if (*(volatile u32 *)&least > exponent[i])
            __nvvm_atom_min_gen_ui(&least, exponent[i]);
        if (*(volatile u32 *)&most < exponent[i])
            __nvvm_atom_max_gen_ui(&most, exponent[i]);
    }
    synchronize_block();
    const auto fitting = [&](u32 top) {
        u32 sum = 0;
        for (u32 i = 0; i <= span && i <= top; i++)
            sum += counts[top - i];
        return sum;
    };
    for (u32 top = least + thread; top <= most; top += window_threads)
        __nvvm_atom_max_gen_ui(&best, fitting(top) << 12 | exponents - top); // the lowest of the best
    synchronize_block();
    if (thread != 0)
        return;
    u32 top = best == 0 ? 1023 : exponents - (best & 0xfff);
    for (u32 above = 0; above < 2 && top < exponents - 2 && (best == 0 || fitting(top + 1) == best >> 12); above++)
        top++; // room for larger values than those of the sample
    Window w = {};
    w.low = top > span + 1 ? (i32)(top - span - 1) : 0;
    w.boundary = bin_bits - (u32)w.low % bin_bits;
    w.limit = ((u32)w.low / bin_bits + 2) * bin_bits;
    *r.window = w;
}

// count_present adds the number of groups that have a row to a word: those of which an accumulator has counted one.
DEVICE void count_present(u32 *present, const TileReader &r, u64 groups) {
    const u64 padded = (groups + warp_threads - 1) / warp_threads * warp_threads, step = threads_per_grid();
    for (u64 group = thread_in_grid(); group < padded; group += step) {
        const u32 has = ballot(group < groups && r.states[group * r.stride] != 0);
        if (lane_in_warp() == 0 && has != 0)
            __nvvm_atom_add_gen_i((int *)present, __builtin_popcount(has));
    }
}

// settle_sums adds the sums in windows, and the values outside of them, to the states. If present is not null it receives
// the number of groups that have a row, which the accumulator number counting counts.
KERNEL LAUNCH_BOUNDS(settle_threads)
settle_sums(const i64 *groups, i64 most_groups, u32 *present, u32 counting, const TileBatch batch) {
    const u64 known = device_rows(groups, most_groups), step = threads_per_grid();
    if (present != nullptr)
        count_present(present, batch.reader[counting], known);
#pragma unroll 1
    for (u32 a = 0; a < batch.readers; a++) {
        const TileReader &r = batch.reader[a];
        if (r.kind != sum_floats || r.window->overflowed != 0)
            continue;
        constexpr u32 bins = 4;
        for (u64 group = thread_in_grid(); group < known; group += step) {
            u64 *const state = r.states + group * r.stride, *const limbs = r.limbs + 3 * group;
            const u64 top = state[sum_top];
            if (top == 0)
                continue;
            Wide total = sum_of(sum_of(wide(limbs[0], 0, 0), left(wide(limbs[1], 0, 0), 32)), left(with_sign(limbs[2]), 64));
            if (r.least != 0 && top > (u64)r.window->low / bin_bits)
                __nvvm_atom_or_gen_ll((long long *)&state[sum_flags], (long long)(top == (u64)r.window->low / bin_bits + 1 ? flag_window_at : flag_window_below));
            // The sum is in units of bit low − 2. The lowest bin that is kept has number top − 2.
            total = left(arithmetic_right(total, 2), (u32)(r.window->low - (i32)bin_bits * ((i32)top - 2)));
            const State<false> to = {state, 1, bins, top};
            for (u32 i = 0; i < bins; i++) {
                const u64 bin = i + 1 < bins ? total.word[0] & (1ull << bin_bits) - 1 : total.word[0];
                if (bin != 0)
                    add_word(to, sum_first_bin + bins - 1 - i, bin);
                total = arithmetic_right(total, bin_bits);
            }
        }
        const u32 listed = r.window->listed;
        for (u64 i = thread_in_grid(); i < listed; i += step) {
            const Outside x = r.list[i];
            u64 *const state = r.states + x.group * r.stride;
            add_float(State<false>{state, 1, bins, state[sum_top]}, 1, x.value);
        }
    }
}
