// The first k values in order, by radix select. The kernels count the digits of the keys
// from the highest down, each time only for keys with the higher digits of the k-th key.
// When few enough keys are left, they collect these keys and sort them.
//
// Of many rows a sample gives a key that probably few more than k keys do not exceed. One
// kernel gathers these candidates, and the others then read the candidates instead of the
// rows. If the candidates turn out to be fewer than k, or too many, the rows are read.
#pragma once

#include "lookback.cuh"
#include "warprows.cuh"

static constexpr u32 top_threads = 256, top_warps = top_threads / warp_threads;

// most_top is the most entries that one block sorts.
static constexpr u32 most_top = 2048;

static constexpr u32 digit_bits = 11, digit_values = 1 << digit_bits;

// Entry is a row and its sort key. The first entry has the least key, and among equal keys
// the least row.
struct Entry {
    u64 key, row;
    METHOD bool before(const Entry &other) const { return key < other.key || key == other.key && row < other.row; }
};

// Selection is the state that the kernels of one call share. It is zero at the start.
struct Selection {
    u64 prefix;    // the known digits of the k-th key
    u64 limit;     // if done: the largest key to collect
    u64 remaining; // the number of keys to select among those with the prefix; 0 at the start
    u32 done;      // 1 if limit is known
    u32 finished;  // number of blocks that have finished
    u32 collected; // number of entries
    u32 found;     // number of keys up to guess, if they fit the candidates; otherwise more than these
    u64 guess;
    u64 counters[digit_values];
};

// SortKey has the order of the values as unsigned integers: the hole
//
//     key = (value, flip)
//
// with words of 32 bits for values of up to 32 bits, and otherwise of 64. The bits of
// flip are inverted in the key.
template <typename Value> struct SortKey {
    Value flip;

    METHOD u64 of(Value x) const {
        if constexpr (sizeof(Value) == 8) {
            u64 key;
            asm("//@key %0 = %1 %2" : "=&l"(key) : "l"(x), "l"(flip));
            return key;
        } else {
            u32 key;
            asm("//@key %0 = %1 %2" : "=&r"(key) : "r"((u32)x), "r"((u32)flip));
            return key;
        }
    }

    // high returns a word that is at most one more than the high half of the key: the hole
    //
    //     high = (high half of the value, high half of flip)
    //
    // It takes a fifth of the instructions of a key of 64 bits. Keys of other widths are whole.
    METHOD u32 high(Value x) const {
        if constexpr (sizeof(Value) == 8) {
            u32 high;
            asm("//@high %0 = %1 %2" : "=&r"(high) : "r"((u32)(x >> 32)), "r"((u32)(flip >> 32)));
            return high;
        } else
            return (u32)of(x);
    }
    // highest returns the greatest such word of keys up to one.
    METHOD static u32 highest(u64 key) {
        if constexpr (sizeof(Value) < 8)
            return key < 0xffffffff ? (u32)key : 0xffffffff;
        const u32 high = (u32)(key >> 32);
        return high == 0xffffffff ? high : high + 1;
    }
};

template <typename Value> struct Rows {
    const Value *values;
    const u8 *valid;
    u64 bit, count;
    SortKey<Value> key;
};

// Entries are the collected entries, in any order. There is space for k of them.
struct Entries {
    Entry *entries;
    u32 capacity;
};

// Candidates are the rows with keys up to guess, in any order.
struct Candidates {
    Entry *entries;
    u32 capacity;

    // count returns their number, or 0 if the first k rows may not be among them.
    METHOD u32 count(const Selection *s, u64 k) const { return s->found >= k && s->found <= capacity ? s->found : 0; }
};

template <typename Value> static constexpr int top_loads = sizeof(Value) == 1 ? 1 : sizeof(Value) == 2 ? 2 : 4;

