// The states of folds over windows. state.go has the same functions for the host, which
// give the same bits.
#pragma once

#include "bitrow.cuh"
#include "keys.cuh"
#include "scan.cuh"

// Fold names the fold of a state.
//go:layout stateFold
enum Fold : u32 { fold_count, fold_integers, fold_floats, fold_product, fold_float_product, fold_least, fold_moments, fold_decay, fold_linear, fold_or, fold_xor };

// any_fold stands for a fold that is known at run time. Kernels of one fold take less time:
// the compiler then removes the switches, and the words that the fold does not use.
static constexpr u32 any_fold = ~0u;

// Result names the value that a state becomes.
//go:layout stateResult
enum Result : u32 { result_count, result_integer, result_word, result_integer_mean, result_mean, result_key, result_variance, result_deviation, result_decayed };

// A number format is 4 · class + log2(bytes).
enum Class : u32 { class_signed, class_unsigned, class_float, class_none };

DEVICE f64 as_float(u64 bits) { return __builtin_bit_cast(f64, bits); }
DEVICE u64 as_bits(f64 x) { return __builtin_bit_cast(u64, x); }
DEVICE f64 plus(f64 x, f64 y) { return __nvvm_add_rn_d(x, y); }
DEVICE f64 times(f64 x, f64 y) { return __nvvm_mul_rn_d(x, y); }
DEVICE f64 over(f64 x, f64 y) { return __nvvm_div_rn_d(x, y); }

// over_count returns x / n, rounded, for a number n of rows and its rounded reciprocal. The
// quotient is within one unit in the last place after the first correction, and the second
// one then rounds it correctly (Markstein 1990), unless the remainder may be subnormal.
DEVICE f64 over_count(f64 x, f64 n, f64 reciprocal) {
    const u32 exponent = (u32)(as_bits(x) >> 52) & 0x7ff;
    if (x == 0)
        return x;
    if (exponent - 128 >= 1792)
        return over(x, n);
    const f64 q = times(x, reciprocal);
    const f64 nearer = __nvvm_fma_rn_d(__nvvm_fma_rn_d(-q, n, x), reciprocal, q);
    return __nvvm_fma_rn_d(__nvvm_fma_rn_d(-nearer, n, x), reciprocal, nearer);
}

// raw_at returns the bits of a value.
DEVICE u64 raw_at(const u8 *values, u32 format, u64 row) {
    switch (format % 4) {
    case 0: return values[row];
    case 1: return ((const u16 *)values)[row];
    case 2: return ((const u32 *)values)[row];
    }
    return ((const u64 *)values)[row];
}

// as_integer extends an integer by its sign.
DEVICE u64 as_integer(u64 raw, u32 format) {
    if (format / 4 != class_signed)
        return raw;
    const u32 unused = 64 - (8u << format % 4);
    return (u64)((i64)(raw << unused) >> unused);
}

DEVICE f64 as_real(u64 raw, u32 format) {
    switch (format) {
    case 4 * class_float + 1: {
        f64 x;
        asm("cvt.f64.f16 %0, %1;" : "=d"(x) : "h"((u16)raw));
        return x;
    }
    case 4 * class_float + 2: return __builtin_bit_cast(f32, (u32)raw);
    case 4 * class_float + 3: return as_float(raw);
    case 4 * class_unsigned + 3: return (f64)raw;
    }
    return (f64)(i64)as_integer(raw, format);
}

// least_key returns the key of a value. NaN has the greatest key, in both directions.
DEVICE u64 least_key(u64 raw, u32 format, u32 flip) {
    u64 key;
    if (format / 4 == class_float) {
        const bool isnan = format % 4 == 1 ? is_nan_f16((u32)raw) : format % 4 == 2 ? is_nan_f32((u32)raw) : is_nan_f64(raw);
        if (isnan)
            return ~0ull;
        key = format % 4 == 1 ? ordered_f16((u32)raw) : format % 4 == 2 ? ordered_f32((u32)raw) : ordered_f64(raw);
    } else
        key = as_integer(raw, format) ^ (format / 4 == class_signed ? 1ull << 63 : 0);
    return flip != 0 ? ~key : key;
}

