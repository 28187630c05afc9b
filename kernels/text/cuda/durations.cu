// Durations as texts of a form, and back: see durations.go.
#include "strings.cuh"

// Form is the form of a text.
//go:layout durationForm
enum Form : u32 { iso_duration, go_duration, clock_duration };

static constexpr u64 per_second = 1000000000, most_magnitude = 1ull << 63;

// Durations is a column of durations.
//go:layout durationsLayout any
struct Durations {
    const i64 *values;
    const u8 *valid;
    u64 bit;
    const i64 *counted;
    i64 rows;
    u64 capacity;
    u64 unit; // in a second
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
};

static __device__ __attribute__((noinline)) void write_number(Writer &to, u64 value, u32 least) {
    u32 digits = 1;
#pragma nounroll
    for (u64 rest = value / 10; rest > 0 || digits < least; rest /= 10)
        digits++;
    if (to.out != nullptr)
#pragma nounroll
        for (u32 k = digits; k-- > 0; value /= 10)
            to.out[to.count + k] = (u8)('0' + value % 10);
    to.count += digits;
}

// write_fraction writes a number as the digits behind a point, without zeros at the end.
DEVICE void write_fraction(Writer &to, u32 value, u32 digits) {
    if (value == 0)
        return;
#pragma nounroll
    for (; value % 10 == 0; digits--)
        value /= 10;
    to.put('.');
    write_number(to, value, digits);
}

DEVICE void write_part(Writer &to, u64 value, u8 letter) {
    if (value == 0)
        return;
    write_number(to, value, 1);
    to.put(letter);
}

DEVICE void write_duration(Writer &to, i64 value, u64 unit, u32 form) {
    const u64 magnitude = value < 0 ? 0 - (u64)value : (u64)value, seconds = magnitude / unit;
    const u32 nanosecond = (u32)(magnitude % unit * (per_second / unit));
    if (value < 0)
        to.put('-');
    const u64 hours = seconds / 3600, minute = seconds / 60 % 60, second = seconds % 60;
    switch (form) {
    case iso_duration:
        to.put('P');
        write_part(to, hours / 24, 'D');
        if (magnitude != 0 && seconds % 86400 == 0 && nanosecond == 0)
            return;
        to.put('T');
        write_part(to, hours % 24, 'H');
        write_part(to, minute, 'M');
        if (second == 0 && nanosecond == 0 && magnitude != 0)
            return;
        write_number(to, second, 1);
        write_fraction(to, nanosecond, 9);
        to.put('S');
        return;
    case go_duration:
        if (seconds == 0 && nanosecond != 0) {
            const u32 digits = nanosecond < 1000 ? 0 : nanosecond < 1000000 ? 3 : 6, below = digits == 0 ? 1 : digits == 3 ? 1000 : 1000000;
            write_number(to, nanosecond / below, 1);
            write_fraction(to, nanosecond % below, digits);
            if (digits == 3)
                to.put(0xc2);
            to.put(digits == 0 ? 'n' : digits == 3 ? 0xb5 : 'm');
            to.put('s');
            return;
        }
        if (hours > 0)
            write_number(to, hours, 1), to.put('h');
        if (seconds >= 60)
            write_number(to, minute, 1), to.put('m');
        write_number(to, second, 1);
        write_fraction(to, nanosecond, 9);
        to.put('s');
        return;
    }
    write_number(to, hours, 2);
    to.put(':');
    write_number(to, minute, 2);
    to.put(':');
    write_number(to, second, 2);
    write_fraction(to, nanosecond, 9);
}

