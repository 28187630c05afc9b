// Adds the rows of partitions to the states of their groups, in shared memory, and makes
// results of the states: see partition.cuh and partition.go.
//
// A block has a partition, or a chunk of one with many rows. A state is a few words of 32 bits.
// Word w of group g is at w · groups + g, so that neighbouring groups lie in different
// banks. A state is zero unless the group has a row.
//
// Sums of floats take two passes over the rows: the first one finds the largest exponent of
// each group. If the partition is not divided, one pass is tried before, with the largest
// exponent of some rows as that of all groups. If no value is larger, and none so small that a
// piece of it would be below the bins, the bins have all bits of all values, which is what the
// two passes keep as well. Nearly all columns are so.
#include "decimals.cuh"
#include "exact_sum.cuh"
#include "finish.cuh"
#include "kinds.cuh"
#include "partition.cuh"
#include "shared.cuh"

static constexpr u32 batch = 4; // rows of a thread that are loaded at once
static constexpr u32 compact_threads = 256;
static constexpr u32 decimal_words = 5; // of 32 bits in a sum of decimals

// Term is an accumulator. Rows that do not meet all required conditions are skipped.
//go:layout termLayout
struct Term {
    u32 kind, word, least, required;
    const u8 *values;
    // step is the words of 64 bits from a decimal to the next one: 1 of those that have moved, 2 of those of a column.
    u32 form, step;
    const u8 *high; // the high words of decimals, of which values has the low ones
};

// Output is an aggregate. counted is the word of the count of its values, or no_word if it is the
// number of rows. Group i of the partitions writes value i, and whether it is valid, unless
// valid is null. factor is that of a mean of decimals.
//go:layout outputLayout
struct Output {
    u32 finish, word, counted, form, is_signed, least, width, factor;
    u8 *values, *valid;
};
static constexpr u32 no_word = 0xffffffff;

// Aggregation is the aggregates of partitions.
//go:layout aggregationLayout
struct Aggregation {
    // bits is the logarithm of the groups of a partition; words is the length of a state. Word
    // present is not 0 if a group has rows. A row sets it if marks is set; otherwise it is part of a
    // term. states is set if the outputs are states: then the head of a sum of floats has to be that of its
    // largest value.
    u32 bits, partitions, words, terms, outputs, sums_floats, present, marks, states, padding;
    const u32 *starts;
    const u16 *places;
    const u32 *conditions; // or null
    u32 *groups;           // of each partition
    u32 *places_of_groups;
    u32 *slots;
    Term term[most_terms];
    Output output[most_outputs];
};

extern __shared__ __attribute__((aligned(16))) u32 state_words[];

// State is the words of all groups of a partition. base is the address of the first one in
// shared memory, of 32 bits: addresses then take few instructions.
struct State {
    u32 base, bits;

    METHOD u32 address(u32 w, u32 group) const { return base + ((w << bits) + group << 2); }
    METHOD u32 *word(u32 w, u32 group) const { return state_words + (w << bits) + group; }
    METHOD u64 *wide(u32 w, u32 group) const { return (u64 *)(state_words + (w << bits)) + group; }
};

DEVICE void raise_at(u32 address, u32 x) {
    if (load_volatile(address) < x)
        raise_shared_32(address, x);
}

DEVICE void raise(u64 *word, u64 x) {
    if (*(volatile u64 *)word < x)
        __nvvm_atom_max_gen_ull((unsigned long long *)word, x);
}

// add_integer adds low + 2³² · high to a number of 96 bits. low is below 2⁶³.
DEVICE void add_integer(const State &s, u32 w, u32 group, u64 low, i64 high) {
    high += (i64)(low >> 32);
    const u32 part[3] = {(u32)low, (u32)high, (u32)(high >> 32)};
    add_with_carry(part, [&](u32 i, u32 term) { return fetch_add(s.address(w + i, group), term); });
}

// The first word of a sum of floats, its head, is the top plus 1 if the group has a value. It is above
// most_head if a value was not finite: then the flags are in the bits from flag_shift on, and
// the bins have no meaning. The low halves of the bins follow, and then the high halves.
static constexpr u32 most_head = 0xff, flag_shift = 8, kept_bins = 4;

// head_of returns the head of a group with one value.
DEVICE u32 head_of(u64 image) {
    const u32 exponent = (u32)(image >> 52) & 0x7ff;
    if (exponent == 0x7ff)
        return (u32)(image << 12 != 0 ? flag_nan : image >> 63 != 0 ? flag_negative : flag_positive) << flag_shift;
    return image << 1 == 0 ? 1 : (exponent == 0 ? 0 : exponent - 1) / bin_bits + 2;
}

