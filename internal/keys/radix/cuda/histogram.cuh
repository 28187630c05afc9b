// The digits of all keys, counted in one pass over them.
#pragma once

#include "plan.cuh"

static constexpr u32 histogram_threads = 256;
// A thread has this many vectors of 16 bytes at a time.
static constexpr u32 histogram_loads = 2;

// Keys selects how values become keys.
enum Keys {
    inverted, // all bits, of which some are inverted: most integers
    restored, // all bits of values that keys restore
    nullable, // the same with nulls
    encoded,  // any bits and encoding, without nulls
};

// Histogram counts the digits of the rows of a block in shared memory.
template <typename Key, Keys kind> struct Histogram {
    static constexpr u32 lanes = 16 / sizeof(Key);
    typedef Vector<Key, lanes> Group;

    const Call &call;
    u32 (&counts)[most_digits][digit_values];
    const u32 digits;
    const Key *const keys;
    const Key flip; // of inverted keys
    bool unsorted, lossy;

    // key returns the key of a row's value.
    METHOD Key key(Key value, bool is_null) {
        if (kind == inverted)
            return value ^ flip;
        if (kind != encoded)
            return kind == nullable && is_null ? (Key)call.null_key : call.encoding.encode_decoded(value);
        lossy |= call.encoding.loses(value);
        return call.field.of(call.encoding.encode(value));
    }

    METHOD void count(Key key) const {
        // Places of digits are constants: a loop with a limit that is not takes twice as long.
#pragma unroll
        for (u32 digit = 0; digit < (8 * sizeof(Key) + digit_bits - 1) / digit_bits; digit++)
            if (kind != encoded || digit < digits)
                __nvvm_atom_add_gen_i((int *)&counts[digit][(u32)(key >> digit * digit_bits) & digit_values - 1], 1);
    }

    // whole counts the rows of a warp, lanes · histogram_loads for each thread. All are there.
    METHOD void whole(u64 begin, u64 n) {
        const u32 lane = lane_in_warp();
        Group group[histogram_loads];
        Key key[histogram_loads][lanes];
#pragma unroll
        for (u32 i = 0; i < histogram_loads; i++)
            group[i] = load_whole((const Group *)(keys + begin + (i * warp_threads + lane) * lanes));
        // The bits of a vector are in one byte.
        const u64 bit = call.valid_bit + begin + lane * lanes;
        const u8 *const bits = call.valid + (bit >> 3);
#pragma unroll
        for (u32 i = 0; i < histogram_loads; i++) {
            const u32 valid = kind == nullable ? bits[i * (warp_threads * lanes / 8)] >> (bit & 7) : 0;
#pragma unroll
            for (u32 j = 0; j < lanes; j++) {
                key[i][j] = this->key(group[i].lane[j], (valid >> j & 1) == 0);
                count(key[i][j]);
            }
        }
        if (ballot(unsorted) != 0)
            return;
#pragma unroll
        for (u32 i = 0; i < histogram_loads; i++) {
            // The row behind those of the last lane is the first row of the next vector.
            const Key *const next = key[i + 1 < histogram_loads ? i + 1 : i];
            const Key behind = shuffle_value(lane == 0 && i + 1 < histogram_loads ? next[0] : key[i][0], lane + 1 & warp_threads - 1);
#pragma unroll
            for (u32 j = 0; j + 1 < lanes; j++)
                unsorted |= key[i][j + 1] < key[i][j];
            if (i + 1 < histogram_loads || lane + 1 < warp_threads)
                unsorted |= behind < key[i][lanes - 1];
        }
        // The first row behind all.
        const u64 last = begin + histogram_loads * warp_threads * lanes;
        if (lane + 1 == warp_threads && last < n)
            unsorted |= this->key(keys[last], kind == nullable && call.is_null(last)) < key[histogram_loads - 1][lanes - 1];
    }

    // part counts fewer rows.
    METHOD void part(u64 begin, u64 end, u64 n) {
        for (u64 row = begin + lane_in_warp(); row < end; row += warp_threads) {
            const Key own = key(keys[row], kind == nullable && call.is_null(row));
            count(own);
            if (row + 1 < n)
                unsorted |= key(keys[row + 1], kind == nullable && call.is_null(row + 1)) < own;
        }
    }

    METHOD void all(u64 n) {
        constexpr u64 step = histogram_loads * warp_threads * lanes;
        const bool vectors = aligned(keys, 16) && (kind != nullable || call.valid_bit % lanes == 0);
        const u64 warp = thread_in_grid() / warp_threads, warps = threads_per_grid() / warp_threads;
        for (u64 begin = warp * step; begin < n; begin += warps * step)
            if (vectors && begin + step <= n)
                whole(begin, n);
            else
                part(begin, begin + step < n ? begin + step : n, n);
    }
};

template <typename Key, Keys kind> DEVICE void count_keys(const Call &call, u32 source, u32 (&counts)[most_digits][digit_values], bool &unsorted, bool &lossy) {
    const Encoding &e = call.encoding;
    Histogram<Key, kind> h = {call, counts, call.field.digits(), call.key<Key>(source), (Key)(e.positive ^ e.flip), false, false};
    h.all(call.count());
    unsorted = h.unsorted;
    lossy = h.lossy;
}

// count_digits adds the digits of the keys to the plan's counts, and records whether a
// key is less than the key before it, and whether the values can be restored from the keys.
template <typename Key> DEVICE void count_digits(const Call &call, u32 source) {
    __shared__ u32 counts[most_digits][digit_values];
    const u32 thread = thread_in_block(), digits = call.field.digits();
    for (u32 i = thread; i < digits * digit_values; i += histogram_threads)
        counts[0][i] = 0;
    synchronize_block();
    bool unsorted, lossy;
    const Encoding &e = call.encoding;
    if (call.field.low > 0 || call.field.high < 8 * sizeof(Key) || e.infinity != 0)
        count_keys<Key, encoded>(call, source, counts, unsorted, lossy);
    else if (call.valid != nullptr)
        count_keys<Key, nullable>(call, source, counts, unsorted, lossy);
    else if (e.positive == e.negative && e.subtract == 0)
        count_keys<Key, inverted>(call, source, counts, unsorted, lossy);
    else
        count_keys<Key, restored>(call, source, counts, unsorted, lossy);
    if (unsorted)
        *(volatile u32 *)&call.plan->unsorted = 1;
    if (lossy)
        *(volatile u32 *)&call.plan->lossy = 1;
    synchronize_block();
    for (u32 i = thread; i < digits * digit_values; i += histogram_threads)
        if (counts[0][i] != 0)
            __nvvm_atom_add_gen_i((int *)&call.plan->counts[0][i], counts[0][i]);
}