// choose_digit finds the digit of the k-th key. The last block to finish calls it, after
// all blocks have counted.
DEVICE void choose_digit(Selection *s, u64 k, u32 most, u32 shift) {
    __shared__ u64 sums[top_warps];
    constexpr u32 each = digit_values / top_threads;
    const Sum<u64> f;
    const u32 first = thread_in_block() * each;
    const u64 remaining = s->remaining != 0 ? s->remaining : k;
    u64 counts[each], own = 0, all;
#pragma unroll
    for (u32 i = 0; i < each; i++) {
        counts[i] = *(volatile u64 *)&s->counters[first + i];
        s->counters[first + i] = 0;
        own += counts[i];
    }
    const u64 scanned = warp_scan(own, f);
    u64 before = before_lane(scanned, f);
    before += block_fold_before<top_warps>(shuffle_value(scanned, warp_threads - 1), sums, all, f);
    // block_fold_before has a barrier, after which all threads have read the fields written now.
    if (thread_in_block() == 0) {
        s->finished = 0;
        if (all < remaining) { // fewer than k keys exist: collect all
            s->done = 1;
            s->limit = ~0ull;
        }
    }
#pragma unroll
    for (u32 i = 0; i < each; i++) {
        if (before < remaining && remaining <= before + counts[i]) {
            s->prefix |= (u64)(first + i) << shift;
            s->remaining = remaining - before;
            // k − remaining keys come before the prefix; before is their number within this digit.
            if (k - remaining + before + counts[i] <= most) {
                s->done = 1;
                s->limit = s->prefix | (shift == 0 ? 0 : ~0ull >> 64 - shift);
            }
        }
        before += counts[i];
    }
}

static constexpr u32 sample_threads = 1024, samples_each = 16;

// sample_guess sets guess. Each thread of one block takes the least key of several rows, and
// guess is the key of a rank among these.
template <typename Value> DEVICE void sample_guess(Selection *s, Rows<Value> rows, u32 rank) {
    __shared__ u64 least[sample_threads];
    const u32 thread = thread_in_block();
    u64 own = ~0ull;
    // Odd, so that it has no common factor with a period that is a power of two.
    const u64 distance = rows.count / (sample_threads * samples_each) | 1;
    if (rows.count > 0)
#pragma unroll
        for (u32 i = 0; i < samples_each; i++) {
            u64 row = (u64)(i * sample_threads + thread) * distance;
            if (row >= rows.count) // not a division in each step: it takes longer than the load
                row = row - rows.count < rows.count ? row - rows.count : row % rows.count;
            const bool there = rows.valid == nullptr || (rows.valid[rows.bit + row >> 3] >> (rows.bit + row & 7) & 1) != 0;
            const u64 key = rows.key.of(rows.values[row]);
            own = there && key < own ? key : own;
        }
    least[thread] = own;
    for (u32 width = 2; width <= sample_threads; width *= 2)
        for (u32 distance = width / 2; distance > 0; distance /= 2) {
            synchronize_block();
            if (thread < sample_threads / 2) {
                const u32 low = thread / distance * distance * 2 + thread % distance, high = low + distance;
                const u64 a = least[low], b = least[high];
                if ((b < a) == ((low & width) == 0)) {
                    least[low] = b;
                    least[high] = a;
                }
            }
        }
    synchronize_block();
    if (thread == 0)
        s->guess = least[rank - 1];
}