// find_head adds a float in the first pass.
DEVICE void find_head(const State &s, u32 w, u32 group, u64 image) {
    const u32 head = head_of(image);
    if (head > most_head)
        __nvvm_atom_or_gen_i((int *)s.word(w, group), (int)head);
    else
        raise_at(s.address(w, group), head);
}

// add_bin adds to bin i.
DEVICE void add_bin(const State &s, u32 w, u32 i, u32 group, u64 x) {
    const u32 low = (u32)x, high = (u32)(x >> 32) + (u32)(low != 0 && fetch_add(s.address(w + 1 + i, group), low) + low < low);
    if (high != 0)
        fetch_add(s.address(w + 1 + kept_bins + i, group), high);
}

// add_piece adds a piece, or subtracts it, and carries to the high half of the bin.
DEVICE void add_piece(const State &s, u32 address, u32 piece, bool negative) {
    if (piece == 0)
        return;
    const u32 term = negative ? 0 - piece : piece, old = fetch_add(address, term), sum = old + term;
    if (negative ? sum > old : sum < old)
        fetch_add(address + (kept_bins << s.bits + 2), negative ? 0xffffffff : 1);
}

// Pass is what a pass over the rows adds to sums of floats.
enum Pass {
    heads,   // the heads
    bins,    // the bins, below the heads that are known
    guessed, // both, with one head for all groups
};

// add_float adds a float to the bins. Pieces of normal numbers have 32 bits. In the guessed pass it
// returns false if the value does not fit the guess. Then the head becomes the guess, or with own_heads that
// of the largest value.
template <Pass pass> DEVICE bool add_float(const State &s, u32 w, u32 group, u64 image, u32 guess, bool own_heads) {
    const u32 place = ((u32)(image >> 52) & 0x7ff) - 1;
    u32 head = guess;
    if (pass == guessed) {
        if (place >= 0x7fe) {
            const u32 own = head_of(image);
            if (own == 1)
                raise_at(s.address(w, group), own_heads ? 1 : guess);
            else if (own > most_head)
                __nvvm_atom_or_gen_i((int *)s.word(w, group), (int)own);
            return own != 2; // not subnormal
        }
        raise_at(s.address(w, group), own_heads ? place / bin_bits + 2 : guess);
    } else {
        head = *(volatile u32 *)s.word(w, group);
        if (head > most_head)
            return true;
        if (place >= 0x7fe) { // zero or subnormal
            const Pieces p = pieces_of(__builtin_bit_cast(f64, image));
            if (p.top != 0)
                for (u32 i = 0, below = head - 1 - (u32)p.top; i < sum_pieces && i + below < kept_bins; i++)
                    add_bin(s, w, i + below, group, p.piece[i]);
            return true;
        }
    }
    const u32 lowest = place / bin_bits, shift = place - lowest * bin_bits, mask = (1u << bin_bits) - 1, below = head - 2 - lowest;
    if (pass == guessed && below > kept_bins - sum_pieces)
        return false;
    const u64 whole = image & (1ull << 52) - 1 | 1ull << 52;
    const u32 piece[sum_pieces] = {(u32)(whole >> 2 * bin_bits - shift), (u32)(whole >> bin_bits - shift) & mask, (u32)whole << shift & mask};
    const bool negative = (i64)image < 0;
    u32 address = s.address(w + 1 + below, group);
#pragma unroll
    for (u32 i = 0; i < sum_pieces; i++) {
        if (pass == guessed || i + below < kept_bins)
            add_piece(s, address, piece[i], negative);
        address += 4u << s.bits;
    }
    return true;
}

// add_many_floats adds floats of which many lanes have one group. All lanes call it.
template <Pass pass> DEVICE bool add_many_floats(const State &s, u32 w, u32 group, bool takes, u64 image, u32 guess, bool own_heads) {
    const Pieces p = pieces_of(__builtin_bit_cast(f64, image));
    u32 head = guess;
    bool fits = true;
    if (pass == guessed) {
        if (takes && p.flags != 0)
            find_head(s, w, group, image);
        else if (takes)
            raise_at(s.address(w, group), own_heads ? (u32)p.top + 1 : guess);
        fits = !takes || p.top == 0 || guess - 1 - (u32)p.top <= kept_bins - sum_pieces;
    } else
        head = takes ? *(volatile u32 *)s.word(w, group) : 0;
    takes = takes && p.top != 0 && head <= most_head;
    const u32 below = takes ? head - 1 - (u32)p.top : kept_bins;
    const With with = with_first(group, takes);
#pragma unroll
    for (u32 i = 0; i < kept_bins; i++) {
        u64 bin = 0;
#pragma unroll
        for (u32 j = 0; j < sum_pieces; j++)
            if (i == j + below)
                bin = p.piece[j];
        const u64 total = warp_fold(with.calling() ? bin : 0, Sum<u64>());
        if (with.calling())
            bin = with.leads() ? total : 0;
        if (bin != 0)
            add_bin(s, w, i, group, bin);
    }
    return fits;
}

