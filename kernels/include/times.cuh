// Dates and timestamps of text, as internal/text/textvalue reads them on the host.
#pragma once
#include "gpuframe.cuh"

struct Parsed {
    i64 value;
    bool ok;
};

// Instant is a timestamp. It is exact if no digit but zeros was cut off.
struct Instant {
    i64 value;
    bool ok, exact;
};

// digits reads a number of digits.
DEVICE Parsed digits(const u8 *at, u32 count) {
    i64 value = 0;
    for (u32 i = 0; i < count; i++) {
        const u32 digit = at[i] - '0';
        if (digit > 9)
            return {0, false};
        value = value * 10 + digit;
    }
    return {value, true};
}

// days_of returns the days from 1970-01-01 to a date, or false for dates that do not exist.
DEVICE Parsed days_of(i64 year, i64 month, i64 day) {
    if (month < 1 || month > 12 || day < 1)
        return {0, false};
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    const i64 length = month == 2 ? 28 + leap : 30 + (month + (month > 7) & 1);
    if (day > length)
        return {0, false};
    // Years begin in March, so the leap day is the last one.
    const i64 y = year - (month <= 2) + 400, m = month + (month > 2 ? -3 : 9);
    const i64 era = y / 400, of_era = y % 400;
    const i64 of_year = (153 * m + 2) / 5 + day - 1;
    return {era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468 - 146097, true};
}

// timestamp reads YYYY-MM-DD, with a time HH:MM, HH:MM:SS or HH:MM:SS.fraction behind T or a
// space, and then Z or an offset ±HH:MM, ±HHMM or ±HH. unit is the number of units in a
// second. Digits of the fraction beyond the unit are cut off.
DEVICE Instant timestamp(const u8 *at, u64 length, i64 unit) {
    if (length < 10 || at[4] != '-' || at[7] != '-')
        return {0, false, false};
    const Parsed year = digits(at, 4), month = digits(at + 5, 2), day = digits(at + 8, 2);
    const Parsed days = days_of(year.value, month.value, day.value);
    bool ok = year.ok && month.ok && day.ok && days.ok;
    i64 second = days.value * 86400, nanosecond = 0;
    u64 i = 10;
    if (length > 10) {
        if (length < 16 || at[10] != 'T' && at[10] != ' ' || at[13] != ':')
            return {0, false, false};
        const Parsed hour = digits(at + 11, 2), minute = digits(at + 14, 2);
        ok = ok && hour.ok && minute.ok && hour.value < 24 && minute.value < 60;
        second += hour.value * 3600 + minute.value * 60;
        i = 16;
        if (length >= 19 && at[16] == ':') {
            const Parsed seconds = digits(at + 17, 2);
            ok = ok && seconds.ok && seconds.value < 60;
            second += seconds.value;
            i = 19;
            if (i < length && at[i] == '.') {
                u32 places = 0;
                for (i++; i < length && (u32)(at[i] - '0') <= 9; i++, places++)
                    nanosecond = nanosecond * 10 + (at[i] - '0') * (places < 9);
                if (places == 0 || places > 9)
                    return {0, false, false};
                for (; places < 9; places++)
                    nanosecond *= 10;
            }
        }
        if (i < length && at[i] == 'Z') {
            i++;
        } else if (i < length && (at[i] == '+' || at[i] == '-')) {
            const u64 left = length - i;
            if (left != 3 && left != 5 && left != 6 || left == 6 && at[i + 3] != ':')
                return {0, false, false};
            const Parsed hours = digits(at + i + 1, 2), minutes = left == 3 ? Parsed{0, true} : digits(at + length - 2, 2);
            ok = ok && hours.ok && minutes.ok && hours.value < 24 && minutes.value < 60;
            const i64 offset = hours.value * 3600 + minutes.value * 60;
            second -= at[i] == '-' ? -offset : offset;
            i = length;
        }
        if (i != length)
            return {0, false, false};
    }
    const i64 nanoseconds = 1000000000 / unit;
    i64 value = 0, fraction = nanosecond / nanoseconds;
    if (second < 0 && fraction > 0) // the seconds alone may not fit
        second++, fraction -= unit;
    ok = ok && !__builtin_mul_overflow(second, unit, &value) && !__builtin_add_overflow(value, fraction, &value);
    return {value, ok, nanosecond % nanoseconds == 0};
}
