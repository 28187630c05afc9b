// Conversion between instants and wall clocks: see table.go and slots.go.
#include "../../../internal/expr/codegen/math.cuh"
#undef FUNCTION
#define FUNCTION DEVICE // functions that are not called are left out
#include "../../../internal/expr/codegen/date.cuh"
#include "bitrow.cuh"

// Table is the offsets of a time zone.
//go:layout tableLayout any
struct Table {
    const i64 *starts, *offsets, *walls;
    const u64 *slots;
    u64 count;
    i64 cycle_end, cycle;
};

// Unit is the number of units in a second, and 2^(64 + shift) / size, rounded down.
//go:layout unitLayout
struct Unit {
    i64 size, reciprocal;
    u32 shift;
};

// The slots: see slots.go.
static constexpr u32 slot_count = 3072, slot_shift = 21;
static constexpr i64 first_slot = -(1ll << 31);

static constexpr u32 threads = 512;

// Place is the last place of a list of seconds that is not later than a second, and the second in
// the part of the cycle that the table has.
struct Place {
    u64 place;
    i64 within;
};

DEVICE Place find(const i64 *list, u64 count, i64 cycle_end, i64 cycle, i64 second) {
    if (second >= cycle_end)
        second -= ((second - cycle_end) / cycle + 1) * cycle;
    u64 low = 0, high = count;
#pragma nounroll
    while (high - low > 1) {
        const u64 middle = low + (high - low) / 2;
        if (list[middle] <= second)
            low = middle;
        else
            high = middle;
    }
    return {low, second};
}

// to_local is the offset of a second, which gives the time of the clock. It is a function, because the
// kernels have many calls.
static __device__ __attribute__((noinline)) i64 to_local(const i64 *starts, const i64 *offsets, u64 count, i64 cycle_end, i64 cycle, i64 second) {
    return offsets[find(starts, count, cycle_end, cycle, second).place];
}

// Time is a number of seconds, rounded down, and the units after them.
struct Time {
    i64 second, rest;
};

// time_of divides by the unit. The product with the reciprocal differs by at most one.
DEVICE Time time_of(i64 time, const Unit &unit) {
    if (unit.size == 1)
        return {time, 0};
    const i64 quotient = (i64)((__int128)time * unit.reciprocal >> 64) >> unit.shift;
    const i64 rest = (i64)((u64)time - (u64)quotient * (u64)unit.size), more = (rest >= unit.size) - (rest < 0);
    return {quotient + more, rest - more * unit.size};
}

DEVICE i64 offset_of(const Table &t, i64 second) { return to_local(t.starts, t.offsets, t.count, t.cycle_end, t.cycle, second); }

// to_instant is the difference from a time that the clock shows to its instant: table.toInstant of table.go.
DEVICE i64 to_instant(const Table &t, const Time &at, i64 unit) {
    const Place entry = find(t.walls, t.count, t.cycle_end, t.cycle, at.second);
    const i64 shift = -t.offsets[entry.place], gap = (i64)((u64)t.starts[entry.place] - (u64)entry.within);
    if (entry.place > 0 && gap > shift)
        return gap * unit - at.rest;
    return shift * unit;
}

// Found is the contents of the slot of a second in shared memory: the offset, if it is known.
struct Found {
    bool known;
    i32 offset;
    u64 at; // the second since the first slot
};

DEVICE Found find_slot(const u64 *slots, i64 second) {
    const u64 at = (u64)second - (u64)first_slot;
    if (at >= (u64)slot_count << slot_shift)
        return {false, 0, at};
    const u64 slot = slots[(u32)(at >> slot_shift)];
    const bool later = ((u32)at & ((1u << slot_shift) - 1)) >= ((u32)slot >> 1 & ((1u << (slot_shift + 1)) - 1));
    const u32 both = later ? (u32)(slot >> 32) >> 12 : (u32)(slot >> 24);
    return {(slot & 1) == 0, (i32)(both << 12) >> 12, at};
}

// offset_at is the offset at a second, from the slots in shared memory or by a search.
DEVICE i64 offset_at(const Table &t, const u64 *slots, i64 second) {
    const Found found = find_slot(slots, second);
    return found.known ? found.offset : offset_of(t, second);
}

// Part is a part of a wall clock. Kinds 0 to 5 are of the calendar: see parts in
// timezone.go. Kind 6 is the second of the day divided by one number, modulo another.
// divide and modulo are 2^32 / the number, rounded up; divide is 0 for the number 1. Kind 7 is the time within the second.
//go:layout partLayout
struct Part {
    u32 divide, modulo, modulus, kind;
};

static __device__ __attribute__((noinline)) i64 calendar_part(u32 part, i64 second) {
    const i64 day = floor_divide(second, 86400);
    if (part == 5)
        return day + 3 - floor_divide(day + 3, 7) * 7; // 1970-01-01 was a Thursday
    const Civil date = civil(day);
    const u32 month = (u32)date.rest >> 8 & 0xff;
    switch (part) {
    case 0:
        return date.year;
    case 1:
        return (month + 2) / 3;
    case 2:
        return month;
    case 3:
        return date.rest & 0xff;
    }
    return date.rest >> 16;
}