// add_many_integers adds integers of which many lanes have one group. All lanes call it.
DEVICE void add_many_integers(const State &s, u32 w, u32 group, bool takes, u64 low, u64 high) {
    const With with = with_first(group, takes);
    const u64 lows = warp_fold(with.calling() ? low : 0, Sum<u64>()), highs = warp_fold(with.calling() ? high : 0, Sum<u64>());
    if (with.lanes != 0 && with.calling())
        low = with.leads() ? lows : 0, high = with.leads() ? highs : 0;
    if (takes)
        add_integer(s, w, group, low, (i64)high);
}

// add_decimals adds decimals of 128 bits to sums of 160 bits. If together is set many lanes have one
// group, and these are added first; then all lanes call it.
DEVICE void add_decimals(const State &s, u32 w, u32 group, bool takes, bool together, u64 low, u64 high) {
    u64 part[4] = {(u32)low, low >> 32, (u32)high, (u64)((i64)high >> 32)};
    if (together) {
        const With with = with_first(group, takes);
#pragma unroll
        for (u32 i = 0; i < 4; i++) {
            const u64 total = warp_fold(with.calling() ? part[i] : 0, Sum<u64>());
            if (with.calling())
                part[i] = with.leads() ? total : 0;
        }
    }
    if (!takes)
        return;
#pragma unroll
    for (u32 i = 0; i < 3; i++) {
        part[i + 1] += part[i] >> 32;
        part[i] &= 0xffffffff;
    }
    const u32 half[decimal_words] = {(u32)part[0], (u32)part[1], (u32)part[2], (u32)part[3], (u32)(part[3] >> 32)};
    add_with_carry(half, [&](u32 i, u32 term) { return fetch_add(s.address(w + i, group), term); });
}

// real returns a loaded value as the bits of a float64.
DEVICE u64 real_of(u32 form, u64 x) {
    if (form == from_f64)
        return x;
    if (form == from_f32)
        return __builtin_bit_cast(u64, (f64)__builtin_bit_cast(f32, (u32)x));
    return __builtin_bit_cast(u64, form == from_u64 ? (f64)x : (f64)(i64)x);
}

// add_rows adds rows begin to end − 1. It returns false if a value does not fit the guesses.
template <Pass pass, u32 threads, bool decimals> DEVICE bool add_rows(const Aggregation &a, const State &s, u64 begin, u64 end, const u32 *guesses) {
    const u32 thread = thread_in_block();
    bool fits = true;
#pragma unroll 1
    for (u64 from = begin; from < end; from += batch * threads) {
        const u64 mine = from + thread;
        u32 group[batch], met[batch], there = 0, many = 0;
        load_as<threads, u16>((const u8 *)a.places, mine, end, group);
#pragma unroll
        for (u32 i = 0; i < batch; i++) {
            there |= (u32)(mine + i * threads < end) << i;
            met[i] = a.conditions != nullptr && (there >> i & 1) != 0 ? a.conditions[mine + i * threads] : whole_warp;
        }
        if (pass != heads)
#pragma unroll
            for (u32 i = 0; i < batch; i++)
                many |= (u32)with_first(group[i], (there >> i & 1) != 0).many << i;
        if (a.marks != 0 && pass != heads) {
#pragma unroll
            for (u32 i = 0; i < batch; i++)
                if ((there >> i & 1) != 0)
                    raise_at(s.address(a.present, group[i]), 1);
        }
#pragma unroll 1
        for (u32 t = 0; t < a.terms; t++) {
            const Term &term = a.term[t];
            if (pass == heads && term.kind != sum_floats)
                continue;
            u64 value[batch] = {0, 0, 0, 0};
            if (decimals && term.kind == sum_decimals)
#pragma unroll
                for (u32 i = 0; i < batch; i++)
                    value[i] = (there >> i & 1) != 0 ? ((const u64 *)term.values)[(mine + i * threads) * term.step] : 0;
            else if (term.kind != count_rows)
                load_values<threads>(term.values, term.form, mine, end, value);
#pragma unroll
            for (u32 i = 0; i < batch; i++) {
                const bool takes = (there >> i & 1) != 0 && (met[i] & term.required) == term.required, together = (many >> i & 1) != 0;
                const u64 x = value[i];
                if (decimals && term.kind == sum_decimals) {
                    const u64 row = (mine + i * threads) * term.step, high = takes ? ((const u64 *)term.high)[row] : 0;
                    add_decimals(s, term.word, group[i], takes, together, takes ? x : 0, high);
                    continue;
                }
                switch (term.kind) {
                case count_rows: {
                    if (!together) {
                        if (takes)
                            fetch_add(s.address(term.word, group[i]), 1);
                        break;
                    }
                    const With with = with_first(group[i], takes);
                    if (!with.calling()) {
                        if (takes)
                            fetch_add(s.address(term.word, group[i]), 1);
                    } else if (with.leads())
                        fetch_add(s.address(term.word, group[i]), with.count());
                    break;
                }
                case sum_integers: {
                    const bool is_signed = term.form >= from_i8 && term.form <= from_i64;
                    const u64 low = (u32)x, high = is_signed ? (u64)((i64)x >> 32) : x >> 32;
                    if (together)
                        add_many_integers(s, term.word, group[i], takes, low, high);
                    else if (takes)
                        add_integer(s, term.word, group[i], low, (i64)high);
                    break;
                }
                case greatest: {
                    const Source of = Source{nullptr, nullptr, 0, term.form, 0};
                    if (takes)
                        raise(s.wide(term.word, group[i]), of.image(term.form == from_f32 ? real_of(term.form, x) : x, term.least != 0, false));
                    break;
                }
                default:
                    if (decimals)
                        break;
                    const u32 guess = pass == guessed ? guesses[t] : 0;
                    if (pass == heads) {
                        if (takes)
                            find_head(s, term.word, group[i], real_of(term.form, x));
                    } else if (together)
                        fits &= add_many_floats<pass>(s, term.word, group[i], takes, real_of(term.form, x), guess, a.states != 0);
                    else if (takes)
                        fits &= add_float<pass>(s, term.word, group[i], real_of(term.form, x), guess, a.states != 0);
                }
            }
        }
    }
    return fits;
}

