// Values of fields.
#pragma once
#include "float.cuh"
#include "rows.cuh"
#include "times.cuh"

// Value is a value of up to 16 bytes.
struct Value {
    u64 low, high;
    bool ok;
};

static constexpr Value no_value = {0, 0, false};

// parse_natural reads digits.
DEVICE Value parse_natural(const u8 *at, u32 length) {
    constexpr u64 most = 0xffffffffffffffff;
    if (length == 0)
        return no_value;
    u64 value = 0;
    for (u32 i = 0; i < length; i++) {
        const u32 digit = at[i] - '0';
        if (digit > 9 || value > (most - digit) / 10)
            return no_value;
        value = value * 10 + digit;
    }
    return {value, 0, true};
}

// parse_integer reads digits behind a sign or without one.
DEVICE Value parse_integer(const Field &field, u32 bits, bool has_sign) {
    const bool sign = has_sign && field.length > 0 && (*field.at == '-' || *field.at == '+'), negative = sign && *field.at == '-';
    Value value = parse_natural(field.at + sign, field.length - sign);
    const u64 limit = has_sign ? (1ull << (bits - 1)) - 1 + negative : ~0ull >> (64 - bits);
    value.ok = value.ok && value.low <= limit;
    if (negative)
        value.low = 0 - value.low;
    return value;
}

DEVICE Value parse_bool(const Field &field) {
    const u8 *const at = field.at;
    if (field.length == 4 && (at[0] | 0x20) == 't' && at[1] == 'r' && at[2] == 'u' && at[3] == 'e')
        return {1, 0, true};
    const bool is_false = field.length == 5 && (at[0] | 0x20) == 'f' && at[1] == 'a' && at[2] == 'l' && at[3] == 's' && at[4] == 'e';
    return {0, 0, is_false};
}

DEVICE Value parse_date(const Field &field, i64 unit) {
    if (field.length != 10)
        return no_value;
    const Instant day = timestamp(field.at, 10, 1);
    return {(u64)(day.value / 86400 * unit), 0, day.ok};
}

// Digits are those of a decimal, without zeros at both ends.
struct Digits {
    unsigned __int128 value;
    i32 count, exponent; // of the last digit
    bool ok;
};

static constexpr i32 most_decimal_digits = 38, most_exponent = 1000;

// parse_power reads the power of ten behind an e. Its digits are few.
DEVICE Value parse_power(const u8 *at, u32 length) {
    Value power = parse_integer(Field{at, length, false}, 32, true);
    const i64 value = (i64)power.low;
    power.ok = power.ok && value >= -most_exponent && value <= most_exponent;
    return power;
}

DEVICE Digits parse_digits(const u8 *at, const u8 *end) {
    Digits digits = {0, 0, 0, true};
    i32 zeros = 0, fraction = 0, shift = 0;
    bool any = false, point = false;
    for (; at < end; at++) {
        const u32 digit = *at - '0';
        if (*at == '.' && !point) {
            point = true;
            continue;
        }
        if (digit > 9)
            break;
        any = true;
        fraction += point;
        if (digit == 0) {
            zeros += digits.count > 0;
            continue;
        }
        digits.count += zeros + 1;
        if (digits.count > most_decimal_digits)
            return {0, 0, 0, false};
        for (; zeros >= 0; zeros--)
            digits.value *= 10;
        digits.value += digit;
        zeros = 0;
    }
    // Zeros before the first digit are counted by the fraction alone.
    digits.ok = any;
    if (at < end) {
        if ((*at | 0x20) != 'e')
            return {0, 0, 0, false};
        const Value power = parse_power(at + 1, (u32)(end - at - 1));
        digits.ok = digits.ok && power.ok;
        shift = (i32)power.low;
    }
    digits.exponent = shift - fraction + zeros;
    return digits;
}

// parse_decimal reads the unscaled value of a decimal. Digits beyond the scale are zeros.
DEVICE Value parse_decimal(const Field &field, i32 precision, i32 scale) {
    const bool sign = field.length > 0 && (*field.at == '-' || *field.at == '+'), negative = sign && *field.at == '-';
    Digits digits = parse_digits(field.at + sign, field.at + field.length);
    if (!digits.ok)
        return no_value;
    if (digits.count == 0)
        return {0, 0, true};
    const i32 shift = digits.exponent + scale;
    if (shift < 0 || digits.count + shift > precision)
        return no_value;
    for (i32 i = 0; i < shift; i++)
        digits.value *= 10;
    if (negative)
        digits.value = 0 - digits.value;
    return {(u64)digits.value, (u64)(digits.value >> 64), true};
}

