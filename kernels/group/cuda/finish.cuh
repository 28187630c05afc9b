// Results of aggregates: finish.go has the same steps.
#pragma once

#include "decimals.cuh"
#include "exact_sum.cuh"
#include "source.cuh"

// most_states is the most states of an aggregate.
//go:layout
static constexpr u32 most_states = 6;

// Finish is the way in which a result is made of states.
//go:layout finish
enum Finish : u32 {
    finish_count,        // the first state's count
    finish_difference,   // that count minus the second state's
    finish_integer,      // a sum of 128 bits, or null if it overflows
    finish_decimal,      // a sum of 192 bits, or null if it overflows 38 digits
    finish_product,      // a product
    finish_extreme,      // the value of an image
    finish_mean,         // a sum of 128 bits divided by the count
    finish_mean_decimal, // a sum of 192 bits times a factor, divided by the count: aggregate.DecimalMean
    finish_float,        // a sum of floats
    finish_mean_float,   // the same divided by the count
    finish_variance,
    finish_deviation,
    finish_covariance,
    finish_correlation,
    finish_skewness,
    finish_kurtosis,
    finish_row, // the number of a row
    // finish_state makes the state of an accumulator, as accumulator.go describes it, of the kind that form is.
    finish_state = 255,
};

// Finishing is the last step of an aggregate. The last state counts the values if counted
// is set. lengths has 4 bits for the number of words of each state. The states of two groups
// are stride words apart, or adjacent if it is 0.
//go:layout finishingLayout
struct Finishing {
    u32 finish, form, is_signed, least, counted, states, lengths, stride;
    u64 argument;
    const u64 *state[most_states];

    METHOD u32 words(u32 i) const { return lengths >> 4 * i & 0xf; }

    METHOD const u64 *of(u32 i, u64 group) const { return state[i] + (stride != 0 ? stride : words(i)) * group; }
};

struct Value {
    u64 low, high;
    bool valid;
};

DEVICE u64 real_bits(f64 x) { return x == x ? __builtin_bit_cast(u64, x) : nan_f64; }

// integer_sum returns the sum of integers of 128 bits as float_sum does: the same bits, because
// float_sum drops no bit of a sum of integers.
DEVICE Double integer_sum(const u64 *state) {
    Wide total = wide(state[0], state[1], (u64)((i64)state[1] >> 63));
    const f64 high = rounded(total, 0), low = rounded(total, 0);
    return Double{high, low};
}

// power_sum returns a sum of powers, of integers if the state has two words.
DEVICE Double power_sum(const u64 *state, u32 words) { return words == 2 ? integer_sum(state) : float_sum(state, words); }

// scaled_covariance returns n·Σxy − Σx·Σy, or 0 if that is not larger than the error of the
// products.
DEVICE Double scaled_covariance(Double xy, Double x, Double y, f64 n) {
    const Double scaled = times(xy, n), product = times(x, y), difference = minus(scaled, product);
    return __builtin_fabs(difference.high) <= multiply(__builtin_fabs(product.high), 0x1p-100) ? Double{0, 0} : difference;
}

// excess_kurtosis returns the kurtosis minus 3 of n values by the sums of their powers. sample corrects it for
// the number of values.
DEVICE u64 excess_kurtosis(const Double *sum, f64 n, bool sample) {
    const Double square = times(sum[0], sum[0]);
    const Double inner = minus(times(sum[3], n), times(times(sum[2], sum[0]), 4));
    const Double outer = plus(times(inner, n), times(times(times(sum[1], sum[0]), sum[0]), 6));
    const f64 fourth = minus(times(outer, n), times(times(times(square, sum[0]), sum[0]), 3)).high;
    const f64 second = scaled_covariance(sum[1], sum[0], sum[0], n).high;
    if (!(second > 0))
        return nan_f64;
    f64 x = fourth / multiply(second, second);
    x = subtract(x < 1 ? 1 : x, 3);
    if (sample)
        x = multiply(add(multiply(n + 1, x), 6), n - 1) / multiply(n - 2, n - 3);
    return real_bits(x);
}