// guess_heads sets the head of each sum of floats to the greatest one of the first rows.
template <u32 threads> DEVICE void guess_heads(const Aggregation &a, u64 begin, u64 end, u32 *guesses) {
    const u64 row = begin + thread_in_block();
#pragma unroll 1
    for (u32 t = 0; t < a.terms; t++) {
        const Term &term = a.term[t];
        if (term.kind != sum_floats)
            continue;
        u64 value[1];
        load_values<threads>(term.values, term.form, row, end, value);
        u32 head = head_of(real_of(term.form, value[0]));
        head = warp_fold(row < end && head <= most_head ? head : 1, Most<u32>());
        if (lane_in_warp() == 0)
            __nvvm_atom_max_gen_ui((unsigned *)&guesses[t], head);
    }
}

// lower_bins moves the bins of sums of floats from those of the guess to those of their heads, which are
// one lower at most: a value with a lower head does not fit.
template <u32 threads> DEVICE void lower_bins(const Aggregation &a, const State &s, const u32 *guesses) {
#pragma unroll 1
    for (u32 t = 0; t < a.terms; t++) {
        const u32 w = a.term[t].word;
        if (a.term[t].kind != sum_floats)
            continue;
        for (u32 group = thread_in_block(); group < 1u << a.bits; group += threads) {
            const u32 head = *s.word(w, group);
            if (head <= 1 || head >= guesses[t])
                continue;
#pragma unroll
            for (u32 i = 0; i < kept_bins; i++)
#pragma unroll
                for (u32 half = 0; half < 2; half++)
                    *s.word(w + 1 + half * kept_bins + i, group) = i + 1 < kept_bins ? *s.word(w + 2 + half * kept_bins + i, group) : 0;
        }
    }
}

// write_state writes the state of a group.
template <bool decimals> DEVICE void write_state(const Output &o, const State &s, u32 group, u64 at) {
    const auto word = [&](u32 i) { return (u64)*s.word(o.word + i, group); };
    u64 *const to = (u64 *)o.values + at * (o.width / 8);
    if (decimals && o.form == sum_decimals) {
        to[0] = word(0) | word(1) << 32;
        to[1] = word(2) | word(3) << 32;
        to[2] = (u64)(i64)(i32)word(4);
        return;
    }
    switch (o.form) {
    case count_rows: to[0] = word(0); return;
    case sum_integers:
        to[0] = word(0) | word(1) << 32;
        to[1] = o.is_signed != 0 ? (u64)(i64)(i32)word(2) : word(2);
        return;
    case greatest: to[0] = *s.wide(o.word, group); return;
    }
    if (decimals)
        return;
    const u32 head = (u32)word(0);
    const bool finite = head <= most_head;
    to[sum_top] = finite && head != 0 ? head - 1 : 0;
    to[sum_flags] = head >> flag_shift;
#pragma unroll
    for (u32 i = 0; i < kept_bins; i++)
        to[sum_first_bin + i] = finite ? word(1 + i) | word(1 + kept_bins + i) << 32 : 0;
}