// format_durations writes the texts, or if out is null their lengths.
KERNEL LAUNCH_BOUNDS(256) format_durations(u8 *out, const i64 *ends, u64 *lengths, Durations durations, u32 form) {
    const u64 n = device_rows(durations.counted, durations.rows), step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < durations.capacity; i += step) {
        const u64 bit = durations.bit + i;
        const bool ok = i < n && (durations.valid == nullptr || (durations.valid[bit / 8] >> (bit % 8) & 1) != 0);
        Writer to = {nullptr, 0};
        if (ok) {
            if (out != nullptr)
                to.out = out + (i == 0 ? 0 : ends[i - 1]);
            write_duration(to, durations.values[i], durations.unit, form);
        }
        if (out == nullptr)
            lengths[i] = to.count;
    }
}

// Read is a text that is read from its begin on, and its magnitude.
struct Read {
    const u8 *at, *end;
    u64 seconds;
    u32 nanosecond;
    bool ok;

    inline __device__ __attribute__((always_inline)) bool next_is(u8 c) const { return at < end && *at == c; }
    inline __device__ __attribute__((always_inline)) bool is_digit() const { return at < end && *at - '0' < 10u; }

    inline __device__ __attribute__((always_inline)) bool skip(u8 c) {
        const bool is = next_is(c);
        at += is;
        return is;
    }

    // add adds a number of units of some seconds.
    inline __device__ __attribute__((always_inline)) void add(u64 number, u64 unit) {
        u64 product;
        ok = ok && !__builtin_mul_overflow(number, unit, &product) && !__builtin_add_overflow(seconds, product, &seconds);
    }
};

// read_digits reads one digit or more.
static __device__ __attribute__((noinline)) u64 read_digits(Read &text) {
    u64 value = 0;
    text.ok = text.ok && text.is_digit();
#pragma nounroll
    for (; text.ok && text.is_digit(); text.at++)
        text.ok = !__builtin_mul_overflow(value, (u64)10, &value) && !__builtin_add_overflow(value, (u64)(*text.at - '0'), &value);
    return value;
}

// read_billionths reads one digit or more behind a point; those after the ninth have no effect.
static __device__ __attribute__((noinline)) u64 read_billionths(Read &text) {
    u64 value = 0;
    u32 digits = 0;
    text.ok = text.ok && text.is_digit();
#pragma nounroll
    for (; text.is_digit(); text.at++)
        if (digits < 9)
            value = value * 10 + (*text.at - '0'), digits++;
#pragma nounroll
    for (; digits < 9; digits++)
        value *= 10;
    return value;
}

// read_iso reads PnWnDTnHnMnS. The last number may have a fraction.
DEVICE void read_iso(Read &text) {
    text.ok = text.skip('P') && text.at < text.end;
    u32 rank = 0; // of the last letter: W, D, H, M, S
    bool time = false;
#pragma nounroll
    while (text.ok && text.at < text.end) {
        if (!time && text.skip('T')) {
            time = true;
            text.ok = text.at < text.end;
            continue;
        }
        const u64 number = read_digits(text);
        u64 billionths = 0;
        const bool fraction = text.ok && (text.skip('.') || text.skip(','));
        if (fraction)
            billionths = read_billionths(text);
        const u8 letter = text.at < text.end ? *text.at++ : 0;
        const u32 place = !time ? letter == 'W' ? 1 : letter == 'D' ? 2 : 0 : letter == 'H' ? 3 : letter == 'M' ? 4 : letter == 'S' ? 5 : 0;
        const u64 unit = place == 1 ? 604800 : place == 2 ? 86400 : place == 3 ? 3600 : place == 4 ? 60 : 1;
        text.ok = text.ok && place > rank && !(fraction && text.at != text.end);
        rank = place;
        text.add(number, unit);
        text.add(billionths * unit / per_second, 1);
        text.nanosecond = (u32)(billionths * unit % per_second);
    }
}