// moment returns a result of sums of powers.
template <typename Steps> DEVICE Value moment(const Steps &f, u64 group, u64 n) {
    const f64 count = (f64)n;
    Double sum[5];
    for (u32 i = 0; i < 5; i++)
        sum[i] = i + 1 < f.states ? power_sum(f.of(i, group), f.words(i)) : Double{0, 0};
    if (f.finish == finish_correlation) {
        const f64 xy = scaled_covariance(sum[2], sum[0], sum[1], count).high, xx = scaled_covariance(sum[3], sum[0], sum[0], count).high,
                  yy = scaled_covariance(sum[4], sum[1], sum[1], count).high;
        if (!(xx > 0) || !(yy > 0))
            return Value{nan_f64, 0, n >= 2};
        f64 x = xy / multiply(__builtin_sqrt(xx), __builtin_sqrt(yy));
        x = x > 1 ? 1 : x;
        x = x < -1 ? -1 : x;
        return Value{real_bits(x), 0, n >= 2};
    }
    if (f.finish == finish_skewness) {
        const f64 third = plus(minus(times(times(sum[2], count), count), times(times(times(sum[0], sum[1]), count), 3)),
                               times(times(times(sum[0], sum[0]), sum[0]), 2))
                              .high;
        const f64 second = scaled_covariance(sum[1], sum[0], sum[0], count).high;
        return Value{second > 0 ? real_bits(third / multiply(second, __builtin_sqrt(second))) : nan_f64, 0, true};
    }
    if (f.finish == finish_kurtosis)
        return Value{excess_kurtosis(sum, count, f.argument != 0), 0, n > 3 * f.argument};
    const bool joint = f.finish == finish_covariance;
    f64 x = scaled_covariance(joint ? sum[2] : sum[1], sum[0], joint ? sum[1] : sum[0], count).high;
    if (!joint && x < 0)
        x = 0;
    x = x / count / (f64)(n - f.argument);
    if (f.finish == finish_deviation)
        x = __builtin_sqrt(x);
    return Value{real_bits(x), 0, n > f.argument};
}

template <typename Steps> DEVICE u64 extreme(const Steps &f, u64 image) {
    const bool is_float = f.form >= from_f16 && f.form <= from_f64;
    const bool is_nan = is_float && image == 0;
    if (f.least != 0)
        image = ~image;
    if (!is_float)
        return f.is_signed != 0 ? image ^ 1ull << 63 : image;
    const f64 x = __builtin_bit_cast(f64, unordered_f64(image));
    if (f.form == from_f64)
        return is_nan ? nan_f64 : __builtin_bit_cast(u64, x);
    if (f.form == from_f32)
        return is_nan ? nan_f32 : __builtin_bit_cast(u32, (f32)x);
    u16 half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"((f32)x));
    return is_nan ? nan_f16 : half;
}

// value_of returns the result of a group. Steps is a Finishing, or a type with its members.
template <typename Steps> DEVICE Value value_of(const Steps &f, u64 group) {
    const u64 *const first = f.of(0, group);
    const u64 n = f.counted != 0 ? *f.of(f.states - 1, group) : 1;
    if (n == 0)
        return Value{0, 0, false};
    switch (f.finish) {
    case finish_count: return Value{first[0], 0, true};
    case finish_difference: return Value{first[0] - *f.of(1, group), 0, true};
    case finish_integer: return Value{first[0], 0, first[1] == (f.is_signed != 0 ? (u64)((i64)first[0] >> 63) : 0)};
    case finish_decimal: return Value{first[0], first[1], fits_decimal(wide(first[0], first[1], first[2]))};
    case finish_product: return Value{first[0] ^ 1, 0, true};
    case finish_extreme: return Value{extreme(f, first[0]), 0, true};
    case finish_mean: {
        Wide total = wide(first[0], first[1], (u64)((i64)first[1] >> 63));
        return Value{real_bits(rounded(total, 0) / (f64)n), 0, true};
    }
    case finish_mean_decimal: {
        const Wide mean = mean_decimal(wide(first[0], first[1], first[2]), n, (u32)f.argument);
        return Value{mean.word[0], mean.word[1], fits_decimal(mean)};
    }
    case finish_float: return Value{real_bits(float_sum(first, f.words(0)).high), 0, true};
    case finish_mean_float: return Value{real_bits(float_sum(first, f.words(0)).high / (f64)n), 0, true};
    case finish_row: {
        const u64 image = first[f.words(0) - 1];
        return Value{(f.words(0) == 2 || f.least != 0 ? ~image : image) - 1, 0, image != 0};
    }
    }
    return moment(f, group, n);
}

// write_value writes the result of group i, for all groups up to the next multiple of 64 of the
// capacity, and a bit of the validity if valid is not null. All lanes of a warp call it with
// consecutive groups.
DEVICE void write_value(u8 *values, u32 *valid, u32 form, u64 capacity, u64 i, Value v) {
    const u32 there = ballot(v.valid), truth = ballot(v.valid && v.low != 0);
    if (lane_in_warp() == 0 && valid != nullptr)
        valid[i / warp_threads] = there;
    if (form == from_bits) {
        if (lane_in_warp() == 0)
            ((u32 *)values)[i / warp_threads] = truth;
        return;
    }
    if (i >= capacity)
        return;
    if (!v.valid)
        v.low = v.high = 0;
    switch (form) {
    case from_i8:
    case from_u8: values[i] = (u8)v.low; break;
    case from_i16:
    case from_u16:
    case from_f16: ((u16 *)values)[i] = (u16)v.low; break;
    case from_i32:
    case from_u32:
    case from_f32: ((u32 *)values)[i] = (u32)v.low; break;
    case from_decimal:
        ((u64 *)values)[2 * i] = v.low;
        ((u64 *)values)[2 * i + 1] = v.high;
        break;
    default: ((u64 *)values)[i] = v.low;
    }
}