// sum_slowly is float_sum(…).high of a state. The words come one by one: an array of the caller would be
// written to local memory for each group, also for those that sum_of_bins adds up.
static inline __device__ __attribute__((noinline)) f64 sum_slowly(u32 head, u64 bin0, u64 bin1, u64 bin2, u64 bin3) {
    const u64 state[sum_first_bin + kept_bins] = {(head & most_head) - 1, head >> flag_shift, bin0, bin1, bin2, bin3};
    return float_sum(state, sum_first_bin + kept_bins).high;
}

// sum_of_bins returns the sum of a group with values. If the sum is 0 or a normal number, and its highest
// bin has at most 34 bits, it is a fraction of the instructions of float_sum: the bins become high · 2⁵⁶ + low,
// of which the conversion from 64 bits to float64 rounds the leading ones, the last of them set if one
// below is.
DEVICE f64 sum_of_bins(u32 head, u64 bin0, u64 bin1, u64 bin2, u64 bin3) {
    static_assert(bin_bits == 28 && kept_bins == 4 && sum_pieces == 3);
    constexpr u32 low_bits = 2 * bin_bits, least_top = 4, most_top = 72;
    constexpr u64 mask = (1ull << bin_bits) - 1;
    const u32 top = head - 1;
    if (top - least_top > most_top - least_top || (bin0 ^ (u64)((i64)bin0 >> 63)) >> 34 != 0)
        return sum_slowly(head, bin0, bin1, bin2, bin3);
    const u64 second = bin2 + (u64)((i64)bin3 >> bin_bits);
    u64 low = (second & mask) << bin_bits | bin3 & mask, high = (bin0 << bin_bits) + bin1 + (u64)((i64)second >> bin_bits);
    if ((high | low) == 0)
        return 0;
    const bool negative = (i64)high < 0;
    if (negative) {
        high = ~high + (low == 0);
        low = 0 - low & (1ull << low_bits) - 1;
    }
    u32 exponent = bin_bits * (top - 2) - 1074;
    u64 leading = low;
    if (high != 0) {
        const u32 zeros = (u32)__builtin_clzll(high), spare = 64 - low_bits; // high is below 2⁶³
        leading = high << zeros | low << spare >> 64 - zeros | (low << spare << zeros != 0);
        exponent += low_bits - zeros;
    }
    const u64 image = __builtin_bit_cast(u64, (f64)leading) + ((u64)exponent << 52);
    return __builtin_bit_cast(f64, negative ? image | 1ull << 63 : image);
}

// extreme returns the value of an image.
DEVICE u64 extreme(const Output &o, u64 image) {
    const bool is_float = o.form >= from_f16 && o.form <= from_f64, is_nan = is_float && image == 0;
    if (o.least != 0)
        image = ~image;
    if (!is_float)
        return o.is_signed != 0 ? image ^ 1ull << 63 : image;
    const u64 bits = unordered_f64(image);
    if (o.form == from_f64)
        return is_nan ? nan_f64 : bits;
    return is_nan ? nan_f32 : __builtin_bit_cast(u32, (f32)__builtin_bit_cast(f64, bits));
}

// write_output writes the result of a group.
template <bool decimals> DEVICE void write_output(const Output &o, const State &s, u32 group, u64 at) {
    if (o.finish == finish_state)
        return write_state<decimals>(o, s, group, at);
    const u32 n = o.counted == no_word ? 1 : *s.word(o.counted, group);
    u64 value = 0;
    bool valid = o.counted == no_word || n != 0;
    if (decimals && (o.finish == finish_decimal || o.finish == finish_mean_decimal)) {
        const auto of = [&](u32 i) { return *s.word(o.word + i, group); };
        const Wide total = wide(of(0) | (u64)of(1) << 32, of(2) | (u64)of(3) << 32, (u64)(i64)(i32)of(4));
        const Wide result = o.finish == finish_decimal ? total : mean_decimal<u32>(total, n == 0 ? 1 : n, o.factor);
        valid = valid && fits_decimal(result);
        ((u64 *)o.values)[2 * at] = valid ? result.word[0] : 0;
        ((u64 *)o.values)[2 * at + 1] = valid ? result.word[1] : 0;
        if (o.valid != nullptr)
            o.valid[at] = valid;
        return;
    }
    switch (o.finish) {
    case finish_count:
        value = *s.word(o.word, group);
        valid = true;
        break;
    case finish_integer:
    case finish_mean: {
        value = *s.word(o.word, group) | (u64)*s.word(o.word + 1, group) << 32;
        const u32 high = *s.word(o.word + 2, group);
        const u64 extended = o.is_signed != 0 ? (u64)(i64)(i32)high : high;
        if (o.finish == finish_integer) {
            valid = valid && extended == (o.is_signed != 0 ? (u64)((i64)value >> 63) : 0);
            break;
        }
        Wide total = wide(value, extended, (u64)((i64)extended >> 63));
        value = real_bits(rounded(total, 0) / (f64)n);
        break;
    }
    case finish_extreme: value = extreme(o, *s.wide(o.word, group)); break;
    default: {
        if (decimals)
            break;
        const u32 head = *s.word(o.word, group);
        const auto bin = [&](u32 i) { return *s.word(o.word + 1 + i, group) | (u64)*s.word(o.word + 1 + kept_bins + i, group) << 32; };
        const f64 sum = head == 0 ? 0 : sum_of_bins(head, bin(0), bin(1), bin(2), bin(3));
        value = real_bits(o.finish == finish_float ? sum : sum / (f64)n);
    }
    }
    if (!valid)
        value = 0;
    switch (o.width) {
    case 1: o.values[at] = (u8)value; break;
    case 2: ((u16 *)o.values)[at] = (u16)value; break;
    case 4: ((u32 *)o.values)[at] = (u32)value; break;
    default: ((u64 *)o.values)[at] = value;
    }
    if (o.valid != nullptr)
        o.valid[at] = valid;
}

