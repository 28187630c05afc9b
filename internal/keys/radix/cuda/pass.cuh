// One pass of a radix sort: all rows into the order of one digit, stably.
//
// Onesweep (Adinets and Merrill 2022): each tile ranks its rows in shared memory, learns
// from the tiles before it how many rows with each digit they have, and writes its rows
// to their places. The counts travel by decoupled look-back, a chain for each digit.
//
// The form was chosen by measurements on an H100: docs/measurements/2026-11-28-strategies.md.
#pragma once

#include "plan.cuh"

// A word of the state is the number of rows with one digit, in a tile or in all tiles of
// the portion up to its end. A portion has less than 2³⁰ rows.
static constexpr u32 known_tile = 1u << 30, known_prefix = 2u << 30, count_mask = (1u << 30) - 1;

// Portion is the rows of one launch, of all tiles even if fewer have rows. Each block takes
// tickets until one is not below tiles, so a launch takes tiles + blocks of them. state has two
// areas of state_words. Launches alternate between them, and each clears the other one for
// the next. The first area is zero at the start.
struct Portion {
    u32 *state;
    u64 state_words;
    u32 number, portions, tiles;
};

DEVICE void publish(u32 *word, u32 value) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(global_address(word)), "r"(value) : "memory");
}

DEVICE u32 published(const u32 *word) {
    u32 value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(global_address(word)) : "memory");
    return value;
}

// before_digit returns the number of rows with a digit in all tiles before one. own is the
// tile's word of the digit; the words of earlier tiles lie before it. Each thread follows
// the chain of one digit, two tiles at a time.
DEVICE u32 before_digit(const u32 *own, u32 tile) {
    u32 before = 0;
    while (tile > 0) {
        const u32 near = published(own - digit_values);
        const u32 far = tile > 1 ? published(own - 2 * digit_values) : 0;
        if (near == 0)
            continue;
        before += near & count_mask;
        if ((near & known_prefix) != 0)
            break;
        own -= digit_values;
        tile--;
        if (far == 0)
            continue;
        before += far & count_mask;
        if ((far & known_prefix) != 0)
            break;
        own -= digit_values;
        tile--;
    }
    return before;
}

// all_three returns the bits that are set in three words. clang and ptxas would take two
// instructions.
DEVICE u32 all_three(u32 a, u32 b, u32 c) {
    u32 all;
    asm volatile("lop3.b32 %0, %1, %2, %3, 0x80;" : "=r"(all) : "r"(a), "r"(b), "r"(c));
    return all;
}

// lanes_alike returns the lanes of the warp with the same bit of a digit. clang would take
// seven instructions for these four, of which ptxas makes three.
DEVICE u32 lanes_alike(u32 digit, u32 bit) {
    u32 with;
    asm volatile("{\n\t.reg .pred p;\n\tand.b32 %0, %1, %2;\n\tsetp.ne.u32 p, %0, 0;\n\tvote.sync.ballot.b32 %0, p, 0xffffffff;\n\t@!p not.b32 %0, %0;\n\t}"
                 : "=r"(with)
                 : "r"(digit), "r"(1u << bit));
    return with;
}

// peers returns the lanes of the warp with the same digit.
DEVICE u32 peers(u32 digit) {
    u32 same = digit_bits % 2 == 0 ? whole_warp : lanes_alike(digit, digit_bits - 1);
#pragma unroll
    for (u32 bit = 0; bit + 1 < digit_bits; bit += 2)
        same = all_three(same, lanes_alike(digit, bit), lanes_alike(digit, bit + 1));
    return same;
}

// peers_by_mask is peers for a digit whose mask in shared memory is zero. Each lane sets its
// bit of it. It is slower for all rows of a tile, but for a part of them it takes work from
// the units that peers keeps busy.
DEVICE u32 peers_by_mask(u32 *mask, u32 lane_bit) {
    u32 same;
    const u32 address = (u32)(u64)(__attribute__((address_space(3))) u32 *)mask;
    synchronize_warp();
    asm volatile("red.shared.or.b32 [%0], %1;" ::"r"(address), "r"(lane_bit) : "memory");
    synchronize_warp();
    asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(same) : "r"(address) : "memory");
    synchronize_warp();
    return same;
}

// peers_by_match is peers in one instruction, which takes longer than those of peers.
DEVICE u32 peers_by_match(u32 digit) {
    u32 same;
    asm volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(same) : "r"(digit));
    return same;
}

