// Adds the rows of a table to the states of few groups, at the speed of memory: tiles.go
// selects what is added so.
//
// A block has a slot for each group in shared memory, in up to 32 copies, so that lanes that
// add to one group do not wait for each other. A thread takes a tile of some rows. It finds
// the slots of all of them, then adds the tile to one accumulator after another. What an
// accumulator does is decided once for a tile, and all loads of a tile are in flight
// together.
//
// Slots have words of 32 bits, which the hardware adds to in one step, and words of 64 bits
// for extremes. Word w of all slots is one array.
//
// # Windows of sums
//
// A sum of floats is in fixed point, in three words of a slot: windows.go describes it.
#include "states.cuh"

static constexpr u32 tile_threads = 1024, tile_rows = 8, no_slot = 0xffffffff;

// Window is the fixed point of a sum of floats.
struct Window {
    // low is the place of the lowest bit, where the place of a value is that of its lowest
    // bit. From distance boundary on the lowest bin is one higher. Values with a place of
    // limit or more would lose bits of other values.
    i32 low;
    u32 boundary, limit;
    // overflowed is set if the sum has to be computed in another way. listed is the number of
    // values that are outside the window.
    u32 overflowed, listed;
    u32 padding[3];
};

// Outside is a value outside the window.
struct Outside {
    f64 value;
    u64 group;
};

// TileReader is an accumulator and the columns that it reads.
struct TileReader {
    // word is the number of the first word in a slot, of those of 64 bits for extremes. stride
    // is the number of words between the states of two groups in global memory.
    u32 kind, least, rows, conditional, word, words, stride, room;
    Source in, other, condition;
    u64 *states;
    // window, limbs and list belong to a sum of floats. The list has room for some values.
    Window *window;
    u64 *limbs;
    Outside *list;
};

struct TileBatch {
    // words and wide are the numbers of words of 32 and 64 bits of a slot, entries the number
    // of copies of all slots. span is the largest distance of a value from its window's low.
    u32 readers, words, wide, slots, copies, copy_bits, entries, span;
    TileReader reader[most_readers];
};

extern __shared__ u64 tile_shared[];

DEVICE u32 shared_address(const void *p) { return (u32)(u64)(__attribute__((address_space(3))) const void *)p; }

DEVICE u32 fetch_add(u32 address, u32 x) {
    u32 old;
    asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(old) : "r"(address), "r"(x) : "memory");
    return old;
}

DEVICE void fetch_or(u32 address, u32 x) {
    u32 old;
    asm volatile("atom.shared.or.b32 %0, [%1], %2;" : "=r"(old) : "r"(address), "r"(x) : "memory");
}

DEVICE void raise_shared(u32 address, u64 x) {
    u64 old;
    asm volatile("ld.volatile.shared.u64 %0, [%1];" : "=l"(old) : "r"(address) : "memory");
    if (old < x)
        asm volatile("atom.shared.max.u64 %0, [%1], %2;" : "=l"(old) : "r"(address), "l"(x) : "memory");
}

DEVICE u32 load_shared(u32 address) {
    u32 x;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(x) : "r"(address) : "memory");
    return x;
}

// Tile is the rows of a thread: row first, and each tile_threads-th row after it.
template <u32 count> struct Tile {
    u64 first;
    // slot is the number of the copy of a slot that a row is added to, or no_slot.
    u32 slot[count];

    METHOD u64 row(u32 i) const { return first + i * tile_threads; }
};

template <typename T, u32 count> DEVICE void load_as(const u8 *values, u64 first, u64 (&x)[count]) {
    const T *const from = (const T *)values + first;
#pragma unroll
    for (u32 i = 0; i < count; i++)
        x[i] = (u64)(i64)from[i * tile_threads];
}