// gather_candidates gathers the rows with keys up to guess. A warp stops when they are too many:
// it learns that when it adds its own. To read their number in every step would be half a million
// reads of one word, which one slice of the L2 cache answers in sequence.
template <typename Value> DEVICE void gather_candidates(Selection *s, Rows<Value> rows, Candidates to) {
    constexpr int loads = top_loads<Value>;
    const u32 warp = thread_in_block() / warp_threads;
    const u64 guess = s->guess;
    const u32 highest = SortKey<Value>::highest(guess);
    WarpRows<Value, loads> run;
    const u64 step = (u64)blocks_per_grid() * top_warps * run.count;
    for (u64 begin = ((u64)block_in_grid() * top_warps + warp) * run.count; begin < rows.count; begin += step) {
        run.load(rows.values, rows.valid, rows.bit, rows.count, begin);
        bool any = false;
#pragma unroll
        for (int i = 0; i < loads; i++)
#pragma unroll
            for (int j = 0; j < run.lanes; j++)
                any |= rows.key.high(run.group[i].lane[j]) <= highest;
        if (ballot(any) == 0)
            continue;
        u32 taken = 0; // a bit for each row of the lane
#pragma unroll
        for (int i = 0; i < loads; i++) {
            const u32 there = run.bits(i);
#pragma unroll
            for (int j = 0; j < run.lanes; j++)
                taken |= (u32)((there >> j & 1) != 0 && rows.key.of(run.group[i].lane[j]) <= guess) << (i * run.lanes + j);
        }
        const u32 own = __builtin_popcount(taken), up_to = warp_scan(own, Sum<u32>());
        const u32 all = shuffle_value(up_to, warp_threads - 1);
        if (all == 0)
            continue;
        u32 place = 0;
        if (lane_in_warp() == 0)
            place = (u32)__nvvm_atom_add_gen_i((int *)&s->found, (int)all);
        place = shuffle_value(place, 0);
        if (place + all > to.capacity)
            return;
        place += up_to - own;
#pragma unroll
        for (int i = 0; i < loads; i++)
#pragma unroll
            for (int j = 0; j < run.lanes; j++)
                if ((taken >> (i * run.lanes + j) & 1) != 0)
                    to.entries[place++] = {rows.key.of(run.group[i].lane[j]), begin + run.row(i, j)};
    }
}

// count_digits counts the digit of the given number of bits above shift.
template <typename Value> DEVICE void count_digits(Selection *s, Rows<Value> rows, Candidates candidates, u64 k, u32 most, u32 shift, u32 bits) {
    __shared__ u32 counters[digit_values];
    __shared__ u32 finished;
    if (s->done != 0)
        return;
    const u32 thread = thread_in_block(), warp = thread / warp_threads;
    for (u32 i = thread; i < digit_values; i += top_threads)
        counters[i] = 0;
    synchronize_block();

    const u64 prefix = s->prefix, known = shift + bits >= 64 ? 0 : ~0ull << shift + bits;
    const u32 few = candidates.count(s, k);
    for (u32 i = thread_in_grid(); i < few; i += threads_per_grid()) {
        const u64 key = candidates.entries[i].key;
        if (((key ^ prefix) & known) == 0)
            __nvvm_atom_add_gen_i((int *)&counters[key >> shift & (1u << bits) - 1], 1);
    }
    WarpRows<Value, top_loads<Value>> run;
    const u64 step = (u64)blocks_per_grid() * top_warps * run.count;
    for (u64 begin = ((u64)block_in_grid() * top_warps + warp) * run.count; few == 0 && begin < rows.count; begin += step) {
        run.load(rows.values, rows.valid, rows.bit, rows.count, begin);
#pragma unroll
        for (int i = 0; i < top_loads<Value>; i++) {
            const u32 there = run.bits(i);
#pragma unroll
            for (int j = 0; j < run.lanes; j++) {
                const u64 key = rows.key.of(run.group[i].lane[j]);
                if ((there >> j & 1) != 0 && ((key ^ prefix) & known) == 0)
                    __nvvm_atom_add_gen_i((int *)&counters[key >> shift & (1u << bits) - 1], 1);
            }
        }
    }
    synchronize_block();
    for (u32 i = thread; i < digit_values; i += top_threads)
        if (counters[i] != 0)
            __nvvm_atom_add_gen_ll((long long *)&s->counters[i], counters[i]);

    // The block that finishes last has all counts.
    __nvvm_membar_gl();
    synchronize_block();
    if (thread == 0)
        finished = (u32)__nvvm_atom_add_gen_i((int *)&s->finished, 1);
    synchronize_block();
    if (finished != blocks_per_grid() - 1)
        return;
    __nvvm_membar_gl();
    choose_digit(s, k, most, shift);
}