// take_ranks takes the next ranks of a digit for the lanes that have it, same, and returns
// that of the calling lane. up_to is their number up to this lane. The last of them adds to
// the counter. clang would add up_to behind the next barrier, and hold both values until
// then.
DEVICE u32 take_ranks(u32 *counter, u32 same, u32 lanes_up_to, u32 up_to) {
    u32 rank;
    asm volatile("{\n\t.reg .pred p;\n\t.reg .b32 last;\n\t"
                 "mov.u32 %0, 0;\n\tsetp.le.u32 p, %2, %3;\n\t@p atom.shared.add.u32 %0, [%1], %4;\n\t"
                 "bfind.u32 last, %2;\n\tshfl.sync.idx.b32 %0, %0, last, 31, 0xffffffff;\n\t"
                 "add.u32 %0, %0, %4;\n\tadd.u32 %0, %0, -1;\n\t}"
                 : "=&r"(rank)
                 : "r"((u32)(u64)(__attribute__((address_space(3))) u32 *)counter), "r"(same), "r"(lanes_up_to), "r"(up_to)
                 : "memory");
    return rank;
}

// each_row writes what it reads for each row. Several loads are in progress.
template <typename Value, typename Read, typename Write> DEVICE void each_row(u64 n, Read read, Write write) {
    constexpr u32 loads = 4;
    const u32 threads = threads_per_block();
    for (u64 first = block_in_grid() * (u64)(loads * threads) + thread_in_block(); first < n; first += (u64)blocks_per_grid() * (loads * threads)) {
        Value value[loads];
#pragma unroll
        for (u32 i = 0; i < loads; i++)
            value[i] = first + i * threads < n ? read(first + i * threads) : 0;
#pragma unroll
        for (u32 i = 0; i < loads; i++)
            if (first + i * threads < n)
                write(first + i * threads, value[i]);
    }
}

// move_rows is the work of a pass that does not sort.
template <typename Key, Payload payload> DEVICE void move_rows(const Call &call, const Slot &slot, bool keep_keys) {
    typedef typename Form<Key, payload>::Number Number;
    const u64 n = call.count();
    if constexpr (payload == paired) { // there was no pass: the input is copied
        const u32 *const values = call.key<u32>(input), *const numbers = call.rows<u32>(input);
        u32 *const sorted = (u32 *)call.sorted, *const to = call.rows<u32>(0);
        if (keep_keys)
            each_row<u32>(n, [&](u64 i) { return call.encoding.decode(call.encoding.encode(values[i])); }, [&](u64 i, u32 value) { sorted[i] = value; });
        const bool numbered = slot.numbers != 0;
        each_row<u32>(n, [&](u64 i) { return numbered ? (u32)i : numbers[i]; }, [&](u64 i, u32 number) { to[i] = number; });
        return;
    }
    const Key *const from = call.key<Key>(slot.from);
    Key *const to = call.key<Key>(slot.to);
    const bool encode = slot.first && !slot.last, decode = slot.last && !slot.first;
    const auto read = [&](u64 i) {
        if (payload == nothing && slot.first && call.is_null(i)) // a value may have the key, too
            return slot.last ? call.encoding.decode((Key)call.null_key) : (Key)call.null_key;
        const Key key = from[i];
        return encode ? call.encoding.encode(key) : decode ? call.encoding.decode(key) : key;
    };
    if constexpr (payload == packed)
        if (slot.last) {
            u32 *const rows = call.rows<u32>(0);
            each_row<u32>(n, [&](u64 i) { return call.row(read(i)); }, [&](u64 i, u32 row) { rows[i] = row; });
            return;
        }
    if (slot.mode == fill) {
        const Key value = call.encoding.decode((Key)call.common_key());
        each_row<Key>(n, [&](u64) { return value; }, [&](u64 i, Key value) { to[i] = value; });
        return;
    }
    if (slot.mode == copy && keep_keys || payload == packed)
        each_row<Key>(n, read, [&](u64 i, Key key) { to[i] = key; });
    if constexpr (payload == separate || payload == wide) {
        const Number *const numbers = call.rows<Number>(slot.from);
        Number *const rows = call.rows<Number>(slot.to);
        const bool numbered = slot.numbers != 0;
        each_row<Number>(n, [&](u64 i) { return numbered ? (Number)i : numbers[i]; }, [&](u64 i, Number number) { rows[i] = number; });
    }
}