// load_tile loads the values of a tile, as Source::load does.
template <u32 count> DEVICE void load_tile(const Source &s, const Tile<count> &tile, u64 (&x)[count]) {
    switch (s.form) {
    case from_i8: return load_as<i8>(s.values, tile.first, x);
    case from_i16: return load_as<i16>(s.values, tile.first, x);
    case from_i32: return load_as<i32>(s.values, tile.first, x);
    case from_u8: return load_as<u8>(s.values, tile.first, x);
    case from_u16: return load_as<u16>(s.values, tile.first, x);
    case from_u32: return load_as<u32>(s.values, tile.first, x);
    case from_i64:
    case from_u64:
    case from_f64: return load_as<u64>(s.values, tile.first, x);
    }
#pragma unroll
    for (u32 i = 0; i < count; i++)
        x[i] = s.load(tile.row(i));
}

// drop drops the rows of a tile that are null, or not true.
template <u32 count> DEVICE void drop(const u8 *bits, u64 bit, const Tile<count> &tile, u32 (&slot)[count]) {
    if (bits == nullptr)
        return;
#pragma unroll
    for (u32 i = 0; i < count; i++) {
        const u64 at = bit + tile.row(i);
        slot[i] = (bits[at >> 3] >> (at & 7) & 1) != 0 ? slot[i] : no_slot;
    }
}

// find_slots sets the slots of a tile.
template <u32 count> DEVICE void find_slots(const u32 *numbers, const Keys &keys, u32 groups, const TileBatch &batch, Tile<count> &tile) {
    u32 group[count];
    if (keys.direct == 0) {
#pragma unroll
        for (u32 i = 0; i < count; i++)
            group[i] = numbers[tile.row(i)];
    } else {
#pragma unroll
        for (u32 i = 0; i < count; i++)
            group[i] = 0;
#pragma unroll 1
        for (u32 k = 0; k < keys.count; k++) {
            const DenseKey &key = keys.key[k];
            u64 x[count];
            load_tile(key.values, tile, x);
            const u32 places = (u32)key.places, factor = (u32)key.factor;
#pragma unroll
            for (u32 i = 0; i < count; i++) {
                u64 place = x[i] - key.least;
                if (key.values.valid != nullptr && !key.values.is_valid(tile.row(i)))
                    place = places - 1;
                group[i] = place < places && group[i] != no_group ? group[i] + (u32)place * factor : no_group;
            }
        }
    }
    const u32 copy = thread_in_block() & batch.copies - 1;
#pragma unroll
    for (u32 i = 0; i < count; i++)
        tile.slot[i] = group[i] < groups ? (group[i] << batch.copy_bits) + copy : no_slot;
}

// add_integers adds integers of some words of 32 bits to those of slots, which begin at an
// address and are a number of bytes apart.
template <u32 words, u32 count> DEVICE void add_integers(u32 address, u32 apart, const u32 (&slot)[count], const u32 (&x)[count][words]) {
    u32 carry[count];
#pragma unroll
    for (u32 w = 0; w < words; w++) {
#pragma unroll
        for (u32 i = 0; i < count; i++) {
            const u32 at = address + w * apart + 4 * slot[i], term = x[i][w] + (w == 0 ? 0 : carry[i]);
            carry[i] = w != 0 && term < x[i][w];
            if (slot[i] != no_slot && (w == 0 || term != 0))
                carry[i] |= fetch_add(at, term) + term < term;
        }
    }
}

// raise_images raises slots to the images of values: Source::image, with the decisions before
// the loop.
template <u32 count> DEVICE void raise_images(const TileReader &r, u32 address, const u32 (&slot)[count], const u64 (&x)[count]) {
    const bool is_float = r.in.is_float();
    const u64 sign = is_float || r.in.is_signed() ? 1ull << 63 : 0, spread = is_float ? ~0ull : 0, reverse = r.least != 0 ? ~0ull : 0;
#pragma unroll
    for (u32 i = 0; i < count; i++)
        if (slot[i] != no_slot && !(is_float && is_nan_f64(x[i])))
            raise_shared(address + 8 * slot[i], x[i] ^ ((u64)((i64)x[i] >> 63) & spread | sign) ^ reverse);
}

