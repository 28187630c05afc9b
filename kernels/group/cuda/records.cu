// Adds the rows of a table to records of their groups, which lie in the L2 cache: records.go
// selects what is added so.
//
// A record is a few words of 64 bits, of all accumulators of a launch. No addition has a carry
// to another word, so none returns a value. A thread takes rows as in tiles, and the words to
// add to their records are staged in shared memory. Neighbouring lanes then add the words of one record,
// because the cache takes additions to one sector of 32 bytes together.
//
// Groups that a sample shows to be frequent have records in shared memory, for each block, because
// the cache makes additions to one address wait for each other.
#include "tiles.cuh"

static constexpr u32 frequent_slots = 128, frequent_copies = 4, in_block = 1u << 31;

// Records are the records of all groups.
//go:layout recordsLayout
struct Records {
    // words has a record for each group, frequent the group of each of frequent_slots slots, or no_group.
    u64 *words;
    u32 *frequent;
    // used is the number of words that have a meaning, maxima has a bit for each word of which the
    // greatest value is kept, and low_bits is the number of bits in the first word of a float.
    u32 used, maxima, low_bits, padding;
};

DEVICE u32 frequent_slot(u32 group) { return group * 0x9e3779b1u >> 25; }

DEVICE void add_record(u64 *word, u64 x, bool maximum) {
    if (maximum)
        asm volatile("red.relaxed.gpu.global.max.u64 [%0], %1;" ::"l"((GLOBAL u64 *)word), "l"(x) : "memory");
    else
        asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"((GLOBAL u64 *)word), "l"(x) : "memory");
}

// Staging is the words that a warp adds, and the groups of its rows. The stride keeps words of
// neighbouring lanes in different banks.
template <u32 count, u32 words> struct Staging {
    static constexpr u32 stride = warp_threads + 16 / words;
    u64 word[count][words][stride];
    u32 group[count][warp_threads];
};

// RecordMemory is the shared memory of a block: Go's recordBytes.
template <u32 rows, u32 words> struct RecordMemory {
    Staging<rows, words> staging[tile_threads / warp_threads];
    u64 frequent[frequent_slots][frequent_copies][words];
    u32 group[frequent_slots];
};

extern __shared__ __attribute__((aligned(16))) u8 record_memory[];

// stage_floats stages the low bits of floats in fixed point, the high ones, and the number of values
// in each of the two bins that values in the window begin in.
template <u32 count, u32 words>
DEVICE void stage_floats(Staging<count, words> &s, const TileReader &r, const Window &window, u32 span, u32 low_bits, const Tile<count> &tile, const u64 (&x)[count]) {
    const u32 lane = lane_in_warp();
    const u64 mask = (1ull << low_bits) - 1;
#pragma unroll
    for (u32 i = 0; i < count; i++) {
        const u64 image = r.in.is_float() ? x[i] : __builtin_bit_cast(u64, r.in.real(x[i]));
        const u32 shift = ((u32)(image >> 52) & 0x7ff) - 1 - (u32)window.low;
        const bool there = tile.slot[i] != no_group, fits = there && shift <= span;
        const u64 sign = (u64)((i64)image >> 63), whole = ((image & (1ull << 52) - 1 | 1ull << 52) ^ sign) - sign;
        s.word[i][r.word][lane] = fits ? whole << (shift & 31) & mask : 0;
        s.word[i][r.word + 1][lane] = fits ? (u64)((i64)whole >> (low_bits - shift & 63)) : 0;
        s.word[i][r.word + 2][lane] = fits ? shift >= window.boundary ? 1ull << 32 : 1 : 0;
        if (there && !fits && image << 1 != 0)
            add_outside(r.window, r.states + (u64)tile.slot[i] * r.stride, r.list, r.room, tile.slot[i], __builtin_bit_cast(f64, image));
    }
}

