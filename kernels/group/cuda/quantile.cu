// Quantiles of each group without a sort: quantile.go.
#include "exact_sum.cuh"
#include "interpolate.cuh"
#include "source.cuh"

// Order gives the values of a form keys of 64 bits in the order of a sort: −0 and 0 have one key, NaN the greatest.
struct Order {
    u32 form;

    METHOD bool is_float() const { return form >= from_f16 && form <= from_f64; }
    METHOD u64 sign() const { return form >= from_i8 && form <= from_i64 ? 1ull << 63 : 0; }

    METHOD u64 key(u64 loaded) const {
        if (!is_float())
            return loaded ^ sign();
        return is_nan_f64(loaded) ? ~0ull : loaded == 1ull << 63 ? 1ull << 63 : ordered_f64(loaded);
    }

    METHOD f64 real(u64 key) const {
        if (is_float())
            return __builtin_bit_cast(f64, unordered_f64(key)); // ~0 is a NaN
        return form == from_u64 ? (f64)key : (f64)(i64)(key ^ sign());
    }
};

// Rows are values and their groups. The rows of groups from groups on belong to none.
//go:layout selectedRowsLayout
struct Rows {
    const u32 *numbers;
    Source values;
    u64 groups;
};

// Bounds divide the values of a group into slots, in their order: those below low, those equal to low, some bins, those
// equal to high, those above it. The bins are equally wide in values. The rows that are equal to pivot, a value between
// low and high, are counted apart.
struct alignas(16) Bounds {
    u64 low, high, pivot;
    f64 scale; // 0: all values are in the first bin

    // slot is monotone: of any keys the greater one has the same slot or a later one.
    METHOD u32 slot(Order order, u64 key, u32 bins) const {
        if (key <= low)
            return key == low;
        if (key >= high)
            return bins + 2 + (key != high);
        if (scale == 0)
            return 2;
        const f64 x = multiply(subtract(order.real(key), order.real(low)), scale);
        return 2 + (!(x < bins) ? bins - 1 : x > 0 ? (u32)x : 0);
    }

    // first_key returns the least key above low that has a slot or a later one, up to high. The lanes of a warp look
    // at a key each.
    METHOD u64 first_key(Order order, u32 of, u32 bins) const {
        u64 from = low + 1, to = high;
        while (from < to) {
            const u64 step = (to - from) / warp_threads + 1, offset = lane_in_warp() * step;
            const u32 reached = ballot(offset >= to - from || slot(order, from + offset, bins) >= of);
            if ((reached & 1) != 0)
                return from;
            const u32 lane = reached == 0 ? warp_threads : (u32)__builtin_ctz(reached);
            if (lane * step < to - from)
                to = from + lane * step;
            from += (lane - 1) * step + 1;
        }
        return from;
    }
};

DEVICE Bounds bounds_of(const Bounds *all, u64 group) {
    typedef Vector<u64, 2> Pair;
    const Pair a = load_whole((const Pair *)&all[group]), b = load_whole((const Pair *)&all[group] + 1);
    return Bounds{a.lane[0], a.lane[1], b.lane[0], __builtin_bit_cast(f64, b.lane[1])};
}

DEVICE u32 slots_of(u32 bins) { return bins + 4; }
// Behind the counts of a group's slots is that of its pivot.
DEVICE u32 counters_of(u32 bins) { return bins + 5; }

// sample_rows writes keys of rows, of which each is at a scattered place of a separate stride, and words to sort them:
// the group, and as many high bits of the key as fit. Samples without a group have all bits set.
KERNEL sample_rows(u64 *words, u64 *keys, const Rows r, u64 samples, u32 group_bits, const i64 *rows, i64 capacity) {
    const u64 n = device_rows(rows, capacity), step = threads_per_grid();
    const Order order = {r.values.form};
    for (u64 i = thread_in_grid(); i < samples; i += step) {
        u64 row = i;
        if (n > samples) {
            const u64 begin = i * n / samples, end = (i + 1) * n / samples;
            row = begin + ((i * 0x9e3779b97f4a7c15) >> 32) % (end - begin);
        }
        u64 word = ~0ull, key = 0;
        if (row < n && r.numbers[row] < r.groups) {
            key = order.key(r.values.load(row));
            word = (u64)r.numbers[row] << 64 - group_bits | key >> group_bits;
        }
        words[i] = word;
        keys[i] = key;
    }
}

