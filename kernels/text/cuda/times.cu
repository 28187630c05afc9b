// Times as texts of a format, and back: see timeformat.go.
#include "../../../internal/expr/codegen/math.cuh"
#undef FUNCTION
#define FUNCTION DEVICE // functions that are not called are left out
#include "../../../internal/expr/codegen/date.cuh"
#include "strings.cuh"

// Directive is a part of a format of times. Values below 256 are bytes that stand for
// themselves.
//go:layout directive
enum Directive : u16 {
    year_number = 256, year_of_century, month_number, day_of_month, day_of_year, hour_number, hour_of_half, minute_number, second_number,
    microseconds, milliseconds, nanoseconds, half_of_day, month_name, month_short, weekday_name, weekday_short, weekday_number, iso_week, iso_year,
    zone_offset,
};

static __constant__ char months[] = "January  February March    April    May      June     July     August   SeptemberOctober  November December ";
static __constant__ char weekdays[] = "Monday   Tuesday  WednesdayThursday Friday   Saturday Sunday   ";
static constexpr u32 name_width = 9;

// Format is the directives.
//go:layout formatLayout
struct Format {
    const u16 *directives;
    u32 count;
};

// Times is a column of times.
//go:layout timesLayout any
struct Times {
    const void *values;
    const u8 *valid;
    u64 bit;
    const i64 *counted;
    i64 rows;
    u64 capacity;
    i64 unit; // in a second, or 0 for days in 4 bytes
};

// Writer writes bytes, or counts them if out is null.
struct Writer {
    u8 *out;
    u32 count;

    inline __device__ __attribute__((always_inline)) void put(u8 c) {
        if (out != nullptr)
            out[count] = c;
        count++;
    }

    inline __device__ __attribute__((always_inline)) void number(u32 value, u32 digits) {
        if (out != nullptr)
#pragma nounroll
            for (u32 k = digits; k-- > 0; value /= 10)
                out[count + k] = (u8)('0' + value % 10);
        count += digits;
    }

    inline __device__ __attribute__((always_inline)) void name(const char *names, u32 index, u32 most) {
#pragma nounroll
        for (u32 k = 0; k < most && names[index * name_width + k] != ' '; k++)
            put((u8)names[index * name_width + k]);
    }
};

// Part is a time taken apart.
struct Part {
    u32 year, month, day, of_year, weekday, second, nanosecond; // second is of the day
    i64 days;
};

// part_of takes a time apart. It reports false for years other than 0 to 9999.
DEVICE bool part_of(const Times &times, u64 i, Part &part) {
    i64 days, within = 0, rest = 0;
    if (times.unit == 0)
        days = ((const i32 *)times.values)[i];
    else {
        const i64 value = ((const i64 *)times.values)[i], second = floor_divide(value, times.unit);
        rest = value - second * times.unit;
        days = floor_divide(second, 86400);
        within = second - days * 86400;
    }
    const Civil date = civil(days);
    const i64 weekday = (days + 3) % 7;
    part = {(u32)date.year, (u32)(date.rest >> 8 & 0xff), (u32)(date.rest & 0xff), (u32)(date.rest >> 16), (u32)(weekday < 0 ? weekday + 7 : weekday),
            (u32)within, times.unit == 0 ? 0 : (u32)(rest * (1000000000 / times.unit)), days};
    return date.year >= 0 && date.year <= 9999;
}