// PassMemory is the shared memory of a block: Go's passBytes. The keys take the place of
// the counters once the rows are ranked.
//
// Values that a thread needs in several phases of a tile lie here, too. A phase reads them
// again: keys and ranks need 48 of the 64 registers.
template <typename Key, typename Number, u32 threads, u32 items> struct PassMemory {
    static constexpr u32 warps = threads / warp_threads;
    union {
        struct {
            u32 counters[warps][digit_values];
            u32 masks[warps][digit_values]; // of lanes: see Tile::order
        };
        Key keys[threads * items];
        Number rows[threads * items];
    };
    u32 to[digit_values];    // the place of the first row with the digit, less its rank in the tile
    u32 lower[digit_values]; // the tile's rows with a lower digit
    u32 count[digit_values]; // the tile's rows with the digit
    u32 sums[warps];
    u32 ticket;
    u32 shift, mask; // of the digit
    u32 high;        // the high half of all keys, in the narrow round
    Slot slot;
};

extern __shared__ __attribute__((aligned(16))) u8 pass_memory[];

// Tile is one tile of a pass in its phases, which barriers separate. It has few members, so
// that registers are left for keys and ranks. Of each four rows of a thread, masked find their
// peers by masks, or all by a match.
static constexpr u32 by_match = 5;
template <typename Key, Payload payload, u32 threads, u32 items, u32 masked> struct Tile {
    static constexpr u32 warps = threads / warp_threads, rows = threads * items;
    static_assert(threads >= digit_values, "a thread for each digit");
    typedef typename Form<Key, payload>::Number Number;
    typedef PassMemory<Key, Number, threads, items> Memory;

    const Call &call;
    const Portion &portion;

    METHOD static Memory &memory() { return *(Memory *)pass_memory; }
    METHOD static u32 *counters() { return memory().counters[thread_in_block() / warp_threads]; }
    METHOD static u32 *masks() { return memory().masks[thread_in_block() / warp_threads]; }
    // A warp has items · 32 consecutive rows. first is the lane's first one.
    METHOD static u32 first() { return thread_in_block() / warp_threads * (items * warp_threads) + lane_in_warp(); }
    // again reads a value of the shared memory again.
    METHOD static u32 again(const u32 &value) { return *(const volatile u32 *)&value; }

    METHOD u64 begin() const { return ((u64)portion.number * portion.tiles + again(memory().ticket)) * rows; }
    METHOD u32 there() const {
        const u64 n = call.count(), from = begin();
        return n <= from ? 0 : n - from < rows ? (u32)(n - from) : rows;
    }
    // own returns the tile's word of the thread's digit.
    METHOD u32 *own(u32 other) const {
        const u32 area = (again(memory().slot.index) * portion.portions + portion.number + other) & 1;
        return portion.state + area * portion.state_words + (u64)again(memory().ticket) * digit_values + thread_in_block();
    }

    // load_pairs reads keys and numbers of 32 bits, and packs them.
    METHOD void load_pairs(Key (&key)[items], u32 there) const {
        const u32 *const from = call.key<u32>(input) + begin() + first();
        const u32 *const numbers = call.rows<u32>(input) + begin() + first();
        const bool numbered = again(memory().slot.numbers) != 0;
        if (there == rows) {
            u32 value[items], number[items];
#pragma unroll
            for (u32 i = 0; i < items; i++)
                value[i] = from[i * warp_threads];
            if (numbered)
#pragma unroll
                for (u32 i = 0; i < items; i++)
                    number[i] = (u32)begin() + first() + i * warp_threads;
            else
#pragma unroll
                for (u32 i = 0; i < items; i++)
                    number[i] = numbers[i * warp_threads];
#pragma unroll
            for (u32 i = 0; i < items; i++)
                key[i] = (u64)call.encoding.encode(value[i]) << 32 | number[i];
            return;
        }
#pragma unroll
        for (u32 i = 0; i < items; i++) {
            const u32 at = i * warp_threads;
            key[i] = ~(Key)0;
            if (first() + at < there)
                key[i] = (u64)call.encoding.encode(from[at]) << 32 | (numbered ? (u32)begin() + first() + at : numbers[at]);
        }
    }

    // load_halves reads values of 64 bits, and keeps the low halves of their keys.
    METHOD void load_halves(Key (&key)[items], u32 there) const {
        const u64 *const from = call.key<u64>(input) + begin() + first();
        if (there == rows) {
#pragma unroll
            for (u32 i = 0; i < items; i++)
                key[i] = (Key)call.encoding.encode(from[i * warp_threads]);
            return;
        }
#pragma unroll
        for (u32 i = 0; i < items; i++)
            key[i] = first() + i * warp_threads < there ? (Key)call.encoding.encode(from[i * warp_threads]) : ~(Key)0;
    }

    // replace_nulls gives nulls their key. The bits of a thread's rows are four bytes apart.
    METHOD void replace_nulls(Key (&key)[items], u32 there) const {
        const u64 bit = call.valid_bit + begin() + first();
        const u8 *const valid = call.valid + (bit >> 3);
        const u32 shift = bit & 7;
        const Key null_key = call.null_key;
#pragma unroll
        for (u32 i = 0; i < items; i++)
            if (there == rows || first() + i * warp_threads < there)
                key[i] = (valid[i * (warp_threads / 8)] >> shift & 1) != 0 ? key[i] : null_key;
    }

    // load reads the keys. Absent rows have the highest digit, and so come after all rows of
    // the tile.
    METHOD void load(Key (&key)[items], u32 there) const {
        if constexpr (payload == paired)
            if (again(memory().slot.first)) {
                load_pairs(key, there);
                return;
            }
        if constexpr (payload == narrowed)
            if (again(memory().slot.first)) {
                load_halves(key, there);
                return;
            }
        const Key *const from = call.key<Key>(again(memory().slot.from)) + begin() + first();
        if (there == rows)
#pragma unroll
            for (u32 i = 0; i < items; i++)
                key[i] = from[i * warp_threads];
        else
#pragma unroll
            for (u32 i = 0; i < items; i++)
                key[i] = first() + i * warp_threads < there ? from[i * warp_threads] : (Key)0;
        if (payload != paired && payload != narrowed && again(memory().slot.first)) {
#pragma unroll
            for (u32 i = 0; i < items; i++)
                key[i] = call.encoding.encode(key[i]);
            if constexpr (payload == nothing)
                if (call.valid != nullptr)
                    replace_nulls(key, there);
        }
        if (there != rows)
#pragma unroll
            for (u32 i = 0; i < items; i++)
                key[i] |= first() + i * warp_threads < there ? 0 : ~(Key)0;
    }

    // count counts the digits of each warp. They are counted before they are ranked, so that
    // the tile publishes its counts as early as possible.
    METHOD static void count(const Key (&key)[items]) {
        const u32 shift = again(memory().shift), mask = again(memory().mask);
        u32 *const own = counters();
#pragma unroll
        for (u32 i = 0; i < items; i++)
            __nvvm_atom_add_gen_i((int *)&own[(u32)(key[i] >> shift) & mask], 1);
    }

    // publish_counts makes a counter the rank of its warp's first row with the digit.
    METHOD void publish_counts(u32 there) const {
        Memory &shared = memory();
        const u32 thread = thread_in_block();
        u32 lower = 0, all;
        if (thread < digit_values) {
#pragma unroll
            for (u32 i = 0; i < warps; i++) {
                const u32 here = shared.counters[i][thread];
                shared.counters[i][thread] = lower;
                lower += here;
            }
            const u32 count = thread == again(shared.mask) ? lower - (rows - there) : lower;
            shared.count[thread] = count;
            publish(own(0), (again(shared.ticket) == 0 ? known_prefix : known_tile) | count);
        }
        const u32 scanned = warp_scan(lower, Sum<u32>());
        lower = before_lane(scanned, Sum<u32>());
        lower += block_fold_before<warps>(shuffle_value(scanned, warp_threads - 1), shared.sums, all, Sum<u32>());
        if (thread < digit_values) {
            shared.lower[thread] = lower;
#pragma unroll
            for (u32 i = 0; i < warps; i++)
                shared.counters[i][thread] += lower;
        }
    }

    // order finds the rank of each row in the tile. A counter is the rank of its warp's next
    // row with the digit.
    METHOD static void order(const Key (&key)[items], u32 (&rank)[items]) {
        u32 *const own = counters();
        const u32 shift = again(memory().shift), mask = again(memory().mask);
        u32 lanes_up_to;
        asm volatile("mov.u32 %0, %%lanemask_le;" : "=r"(lanes_up_to)); // kept in a register
#pragma unroll
        for (u32 i = 0; i < items; i++) {
            const u32 digit = (u32)(key[i] >> shift) & mask;
            const bool by_mask = masked != by_match && i % 4 < masked;
            const u32 same = by_mask ? peers_by_mask(&masks()[digit], 1u << lane_in_warp()) : masked == by_match ? peers_by_match(digit) : peers(digit);
            const u32 up_to = __builtin_popcount(same & lanes_up_to);
            if (by_mask && same <= lanes_up_to)
                masks()[digit] = 0;
            rank[i] = take_ranks(&own[digit], same, lanes_up_to, up_to);
        }
    }

    // find_places finds where the tile's rows with each digit begin.
    METHOD void find_places(u32 number) const {
        Memory &shared = memory();
        u32 thread;
        // So addresses below are not computed before the first tile, and held.
        asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
        if (thread >= digit_values)
            return;
        u32 *const word = own(0);
        const u32 tile = again(shared.ticket), before = before_digit(word, tile), count = shared.count[thread];
        if (tile > 0)
            publish(word, known_prefix | before + count);
        const u32 start = portion.number == 0 ? call.plan->begins[number][thread] : call.plan->carried[portion.number & 1][thread];
        shared.to[thread] = start + before - shared.lower[thread];
        if (tile == portion.tiles - 1)
            call.plan->carried[portion.number + 1 & 1][thread] = start + before + count;
    }

    // store calls put with the place and the key of each row, in the order of the ranks.
    template <typename Put> METHOD static void store(u32 there, Put put) {
        Memory &shared = memory();
        const u32 thread = thread_in_block(), shift = again(shared.shift), mask = again(shared.mask);
        // Whole tiles have a loop without bounds.
        if (there == rows) {
#pragma unroll
            for (u32 i = 0; i < items; i++) {
                const u32 at = i * threads + thread;
                const Key key = shared.keys[at];
                put(i, shared.to[(u32)(key >> shift) & mask] + at, key);
            }
            return;
        }
#pragma unroll
        for (u32 i = 0; i < items; i++) {
            const u32 at = i * threads + thread;
            if (at < there) {
                const Key key = shared.keys[at];
                put(i, shared.to[(u32)(key >> shift) & mask] + at, key);
            }
        }
    }

    // store_keys writes the keys, or what is in them.
    METHOD void store_keys(u32 there, bool last, bool keep_keys) const {
        Key *const to = call.key<Key>(again(memory().slot.to));
        u32 *const numbers = call.rows<u32>(0);
        if constexpr (payload == paired)
            if (last) {
                u32 *const values = (u32 *)call.sorted;
                if (keep_keys)
                    store(there, [&](u32, u32 at, Key key) {
                        values[at] = call.encoding.decode((u32)(key >> 32));
                        numbers[at] = (u32)key;
                    });
                else
                    store(there, [&](u32, u32 at, Key key) { numbers[at] = (u32)key; });
                return;
            }
        if constexpr (payload == narrowed)
            if (last) {
                u64 *const values = call.key<u64>(0);
                const u64 high = (u64)again(memory().high) << 32;
                store(there, [&](u32, u32 at, Key key) { values[at] = call.encoding.decode(high | key); });
                return;
            }
        if (payload == packed && last)
            store(there, [&](u32, u32 at, Key key) { numbers[at] = call.row(key); });
        else if (last)
            store(there, [&](u32, u32 at, Key key) { to[at] = call.encoding.decode(key); });
        else
            store(there, [&](u32, u32 at, Key key) { to[at] = key; });
    }

    // load_numbers reads the numbers of the thread's rows.
    METHOD void load_numbers(u32 there, Number (&number)[items]) const {
        const Number *const from = call.rows<Number>(again(memory().slot.from)) + begin() + first();
        if (again(memory().slot.numbers))
#pragma unroll
            for (u32 i = 0; i < items; i++)
                number[i] = (u32)begin() + first() + i * warp_threads;
        else if (there == rows)
#pragma unroll
            for (u32 i = 0; i < items; i++)
                number[i] = from[i * warp_threads];
        else
#pragma unroll
            for (u32 i = 0; i < items; i++)
                number[i] = first() + i * warp_threads < there ? from[i * warp_threads] : 0;
    }

    // store_numbers moves the numbers, after the keys.
    METHOD void store_numbers(u32 there, const u32 (&rank)[items], const Number (&number)[items]) const {
        Memory &shared = memory();
        const u32 thread = thread_in_block();
        u32 place[items];
        store(there, [&](u32 i, u32 at, Key) { place[i] = at; });
        synchronize_block();
#pragma unroll
        for (u32 i = 0; i < items; i++)
            shared.rows[rank[i]] = number[i];
        synchronize_block();
        Number *const to = call.rows<Number>(again(shared.slot.to));
        if (there == rows)
#pragma unroll
            for (u32 i = 0; i < items; i++)
                to[place[i]] = shared.rows[i * threads + thread];
        else
#pragma unroll
            for (u32 i = 0; i < items; i++)
                if (i * threads + thread < there)
                    to[place[i]] = shared.rows[i * threads + thread];
    }

    // move sorts the rows of the tile to their places. The numbers are read before the keys are
    // written; earlier, their registers would spill.
    METHOD void move(u32 digit, bool keep_keys) const {
        Memory &shared = memory();
        constexpr bool numbered = payload == separate || payload == wide;
        Key key[items];
        load(key, there());
        count(key);
        synchronize_block();
        publish_counts(there());
        synchronize_block();
        u32 rank[items];
        order(key, rank);
        synchronize_block();
#pragma unroll
        for (u32 i = 0; i < items; i++)
            shared.keys[rank[i]] = key[i];
        Number number[numbered ? items : 1];
        find_places(digit);
        if constexpr (numbered)
            load_numbers(there(), number);
        synchronize_block();
        const bool last = again(shared.slot.last) != 0;
        if (keep_keys || !last || payload == packed || payload == paired)
            store_keys(there(), last, keep_keys);
        if constexpr (numbered)
            store_numbers(there(), rank, number);
    }
};