// merge_slots sets the words of a group to those of all chunks of a partition.
template <bool decimals> static inline __device__ void merge_slots(const Aggregation &a, const State &s, u32 group, const u32 *slots, u32 count) {
    const u64 length = (u64)a.words << a.bits;
    const auto of = [&](u32 chunk, u32 w) { return *(const volatile u32 *)(slots + chunk * length + ((u64)w << a.bits) + group); };
    if (a.marks != 0) {
        u32 present = 0;
        for (u32 c = 0; c < count; c++)
            present |= of(c, a.present);
        *s.word(a.present, group) = present;
    }
#pragma unroll 1
    for (u32 t = 0; t < a.terms; t++) {
        const Term &term = a.term[t];
        const u32 w = term.word;
        if (decimals && term.kind == sum_decimals) {
            u64 carry = 0;
            for (u32 i = 0; i < decimal_words; i++) {
                for (u32 c = 0; c < count; c++)
                    carry += of(c, w + i);
                *s.word(w + i, group) = (u32)carry;
                carry >>= 32;
            }
            continue;
        }
        switch (term.kind) {
        case count_rows: {
            u32 total = 0;
            for (u32 c = 0; c < count; c++)
                total += of(c, w);
            *s.word(w, group) = total;
            break;
        }
        case sum_integers: {
            u64 low = 0, high = 0;
            for (u32 c = 0; c < count; c++) {
                const u64 part = of(c, w) | (u64)of(c, w + 1) << 32;
                low += part;
                high += of(c, w + 2) + (low < part);
            }
            *s.word(w, group) = (u32)low;
            *s.word(w + 1, group) = (u32)(low >> 32);
            *s.word(w + 2, group) = (u32)high;
            break;
        }
        case greatest: {
            u64 most = 0;
            for (u32 c = 0; c < count; c++) {
                const u64 image = *(const volatile u64 *)((const u64 *)(slots + c * length + ((u64)w << a.bits)) + group);
                most = image > most ? image : most;
            }
            *s.wide(w, group) = most;
            break;
        }
        default: {
            if (decimals)
                break;
            u32 top = 0, flags = 0;
            for (u32 c = 0; c < count; c++) {
                const u32 head = of(c, w);
                if (head > most_head)
                    flags |= head;
                top = head > top ? head : top;
            }
            *s.word(w, group) = flags != 0 ? flags : top;
            u64 bin[kept_bins] = {0, 0, 0, 0};
            for (u32 c = 0; c < count && flags == 0; c++) {
                const u32 below = top - of(c, w);
#pragma unroll
                for (u32 i = 0; i < kept_bins; i++) {
                    const u64 part = of(c, w + 1 + i) | (u64)of(c, w + 1 + kept_bins + i) << 32;
#pragma unroll
                    for (u32 j = i; j < kept_bins; j++)
                        if (j == i + below)
                            bin[j] += part;
                }
            }
#pragma unroll
            for (u32 i = 0; i < kept_bins; i++) {
                *s.word(w + 1 + i, group) = (u32)bin[i];
                *s.word(w + 1 + kept_bins + i, group) = (u32)(bin[i] >> 32);
            }
        }
        }
    }
}

template <u32 threads> DEVICE void clear_states(const Aggregation &a) {
    for (u32 i = thread_in_block(); i < a.words << a.bits - 1; i += threads)
        ((u64 *)state_words)[i] = 0;
}

