// The plan of a radix sort: which digits are sorted by, from which buffer into which.
//
// Only the device knows which digits are constant and whether the input is sorted. The
// host enqueues a pass for every digit; plan_passes decides which of them do something.
#pragma once

#include "keys.cuh"
#include "lookback.cuh"
#include "warprows.cuh"

// Other widths of digits are for measurements.
#ifndef RADIX_DIGIT_BITS
#define RADIX_DIGIT_BITS 8
#endif
static constexpr u32 digit_bits = RADIX_DIGIT_BITS, digit_values = 1 << digit_bits;
static constexpr u32 most_digits = 8;
// The second round may need one pass that only copies.
static constexpr u32 most_slots = most_digits + 1;

// Round is a sequence of passes.
enum Round : u32 {
    first_round,
    second_round,  // by all digits, if runs turned out to be long
    narrow_round,  // instead of the first one, of keys of 64 bits with equal high halves
    rounds,
};

// Field is the part of a key that rows are sorted by: bits low to high − 1.
struct Field {
    u32 low, high;
    template <typename Key> METHOD Key of(Key key) const {
        constexpr u32 width = 8 * sizeof(Key);
        return (Key)(key << width - high) >> width - high + low;
    }
    METHOD u32 digits() const { return (high - low + digit_bits - 1) / digit_bits; }
    METHOD u32 shift(u32 digit) const { return low + digit * digit_bits; }
    // mask returns the bits of a digit; the highest digit may be narrower than others.
    METHOD u32 mask(u32 digit) const {
        const u32 bits = high - shift(digit);
        return (1u << (bits < digit_bits ? bits : digit_bits)) - 1;
    }
};

// Payload selects the numbers that travel with the keys.
enum Payload {
    nothing,
    separate, // a number of 32 bits for each key, in separate memory
    packed,   // the row number in the bits below the field. The result has only these.
    wide,     // a number of 64 bits for each key, in separate memory
    paired,   // a number of 32 bits below a key of 32 bits in one word, between the first pass and the last one
    narrowed, // nothing, with keys of 32 bits between the first pass, which reads values of 64 bits, and the last one
};

// Form has the types of a payload: Value of the input and of the result, Number of the payload.
template <typename Key, Payload payload> struct Form {
    typedef Key Value;
    typedef u32 Number;
};
template <typename Key> struct Form<Key, wide> {
    typedef Key Value;
    typedef u64 Number;
};
template <typename Key> struct Form<Key, paired> {
    typedef u32 Value;
    typedef u32 Number;
};
template <typename Key> struct Form<Key, narrowed> {
    typedef u64 Value;
    typedef u32 Number;
};

enum Mode : u32 {
    skip,
    scatter, // sorts by the digit
    copy,    // moves all rows to the other buffer
    number,  // only writes the row numbers
    fill,    // writes the value of all rows, which are equal
};

// Slot is one pass.
struct Slot {
    Mode mode;
    u32 from, to; // buffers: see Call
    u32 index;    // number of passes of the call before it that scatter
    u32 first;    // 1 if no pass of the round comes before: keys are encoded on the way
    u32 last;     // 1 if no pass of the round follows: keys are decoded on the way
    u32 numbers;  // 1 if there are no row numbers yet
};

// Encoding maps values to keys, which are ordered as unsigned integers, and back: the
// bits of a mask are inverted, which depends on the highest bit of the value, then a
// constant is subtracted and the bits of flip are inverted. If infinity is not zero the values
// are floats, and have one key for −0 and 0, and one for all NaNs.
struct Encoding {
    u64 positive, negative, subtract, flip;
    u64 infinity, nan; // the bits of +∞, and of the NaN that replaces all others

    template <typename Key> METHOD static Key magnitude(Key value) { return value & (Key)~(Key)0 >> 1; }
    template <typename Key> METHOD bool is_zero(Key value) const { return magnitude(value) == 0; }
    template <typename Key> METHOD bool is_nan(Key value) const { return magnitude(value) > (Key)infinity; }

    // loses reports whether a value differs from the value that its key is decoded to.
    template <typename Key> METHOD bool loses(Key value) const {
        return infinity != 0 && (value == (Key)1 << 8 * sizeof(Key) - 1 || is_nan(value) && value != (Key)nan);
    }