// stage stages what the rows of a tile add to the words of an accumulator.
template <u32 count, u32 words>
DEVICE void stage(Staging<count, words> &s, const TileReader &r, const Window &window, u32 span, u32 low_bits, const Tile<count> &all) {
    const u32 lane = lane_in_warp();
    Tile<count> tile = all;
    drop_rows(r, tile);
    u64 x[count];
    if (r.kind != count_rows && r.kind != sum_decimals)
        load_tile(r, tile, x);
    switch (r.kind) {
    case sum_floats: return stage_floats(s, r, window, span, low_bits, tile, x);
    case count_rows:
#pragma unroll
        for (u32 i = 0; i < count; i++)
            s.word[i][r.word][lane] = tile.slot[i] != no_group;
        return;
    case sum_integers: {
        const bool is_signed = r.is_signed != 0;
#pragma unroll
        for (u32 i = 0; i < count; i++) {
            const bool there = tile.slot[i] != no_group;
            s.word[i][r.word][lane] = there ? (u32)x[i] : 0;
            s.word[i][r.word + 1][lane] = !there ? 0 : is_signed ? (u64)((i64)x[i] >> 32) : x[i] >> 32;
        }
        return;
    }
    case sum_decimals: {
        const GLOBAL Vector<u64, 2> *const from = (const GLOBAL Vector<u64, 2> *)r.in.values + tile.first;
#pragma unroll
        for (u32 i = 0; i < count; i++) {
            const bool there = tile.slot[i] != no_group;
            const u64 low = there ? from[i * tile_threads].lane[0] : 0, high = there ? from[i * tile_threads].lane[1] : 0;
            s.word[i][r.word][lane] = (u32)low;
            s.word[i][r.word + 1][lane] = low >> 32;
            s.word[i][r.word + 2][lane] = (u32)high;
            s.word[i][r.word + 3][lane] = (u64)((i64)high >> 32);
        }
        return;
    }
    }
#pragma unroll
    for (u32 i = 0; i < count; i++)
        s.word[i][r.word][lane] = tile.slot[i] == no_group ? 0 : r.rows == 0 ? r.in.image(x[i], r.least != 0, false) : r.least != 0 ? ~x[i] : x[i];
}

// flush adds the staged words to the records.
template <u32 count, u32 words> DEVICE void flush(const Staging<count, words> &s, const Records &records, u32 frequent) {
    const u32 lane = lane_in_warp(), word = lane % words;
    if (word >= records.used)
        return;
    const bool maximum = (records.maxima >> word & 1) != 0;
#pragma unroll
    for (u32 i = 0; i < count; i++)
#pragma unroll
        for (u32 step = 0; step < words; step++) {
            const u32 row = (step * warp_threads + lane) / words, group = s.group[i][row];
            const u64 x = s.word[i][word][row];
            if (x == 0 || group == no_group)
                continue;
            if (group < in_block) {
                add_record(records.words + (u64)group * words + word, x, maximum);
                continue;
            }
            const u32 address = frequent + 8 * (((group - in_block) * frequent_copies + row % frequent_copies) * words + word);
            if (maximum) {
                raise_shared(address, x);
                continue;
            }
            const u32 low = (u32)x, high = (u32)(x >> 32) + (low != 0 && fetch_add(address, low) + low < low);
            if (high != 0)
                fetch_add(address + 4, high);
        }
}

// add_rows adds the rows of a tile to the records of their groups.
template <u32 count, u32 words>
DEVICE void add_rows(const u32 (&group)[count], u32 groups, const TileBatch &batch, const Window *windows, const Records &records, Staging<count, words> &s, const u32 *frequent_group,
                     u32 frequent, Tile<count> &tile) {
    const u32 lane = lane_in_warp();
    tile.trash = no_group;
    synchronize_warp(); // the words before are added
#pragma unroll
    for (u32 i = 0; i < count; i++) {
        const u32 slot = frequent_slot(group[i]);
        tile.slot[i] = group[i] < groups ? group[i] : no_group;
        s.group[i][lane] = tile.slot[i] != no_group && frequent_group[slot] == group[i] ? in_block + slot : tile.slot[i];
    }
#pragma unroll 1
    for (u32 a = 0; a < batch.readers; a++)
        stage(s, batch.reader[a], windows[a], batch.span, records.low_bits, tile);
    synchronize_warp();
    flush(s, records, frequent);
}