// add_outside adds a value that does not fit its window: it lists the value, or
// sets the flag of the window.
static __device__ __attribute__((noinline)) void add_outside(Window *w, u64 *state, Outside *list, u32 room, u32 group, f64 x) {
    const Pieces p = pieces_of(x);
    if (p.flags != 0 && (*(volatile u64 *)&state[sum_flags] & p.flags) == 0)
        __nvvm_atom_or_gen_ll((long long *)&state[sum_flags], (long long)p.flags);
    if (p.top == 0 || *(volatile u32 *)&w->overflowed != 0)
        return;
    const u32 exponent = (u32)(__builtin_bit_cast(u64, x) >> 52) & 0x7ff, place = exponent == 0 ? 0 : exponent - 1;
    raise(&state[sum_top], p.top);
    u32 at = room;
    if (place < w->limit)
        at = (u32)__nvvm_atom_add_gen_i((int *)&w->listed, 1);
    if (at < room)
        list[at] = Outside{x, group};
    else
        *(volatile u32 *)&w->overflowed = 1;
}

// add_floats adds floats to the windows of slots.
template <u32 count> DEVICE void add_floats(const TileReader &r, const TileBatch &batch, u32 address, u32 apart, const u32 (&slot)[count], const u64 (&x)[count]) {
    // A word has two bits below the sum: the classes of the largest exponents that a slot has.
    const u32 first = (u32)(r.window->low + 1 - 2), boundary = r.window->boundary + 2, span = batch.span;
    u32 term[count][3], at[count], flag[count];
    bool outside = false;
#pragma unroll
    for (u32 i = 0; i < count; i++) {
        const u32 high = (u32)(x[i] >> 32), shift = (high >> 20 & 0x7ff) - first;
        const bool fits = shift - 2 <= span, none = slot[i] == no_slot;
        outside |= !fits && !none && (x[i] << 1) != 0;
        at[i] = address + 4 * slot[i];
        flag[i] = shift >= boundary ? 2 : 1;
        const u64 whole = x[i] & (1ull << 52) - 1 | 1ull << 52, low = whole << (shift & 63);
        u32 a = (u32)low, b = (u32)(low >> 32), c = (u32)(whole >> (64 - shift & 63));
        if ((i32)high < 0) {
            const u64 negative = 0 - low;
            c = ~c + (low == 0);
            a = (u32)negative, b = (u32)(negative >> 32);
        }
        const bool add = fits && !none;
        term[i][0] = add ? a : 0, term[i][1] = add ? b : 0, term[i][2] = add ? c : 0;
        flag[i] = add ? flag[i] : 0;
    }
    u32 old[count];
#pragma unroll
    for (u32 i = 0; i < count; i++)
        if (flag[i] != 0)
            old[i] = fetch_add(at[i], term[i][0]);
#pragma unroll
    for (u32 i = 0; i < count; i++)
        if (flag[i] != 0) {
            if ((flag[i] & ~old[i]) != 0)
                fetch_or(at[i], flag[i]);
            const u64 above = ((u64)term[i][2] << 32 | term[i][1]) + (old[i] + term[i][0] < term[i][0]);
            term[i][1] = (u32)above, term[i][2] = (u32)(above >> 32);
            old[i] = fetch_add(at[i] + apart, term[i][1]);
        }
#pragma unroll
    for (u32 i = 0; i < count; i++)
        if (flag[i] != 0)
            fetch_add(at[i] + 2 * apart, term[i][2] + (old[i] + term[i][1] < term[i][1]));
    if (outside) {
#pragma unroll
        for (u32 i = 0; i < count; i++) {
            const u32 shift = ((u32)(x[i] >> 52) & 0x7ff) - first;
            const u32 group = slot[i] >> batch.copy_bits;
            if (shift - 2 > span && slot[i] != no_slot && (x[i] << 1) != 0)
                add_outside(r.window, r.states + (u64)group * r.stride, r.list, r.room, group, __builtin_bit_cast(f64, x[i]));
        }
    }
}

