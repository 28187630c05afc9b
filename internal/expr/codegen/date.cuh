#pragma once
#include "math.cuh"

// Civil is a date: the year, and one word with the day of the year, month and day, the
// last two in eight bits each.
struct Civil {
    i64 year;
    u64 rest;
};

// gpuframe_civil returns the date, in the proleptic Gregorian calendar, that is days
// after 1970-01-01: civil_from_days of Howard Hinnant, "chrono-Compatible Low-Level
// Date Algorithms" (2013). Internally years begin in March, so that the leap day is the
// last.
DEVICE Civil civil(i64 days) {
    const i64 z = days + 719468;
    const i64 era = (z >= 0 ? z : z - 146096) / 146097;
    const u32 day_of_era = (u32)(z - era * 146097);
    const u32 year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    const u32 day_from_march = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const u32 month_from_march = (5 * day_from_march + 2) / 153;
    const u32 day = day_from_march - (153 * month_from_march + 2) / 5 + 1;
    const bool next = month_from_march >= 10;
    const u32 month = next ? month_from_march - 9 : month_from_march + 3;
    // Dates from March to December are in calendar year era * 400 + year_of_era. That
    // number determines the leap year.
    const bool leap = year_of_era % 4 == 0 && (year_of_era % 100 != 0 || year_of_era == 0);
    const u32 day_of_year = next ? day_from_march - 305 : day_from_march + 60 + leap;
    return {era * 400 + year_of_era + next, (u64)day_of_year << 16 | month << 8 | day};
}

FUNCTION Civil gpuframe_civil(i64 days) { return civil(days); }

// floor_divide rounds down; d is positive.
DEVICE i64 floor_divide(i64 v, i64 d) { return v / d - (v % d < 0); }

// day_of returns the number of the last day of a month up to a given one. Months are
// counted from January of year 0. It is days_from_civil of Hinnant.
DEVICE i64 day_of(i64 months, u32 day) {
    const i64 calendar_year = floor_divide(months, 12);
    const u32 month = (u32)(months - calendar_year * 12) + 1;
    const i64 year = calendar_year - (month <= 2);
    const i64 era = floor_divide(year, 400);
    const u32 year_of_era = (u32)(year - era * 400);
    const bool leap = calendar_year % 4 == 0 && (calendar_year % 100 != 0 || calendar_year % 400 == 0);
    const u32 length = month == 2 ? 28 + leap : 30 + (month + (month >> 3) & 1);
    const u32 in_month = day < length ? day : length;
    const u32 day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + in_month - 1;
    return era * 146097 + (i64)(year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year) - 719468;
}

// gpuframe_add_months moves a day by months, gpuframe_floor_months returns the first day
// of a number of months that divides 12, or of years.
FUNCTION i64 gpuframe_add_months(i64 days, i64 months) {
    const Civil c = civil(days);
    return day_of(c.year * 12 + (i64)(c.rest >> 8 & 0xff) - 1 + months, (u32)(c.rest & 0xff));
}

FUNCTION i64 gpuframe_floor_months(i64 days, i64 months) {
    const Civil c = civil(days);
    const i64 month = (i64)(c.rest >> 8 & 0xff) - 1;
    if (months > 12)
        return day_of(floor_divide(c.year * 12, months) * months, 1);
    return day_of(c.year * 12 + month - (u32)month % (u32)months, 1);
}