// read_go reads what time.ParseDuration reads.
DEVICE void read_go(Read &text, bool negative) {
    u64 total = 0;
    text.ok = text.at < text.end;
    if (text.end - text.at == 1 && text.skip('0'))
        return;
#pragma nounroll
    while (text.ok && text.at < text.end) {
        u64 value = 0, part = 0;
        double scale = 1;
        bool some = false, full = false;
#pragma nounroll
        for (; text.ok && text.is_digit(); text.at++, some = true) {
            text.ok = value <= most_magnitude / 10;
            value = value * 10 + (*text.at - '0');
            text.ok = text.ok && value <= most_magnitude;
        }
        if (text.ok && text.skip('.'))
#pragma nounroll
            for (; text.is_digit(); text.at++, some = true) {
                full = full || part > (most_magnitude - 1) / 10 || part * 10 + (*text.at - '0') > most_magnitude;
                if (!full)
                    part = part * 10 + (*text.at - '0'), scale *= 10;
            }
        u64 unit = 0;
        const u8 *const letters = text.at;
#pragma nounroll
        while (text.at < text.end && *text.at != '.' && !text.is_digit())
            text.at++;
        const u64 length = text.at - letters;
        if (length == 1)
            unit = letters[0] == 's' ? per_second : letters[0] == 'm' ? 60 * per_second : letters[0] == 'h' ? 3600 * per_second : 0;
        else if (length == 2 && letters[1] == 's')
            unit = letters[0] == 'n' ? 1 : letters[0] == 'u' ? 1000 : letters[0] == 'm' ? 1000000 : 0;
        else if (length == 3 && letters[2] == 's' && (letters[0] == 0xc2 && letters[1] == 0xb5 || letters[0] == 0xce && letters[1] == 0xbc))
            unit = 1000;
        text.ok = text.ok && some && unit != 0 && value <= most_magnitude / unit;
        if (!text.ok)
            return;
        value *= unit;
        if (part > 0)
            value += (u64)((double)part * ((double)unit / scale));
        text.ok = value <= most_magnitude && total + value <= most_magnitude;
        total += value;
    }
    text.ok = text.ok && total <= most_magnitude - !negative;
    text.seconds = total / per_second;
    text.nanosecond = (u32)(total % per_second);
}

// read_clock reads hours:mm:ss.
DEVICE void read_clock(Read &text) {
    text.add(read_digits(text), 3600);
#pragma nounroll
    for (u32 unit = 60; unit > 0; unit /= 60) {
        text.ok = text.ok && text.skip(':') && text.end - text.at >= 2 && text.at[0] - '0' < 6u && text.at[1] - '0' < 10u;
        if (!text.ok)
            return;
        text.add((text.at[0] - '0') * 10 + text.at[1] - '0', unit);
        text.at += 2;
    }
    if (text.skip('.') || text.skip(','))
        text.nanosecond = (u32)read_billionths(text);
}

// parse_durations reads texts of a form.
KERNEL LAUNCH_BOUNDS(256) parse_durations(i64 *out, u32 *out_valid, Strings in, u64 unit, u32 form) {
    const u64 n = device_rows(in.counted, in.rows), step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < (in.capacity + 63) / 64 * 64; i += step) {
        const Row row = row_of(in, n, i);
        Read text = {row.begin, row.begin + row.length, 0, 0, true};
        bool ok = row.valid, negative = false;
        u64 magnitude = 0;
        if (ok) {
            negative = text.skip('-');
            if (!negative)
                text.skip('+');
            if (form == iso_duration)
                read_iso(text);
            else if (form == go_duration)
                read_go(text, negative);
            else
                read_clock(text);
            ok = text.ok && text.at == text.end && !__builtin_mul_overflow(text.seconds, unit, &magnitude) &&
                 !__builtin_add_overflow(magnitude, (u64)text.nanosecond / (per_second / unit), &magnitude) && magnitude <= most_magnitude - !negative;
        }
        const u32 word = ballot(ok);
        if (lane_in_warp() == 0)
            out_valid[i / warp_threads] = word;
        if (i < in.capacity)
            out[i] = !ok ? 0 : (i64)(negative ? 0 - magnitude : magnitude);
    }
}
