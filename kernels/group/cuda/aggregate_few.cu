// Groups and aggregates few rows in one launch of one block: small.go has the plan.
//
// A hash table in shared memory finds the first row of each key, the groups are numbered by
// their first rows, and the rows are added to the states of their groups. The states take the
// place of the hash table, in as many copies as fit, or lie in global memory if one does not.
#include "accumulate.cuh"
#include "finish.cuh"

static constexpr u32 few_threads = 1024, most_aggregated_rows = 4096, few_words = most_aggregated_rows / 32, most_few_copies = 8, no_row = 0xffffffff, no_number = 0xffff;

// most_few_keys is the most keys, most_few_outputs the most aggregates.
//go:layout
static constexpr u32 most_few_keys = 4, most_few_outputs = 12;

// FewKey is a key, and its column of the result.
//go:layout fewKeyLayout words
struct FewKey {
    Source source;
    u8 *values;
    u32 *valid;
};

// Output is the last step of an aggregate, and its column. argument is that of Finishing. offsets has 8 bits for the first word
// of each state in the states of a group, lengths 4 bits for the number of words.
//go:layout fewOutputLayout words
struct Output {
    u32 finish, form, is_signed, least, counted, states, lengths, padding;
    u64 argument, offsets;
    u8 *values;
    u32 *valid;
};

// Few is a group-by of few rows.
//go:layout fewLayout words
struct Few {
    u32 keys, readers, outputs, two_stages;
    // words is the length of the states of a group, room the number of words in shared
    // memory, slots the length of the hash table, a power of two.
    u32 words, room, slots, drops_nulls;
    // groups is the capacity of the result. Without conditional all rows are taken.
    u64 groups, conditional;
    i64 *count;
    Source condition;
    u64 *states;
    FewKey key[most_few_keys];
    Reader reader[most_readers];
    Output output[most_few_outputs];
};

// Steps are the last step of an aggregate and the states of the groups.
struct Steps {
    const Output &output;
    const u64 *all;
    u32 distance;
    u32 finish, form, is_signed, least, counted, states;
    u64 argument;

    METHOD u32 words(u32 i) const { return output.lengths >> 4 * i & 0xf; }

    METHOD const u64 *of(u32 i, u64 group) const { return all + distance * group + (output.offsets >> 8 * i & 0xff); }
};

// key_word returns a value of a key: equal values have equal words.
DEVICE u64 key_word(const Source &s, u32 row) {
    const u64 word = s.load(row);
    if (!s.is_float())
        return word;
    return is_nan_f64(word) ? nan_f64 : word << 1 == 0 ? 0 : word;
}

DEVICE bool equal_keys(const Few &q, u32 a, u32 b) {
#pragma unroll 1
    for (u32 i = 0; i < q.keys; i++) {
        const Source &s = q.key[i].source;
        const bool valid = s.is_valid(a);
        if (valid != s.is_valid(b) || valid && key_word(s, a) != key_word(s, b))
            return false;
    }
    return true;
}

// find_slot returns the slot of a row's key, or no_number for a row that is left out.
DEVICE u32 find_slot(const Few &q, u32 *slots, u32 row) {
    if (q.conditional != 0 && !(q.condition.is_true(row) && q.condition.is_valid(row)))
        return no_number;
    u64 hash = 0;
#pragma unroll 1
    for (u32 i = 0; i < q.keys; i++) {
        const Source &s = q.key[i].source;
        const bool valid = s.is_valid(row);
        if (!valid && q.drops_nulls != 0)
            return no_number;
        hash = (hash ^ hash >> 32 ^ (valid ? key_word(s, row) : 0x7fb5d329728ea185ull)) * 0x9e3779b97f4a7c15ull;
    }
    u32 at = (u32)(hash >> 40) & q.slots - 1;
    while (true) {
        u32 owner = *(volatile u32 *)&slots[at];
        if (owner == no_row)
            owner = (u32)__nvvm_atom_cas_gen_i((int *)&slots[at], (int)no_row, (int)row);
        if (owner == no_row || owner == row || equal_keys(q, owner, row))
            break;
        at = at + 1 & q.slots - 1;
    }
    if (*(volatile u32 *)&slots[at] > row)
        __nvvm_atom_min_gen_ui(&slots[at], row);
    return at;
}

// add_rows adds the rows to the states of known groups. There are copies of all states, one
// behind the other, of which the first has the total at the end.
template <bool in_slot> DEVICE void add_rows(const Few &q, u64 *states, u32 copies, u32 known, const u16 *numbers, u32 n) {
    const u32 thread = thread_in_block(), threads = threads_per_block(), distance = known * q.words;
    u64 *const own = states + (thread & copies - 1) * distance;
    for (u32 i = thread; i < distance * copies; i += threads)
        states[i] = 0;
    synchronize_block();
#pragma unroll 1
    for (u32 stage = q.two_stages != 0 ? 0 : 1; stage < 2; stage++) {
#pragma unroll 1
        for (u32 row = thread; row < n; row += threads) {
            const u32 number = numbers[row];
            if (number >= known)
                continue;
#pragma unroll 1
            for (u32 a = 0; a < q.readers; a++) {
                const Reader &r = q.reader[a];
                if (stage == 0 && r.kind < first_greatest || !r.takes(row))
                    continue;
                u64 *const state = own + number * q.words + r.offset;
                const u64 found = stage == 1 && r.kind >= first_greatest ? *state : 0;
                add_row(State<in_slot>{state, 1, r.words - sum_first_bin, found}, stage, r, row);
            }
        }
        synchronize_block();
        if (copies == 1)
            continue;
#pragma unroll 1
        for (u32 i = thread; i < known * q.readers; i += threads) {
            const Reader &r = q.reader[i / known];
            u64 *const state = states + i % known * q.words + r.offset;
            if (stage == 1) {
#pragma unroll 1
                for (u32 c = 1; c < copies; c++)
                    merge(State<in_slot>{state, 1, r.words - sum_first_bin, *state}, 1, r.kind, state + c * distance, 1, true);
                continue;
            }
            if (r.kind < first_greatest)
                continue;
            u64 top = 0;
            for (u32 c = 0; c < copies; c++)
                top = top > state[c * distance] ? top : state[c * distance];
            for (u32 c = 0; c < copies; c++)
                state[c * distance] = top;
        }
        synchronize_block();
    }
}