    template <typename Key> METHOD Key encode(Key value) const {
        if (infinity != 0)
            value = is_nan(value) ? (Key)nan : is_zero(value) ? (Key)0 : value;
        return encode_decoded(value);
    }
    // encode_decoded is encode for values that decode returned.
    template <typename Key> METHOD Key encode_decoded(Key value) const {
        const bool top = value >> 8 * sizeof(Key) - 1 != 0;
        return ((value ^ (Key)(top ? negative : positive)) - (Key)subtract) ^ (Key)flip;
    }
    // Both masks have the highest bit, or both are zero.
    template <typename Key> METHOD Key decode(Key key) const {
        key = (key ^ (Key)flip) + (Key)subtract;
        const bool top = key >> 8 * sizeof(Key) - 1 != 0;
        return key ^ (Key)(top ? positive : negative);
    }
};

// Plan is the state that the kernels of one call share. It is zero at the start.
struct Plan {
    u32 unsorted;  // 1 if a key is less than the key before it
    u32 finishing; // 1 if the lowest digits are left to finish_runs
    u32 shift;     // then the number of low bits of the field that are left to it
    u32 long_runs; // 1 if finish_runs found a run that is too long
    u32 lossy;     // 1 if a value differs from the value that its key is decoded to
    u32 scatters;  // number of passes that scatter, of the rounds planned so far
    u32 shared[most_digits + 1]; // neighbours in the sorted sample with this many equal leading digits, or more
    u32 sampled;   // number of keys in the sample
    u32 tickets[rounds][most_slots];
    Slot slots[rounds][most_slots];
    u32 constant[most_digits]; // 1 if all keys have the same digit
    u32 common[most_digits];   // that digit
    f32 repeated[most_digits]; // the probability that two keys have the same digit
    u32 counts[most_digits][digit_values];
    u32 begins[most_digits][digit_values]; // the number of keys with a lower digit
    u32 carried[2][digit_values];          // begins of the next portion
};

// Call holds the arguments that all kernels of a call have.
//
// Buffers 0 and 1 are written. The result is in buffer 0; that of pairs is in sorted and in
// rows0. The values to sort are in buffer input, or in buffer 0 or 1.
struct Call {
    Plan *plan;
    void *keys0, *keys1, *values, *sorted;
    void *rows0, *rows1, *given;
    const i64 *counted;
    i64 capacity;
    Field field;
    Encoding encoding;
    // valid is the bitmap of the values in buffer input, or null if none is null. Nulls have
    // the key null_key. The bit of the first row is valid_bit.
    const u8 *valid;
    u64 valid_bit, null_key;

    // is_null reports whether a row of the input is null.
    METHOD bool is_null(u64 row) const { return valid != nullptr && (valid[valid_bit + row >> 3] >> (valid_bit + row & 7) & 1) == 0; }
    // common_key has the digits that all keys share.
    METHOD u64 common_key() const {
        u64 key = 0;
        for (u32 digit = 0; digit < field.digits(); digit++)
            key |= (u64)plan->common[digit] << digit * digit_bits;
        return key;
    }

    // row returns the row number in the low bits of a key.
    template <typename Key> METHOD u32 row(Key key) const { return (u32)key & (u32)((1ull << field.low) - 1); }

    METHOD u64 count() const { return device_rows(counted, capacity); }
    // An array of pointers would lie in local memory, and accesses would not be known to be
    // to global memory.
    template <typename Key> METHOD Key *key(u32 buffer) const { return (Key *)(buffer == 0 ? keys0 : buffer == 1 ? keys1 : values); }
    template <typename Number> METHOD Number *rows(u32 buffer) const { return (Number *)(buffer == 0 ? rows0 : buffer == 1 ? rows1 : given); }
};

#define CALL_PARAMETERS                                                                                                                                        \
    Plan *plan, void *keys0, void *keys1, void *values, void *sorted, void *rows0, void *rows1, void *given, const i64 *counted, i64 capacity, u32 low,      \
        u32 high, Encoding encoding, const u8 *valid, u64 valid_bit, u64 null_key
#define CALL_ARGUMENTS {plan, keys0, keys1, values, sorted, rows0, rows1, given, counted, capacity, {low, high}, encoding, valid, valid_bit, null_key}
static constexpr u32 input = 2;

// Wanted holds the wishes of the host.
struct Wanted {
    u32 source;    // the buffer with the values
    u32 numbered;  // 1 if the result has row numbers that do not exist yet
    u32 finishing; // 1 if finish_runs follows
    u32 filling;   // 1 if the result are keys of all bits alone
    u32 narrowing; // 1 if the passes of the narrow round follow
    u32 detecting; // 0 to sort by all digits also if the keys are sorted or share digits, to measure that
};