// all_of reports whether a value is true for all threads of the block. shared has a word for each
// warp.
template <u32 warps> DEVICE bool all_of(bool value, u32 (&shared)[warps]) {
    u32 failed;
    block_fold_before<warps>((u32)(ballot(!value) != 0), shared, failed, Sum<u32>());
    return failed == 0;
}

// add_partition adds up a partition, or a chunk of one. There is a block for each partition, and
// then one for each further chunk.
template <u32 threads, bool decimals> DEVICE void add_partition(const Aggregation &a, const Chunks &chunks) {
    __shared__ u32 sums[threads / warp_threads], guesses[most_terms];
    __shared__ u32 last;
    const u32 thread = thread_in_block(), block = block_in_grid(), groups = 1u << a.bits;
    u32 partition = block, chunk = 0;
    if (block >= a.partitions) {
        const u32 i = block - a.partitions;
        if (i >= *chunks.listed)
            return;
        partition = chunks.list[2 * i];
        chunk = chunks.list[2 * i + 1];
    }
    const u64 start = a.starts[partition], finish = a.starts[partition + 1];
    if (start == finish) {
        if (thread == 0)
            a.groups[partition] = 0;
        return;
    }
    const u32 count = (u32)((finish - start + chunks.chunk_rows - 1) / chunks.chunk_rows);
    const u64 begin = start + (u64)chunk * chunks.chunk_rows, end = finish - begin < chunks.chunk_rows ? finish : begin + chunks.chunk_rows;
    const State s = {(u32)(u64)(__attribute__((address_space(3))) u32 *)state_words, a.bits};
    clear_states<threads>(a);
    if (thread < most_terms)
        guesses[thread] = 0;
    synchronize_block();
    bool fits = decimals;
    if (decimals)
        add_rows<guessed, threads, decimals>(a, s, begin, end, guesses);
    else if (count == 1 || a.sums_floats == 0) {
        if (a.sums_floats != 0) {
            guess_heads<threads>(a, begin, end, guesses);
            synchronize_block();
        }
        fits = all_of(add_rows<guessed, threads, decimals>(a, s, begin, end, guesses), sums);
    }
    if (decimals)
        synchronize_block();
    else if (!fits) {
        if (count == 1) {
            clear_states<threads>(a);
            synchronize_block();
        }
        add_rows<heads, threads, decimals>(a, s, begin, end, guesses);
        synchronize_block();
        add_rows<bins, threads, decimals>(a, s, begin, end, guesses);
        synchronize_block();
    } else if (a.states != 0 && a.sums_floats != 0) {
        lower_bins<threads>(a, s, guesses);
        synchronize_block();
    }
    if (count > 1) {
        const u64 length = (u64)a.words << a.bits;
        u32 *const slots = a.slots + chunks.first_slot[partition] * length;
        for (u32 i = thread; i < length; i += threads)
            slots[chunk * length + i] = state_words[i];
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
        synchronize_block();
        if (thread == 0)
            last = (u32)__nvvm_atom_add_gen_i((int *)&chunks.done[partition], 1);
        synchronize_block();
        if (last + 1 != count)
            return;
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
        for (u32 group = thread; group < groups; group += threads)
            merge_slots<decimals>(a, s, group, slots, count);
        synchronize_block();
    }
    // A warp writes neighbouring groups, so the number of groups before its own is found once.
    constexpr u32 warps = threads / warp_threads;
    const u32 each = groups / warps > warp_threads ? groups / warps : warp_threads, lane = lane_in_warp();
    const u32 own = thread / warp_threads * each, behind = own + each < groups ? own + each : groups;
    const auto is_present = [&](u32 group) { return group < groups && *s.word(a.present, group) != 0; };
    u32 count_of_warp = 0, all;
    for (u32 from = own; from < behind; from += warp_threads)
        count_of_warp += (u32)__builtin_popcount(ballot(is_present(from + lane)));
    u64 at = ((u64)partition << a.bits) + block_fold_before<warps>(count_of_warp, sums, all, Sum<u32>());
#pragma unroll 1
    for (u32 from = own; from < behind; from += warp_threads) {
        const u32 group = from + lane;
        const bool present = is_present(group);
        const u32 lanes = ballot(present);
        if (present) {
            const u64 to = at + (u32)__builtin_popcount(lanes & (1u << lane) - 1);
            a.places_of_groups[to] = (partition << a.bits) + group;
#pragma unroll 1
            for (u32 i = 0; i < a.outputs; i++)
                write_output<decimals>(a.output[i], s, group, to);
        }
        at += (u32)__builtin_popcount(lanes);
    }
    if (thread == 0)
        a.groups[partition] = all;
}

