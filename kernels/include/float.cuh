// Floats of decimal text, rounded correctly.
//
// The first 19 digits are an integer w. The product of w and a power of five of 128 bits
// gives a lower and an upper bound of the number. If both round to the same float, that is
// it. Otherwise all digits are compared with the number half way between two floats, as
// integers of up to 4,096 bits.
#pragma once
#include "gpuframe.cuh"

// Powers are the leading 128 bits of powers of five from 5^least on, rounded down: high and
// low word of each.
//go:layout powersLayout
struct Powers {
    const u64 *words;
};

static constexpr i32 least_power = -400, greatest_power = 400, exact_power = 55;

struct Float {
    u64 bits;
    bool ok;
};

// Decimal is the parts of a number in decimal.
struct Decimal {
    const u8 *digits, *end; // with a point among them
    u64 leading;            // the first 19 significant digits
    i32 exponent;           // of leading
    bool more;              // there are further digits that are not 0
};

DEVICE u64 high_product(u64 a, u64 b) { return (u64)((unsigned __int128)a * b >> 64); }

// Shape is a format of floats.
struct Shape {
    u32 mantissa;
    i32 least, bias; // the exponents of the lowest bit of the least float, and of the one encoded as 0
    u32 infinite;    // the encoded exponent of infinity
};

DEVICE Shape shape_of(u32 mantissa) { return mantissa == 53 ? Shape{53, -1074, 1075, 2047} : Shape{24, -149, 150, 255}; }

// rounded returns the float next to word · 2^exponent, of a word with its highest bit set;
// with further, the number is greater than that by less than one. Infinity is returned
// for numbers beyond the format.
DEVICE u64 rounded(u64 word, bool further, i32 exponent, const Shape &shape) {
    i32 shift = 64 - shape.mantissa;
    if (exponent + shift < shape.least)
        shift = shape.least - exponent;
    if (shift > 64)
        return 0;
    u64 kept = shift == 64 ? 0 : word >> shift;
    const u64 rest = shift == 64 ? word : word << (64 - shift), half = 1ull << 63;
    if (rest > half || rest == half && (further || (kept & 1) != 0))
        kept++;
    i32 lowest = exponent + shift;
    if (kept >> shape.mantissa != 0)
        kept >>= 1, lowest++;
    const u64 implicit = 1ull << (shape.mantissa - 1);
    if (kept < implicit)
        return kept; // a subnormal number or 0
    const u64 encoded = lowest + shape.bias;
    if (encoded >= shape.infinite)
        return (u64)shape.infinite << (shape.mantissa - 1);
    return encoded << (shape.mantissa - 1) | (kept & (implicit - 1));
}

// Big is a large natural number.
struct Big {
    static constexpr u32 most = 130;
    u32 limbs[most];
    u32 count;

    inline __device__ __attribute__((always_inline)) void multiply_add(u32 factor, u32 carry) {
        for (u32 i = 0; i < count; i++) {
            const u64 product = (u64)limbs[i] * factor + carry;
            limbs[i] = (u32)product, carry = product >> 32;
        }
        if (carry != 0 && count < most)
            limbs[count++] = carry;
    }

    // shift multiplies by 2^bits.
    inline __device__ __attribute__((always_inline)) void shift(u32 bits) {
        const u32 whole = bits / 32;
        if (count + whole > most)
            return;
        for (u32 i = count; i-- > 0;)
            limbs[i + whole] = limbs[i];
        for (u32 i = 0; i < whole; i++)
            limbs[i] = 0;
        count += whole;
        multiply_add(1u << bits % 32, 0);
    }

    inline __device__ __attribute__((always_inline)) void powers_of_five(u32 n) {
        for (; n >= 13; n -= 13)
            multiply_add(1220703125, 0);
        for (; n > 0; n--)
            multiply_add(5, 0);
    }
};