// pass_tile moves the rows of the next tile. It returns false if none is left.
template <typename Key, Payload payload, u32 threads, u32 items, u32 masked>
DEVICE bool pass_tile(const Call &call, u32 round, u32 number, const Portion &portion, bool keep_keys) {
    typedef Tile<Key, payload, threads, items, masked> Tile;
    const Tile tile = {call, portion};
    typename Tile::Memory &shared = Tile::memory();
    const u32 thread = thread_in_block();
    if (thread == 0)
        shared.ticket = take_tile(&call.plan->tickets[round][number]) - portion.number * (portion.tiles + blocks_per_grid());
    u32 *const counters = Tile::counters();
#pragma unroll
    for (u32 i = 0; i < digit_values; i += warp_threads)
        counters[i + lane_in_warp()] = 0;
    if (masked > 0)
#pragma unroll
        for (u32 i = 0; i < digit_values; i += warp_threads)
            Tile::masks()[i + lane_in_warp()] = 0;
    synchronize_block();
    if (Tile::again(shared.ticket) >= portion.tiles)
        return false;
    if (thread < digit_values)
        *tile.own(1) = 0;
    if (tile.there() != 0)
        tile.move(number, keep_keys);
    return true;
}

// pass moves tiles until none is left. A block for each tile would take 100 µs to start
// and end all blocks of a pass that is skipped.
template <typename Key, Payload payload, u32 threads, u32 items, u32 masked> DEVICE void pass(const Call &call, u32 round, u32 number, const Portion &portion, bool keep_keys) {
    const Mode mode = call.plan->slots[round][number].mode;
    if (mode == skip)
        return;
    if (mode != scatter) {
        if (portion.number == 0)
            move_rows<Key, payload>(call, call.plan->slots[round][number], keep_keys || !call.plan->slots[round][number].last);
        return;
    }
    auto &shared = Tile<Key, payload, threads, items, masked>::memory();
    if (thread_in_block() == 0) {
        shared.slot = call.plan->slots[round][number];
        shared.shift = call.field.shift(number) + (payload == paired ? 32 : 0);
        shared.mask = call.field.mask(number);
        if (payload == narrowed)
            shared.high = call.common_key() >> 32;
    }
    while (pass_tile<Key, payload, threads, items, masked>(call, round, number, portion, keep_keys))
        synchronize_block();
}