// add_tile adds the rows of a tile to an accumulator.
template <u32 count> DEVICE void add_tile(const TileReader &r, const TileBatch &batch, u32 sums, u32 extremes, const Tile<count> &tile) {
    u32 slot[count];
#pragma unroll
    for (u32 i = 0; i < count; i++)
        slot[i] = tile.slot[i];
    if (r.conditional != 0) {
        drop(r.condition.values, r.condition.bit, tile, slot);
        drop(r.condition.valid, r.condition.bit, tile, slot);
    }
    drop(r.in.valid, r.in.bit, tile, slot);
    drop(r.other.valid, r.other.bit, tile, slot);
    const u32 apart = 4 * batch.entries, address = sums + r.word * apart;
    if (r.kind == count_rows) {
#pragma unroll
        for (u32 i = 0; i < count; i++)
            if (slot[i] != no_slot)
                fetch_add(address + 4 * slot[i], 1);
        return;
    }
    if (r.kind == sum_decimals) {
        // Four rows at a time, for the registers.
        constexpr u32 part = count < 4 ? count : 4;
#pragma unroll
        for (u32 begin = 0; begin < count; begin += part) {
            const Vector<u64, 2> *const from = (const Vector<u64, 2> *)r.in.values + tile.row(begin);
            Vector<u64, 2> x[part];
            u32 at[part], words[part][5];
#pragma unroll
            for (u32 i = 0; i < part; i++)
                x[i] = from[i * tile_threads];
#pragma unroll
            for (u32 i = 0; i < part; i++) {
                at[i] = slot[begin + i];
#pragma unroll
                for (u32 w = 0; w < 4; w++)
                    words[i][w] = (u32)(x[i].lane[w / 2] >> 32 * (w % 2));
                words[i][4] = (u32)((i32)words[i][3] >> 31);
            }
            add_integers(address, apart, at, words);
        }
        return;
    }
    u64 x[count];
    if (r.rows == 0)
        load_tile(r.in, tile, x);
    else
#pragma unroll
        for (u32 i = 0; i < count; i++)
            x[i] = tile.row(i) + 1;
    switch (r.kind) {
    case sum_integers:
        if (r.words == 2) {
            u32 words[count][2];
#pragma unroll
            for (u32 i = 0; i < count; i++)
                words[i][0] = (u32)x[i], words[i][1] = (u32)(x[i] >> 32);
            add_integers(address, apart, slot, words);
        } else {
            u32 words[count][3];
            const u32 sign = r.in.is_signed() ? 0xffffffff : 0;
#pragma unroll
            for (u32 i = 0; i < count; i++) {
                words[i][0] = (u32)x[i], words[i][1] = (u32)(x[i] >> 32);
                words[i][2] = (u32)((i32)words[i][1] >> 31) & sign;
            }
            add_integers(address, apart, slot, words);
        }
        return;
    case greatest:
        raise_images(r, extremes + 8 * r.word * batch.entries, slot, x);
        return;
    }
    if (!r.in.is_float())
#pragma unroll
        for (u32 i = 0; i < count; i++)
            x[i] = __builtin_bit_cast(u64, r.in.real(x[i]));
    add_floats(r, batch, address, apart, slot, x);
}