// compare returns the order of two numbers: -1, 0 or 1.
DEVICE i32 compare(const Big &a, const Big &b) {
    if (a.count != b.count)
        return a.count < b.count ? -1 : 1;
    for (u32 i = a.count; i-- > 0;)
        if (a.limbs[i] != b.limbs[i])
            return a.limbs[i] < b.limbs[i] ? -1 : 1;
    return 0;
}

// most_digits is the number of significant digits that are compared. Of the others it
// only matters whether one is not 0.
static constexpr u32 most_digits = 770;

// exact chooses between a float and the next one. exponent is the one of the last digit.
static __device__ __attribute__((noinline)) u64 exact(const u8 *at, const u8 *end, i32 exponent, u64 low, u32 mantissa) {
    const Shape shape = shape_of(mantissa);
    Big number, middle;
    number.count = middle.count = 0;
    u32 taken = 0, left_out = 0;
    bool more = false;
    for (; at < end; at++) {
        const u32 digit = *at - '0';
        if (digit > 9 || taken == 0 && digit == 0)
            continue; // a point, or a leading zero
        if (taken == most_digits) {
            left_out++;
            more |= digit != 0;
            continue;
        }
        number.multiply_add(10, digit);
        taken++;
    }
    exponent += left_out;
    if (more) { // one digit more
        number.multiply_add(10, 1);
        exponent--;
    }
    // The middle is mantissa · 2^lowest.
    u64 kept = low & ((1ull << (shape.mantissa - 1)) - 1);
    i32 lowest = shape.least;
    if (const u32 encoded = low >> (shape.mantissa - 1); encoded != 0) {
        kept |= 1ull << (shape.mantissa - 1);
        lowest = (i32)encoded - shape.bias;
    }
    kept = 2 * kept + 1, lowest--;
    middle.limbs[0] = (u32)kept, middle.limbs[1] = (u32)(kept >> 32);
    middle.count = middle.limbs[1] != 0 ? 2 : 1;
    if (exponent >= 0)
        number.powers_of_five(exponent);
    else
        middle.powers_of_five(-exponent);
    const i32 bits = exponent - lowest;
    if (bits >= 0)
        number.shift(bits);
    else
        middle.shift(-bits);
    const i32 order = compare(number, middle);
    return low + (order > 0 || order == 0 && (low & 1) != 0);
}

// to_float returns the float next to a number that is not 0.
DEVICE u64 to_float(const Decimal &d, const Powers &powers, u32 mantissa, i32 last) {
    const Shape shape = shape_of(mantissa);
    if (d.exponent < least_power)
        return 0;
    if (d.exponent > greatest_power)
        return (u64)shape.infinite << (shape.mantissa - 1);
    const u64 *const power = powers.words + 2 * (d.exponent - least_power);
    const u32 zeros = __builtin_clzll(d.leading);
    const u64 w = d.leading << zeros;
    // The product is of 192 bits: top, middle and bottom.
    u64 bottom = w * power[1];
    const u64 carried = high_product(w, power[1]);
    u64 middle = w * power[0] + carried;
    u64 top = high_product(w, power[0]) + (middle < carried);
    // The value of a power is its 128 bits times 2^(exponent of its highest bit - 127).
    const i32 power_bits = d.exponent >= 0 ? (i32)((u32)d.exponent * 152170u >> 16) : -(i32)(((u32)-d.exponent * 152170u + 65535) >> 16);
    i32 exponent = d.exponent + power_bits - 127 + 128 - (i32)zeros;
    const bool inexact = d.exponent < 0 || d.exponent > exact_power;
    // upper is the greatest product that the power and the omitted digits allow.
    u64 upper_top = top, upper_middle = middle;
    bool upper_further = true;
    if (inexact || d.more) {
        u64 add = 1; // to middle: w < 2^64 adds less than one
        upper_middle += add;
        upper_top += upper_middle < add;
        if (d.more) { // 2^zeros · (power + 1)
            const u64 more_middle = zeros == 0 ? 1 : (power[0] >> (64 - zeros)) + 1; // of the word above
            const u64 more_low = zeros == 0 ? power[0] : power[0] << zeros | power[1] >> (64 - zeros);
            const u64 before = upper_middle;
            upper_middle += more_low;
            upper_top += upper_middle < before;
            upper_top += more_middle;
        }
    } else {
        upper_further = middle != 0 || bottom != 0;
    }
    const bool overflowed = upper_top < top;
    bool further = middle != 0 || bottom != 0;
    i32 upper_exponent = exponent;
    if (overflowed) {
        upper_top = upper_top >> 1 | 1ull << 63;
        upper_further = true, upper_exponent++;
    } else if (upper_top >> 63 == 0) {
        upper_top = upper_top << 1 | upper_middle >> 63;
        upper_further = upper_further || upper_middle << 1 != 0;
        upper_exponent--;
    }
    if (top >> 63 == 0) {
        top = top << 1 | middle >> 63;
        further = middle << 1 != 0 || bottom != 0;
        exponent--;
    }
    const u64 low = rounded(top, further, exponent, shape), high = rounded(upper_top, upper_further, upper_exponent, shape);
    if (low == high)
        return low;
    return exact(d.digits, d.end, last, low, mantissa);
}