// collect takes the rows with keys up to the limit. If too many keys are equal to the
// k-th key, it takes the first rows of these; their ranks take a scan over the tiles.
template <typename Value> DEVICE void collect(Selection *s, Rows<Value> rows, Candidates candidates, Entries to, u64 k, void *state) {
    constexpr int loads = top_loads<Value>;
    typedef WarpRows<Value, loads> Run;
    constexpr u32 tile_rows = top_warps * Run::count;
    __shared__ u32 shared_tile;
    __shared__ u64 sums[top_warps];
    __shared__ u64 shared_ahead;
    const u32 warp = thread_in_block() / warp_threads;
    const u32 tiles = (u32)((rows.count + tile_rows - 1) / tile_rows);
    const bool ranked = s->done == 0;
    const u64 limit = ranked ? s->prefix : s->limit, remaining = s->remaining;
    const Sum<u64> f;
    const u32 few = candidates.count(s, k);
    if (few != 0 && !ranked) { // candidates are in no order, which ranks need
        for (u32 i = thread_in_grid(); i < few; i += threads_per_grid()) {
            const Entry e = candidates.entries[i];
            if (e.key > limit)
                continue;
            const u32 place = (u32)__nvvm_atom_add_gen_i((int *)&s->collected, 1);
            if (place < to.capacity)
                to.entries[place] = e;
        }
        return;
    }
    for (;;) {
        if (thread_in_block() == 0)
            shared_tile = take_tile(state);
        synchronize_block();
        const u32 tile = shared_tile;
        if (tile >= tiles)
            return;
        const u64 begin = (u64)tile * tile_rows + warp * Run::count;
        Run run;
        run.load(rows.values, rows.valid, rows.bit, rows.count, begin);
        u32 take[loads], equal[loads], rank[loads], equals = 0;
#pragma unroll
        for (int i = 0; i < loads; i++) {
            const u32 there = run.bits(i);
            take[i] = equal[i] = 0;
#pragma unroll
            for (int j = 0; j < Run::lanes; j++) {
                const u64 key = rows.key.of(run.group[i].lane[j]);
                equal[i] |= (u32)(ranked && key == limit) << j;
                take[i] |= (u32)(ranked ? key < limit : key <= limit) << j;
            }
            take[i] &= there;
            equal[i] &= there;
            rank[i] = equals;
            if (ranked) {
                const u32 own = __builtin_popcount(equal[i]), up_to = warp_scan(own, Sum<u32>());
                rank[i] += up_to - own;
                equals += shuffle_value(up_to, warp_threads - 1);
            }
        }
        u64 ahead = 0;
        if (ranked) {
            u64 all;
            ahead = block_fold_before<top_warps>((u64)equals, sums, all, f);
            if (warp == 0) {
                const u64 before = before_tile(state, tile, all, f);
                if (lane_in_warp() == 0)
                    shared_ahead = before;
            }
            synchronize_block();
            ahead += shared_ahead;
        } else
            synchronize_block(); // all threads have read shared_tile
#pragma unroll
        for (int i = 0; i < loads; i++) {
            u64 at = ahead + rank[i];
#pragma unroll
            for (int j = 0; j < Run::lanes; j++) {
                bool taken = (take[i] >> j & 1) != 0;
                if ((equal[i] >> j & 1) != 0)
                    taken = at++ < remaining;
                if (!taken)
                    continue;
                const u32 place = (u32)__nvvm_atom_add_gen_i((int *)&s->collected, 1);
                if (place < to.capacity)
                    to.entries[place] = {rows.key.of(run.group[i].lane[j]), begin + Run::row(i, j)};
            }
        }
    }
}