// add_states adds the copies of a slot to the state of its group.
DEVICE void add_states(const TileReader &r, const TileBatch &batch, u32 sums, u32 group) {
    const u32 apart = 4 * batch.entries, address = sums + r.word * apart + (group << batch.copy_bits) * 4;
    u64 *const state = r.states + (u64)group * r.stride;
    u64 sum[5] = {0, 0, 0, 0, 0}, most = 0, classes = 0;
    for (u32 c = 0; c < batch.copies; c++) {
        // Copies in another order for each group: the lanes of a warp read different banks.
        const u32 copy = (c + group) & batch.copies - 1;
        if (r.kind == greatest) {
            const u64 x = tile_shared[r.word * batch.entries + (group << batch.copy_bits) + copy];
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
            const bool is_signed = w + 1 == r.words && (r.kind == sum_floats || r.kind == sum_decimals || r.kind == sum_integers && r.in.is_signed());
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

template <u32 count> DEVICE void add_rows(const u32 *numbers, const Keys &keys, u32 groups, const TileBatch &batch, u32 sums, u32 extremes, u64 first, bool inside) {
    Tile<count> tile;
    tile.first = first;
    find_slots(numbers, keys, groups, batch, tile);
    if (!inside)
        tile.slot[0] = no_slot;
#pragma unroll 1
    for (u32 a = 0; a < batch.readers; a++)
        add_tile(batch.reader[a], batch, sums, extremes, tile);
}

// add_tiles adds rows. rows is the number of rows or null; groups is the number of groups
// or null.
KERNEL LAUNCH_BOUNDS(tile_threads)
add_tiles(const u32 *numbers, const Keys keys, const i64 *rows, i64 capacity, const i64 *groups, i64 most_groups, const TileBatch batch) {
    const u64 n = device_rows(rows, capacity);
    const u32 known = (u32)device_rows(groups, most_groups), thread = thread_in_block();
    const u32 extremes = shared_address(tile_shared), sums = extremes + 8 * batch.wide * batch.entries;
    u32 *const words = (u32 *)tile_shared;
    for (u32 i = thread; i < (2 * batch.wide + batch.words) * batch.entries; i += tile_threads)
        words[i] = 0;
    synchronize_block();

    const u64 tiles = n / (tile_threads * tile_rows);
#pragma unroll 1
    for (u64 tile = block_in_grid(); tile < tiles; tile += blocks_per_grid())
        add_rows<tile_rows>(numbers, keys, known, batch, sums, extremes, tile * (tile_threads * tile_rows) + thread, true);
#pragma unroll 1
    for (u64 begin = tiles * (tile_threads * tile_rows) + (u64)block_in_grid() * tile_threads; begin < n; begin += (u64)blocks_per_grid() * tile_threads) {
        const u64 row = begin + thread;
        add_rows<1>(numbers, keys, known, batch, sums, extremes, row < n ? row : n - 1, row < n);
    }
    synchronize_block();

    for (u32 group = thread; group < known; group += tile_threads)
#pragma unroll 1
        for (u32 a = 0; a < batch.readers; a++)
            add_states(batch.reader[a], batch, sums, group);
}

static constexpr u32 window_threads = 256, window_samples = 2048, exponents = 2048;

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
    for (u32 i = thread; i < samples; i += window_threads) {
        const u64 row = i * n / samples;
        const u64 x = __builtin_bit_cast(u64, r.in.real(r.in.load(row)));
        const u32 exponent = (u32)(x >> 52) & 0x7ff;
        if (exponent == 0 || exponent == 0x7ff || !r.in.is_valid(row))
            continue;
        __nvvm_atom_add_gen_i((int *)&counts[exponent], 1);
        if (*(volatile u32 *)&least > exponent)
            __nvvm_atom_min_gen_ui(&least, exponent);
        if (*(volatile u32 *)&most < exponent)
            __nvvm_atom_max_gen_ui(&most, exponent);
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

// settle_sums adds the sums in windows, and the values outside of them, to the states.
KERNEL LAUNCH_BOUNDS(window_threads)
settle_sums(const i64 *groups, i64 most_groups, const TileBatch batch) {
    const u64 known = device_rows(groups, most_groups), step = threads_per_grid();
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