// first_sample returns the first of the sorted samples of a group or a later one.
DEVICE u64 first_sample(const u32 *sorted, const u64 *words, u64 samples, u64 group, u32 group_bits) {
    u64 low = 0, high = samples;
    while (low < high) {
        const u64 middle = low + (high - low) / 2;
        if (words[sorted[middle]] >> 64 - group_bits >= group)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static constexpr f64 infinity_f64 = __builtin_inf();

// bound_groups writes the bounds of each group: samples between which the quantile is, except for a chance of 1 in 16,000.
KERNEL bound_groups(Bounds *bounds, const u32 *sorted, const u64 *words, const u64 *keys, u64 samples, u32 group_bits, u32 form, f64 fraction, u32 bins, u64 groups) {
    const u64 step = threads_per_grid();
    const Order order = {form};
    for (u64 group = thread_in_grid(); group < groups; group += step) {
        const u64 begin = first_sample(sorted, words, samples, group, group_bits), end = first_sample(sorted, words, samples, group + 1, group_bits);
        Bounds b = {0, 0, 0, 0};
        if (begin < end) {
            const f64 last = (f64)(end - begin - 1), middle = multiply(last, fraction);
            const f64 margin = add(multiply(4, __builtin_sqrt(multiply(middle, subtract(1, fraction)))), 2);
            const f64 first_place = subtract(middle, margin), last_place = add(middle, margin);
            const u64 from = begin + (first_place > 0 ? (u64)first_place : 0), at = begin + (u64)middle;
            u64 to = begin + (u64)(last_place < last ? last_place : last);
            // The sample is not sorted by the low bits of keys.
            const u64 low = keys[sorted[from]], high = keys[sorted[to]], pivot = keys[sorted[at]];
            b.low = low < high ? low : high;
            b.high = low < high ? high : low;
            b.pivot = pivot < b.low ? b.low : pivot > b.high ? b.high : pivot;
            const f64 base = order.real(b.low);
            f64 width = subtract(order.real(b.high), base);
            while (!(width < infinity_f64) && to > from) { // high is infinite or NaN
                to--;
                width = subtract(order.real(keys[sorted[to]]), base);
            }
            const f64 scale = bins / width;
            b.scale = width > 0 && scale < infinity_f64 ? scale : 0;
        }
        bounds[group] = b;
    }
}

extern __shared__ u32 block_counts[];

DEVICE void add_in_block(u32 *counter, u32 n) {
    asm volatile("red.shared.add.u32 [%0], %1;" ::"l"((__attribute__((address_space(3))) u32 *)counter), "r"(n) : "memory");
}

DEVICE void add_to_all(u32 *counter, u32 n) {
    asm volatile("red.relaxed.gpu.global.add.u32 [%0], %1;" ::"l"((__attribute__((address_space(1))) u32 *)counter), "r"(n) : "memory");
}

// add_by_warp adds one to the counters of the lanes that count. Lanes with the counter of the first one add together:
// otherwise equal rows would wait for each other.
DEVICE void add_by_warp(u32 *counters, u32 counter, bool counts) {
    const u32 counting = ballot(counts);
    if (counting == 0)
        return;
    const u32 first = (u32)__builtin_ctz(counting), of_first = shuffle_value(counter, first);
    const bool same = counts && counter == of_first;
    const u32 together = ballot(same);
    if (counts && (!same || lane_in_warp() == first))
        add_to_all(&counters[counter], same ? (u32)__builtin_popcount(together) : 1);
}

// Place is where a block counts the rows of a slot.
//go:layout slotCounting
enum Place : u32 {
    count_in_memory, // all slots in global memory
    count_outer,     // those below and above the bounds in the block, the others in global memory
    count_in_block,  // all slots in the block
};

// count_slots counts the rows of each slot of each group. zeros gets a byte for each group that has a −0.
KERNEL LAUNCH_BOUNDS(768) count_slots(u32 *counts, u8 *zeros, const Rows r, const Bounds *bounds, u32 bins, u32 place, const i64 *rows, i64 capacity) {
    constexpr u32 batch = 4;
    const u64 n = device_rows(rows, capacity);
    const u32 thread = thread_in_block(), threads = threads_per_block(), counters = counters_of(bins), above = bins + 3;
    const u32 in_block = (u32)r.groups * (place == count_in_block ? counters : place == count_outer ? 2 : 0);
    const Order order = {r.values.form};
    const bool may_be_zero = r.values.is_float();
    for (u32 i = thread; i < in_block; i += threads)
        block_counts[i] = 0;
    synchronize_block();
    const u64 tile = (u64)threads * batch;
    for (u64 begin = block_in_grid() * tile; begin < n; begin += blocks_per_grid() * tile) {
        // The loads of a batch are in flight together.
        u64 value[batch];
        u32 group[batch];
        Bounds b[batch];
#pragma unroll
        for (u32 i = 0; i < batch; i++) {
            const u64 row = begin + i * threads + thread;
            group[i] = row < n ? r.numbers[row] : ~0u;
            value[i] = row < n ? r.values.load(row) : 0;
        }
#pragma unroll
        for (u32 i = 0; i < batch; i++)
            b[i] = bounds_of(bounds, group[i] < r.groups ? group[i] : 0); // no branch between the loads
#pragma unroll
        for (u32 i = 0; i < batch; i++) {
            bool counts_row = group[i] < r.groups;
            u32 slot = 0;
            if (counts_row) {
                if (may_be_zero && value[i] == 1ull << 63)
                    *(volatile u8 *)&zeros[group[i]] = 1;
                const u64 key = order.key(value[i]);
                slot = b[i].slot(order, key, bins);
                if (key == b[i].pivot && slot > 1 && slot < bins + 2)
                    slot = bins + 4;
                if (place == count_in_block) {
                    add_in_block(&block_counts[group[i] * counters + slot], 1);
                    counts_row = false;
                } else if (place == count_outer && (slot == 0 || slot == above)) {
                    add_in_block(&block_counts[2 * group[i] + (slot != 0)], 1);
                    counts_row = false;
                }
            }
            if (place != count_in_block)
                add_by_warp(counts, group[i] * counters + slot, counts_row);
        }
    }
    synchronize_block();
    for (u32 i = thread; i < in_block; i += threads) {
        const u32 counted = block_counts[i];
        if (counted != 0)
            add_to_all(&counts[place == count_in_block ? i : i / 2 * counters + (i & 1) * above], counted);
    }
}

// KeyRange are the keys of which a group keeps the rows to find its values: those from first to last except pivot,
// which occurs pivots times. Without any, first is above last.
struct alignas(16) KeyRange {
    u64 first, last, pivot, pivots;
};

// Found are the keys of the two values between which a quantile is interpolated, or their places among the
// keys of the range.
struct Found {
    u64 key[2], place[2], rows;
};

static constexpr u64 no_place = ~0ull;

// Verdict has the numbers by which the host decides.
struct Verdict {
    u64 kept;    // rows that are kept
    u64 refused; // not 0: a group has to be sorted
};

// place_of returns the place of a quantile among n values, and the part of the way to the next one.
DEVICE u64 place_of(u64 n, f64 fraction, f64 &part) {
    const f64 place = multiply((f64)(n - 1), fraction);
    const u64 below = (u64)place;
    part = subtract(place, (f64)below);
    return below;
}

// Slotted is the slot of a place, with the number of rows in the slots before it.
struct Slotted {
    u32 slot;
    u64 before;
};

// find_slots returns the slots of two places. A warp does so for a group.
DEVICE void find_slots(const u32 *counts, u32 bins, u32 pivot_slot, const u64 place[2], Slotted found[2]) {
    const u32 lane = lane_in_warp(), slots = slots_of(bins);
    u64 before = 0;
    for (u32 begin = 0; begin < slots; begin += warp_threads) {
        const u32 slot = begin + lane;
        u64 n = slot < slots ? counts[slot] : 0;
        if (slot == pivot_slot)
            n += counts[slots];
        const u64 end = before + warp_scan(n, Sum<u64>());
#pragma unroll
        for (u32 i = 0; i < 2; i++) {
            const u32 later = ballot(end > place[i]);
            if (before <= place[i] && later != 0) {
                const u32 at = (u32)__builtin_ctz(later);
                found[i] = Slotted{begin + at, shuffle_value(end - n, at)};
            }
        }
        before = shuffle_value(end, warp_threads - 1);
    }
}

// resolve_groups finds the slots of the quantile of each group. If all rows of a slot are equal their value is found.
// Otherwise the rows of the slot are kept.
KERNEL resolve_groups(KeyRange *ranges, Found *found, u64 *kept, Verdict *verdict, const u32 *counts, const u8 *zeros, const Bounds *bounds, u32 form, f64 fraction,
                      u32 bins, u64 most, u64 groups) {
    const u64 step = threads_per_grid() / warp_threads;
    const u32 lane = lane_in_warp(), counters = counters_of(bins), slots = slots_of(bins);
    const Order order = {form};
    for (u64 group = thread_in_grid() / warp_threads; group < groups; group += step) {
        const u32 *const own = counts + group * counters;
        const Bounds b = bounds_of(bounds, group);
        u64 n = 0;
        for (u32 i = lane; i < counters; i += warp_threads)
            n += own[i];
        n = warp_fold(n, Sum<u64>());
        KeyRange w = {1, 0, b.pivot, 0};
        Found f = {{0, 0}, {no_place, no_place}, n};
        u64 keeps = 0;
        if (n != 0) {
            f64 part;
            u64 place[2];
            place[0] = place_of(n, fraction, part);
            place[1] = place[0] + (part > 0 && place[0] + 1 < n);
            const u32 pivot_slot = b.slot(order, b.pivot, bins);
            Slotted at[2];
            find_slots(own, bins, pivot_slot, place, at);
            u64 before = 0;
#pragma unroll
            for (u32 i = 0; i < 2; i++) {
                const u32 slot = at[i].slot, alone = own[slot];
                const bool has_pivot = slot == pivot_slot && own[slots] != 0;
                u64 first = slot == 0 ? 0 : slot == 1 ? b.low : slot == bins + 2 ? b.high : b.high + 1;
                u64 last = slot == 0 ? b.low - 1 : slot == slots - 1 ? ~0ull : first;
                if (has_pivot && alone == 0)
                    first = last = b.pivot;
                else if (slot > 1 && slot < bins + 2) {
                    first = b.first_key(order, slot, bins);
                    last = b.first_key(order, slot + 1, bins) - 1;
                }
                f.key[i] = first;
                if (first == last)
                    continue;
                if (w.first > w.last) {
                    w.first = first;
                    before = at[i].before;
                }
                if (keeps == 0 || w.last < last) {
                    w.last = last;
                    keeps += alone;
                    w.pivots += has_pivot ? own[slots] : 0;
                }
                f.place[i] = place[i] - before;
            }
        }
        if (lane != 0)
            continue;
        ranges[group] = w;
        found[group] = f;
        kept[group] = keeps;
        if (keeps != 0)
            asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"((__attribute__((address_space(1))) u64 *)&verdict->kept), "l"(keeps) : "memory");
        // −0 and 0 are in the order of their rows, which is not known here.
        const u64 zero = 1ull << 63;
        const bool unsure = zeros[group] != 0 && (w.first <= zero && zero <= w.last || f.place[0] == no_place && f.key[0] == zero || f.place[1] == no_place && f.key[1] == zero);
        if (unsure || keeps > most)
            *(volatile u64 *)&verdict->refused = 1;
    }
}

// keep_rows collects the keys in the range of each group, in any order.
KERNEL keep_rows(u64 *keys, u32 *filled, const Rows r, const KeyRange *ranges, const u64 *ends, const i64 *rows, i64 capacity) {
    constexpr u32 batch = 4;
    const u64 n = device_rows(rows, capacity), step = threads_per_grid();
    const Order order = {r.values.form};
    for (u64 begin = thread_in_grid(); begin < n; begin += batch * step) {
        u64 value[batch];
        u32 group[batch];
        Bounds w[batch]; // low and high are first and last
#pragma unroll
        for (u32 i = 0; i < batch; i++) {
            const u64 row = begin + i * step;
            group[i] = row < n ? r.numbers[row] : ~0u;
            value[i] = row < n ? r.values.load(row) : 0;
        }
#pragma unroll
        for (u32 i = 0; i < batch; i++)
            w[i] = bounds_of((const Bounds *)ranges, group[i] < r.groups ? group[i] : 0);
#pragma unroll
        for (u32 i = 0; i < batch; i++) {
            if (group[i] >= r.groups)
                continue;
            const u64 key = order.key(value[i]);
            if (key < w[i].low || key > w[i].high || key == w[i].pivot)
                continue;
            const u32 place = (u32)__nvvm_atom_add_gen_i((int *)&filled[group[i]], 1);
            keys[(group[i] == 0 ? 0 : ends[group[i] - 1]) + place] = key;
        }
    }
}

// digit_of returns the digit of a place among keys of which counts has the numbers by digits, and makes the place the
// one among the keys with that digit. All warps do the same.
DEVICE u32 digit_of(const u32 *counts, u64 &place) {
    constexpr u32 digits = 256 / warp_threads; // of a lane
    const u32 lane = lane_in_warp();
    u64 sum = 0;
    for (u32 i = 0; i < digits; i++)
        sum += counts[lane * digits + i];
    const u64 end = warp_scan(sum, Sum<u64>());
    const u32 at = (u32)__builtin_ctz(ballot(end > place));
    place -= shuffle_value(end - sum, at);
    u32 digit = at * digits;
    while (place >= counts[digit])
        place -= counts[digit++];
    return digit;
}

static constexpr u32 select_threads = 256;

// KeysOf are the keys that were kept of a group, and its pivot as often as it occurs.
struct KeysOf {
    const u64 *keys;
    u64 n, pivot, pivots;
};

// write_found writes the keys of the places that are not known yet.
DEVICE void write_found(Found *found, const Found &f, u64 first, u64 second) {
    if (f.place[0] != no_place)
        found->key[0] = first;
    if (f.place[1] != no_place)
        found->key[1] = second;
}

// select_few finds the values among keys that a block has a thread for each: the place of a key is the number
// of keys before it.
DEVICE void select_few(Found *found, const Found &f, const KeysOf &of, u64 *shared) {
    const u32 thread = thread_in_block();
    const u64 key = thread < of.n ? of.keys[thread] : 0;
    shared[thread] = key;
    if (thread == 0)
        write_found(found, f, of.pivot, of.pivot); // if no key has the place
    synchronize_block();
    if (thread < of.n) {
        u64 place = of.pivot < key ? of.pivots : 0;
        for (u32 i = 0; i < of.n; i++)
            place += shared[i] < key || shared[i] == key && i < thread;
        if (place == f.place[0])
            found->key[0] = key;
        if (place == f.place[1])
            found->key[1] = key;
    }
    synchronize_block();
}

// least_above returns the least key above a key. shared is of the block.
DEVICE u64 least_above(const KeysOf &of, u64 key, u64 *shared) {
    const u32 thread = thread_in_block();
    if (thread == 0)
        *shared = 0; // the inverse of the least key
    synchronize_block();
    u64 least = of.pivots != 0 && of.pivot > key ? ~of.pivot : 0;
    for (u64 i = thread; i < of.n; i += select_threads)
        if (of.keys[i] > key && ~of.keys[i] > least)
            least = ~of.keys[i];
    __nvvm_atom_max_gen_ull((unsigned long long *)shared, least);
    synchronize_block();
    const u64 found = ~*(volatile u64 *)shared;
    synchronize_block();
    return found;
}

// select_many finds the values among keys from first to last digit by digit, from the highest one down in which
// first and last differ.
DEVICE void select_many(Found *found, const Found &f, const KeysOf &of, u64 first, u64 last, u32 *counts, u64 *shared) {
    const u32 thread = thread_in_block(), from = f.place[0] == no_place;
    u64 place = f.place[from], prefix = first;
    u32 equal = 0;
    for (i32 shift = (63 - __builtin_clzll(first ^ last)) / 8 * 8; shift >= 0; shift -= 8) {
        counts[thread] = 0;
        synchronize_block();
        const u64 higher = shift == 56 ? 0 : ~0ull << shift + 8;
        for (u64 i = thread; i < of.n; i += select_threads)
            if (((of.keys[i] ^ prefix) & higher) == 0)
                add_in_block(&counts[of.keys[i] >> shift & 0xff], 1);
        if (thread == 0 && of.pivots != 0 && ((of.pivot ^ prefix) & higher) == 0)
            add_in_block(&counts[of.pivot >> shift & 0xff], (u32)of.pivots);
        synchronize_block();
        const u32 digit = digit_of(counts, place);
        equal = counts[digit];
        prefix = prefix & higher | (u64)digit << shift;
        synchronize_block(); // before the counts are cleared
    }
    // place is now that among the equal keys.
    const bool both = from == 0 && f.place[1] != no_place, beyond = both && f.place[1] - f.place[0] + place >= equal;
    const u64 second = beyond ? least_above(of, prefix, shared) : prefix;
    if (thread == 0)
        write_found(found, f, prefix, second);
}

// select_keys finds the values of each group among the keys that were kept. A block has a group.
KERNEL LAUNCH_BOUNDS(256) select_keys(Found *found, const u64 *keys, const u64 *ends, const KeyRange *ranges, u64 groups) {
    __shared__ u32 counts[select_threads];
    __shared__ u64 few[select_threads];
    for (u64 group = block_in_grid(); group < groups; group += blocks_per_grid()) {
        const KeyRange w = ranges[group];
        if (w.first > w.last)
            continue;
        const u64 begin = group == 0 ? 0 : ends[group - 1];
        const KeysOf of = {keys + begin, ends[group] - begin, w.pivot, w.pivots};
        const Found f = found[group];
        synchronize_block(); // found is read
        if (of.n <= select_threads)
            select_few(&found[group], f, of, few);
        else
            select_many(&found[group], f, of, w.first, w.last, counts, few);
    }
}

// finish_quantiles interpolates between the values that were found.
KERNEL finish_quantiles(u64 *results, u32 *valid, const Found *found, u32 form, f64 fraction, u64 groups) {
    const u64 step = threads_per_grid(), padded = (groups + 63) / 64 * 64;
    const Order order = {form};
    for (u64 i = thread_in_grid(); i < padded; i += step) {
        const u64 n = i < groups ? found[i].rows : 0;
        const u32 there = ballot(n != 0);
        if (lane_in_warp() == 0)
            valid[i / warp_threads] = there;
        if (i >= groups)
            continue;
        f64 x = 0;
        if (n != 0) {
            f64 part;
            const u64 below = place_of(n, fraction, part);
            x = order.real(found[i].key[0]);
            if (part > 0 && below + 1 < n)
                x = interpolate(x, order.real(found[i].key[1]), part);
        }
        results[i] = x == x ? __builtin_bit_cast(u64, x) : nan_f64;
    }
}