// second_of_day is the second of the day of a clock with a slot: a day has 675 times 128
// seconds, so that 32 bits are enough. The first slot begins 74,752 seconds after midnight;
// two days more make the sum positive.
DEVICE u32 second_of_day(const Found &found) {
    const u64 local = found.at + (u64)(i64)(found.offset + 74752 + 2 * 86400);
    return (u32)(local >> 7) % 675 << 7 | ((u32)local & 127);
}

// clock_part is a part of kind 6.
DEVICE i64 clock_part(const Part &part, u32 within) {
    const u32 quotient = part.divide ? (u32)((u64)within * part.divide >> 32) : within;
    return quotient - (u32)((u64)quotient * part.modulo >> 32) * part.modulus;
}

// part_of is any part.
DEVICE i64 part_of(const Part &part, i64 second, i64 rest, const Unit &unit) {
    if (part.kind == 6)
        return clock_part(part, (u32)(second - floor_divide(second, 86400) * 86400));
    return part.kind == 7 ? rest * (1000000000 / (u32)unit.size) : calendar_part(part.kind, second);
}

// visit computes the rows of a column, items for each thread. compute sets the result and
// reports whether the row has one.
template <u32 items, typename Compute>
DEVICE void visit(i64 *out, u32 *out_valid, const i64 *in, const u8 *valid, u64 bit, const i64 *counted, i64 rows, u64 capacity, Compute compute) {
    const u64 n = device_rows(counted, rows), tile = (u64)threads * items;
#pragma nounroll
    for (u64 first = (u64)block_in_grid() * tile; first < capacity; first += (u64)blocks_per_grid() * tile) {
        const u32 exist = n < first ? 0 : n - first < tile ? (u32)(n - first) : (u32)tile;
        const u32 written = capacity - first < tile ? (u32)(capacity - first) : (u32)tile;
        i64 time[items];
        bool ok[items];
#pragma unroll
        for (u32 k = 0; k < items; k++) {
            const u32 i = k * threads + thread_in_block();
            const u64 place = bit + first + i;
            ok[k] = i < exist && (valid == nullptr || (valid[place / 8] >> (place % 8) & 1) != 0);
            time[k] = ok[k] ? in[first + i] : 0;
        }
#pragma unroll
        for (u32 k = 0; k < items; k++) {
            const u32 i = k * threads + thread_in_block();
            i64 result = 0;
            ok[k] = compute(time[k], result) && ok[k];
            const u32 word = ballot(ok[k]);
            if (lane_in_warp() == 0 && i < written)
                out_valid[(first + i) / warp_threads] = word;
            if (i < written)
                out[first + i] = ok[k] ? result : 0;
        }
    }
}

DEVICE void load_slots(u64 *slots, const Table &table) {
    for (u32 i = thread_in_block(); i < slot_count; i += threads)
        slots[i] = table.slots[i];
    synchronize_block();
}

// convert_times converts timestamps of a number of units in a second to times of a clock, or back
// to instants. A result that exceeds 64 bits is null.
KERNEL LAUNCH_BOUNDS(512) convert_times(i64 *out, u32 *out_valid, const i64 *in, const u8 *valid, u64 bit, const i64 *counted, i64 rows, u64 capacity,
                                        Unit unit, u32 instants, Table table) {
    __shared__ u64 slots[slot_count];
    load_slots(slots, table);
    visit<1>(out, out_valid, in, valid, bit, counted, rows, capacity, [&](i64 time, i64 &result) {
        const Time at = time_of(time, unit);
        const i64 shift = instants ? to_instant(table, at, unit.size) : offset_at(table, slots, at.second) * unit.size;
        return !__builtin_add_overflow(time, shift, &result);
    });
}

// part_times is a part of the wall clock at timestamps.
KERNEL LAUNCH_BOUNDS(512) part_times(i64 *out, u32 *out_valid, const i64 *in, const u8 *valid, u64 bit, const i64 *counted, i64 rows, u64 capacity,
                                     Unit unit, Part part, Table table) {
    __shared__ u64 slots[slot_count];
    load_slots(slots, table);
    visit<4>(out, out_valid, in, valid, bit, counted, rows, capacity, [&](i64 time, i64 &result) {
        const Time at = time_of(time, unit);
        const Found found = find_slot(slots, at.second);
        if (found.known && part.kind == 6) { // no overflow is possible
            result = clock_part(part, second_of_day(found));
            return true;
        }
        const i64 offset = found.known ? found.offset : offset_of(table, at.second);
        i64 local;
        result = part_of(part, at.second + offset, at.rest, unit);
        return !__builtin_add_overflow(time, offset * unit.size, &local);
    });
}