// fewest_digits returns the number of leading digits after which runs of equal prefixes
// are short. Two estimates must agree: that of independent digits, which foresees runs of
// few rows, and that of the sample, which has correlated digits in it.
DEVICE u32 fewest_digits(const Plan &plan, u32 digits, u64 n) {
    f32 neighbours = (f32)n; // the expected number of rows with the prefix of a row
    u32 leading = 0;
    while (leading < digits && (neighbours > 0.0625f || plan.shared[leading] > 1)) {
        leading++;
        neighbours *= plan.repeated[digits - leading];
    }
    return leading;
}

// write_slots plans a round: a pass for each digit from lowest on that is not constant,
// and a copy if the result would otherwise not be in buffer 0.
DEVICE void write_slots(Plan &plan, u32 round, u32 slots, u32 digits, u32 lowest, bool needed, u32 source, bool numbered) {
    u32 active = 0;
    for (u32 digit = lowest; digit < digits; digit++)
        active += needed && !plan.constant[digit];
    bool copying = source == input ? active == 0 : ((source ^ active) & 1) != 0;
    const u32 steps = active + copying;
    u32 done = 0;
    for (u32 slot = 0; slot < slots; slot++) {
        Slot &s = plan.slots[round][slot];
        s.mode = skip;
        if (slot < digits && slot >= lowest && needed && !plan.constant[slot])
            s.mode = scatter;
        else if (copying) {
            s.mode = copy;
            copying = false;
        } else if (numbered && steps == 0 && slot == slots - 1) {
            s.mode = number;
            s.from = s.to = 0;
            s.first = s.last = s.numbers = 1;
        }
        if (s.mode == skip || s.mode == number)
            continue;
        s.from = source;
        s.to = source = steps - 1 - done & 1;
        s.index = plan.scatters;
        s.first = done == 0;
        s.last = ++done == steps;
        s.numbers = numbered && s.first;
        if (s.mode == scatter)
            plan.scatters++;
    }
}

// plan_first plans the first round. One block of digit_values threads calls it, after the
// histogram and the sample.
DEVICE void plan_first(const Call &call, Wanted wanted) {
    __shared__ u32 sums[digit_values / warp_threads];
    __shared__ f32 squares[digit_values / warp_threads];
    Plan &plan = *call.plan;
    const u64 n = call.count();
    const u32 digits = call.field.digits(), value = thread_in_block();
    const f32 scale = n == 0 ? 0 : 1 / (f32)n;
    for (u32 digit = 0; digit < digits; digit++) {
        const u32 count = plan.counts[digit][value];
        u32 all;
        const u32 scanned = warp_scan(count, Sum<u32>());
        const u32 before = before_lane(scanned, Sum<u32>());
        plan.begins[digit][value] = before + block_fold_before<digit_values / warp_threads>(shuffle_value(scanned, warp_threads - 1), sums, all, Sum<u32>());
        if (count == n && wanted.detecting) {
            plan.constant[digit] = 1;
            plan.common[digit] = value;
        }
        f32 square = scale * (f32)count;
        square *= square;
        for (u32 delta = 1; delta < warp_threads; delta *= 2)
            square += shuffle_value_down(square, delta);
        if (lane_in_warp() == 0)
            squares[value / warp_threads] = square;
        synchronize_block();
        if (value == 0) {
            square = 0;
            for (u32 i = 0; i < digit_values / warp_threads; i++)
                square += squares[i];
            plan.repeated[digit] = square;
        }
        synchronize_block();
    }
    if (value != 0)
        return;
    const bool needed = plan.unsorted != 0 || !wanted.detecting;
    u32 same = 0; // number of digits that all keys share, of the highest ones
    while (same < digits && plan.constant[digits - 1 - same])
        same++;
    u32 lowest = 0;
    if (wanted.narrowing && needed && same >= most_digits / 2) {
        write_slots(plan, narrow_round, most_digits / 2, most_digits / 2, 0, true, wanted.source, false);
        return;
    }
    if (wanted.finishing && needed) {
        lowest = digits - fewest_digits(plan, digits, n);
        u32 saved = 0;
        for (u32 digit = 0; digit < lowest; digit++)
            saved += !plan.constant[digit];
        plan.finishing = saved > 0;
        plan.shift = lowest * digit_bits;
    }
    write_slots(plan, first_round, digits, digits, lowest, needed, wanted.source, wanted.numbered);
    if (wanted.filling && same == digits && plan.slots[first_round][0].mode == copy)
        plan.slots[first_round][0].mode = fill;
}

// plan_second plans the second round, which sorts by all digits if runs are long. The
// order among equal keys is that of the input until then, so the result is the same.
DEVICE void plan_second(const Call &call) {
    const u32 digits = call.field.digits();
    if (thread_in_block() == 0 && call.plan->long_runs != 0)
        write_slots(*call.plan, second_round, digits + 1, digits, 0, true, 0, false);
}