template <u32 rows_of_thread, u32 words>
DEVICE void add_all(const u32 *numbers, const Keys &keys, const i64 *rows, i64 capacity, const i64 *groups, i64 most_groups, const TileBatch &arguments, const Records &records) {
    typedef RecordMemory<rows_of_thread, words> Memory;
    __shared__ TileBatch batch;
    __shared__ Window windows[most_readers];
    Memory &memory = *(Memory *)record_memory;
    const u32 thread = thread_in_block();
    for (u32 i = thread; i < sizeof batch / 4; i += tile_threads)
        ((u32 *)&batch)[i] = ((const u32 *)&arguments)[i];
    if (thread < arguments.readers && arguments.reader[thread].window != nullptr)
        windows[thread] = *arguments.reader[thread].window;
    for (u32 i = thread; i < frequent_slots; i += tile_threads)
        memory.group[i] = records.frequent[i];
    for (u32 i = thread; i < frequent_slots * frequent_copies * words; i += tile_threads)
        memory.frequent[0][0][i] = 0;
    synchronize_block();
    const u64 n = device_rows(rows, capacity);
    const u32 known = (u32)device_rows(groups, most_groups), frequent = shared_address(memory.frequent);
    auto &staging = memory.staging[thread / warp_threads];

    constexpr u32 rows_of_block = tile_threads * rows_of_thread;
    const u64 whole = n / rows_of_block * rows_of_block, step = (u64)blocks_per_grid() * rows_of_block;
    const NumberSource source = number_source(numbers, keys);
    Tile<rows_of_thread> tile;
    u32 next[rows_of_thread];
    tile.first = (u64)block_in_grid() * rows_of_block + thread;
    if (source.numbers != nullptr && tile.first < whole)
        source.load(tile.first, next);
#pragma unroll 1
    for (; tile.first < whole; tile.first += step) {
        u32 group[rows_of_thread];
        if (source.numbers != nullptr) {
#pragma unroll
            for (u32 i = 0; i < rows_of_thread; i++)
                group[i] = (next[i] - source.least) * source.factor;
            if (tile.first + step < whole) // in flight during this tile
                source.load(tile.first + step, next);
        } else {
            find_groups(keys, tile, group);
        }
        add_rows(group, known, batch, windows, records, staging, memory.group, frequent, tile);
    }
#pragma unroll 1
    for (u64 begin = whole + (u64)block_in_grid() * tile_threads; begin < n; begin += (u64)blocks_per_grid() * tile_threads) {
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
        add_rows(group, known, batch, windows, records, (Staging<1, words> &)staging, memory.group, frequent, single);
    }
    synchronize_block();

    for (u32 i = thread; i < frequent_slots * words; i += tile_threads) {
        const u32 slot = i / words, word = i % words, group = memory.group[slot];
        if (group >= known)
            continue;
        const bool maximum = (records.maxima >> word & 1) != 0;
        u64 total = 0;
#pragma unroll
        for (u32 copy = 0; copy < frequent_copies; copy++) {
            const u64 x = memory.frequent[slot][copy][word];
            total = maximum ? x > total ? x : total : total + x;
        }
        if (total != 0)
            add_record(records.words + (u64)group * words + word, total, maximum);
    }
}

// add_records adds rows to records of a number of words: as add_tiles of tiles.cu.
#define ADD_RECORDS(words, rows_of_thread)                                                                                                                    \
    KERNEL LAUNCH_BOUNDS(tile_threads)                                                                                                                        \
    add_records_##words(const u32 *numbers, const Keys keys, const i64 *rows, i64 capacity, const i64 *groups, i64 most_groups, const TileBatch batch, const Records records) { \
        add_all<rows_of_thread, words>(numbers, keys, rows, capacity, groups, most_groups, batch, records);                                                   \
    }

ADD_RECORDS(1, 4)
ADD_RECORDS(2, 4)
ADD_RECORDS(4, 4)
ADD_RECORDS(8, 2)

static constexpr u32 frequent_samples = 2048, sample_slots = 2 * frequent_samples, fewest_hits = 16;