// power returns base^n by squaring.
DEVICE f64 power(f64 base, u32 n) {
    f64 result = 1;
#pragma unroll 1
    for (; n != 0; n /= 2) {
        if (n % 2 != 0)
            result = times(result, base);
        base = times(base, base);
    }
    return result;
}

// State is the fold of some rows: n of them have a value. a and b depend on the fold. If
// n is 0 they have no meaning. head is set if a partition begins among the rows; the
// state is then that of the rows of the last partition.
struct State {
    u64 a, b;
    u32 n, head;
};

// Folding is the parameters of a fold.
//go:layout foldingLayout
struct Folding {
    u64 decay; // the factor of fold_decay, as bits
    u32 fold;
    u32 format; // of the values
    u32 flip;   // 1 inverts the keys of fold_least, which finds the greatest value
    u32 unused;

    METHOD u32 signs() const { return format / 4; }

    // is_wide reports whether states use their second word.
    METHOD bool is_wide() const { return fold == fold_integers || fold == fold_moments || fold == fold_decay || fold == fold_linear; }

    METHOD State none() const { return State{0, 0, 0, 0}; }

    // of returns the state of one value.
    METHOD State of(u64 raw, bool valid) const {
        State s{raw, 0, valid ? 1u : 0u, 0};
        switch (fold) {
        case fold_integers:
        case fold_product:
        case fold_or:
        case fold_xor: s.a = as_integer(raw, format); break;
        case fold_least: s.a = least_key(raw, format, flip); break;
        default: s.a = as_bits(as_real(raw, format));
        }
        if (fold == fold_integers && signs() == class_signed)
            s.b = (u64)((i64)s.a >> 63);
        if (fold == fold_decay)
            s.b = as_bits(1.0);
        if (fold == fold_moments) // NaN unless the value is finite
            s.b = as_bits(plus(as_float(s.a), -as_float(s.a)));
        return s;
    }

    METHOD State fold_of(const State &x, const State &y) const {
        if (y.n == 0)
            return x;
        if (x.n == 0)
            return y;
        return fold_values(x, y);
    }

    // fold_values is fold_of for states that have values.
    METHOD State fold_values(const State &x, const State &y) const {
        State s{0, 0, x.n + y.n, 0};
        switch (fold) {
        case fold_integers:
            s.a = x.a + y.a;
            s.b = x.b + y.b + (s.a < x.a ? 1 : 0);
            break;
        case fold_floats: s.a = as_bits(plus(as_float(x.a), as_float(y.a))); break;
        case fold_product: s.a = x.a * y.a; break;
        case fold_or: s.a = x.a | y.a; break;
        case fold_xor: s.a = x.a ^ y.a; break;
        case fold_float_product: s.a = as_bits(times(as_float(x.a), as_float(y.a))); break;
        case fold_least: s.a = y.a < x.a ? y.a : x.a; break;
        case fold_moments: {
            // Chan, Golub and LeVeque 1979: a is the mean, b the sum of the squared deviations.
            const f64 n = s.n, m = x.n, k = y.n, delta = plus(as_float(y.a), -as_float(x.a));
            s.a = as_bits(plus(as_float(x.a), times(delta, over(k, n))));
            s.b = as_bits(plus(plus(as_float(x.b), as_float(y.b)), times(times(delta, delta), over(times(m, k), n))));
            break;
        }
        case fold_decay: {
            // a is the weighted sum of the values, b that of the weights; the last weight is 1.
            const f64 factor = power(as_float(decay), y.n);
            s.a = as_bits(plus(times(as_float(x.a), factor), as_float(y.a)));
            s.b = as_bits(plus(times(as_float(x.b), factor), as_float(y.b)));
            break;
        }
        case fold_linear: // a is the value of the rows after a value of 0, b the product of their factors
            s.a = as_bits(plus(times(as_float(x.a), as_float(y.b)), as_float(y.a)));
            s.b = as_bits(times(as_float(x.b), as_float(y.b)));
            break;
        }
        return s;
    }