DEVICE Value parse_value(const Column &column, const Field &field, const Powers &powers) {
    switch (column.form) {
    case integer:
    case natural:
        return parse_integer(field, column.bytes * 8, column.form == integer);
    case floating: {
        const Float number = parse_float(field.at, field.length, powers, column.bytes == 8 ? 53 : 24);
        return {number.bits, 0, number.ok};
    }
    case boolean:
        return parse_bool(field);
    case date32:
        return parse_date(field, 1);
    case date64:
        return parse_date(field, 86400000);
    case instant: {
        const Instant at = timestamp(field.at, field.length, column.unit);
        return {(u64)at.value, 0, at.ok && (at.exact || column.cut != 0)};
    }
    case decimal:
        return parse_decimal(field, (i32)column.precision, column.scale);
    }
    return no_value;
}

DEVICE void write_value(const Column &column, u64 row, const Value &value) {
    const u64 to = column.values + row * column.bytes;
    switch (column.bytes) {
    case 1:
        return store<u8>(to, (u8)value.low);
    case 2:
        return store<u16>(to, (u16)value.low);
    case 4:
        return store<u32>(to, (u32)value.low);
    case 8:
        return store<u64>(to, value.low);
    }
    store<u64>(to, value.low);
    store<u64>(to + 8, value.high);
}

// Cell is a row of a column.
struct Cell {
    Field field; // the text of the value
    bool valid;
    bool wrong;   // whether the column cannot have the value
    bool counted; // whether a date or a timestamp is a number of its units
};

DEVICE Value parse_cell(const Column &column, const Cell &cell, const Powers &powers) {
    if (cell.counted && (column.form == date32 || column.form == date64 || column.form == instant))
        return parse_integer(cell.field, column.bytes * 8, true);
    return parse_value(column, cell.field, powers);
}

// parse_tile writes the values of the rows of a tile, and the lengths of their texts. A warp has 32 rows of a column at a
// time. Cells finds those of a column, and the length of a text.
template <u32 tile_rows, u32 threads, typename Cells> DEVICE void parse_tile(const Column *columns, Result *results, u32 count, Outcome *outcome, const Rows &rows, const Cells &cells, const Powers &powers) {
    constexpr u32 groups = tile_rows / warp_threads;
    const u32 lane = lane_in_warp();
    bool ok = true;
    for (u32 item = thread_in_block() / warp_threads; item < count * groups; item += threads / warp_threads) {
        const u32 index = item / groups, own = item % groups * warp_threads + lane;
        if (own - lane >= (rows.count + 63) / 64 * 64) // bitmaps have whole words of 64 bits
            continue;
        const Column column = columns[index];
        const u64 row = (u64)rows.first + own;
        const bool within = own < rows.count;
        Cell cell = {{nullptr, 0, false}, false, false, false};
        Value value = no_value;
        u32 length = 0;
        if (within && column.place != none)
            cell = cells.cell(column, index, rows.first + own);
        if (cell.valid && column.form == text_form) {
            length = cells.length(cell.field);
        } else if (cell.valid) {
            value = parse_cell(column, cell, powers);
            ok = ok && value.ok;
        }
        ok = ok && !cell.wrong;
        const u32 bits = ballot(cell.valid), absent = __builtin_popcount(ballot(within && !cell.valid));
        if (lane == 0) {
            store<u32>(column.bitmap + row / 8, bits);
            if (absent != 0)
                __atomic_fetch_add(&results[index].absent, (u64)absent, __ATOMIC_RELAXED);
        }
        if (column.form == boolean) {
            const u32 word = ballot(value.low != 0);
            if (lane == 0)
                store<u32>(column.values + row / 8, word);
        } else if (column.form == text_form) {
            const u32 total = warp_fold(length, Sum<u32>());
            if (lane == 0)
                store<u32>(column.lengths + row / 32 * 4, total);
        } else if (within) {
            write_value(column, row, value);
        }
    }
    if (!ok)
        fault(outcome, bad_value);
}