DEVICE void write_time(Writer &to, const Part &part, const Format &format) {
#pragma nounroll
    for (u32 k = 0; k < format.count; k++) {
        const u32 directive = format.directives[k], hour = part.second / 3600;
        switch (directive) {
        case year_number:
            to.number(part.year, 4);
            break;
        case year_of_century:
            to.number(part.year % 100, 2);
            break;
        case month_number:
            to.number(part.month, 2);
            break;
        case day_of_month:
            to.number(part.day, 2);
            break;
        case day_of_year:
            to.number(part.of_year, 3);
            break;
        case hour_number:
            to.number(hour, 2);
            break;
        case hour_of_half:
            to.number((hour + 11) % 12 + 1, 2);
            break;
        case minute_number:
            to.number(part.second / 60 % 60, 2);
            break;
        case second_number:
            to.number(part.second % 60, 2);
            break;
        case microseconds:
            to.number(part.nanosecond / 1000, 6);
            break;
        case milliseconds:
            to.number(part.nanosecond / 1000000, 3);
            break;
        case nanoseconds:
            to.number(part.nanosecond, 9);
            break;
        case half_of_day:
            to.put(hour < 12 ? 'A' : 'P');
            to.put('M');
            break;
        case month_name:
        case month_short:
            to.name(months, part.month - 1, directive == month_name ? name_width : 3);
            break;
        case weekday_name:
        case weekday_short:
            to.name(weekdays, part.weekday, directive == weekday_name ? name_width : 3);
            break;
        case weekday_number:
            to.number(part.weekday + 1, 1);
            break;
        case iso_week:
        case iso_year: {
            const Civil thursday = civil(part.days - part.weekday + 3);
            if (directive == iso_week)
                to.number(((u32)(thursday.rest >> 16) - 1) / 7 + 1, 2);
            else
                to.number((u32)thursday.year, 4);
            break;
        }
        case zone_offset:
            to.put('+');
            to.number(0, 4);
            break;
        default:
            to.put((u8)directive);
        }
    }
}

// format_times writes the texts, or if out is null their lengths and the bitmap of those
// that exist.
KERNEL LAUNCH_BOUNDS(256) format_times(u8 *out, const i64 *ends, u64 *lengths, u32 *out_valid, Times times, Format format) {
    const u64 n = device_rows(times.counted, times.rows), step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < (times.capacity + 63) / 64 * 64; i += step) {
        bool ok = i < n && (times.valid == nullptr || (times.valid[(times.bit + i) / 8] >> ((times.bit + i) % 8) & 1) != 0);
        Writer to = {nullptr, 0};
        Part part;
        if (ok)
            ok = part_of(times, i, part);
        if (ok) {
            if (out != nullptr)
                to.out = out + (i == 0 ? 0 : ends[i - 1]);
            write_time(to, part, format);
        }
        if (out != nullptr)
            continue;
        const u32 word = ballot(ok);
        if (lane_in_warp() == 0)
            out_valid[i / warp_threads] = word;
        if (i < times.capacity)
            lengths[i] = to.count;
    }
}

// Reader reads a text from its begin on.
struct Reader {
    const u8 *at, *end;
    bool ok;

    // digits reads a number of digits: at least some, at most others. It returns how many.
    inline __device__ __attribute__((always_inline)) u32 digits(u32 least, u32 most, u32 &value) {
        u32 count = 0;
        value = 0;
#pragma nounroll
        for (; count < most && at < end && *at - '0' < 10u; count++)
            value = value * 10 + (*at++ - '0');
        ok = ok && count >= least;
        return count;
    }

    // name reads one of the names in letters of either case.
    inline __device__ __attribute__((always_inline)) u32 name(const char *names, u32 count, bool whole) {
#pragma nounroll
        for (u32 index = 0; index < count; index++) {
            const char *name = names + index * name_width;
            u32 k = 0;
#pragma nounroll
            while (k < (whole ? name_width : 3) && name[k] != ' ' && at + k < end && (at[k] | 0x20) == (name[k] | 0x20))
                k++;
            if (k == name_width || k >= 3 && (!whole || name[k] == ' ')) {
                at += k;
                return index;
            }
        }
        ok = false;
        return 0;
    }
};