    // fold is fold_of for partitions that may begin among the rows.
    METHOD State fold_heads(const State &x, const State &y) const {
        State s = y.head != 0 ? y : fold_of(x, y);
        s.head = x.head | y.head;
        return s;
    }
};

// Segmented is a folding as scan.cuh takes it.
struct Segmented {
    Folding by;
    METHOD State none() const { return by.none(); }
    METHOD State fold(const State &x, const State &y) const { return by.fold_heads(x, y); }
};

// unkey returns the value of a key.
DEVICE u64 unkey(u64 key, u32 format, u32 flip) {
    if (format / 4 == class_float && key == ~0ull)
        return format % 4 == 1 ? nan_f16 : format % 4 == 2 ? nan_f32 : nan_f64;
    if (flip != 0)
        key = ~key;
    switch (format) {
    case 4 * class_float + 1: return unordered_f16((u32)key);
    case 4 * class_float + 2: return unordered_f32((u32)key);
    case 4 * class_float + 3: return unordered_f64(key);
    }
    return format / 4 == class_signed ? key ^ 1ull << 63 : key;
}

// Values is a column.
//go:layout valuesLayout
struct Values {
    const u8 *values, *valid;
    u64 bit;

    METHOD bool is_valid(u64 row) const {
        const u64 at = bit + row;
        return valid == nullptr || (valid[at >> 3] >> (at & 7) & 1) != 0;
    }

    // raw returns the bits of a row, 0 without values.
    METHOD u64 raw(u32 format, u64 row) const { return values == nullptr ? 0 : raw_at(values, format, row); }
};

// Writing is how a state becomes a value of a row.
//go:layout writingLayout
struct Writing {
    u8 *values;
    u32 *valid; // zero if the rows are listed
    u64 least;  // a result of fewer values is null
    u32 result;
    u32 freedom;
    u32 bytes; // of a result
    u32 unused;

    // value returns the value of a state. Most results are of one fold: a kernel of one fold
    // has the code of its own results only.
    METHOD u64 value(const Folding &by, const State &s, bool &ok) const {
        ok = s.n >= least && s.n > 0;
        if (result == result_count) {
            ok = s.n >= least;
            return s.n;
        }
        switch (by.fold) {
        case fold_integers: {
            const bool is_signed = by.signs() == class_signed;
            if (result == result_integer) {
                ok = ok && s.b == (is_signed ? (u64)((i64)s.a >> 63) : 0);
                return s.a;
            }
            const bool negative = is_signed && (i64)s.b < 0;
            const u64 low = negative ? -s.a : s.a, high = negative ? ~s.b + (s.a == 0 ? 1 : 0) : s.b;
            const f64 sum = plus(times((f64)high, 18446744073709551616.0), (f64)low);
            return as_bits(over(negative ? -sum : sum, s.n));
        }
        case fold_floats: return result == result_mean ? as_bits(over(as_float(s.a), s.n)) : s.a;
        case fold_least: return unkey(s.a, by.format, by.flip);
        case fold_moments: {
            ok = ok && s.n > freedom;
            const f64 variance = over(as_float(s.b), (f64)(i64)((i64)s.n - freedom));
            return as_bits(result == result_variance ? variance : __nvvm_sqrt_rn_d(variance));
        }
        case fold_decay: return as_bits(over(as_float(s.a), as_float(s.b)));
        }
        return s.a;
    }

    METHOD void store(u64 row, u64 value) const {
        switch (bytes) {
        case 1: values[row] = (u8)value; break;
        case 2: ((u16 *)values)[row] = (u16)value; break;
        case 4: ((u32 *)values)[row] = (u32)value; break;
        default: ((u64 *)values)[row] = value;
        }
    }
};