// partition_groups_wide is for states of which a multiprocessor has one block.
KERNEL RESIDENT_BOUNDS(partition_threads, 2) partition_groups(const Aggregation a, const Chunks chunks) {
    add_partition<partition_threads, false>(a, chunks);
}
KERNEL RESIDENT_BOUNDS(2 * partition_threads, 1) partition_groups_wide(const Aggregation a, const Chunks chunks) {
    add_partition<2 * partition_threads, false>(a, chunks);
}

// The kernel for sums of decimals is another one, so that these take no registers from the others. It has
// no sums of floats.
KERNEL RESIDENT_BOUNDS(partition_threads, 2) partition_groups_decimals(const Aggregation a, const Chunks chunks) {
    add_partition<partition_threads, true>(a, chunks);
}

// partition_offsets writes the number of groups before each partition, and that of all. It has one
// block.
KERNEL LAUNCH_BOUNDS(partition_threads) partition_offsets(const u32 *groups, u32 *offsets, i64 *total, u32 partitions) {
    constexpr u32 items = 8;
    __shared__ u32 sums[partition_warps];
    u32 before = 0;
#pragma unroll 1
    for (u32 from = 0; from < partitions; from += items * partition_threads) {
        const u32 first = from + thread_in_block() * items;
        u32 count[items], own = 0, all;
#pragma unroll
        for (u32 i = 0; i < items; i++) {
            count[i] = first + i < partitions ? groups[first + i] : 0;
            own += count[i];
        }
        const u32 scanned = warp_scan(own, Sum<u32>());
        u32 offset = before + before_lane(scanned, Sum<u32>());
        offset += block_fold_before<partition_warps>(shuffle_value(scanned, warp_threads - 1), sums, all, Sum<u32>());
#pragma unroll
        for (u32 i = 0; i < items; i++) {
            if (first + i < partitions)
                offsets[first + i] = offset;
            offset += count[i];
        }
        before += all;
    }
    if (thread_in_block() == 0)
        *total = before;
}

// Compacted is a column of the result. Without from it is a key: its value is computed from
// the place, and its last place is null if valid is not null.
//go:layout compactedLayout
struct Compacted {
    const u8 *from, *from_valid;
    u8 *to, *valid;
    u64 least, places, factor;
    u32 width, padding;
};

DEVICE void store_value(u8 *to, u32 width, u64 at, u64 value) {
    switch (width) {
    case 1: to[at] = (u8)value; break;
    case 2: ((u16 *)to)[at] = (u16)value; break;
    case 4: ((u32 *)to)[at] = (u32)value; break;
    default: ((u64 *)to)[at] = value;
    }
}

DEVICE u64 load_value(const u8 *from, u32 width, u64 at) {
    switch (width) {
    case 1: return from[at];
    case 2: return ((const u16 *)from)[at];
    case 4: return ((const u32 *)from)[at];
    }
    return ((const u64 *)from)[at];
}

// partition_compact writes a column of the result. valid has a byte for each row.
KERNEL LAUNCH_BOUNDS(compact_threads)
partition_compact(const u32 *groups, const u32 *offsets, const u32 *places, u32 partitions, u32 bits, const Compacted c) {
    for (u32 partition = block_in_grid(); partition < partitions; partition += blocks_per_grid()) {
        const u64 from = (u64)partition << bits, to = offsets[partition];
        const u32 count = groups[partition];
        for (u32 i = thread_in_block(); i < count; i += compact_threads) {
            if (c.from != nullptr) {
                if (const u32 words = c.width / 8; words > 1) {
                    for (u32 w = 0; w < words; w++)
                        ((u64 *)c.to)[words * (to + i) + w] = ((const u64 *)c.from)[words * (from + i) + w];
                } else
                    store_value(c.to, c.width, to + i, load_value(c.from, c.width, from + i));
                if (c.valid != nullptr)
                    c.valid[to + i] = c.from_valid[from + i];
                continue;
            }
            const u32 place = c.factor == 1 ? places[from + i] : places[from + i] / (u32)c.factor;
            const u32 digit = c.places > place ? place : place % (u32)c.places;
            const bool there = c.valid == nullptr || digit + 1 != c.places;
            store_value(c.to, c.width, to + i, there ? c.least + digit : 0);
            if (c.valid != nullptr)
                c.valid[to + i] = there;
        }
    }
}

// pack_validity makes a bitmap of bytes, in whole words of 64 bits.
KERNEL LAUNCH_BOUNDS(compact_threads) pack_validity(u32 *valid, const u8 *bytes, u64 n) {
    const u64 padded = (n + 63) / 64 * 64, step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < padded; i += step) {
        const u32 word = ballot(i < n && bytes[i] != 0);
        if (lane_in_warp() == 0)
            valid[i / warp_threads] = word;
    }
}
