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
FUNCTION Civil gpuframe_civil(i64 days) {
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