// sort_entries sorts the collected entries, or all rows if s is null, and writes the first
// k. Rows beyond the last entry are null. It writes min(k, rows of the column) to
// out_count unless that is null.
template <typename Value>
DEVICE void sort_entries(Value *out, i64 *out_rows, u32 *out_valid, i64 *out_count, const Selection *s, const Entry *collected, Rows<Value> rows, u32 k) {
    __shared__ Entry entries[most_top];
    const u32 thread = thread_in_block();
    if (out_count != nullptr && thread == 0)
        *out_count = rows.count < k ? rows.count : k;
    u32 count = s != nullptr ? s->collected : (u32)rows.count;
    count = count < most_top ? count : most_top;
    // The number of sorted entries is the least power of two that suffices.
    u32 size = warp_threads;
    while (size < count || size < k)
        size *= 2;
    for (u32 i = thread; i < size; i += threads_per_block()) {
        Entry e = {~0ull, ~0ull};
        if (i < count && s != nullptr)
            e = collected[i];
        else if (i < count && (rows.valid == nullptr || (rows.valid[rows.bit + i >> 3] >> (rows.bit + i & 7) & 1) != 0))
            e = {rows.key.of(rows.values[i]), i};
        entries[i] = e;
    }
    // Batcher's bitonic sort.
    for (u32 width = 2; width <= size; width *= 2)
        for (u32 distance = width / 2; distance > 0; distance /= 2) {
            synchronize_block();
            for (u32 pair = thread; pair < size / 2; pair += threads_per_block()) {
                const u32 low = pair / distance * distance * 2 + pair % distance, high = low + distance;
                const Entry a = entries[low], b = entries[high];
                if (b.before(a) == ((low & width) == 0)) {
                    entries[low] = b;
                    entries[high] = a;
                }
            }
        }
    synchronize_block();
    // Whole warps, because each writes a word of validity bits.
    for (u32 i = thread; i < (k + 31) / 32 * 32; i += threads_per_block()) {
        const Entry e = entries[i];
        const bool there = i < k && e.row != ~0ull;
        if (i < k) {
            out[i] = there ? rows.values[e.row] : Value();
            out_rows[i] = there ? (i64)e.row : 0;
        }
        const u32 word = ballot(there);
        if (lane_in_warp() == 0)
            out_valid[i / 32] = word;
    }
}

// TOP declares the templates for values of a width.
#define TOP(suffix, Value)                                                                                                \
    KERNEL LAUNCH_BOUNDS(sample_threads)                                                                                  \
    top_sample_##suffix(Selection *s, const Value *values, const u8 *valid, u64 bit, const i64 *rows, i64 capacity,       \
                        u64 flip, u32 rank) {                                                                             \
        sample_guess(s, Rows<Value>{values, valid, bit, device_rows(rows, capacity), {(Value)flip}}, rank);               \
    }                                                                                                                     \
    KERNEL LAUNCH_BOUNDS(top_threads)                                                                                     \
    top_gather_##suffix(Selection *s, const Value *values, const u8 *valid, u64 bit, const i64 *rows, i64 capacity,       \
                        u64 flip, Entry *candidates, u32 most) {                                                          \
        gather_candidates(s, Rows<Value>{values, valid, bit, device_rows(rows, capacity), {(Value)flip}},                 \
                          {candidates, most});                                                                            \
    }                                                                                                                     \
    KERNEL LAUNCH_BOUNDS(top_threads)                                                                                     \
    top_count_##suffix(Selection *s, const Value *values, const u8 *valid, u64 bit, const i64 *rows, i64 capacity,        \
                       u64 flip, u64 k, Entry *candidates, u32 candidates_most, u32 most, u32 shift, u32 bits) {          \
        count_digits(s, Rows<Value>{values, valid, bit, device_rows(rows, capacity), {(Value)flip}},                      \
                     {candidates, candidates_most}, k, most, shift, bits);                                                \
    }                                                                                                                     \
    KERNEL LAUNCH_BOUNDS(top_threads)                                                                                     \
    top_collect_##suffix(Selection *s, const Value *values, const u8 *valid, u64 bit, const i64 *rows, i64 capacity,      \
                         u64 flip, u64 k, Entry *candidates, u32 candidates_most, Entry *entries, u32 most, void *state) {\
        collect(s, Rows<Value>{values, valid, bit, device_rows(rows, capacity), {(Value)flip}},                           \
                {candidates, candidates_most}, {entries, most}, k, state);                                                \
    }                                                                                                                     \
    KERNEL LAUNCH_BOUNDS(1024)                                                                                            \
    top_sort_##suffix(Value *out, i64 *out_rows, u32 *out_valid, i64 *out_count, const Selection *s, const Entry *entries, \
                      const Value *values, const u8 *valid, u64 bit, const i64 *rows, i64 capacity, u64 flip, u32 k) {    \
        sort_entries(out, out_rows, out_valid, out_count, s, entries,                                                     \
                     Rows<Value>{values, valid, bit, device_rows(rows, capacity), {(Value)flip}}, k);                     \
    }