// is_word reports whether bytes are a word of small letters, in any case.
DEVICE bool is_word(const u8 *at, u64 length, const char *word, u64 count) {
    if (length != count)
        return false;
    for (u64 i = 0; i < count; i++)
        if ((at[i] | 0x20) != word[i])
            return false;
    return true;
}

// parse_float reads a float.
DEVICE Float parse_float(const u8 *at, u64 length, const Powers &powers, u32 mantissa) {
    const u8 *const end = at + length;
    const Shape shape = shape_of(mantissa);
    const u64 infinity = (u64)shape.infinite << (shape.mantissa - 1);
    if (is_word(at, length, "nan", 3))
        return {mantissa == 53 ? 0x7ff8000000000001ull : 0x7fc00000ull, true};
    u64 sign = 0;
    if (at < end && (*at == '+' || *at == '-')) {
        sign = *at == '-' ? 1ull << (mantissa == 53 ? 63 : 31) : 0;
        at++;
    }
    if (is_word(at, end - at, "inf", 3) || is_word(at, end - at, "infinity", 8))
        return {sign | infinity, true};
    Decimal d = {at, at, 0, 0, false};
    i64 exponent = 0;
    u32 taken = 0;
    bool any = false, point = false;
    for (; at < end; at++) {
        const u32 digit = *at - '0';
        if (digit > 9) {
            if (*at != '.' || point)
                break;
            point = true;
            continue;
        }
        any = true;
        exponent -= point;
        if (taken == 0 && digit == 0)
            continue;
        if (taken < 19) {
            d.leading = d.leading * 10 + digit;
            taken++;
        } else {
            d.more |= digit != 0;
            exponent++;
            taken++;
        }
    }
    if (!any)
        return {0, false};
    d.end = at;
    if (at < end) {
        if ((*at | 0x20) != 'e')
            return {0, false};
        at++;
        bool negative = false;
        if (at < end && (*at == '+' || *at == '-'))
            negative = *at++ == '-';
        if (at == end)
            return {0, false};
        i64 value = 0;
        for (; at < end; at++) {
            const u32 digit = *at - '0';
            if (digit > 9)
                return {0, false};
            if (value < 1000000000000)
                value = value * 10 + digit;
        }
        exponent += negative ? -value : value;
    }
    if (d.leading == 0)
        return {sign, true};
    d.exponent = exponent < -100000 ? -100000 : exponent > 100000 ? 100000 : (i32)exponent;
    const u64 bits = to_float(d, powers, mantissa, d.exponent - (taken > 19 ? (i32)taken - 19 : 0));
    return {sign | bits, bits != infinity};
}