// find_frequent finds groups that many rows of a sample have. It has one block.
KERNEL LAUNCH_BOUNDS(tile_threads)
find_frequent(const u32 *numbers, const Keys keys, const i64 *rows, i64 capacity, const i64 *groups, i64 most_groups, u32 *frequent) {
    __shared__ u32 found[sample_slots], counts[sample_slots];
    __shared__ u64 most[frequent_slots];
    const u32 thread = thread_in_block(), known = (u32)device_rows(groups, most_groups);
    for (u32 i = thread; i < sample_slots; i += tile_threads)
        found[i] = no_group, counts[i] = 0;
    for (u32 i = thread; i < frequent_slots; i += tile_threads)
        most[i] = 0;
    synchronize_block();
    const u64 n = device_rows(rows, capacity);
    const u32 samples = n < frequent_samples ? (u32)n : frequent_samples;
    const NumberSource source = number_source(numbers, keys);
    for (u32 i = thread; i < samples; i += tile_threads) {
        Tile<1> tile;
        u32 group[1];
        tile.first = i * n / samples;
        if (source.numbers != nullptr) {
            source.load(tile.first, group);
            group[0] = (group[0] - source.least) * source.factor;
        } else {
            find_groups(keys, tile, group);
        }
        if (group[0] >= known)
            continue;
        for (u32 at = group[0] * 0x9e3779b1u >> 20;; at = (at + 1) % sample_slots) {
            const u32 old = (u32)__nvvm_atom_cas_gen_i((int *)&found[at], (int)no_group, (int)group[0]);
            if (old != no_group && old != group[0])
                continue;
            fetch_add(shared_address(&counts[at]), 1);
            break;
        }
    }
    synchronize_block();
    for (u32 i = thread; i < sample_slots; i += tile_threads)
        if (counts[i] >= fewest_hits)
            __nvvm_atom_max_gen_ull((unsigned long long *)&most[frequent_slot(found[i])], (u64)counts[i] << 32 | found[i]);
    synchronize_block();
    for (u32 i = thread; i < frequent_slots; i += tile_threads)
        frequent[i] = most[i] == 0 ? no_group : (u32)most[i];
}

// settle_records adds records to the states of their groups, which only have values outside of
// windows before. Sums in windows become limbs, which settle_sums of tiles.cu takes.
KERNEL LAUNCH_BOUNDS(256)
settle_records(const i64 *groups, i64 most_groups, const TileBatch batch, const Records records, u32 words) {
    const u64 known = device_rows(groups, most_groups), step = threads_per_grid();
    for (u64 group = thread_in_grid(); group < known; group += step)
#pragma unroll 1
        for (u32 a = 0; a < batch.readers; a++) {
            const TileReader &r = batch.reader[a];
            const u64 *const of = records.words + group * words + r.word;
            u64 *const state = r.states + group * r.stride;
            switch (r.kind) {
            case sum_floats: {
                const Wide total = left(sum_of(wide(of[0], 0, 0), left(with_sign(of[1]), records.low_bits)), 2);
                u64 *const limbs = r.limbs + 3 * group;
                limbs[0] = total.word[0];
                limbs[1] = 0;
                limbs[2] = total.word[1];
                const u64 top = of[2] == 0 ? 0 : (u64)r.window->low / bin_bits + (of[2] >> 32 != 0 ? 2 : 1);
                if (state[sum_top] < top)
                    state[sum_top] = top;
                break;
            }
            case sum_integers: {
                const Wide total = sum_of(wide(of[0], 0, 0), left(r.is_signed != 0 ? with_sign(of[1]) : wide(of[1], 0, 0), 32));
                state[0] = total.word[0];
                state[1] = total.word[1];
                break;
            }
            case sum_decimals: {
                Wide total = left(with_sign(of[3]), 96);
#pragma unroll
                for (u32 i = 0; i < 3; i++) {
                    total = sum_of(total, left(wide(of[i], 0, 0), 32 * i));
                }
#pragma unroll
                for (u32 i = 0; i < 3; i++)
                    state[i] = total.word[i];
                break;
            }
            default: state[0] = of[0];
            }
        }
}