// few_shared is the hash table, and then the states.
extern __shared__ u64 few_shared[];

// aggregate_few writes the keys, the aggregates and the number of the groups of at most
// most_aggregated_rows rows. rows is their number or null.
KERNEL LAUNCH_BOUNDS(few_threads) aggregate_few(const i64 *rows, i64 capacity, const Few q) {
    // numbers has the slot of each row, and then its group; list the first row of each group.
    __shared__ u16 numbers[most_aggregated_rows], list[most_aggregated_rows];
    __shared__ u32 firsts[few_words], before[few_words], total;
    const u32 n = (u32)device_rows(rows, capacity), thread = thread_in_block(), threads = threads_per_block();
    u32 *const slots = (u32 *)few_shared;
    for (u32 i = thread; i < q.slots; i += threads)
        slots[i] = no_row;
    for (u32 i = thread; i < few_words; i += threads)
        firsts[i] = 0;
    synchronize_block();
#pragma unroll 1
    for (u32 row = thread; row < n; row += threads)
        numbers[row] = (u16)find_slot(q, slots, row);
    synchronize_block();
#pragma unroll 1
    for (u32 begin = 0; begin < n; begin += threads) {
        const u32 row = begin + thread, at = row < n ? numbers[row] : no_number;
        const u32 word = ballot(at != no_number && slots[at] == row);
        if (lane_in_warp() == 0 && row < n)
            firsts[row / 32] = word;
    }
    synchronize_block();
    if (thread < warp_threads) {
        constexpr u32 each = few_words / warp_threads;
        u32 count[each], sum = 0;
#pragma unroll
        for (u32 i = 0; i < each; i++) {
            count[i] = sum;
            sum += (u32)__builtin_popcount(firsts[each * thread + i]);
        }
        const u32 scanned = warp_scan(sum, Sum<u32>{});
#pragma unroll
        for (u32 i = 0; i < each; i++)
            before[each * thread + i] = scanned - sum + count[i];
        if (thread == warp_threads - 1) {
            total = scanned;
            *q.count = (i64)scanned;
        }
    }
    synchronize_block();
#pragma unroll 1
    for (u32 row = thread; row < n; row += threads) {
        const u32 at = numbers[row];
        if (at == no_number)
            continue;
        const u32 first = slots[at], number = before[first / 32] + (u32)__builtin_popcount(firsts[first / 32] & (1u << first % 32) - 1);
        numbers[row] = (u16)number;
        if (first == row)
            list[number] = (u16)row;
    }
    synchronize_block();

    const u32 known = total < q.groups ? total : (u32)q.groups;
    u64 *states = few_shared;
    if (known * q.words <= q.room) {
        u32 copies = 1;
        while (copies < most_few_copies && 2 * copies * known * q.words <= q.room)
            copies *= 2;
        add_rows<true>(q, states, copies, known, numbers, n);
    } else {
        states = q.states;
        add_rows<false>(q, states, 1, known, numbers, n);
    }

    const u32 padded = ((u32)q.groups + 63) / 64 * 64;
#pragma unroll 1
    for (u32 o = 0; o < q.outputs; o++) {
        const Output &output = q.output[o];
        const Steps steps = {output, states, q.words, output.finish, output.form, output.is_signed, output.least, output.counted, output.states, output.argument};
#pragma unroll 1
        for (u32 i = thread; i < padded; i += threads)
            write_value(output.values, output.valid, output.form, q.groups, i, i < known ? value_of(steps, i) : Value{0, 0, false});
    }
#pragma unroll 1
    for (u32 k = 0; k < q.keys; k++) {
        const FewKey &key = q.key[k];
        const Source &s = key.source;
#pragma unroll 1
        for (u32 i = thread; i < padded; i += threads) {
            Value v = Value{0, 0, i < known && s.is_valid(list[i])};
            if (v.valid && s.form == from_bits)
                v.low = s.is_true(list[i]);
            else if (v.valid)
                v.low = s.width == 1   ? s.values[list[i]]
                        : s.width == 2 ? ((const u16 *)s.values)[list[i]]
                        : s.width == 4 ? ((const u32 *)s.values)[list[i]]
                                       : ((const u64 *)s.values)[list[i]];
            write_value(key.values, key.valid, s.form, q.groups, i, v);
        }
    }
}