// parse_times reads texts of a format. The unit is 0 for dates.
KERNEL LAUNCH_BOUNDS(256) parse_times(void *out, u32 *out_valid, Strings in, Format format, i64 unit) {
    const u64 n = device_rows(in.counted, in.rows), step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < (in.capacity + 63) / 64 * 64; i += step) {
        const Row row = row_of(in, n, i);
        Reader text = {row.begin, row.begin + row.length, row.valid};
        u32 year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0, nanosecond = 0, half = 2, of_year = 0, value;
        i64 offset = 0;
#pragma nounroll
        for (u32 k = 0; k < format.count && text.ok; k++) {
            const u32 directive = format.directives[k];
            switch (directive) {
            case year_number:
                text.digits(4, 4, year);
                break;
            case year_of_century:
                text.digits(2, 2, year);
                year += year >= 69 ? 1900 : 2000;
                break;
            case month_number:
                text.digits(2, 2, month);
                break;
            case day_of_month:
                text.digits(2, 2, day);
                break;
            case day_of_year:
                text.digits(3, 3, of_year);
                text.ok = text.ok && of_year > 0;
                break;
            case hour_number:
                text.digits(2, 2, hour);
                text.ok = text.ok && hour < 24;
                break;
            case hour_of_half:
                text.digits(2, 2, hour);
                text.ok = text.ok && hour - 1 < 12;
                break;
            case minute_number:
                text.digits(2, 2, minute);
                text.ok = text.ok && minute < 60;
                break;
            case second_number:
                text.digits(2, 2, second);
                text.ok = text.ok && second < 60;
                break;
            case microseconds:
            case milliseconds:
            case nanoseconds:
#pragma nounroll
                for (u32 count = text.digits(1, 9, nanosecond); count < 9; count++)
                    nanosecond *= 10;
                break;
            case half_of_day:
                text.ok = text.end - text.at >= 2 && (text.at[1] | 0x20) == 'm' && ((text.at[0] | 0x20) == 'a' || (text.at[0] | 0x20) == 'p');
                half = text.ok && (text.at[0] | 0x20) == 'p';
                text.at += 2;
                break;
            case month_name:
            case month_short:
                month = text.name(months, 12, directive == month_name) + 1;
                break;
            case weekday_name:
            case weekday_short:
                text.name(weekdays, 7, directive == weekday_name);
                break;
            case zone_offset: {
                const bool negative = text.at < text.end && *text.at == '-';
                if (text.at < text.end && *text.at == 'Z') {
                    text.at++;
                    break;
                }
                text.ok = negative || text.at < text.end && *text.at == '+';
                text.at++;
                text.digits(2, 2, value);
                text.ok = text.ok && value < 24;
                offset = value * 3600;
                if (text.at < text.end && *text.at == ':')
                    text.at++;
                text.digits(2, 2, value);
                text.ok = text.ok && value < 60;
                offset += value * 60;
                offset = negative ? -offset : offset;
                break;
            }
            default:
                text.ok = text.at < text.end && *text.at == directive;
                text.at++;
            }
        }
        bool ok = text.ok && text.at == text.end && month - 1 < 12 && day > 0;
        i64 result = 0;
        if (ok) {
            const i64 first = (i64)year * 12 + month - 1;
            i64 days = day_of(first, day);
            ok = days - day_of(first, 1) + 1 == day;
            if (of_year > 0) {
                days = day_of((i64)year * 12, 1) + of_year - 1;
                ok = ok && days <= day_of((i64)year * 12 + 11, 31);
            }
            if (half < 2)
                hour = hour % 12 + half * 12;
            const i64 seconds = days * 86400 + hour * 3600 + minute * 60 + second - offset;
            if (unit == 0)
                result = floor_divide(seconds, 86400);
            else
                ok = ok && !__builtin_mul_overflow(seconds, unit, &result) && !__builtin_add_overflow(result, (i64)(nanosecond / (1000000000 / unit)), &result);
        }
        const u32 word = ballot(ok);
        if (lane_in_warp() == 0)
            out_valid[i / warp_threads] = word;
        if (i < in.capacity) {
            if (unit == 0)
                ((i32 *)out)[i] = ok ? (i32)result : 0;
            else
                ((i64 *)out)[i] = ok ? result : 0;
        }
    }
}
