// Steps between the operators that find groups and sort their rows.
#include "exact_sum.cuh"
#include "interpolate.cuh"
#include "source.cuh"

// pair_numbers writes two numbers of each row as one, the high one times a factor, or all bits set for rows that are
// null in mask.
KERNEL pair_numbers(u64 *pairs, const Source high, const Source low, const Source mask, u64 factor, const i64 *rows, i64 capacity) {
    const u64 n = device_rows(rows, capacity), step = threads_per_grid();
    for (u64 row = thread_in_grid(); row < n; row += step)
        pairs[row] = mask.is_valid(row) ? high.load(row) * factor + (low.load(row) & 0xffffffff) : ~0ull;
}

// number_rows writes 0, 1, 2 …
KERNEL number_rows(u64 *numbers, u64 n) {
    const u64 step = threads_per_grid();
    for (u64 row = thread_in_grid(); row < n; row += step)
        numbers[row] = row;
}

// list_offsets writes the offsets of n lists with the given ends.
KERNEL list_offsets(u32 *offsets, const u64 *ends, u64 n) {
    const u64 step = threads_per_grid();
    for (u64 i = thread_in_grid(); i <= n; i += step)
        offsets[i] = i == 0 ? 0 : (u32)ends[i - 1];
}

// first_of_each writes a bit for each row that is among the first rows of its group. counts
// and ends are those of the rows of each group.
KERNEL first_of_each(u32 *keep, const u32 *numbers, const u64 *counts, const u64 *ends, u64 groups, u64 limit, const i64 *rows,
                     i64 capacity) {
    const u64 n = device_rows(rows, capacity), step = threads_per_grid(), padded = ((u64)capacity + 63) / 64 * 64;
    for (u64 row = thread_in_grid(); row < padded; row += step) {
        bool first = false;
        if (row < n) {
            const u32 group = numbers[row];
            first = group < groups && row - (ends[group] - counts[group]) < limit;
        }
        const u32 bits = ballot(first);
        if (lane_in_warp() == 0)
            keep[row / warp_threads] = bits;
    }
}

// ends_of_groups writes the end of each group in rows that are sorted by group. numbers has the groups of the
// unsorted rows. Neighbouring threads read nearly the same rows.
KERNEL ends_of_groups(u64 *ends, const u32 *sorted, const u32 *numbers, u64 groups, const i64 *rows, i64 capacity) {
    const u64 n = device_rows(rows, capacity), step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < groups; i += step) {
        u64 low = 0, high = n; // the first row of a later group
        while (low < high) {
            const u64 middle = low + (high - low) / 2;
            if (numbers[sorted[middle]] > (u32)i)
                high = middle;
            else
                low = middle + 1;
        }
        ends[i] = low;
    }
}

DEVICE u64 begin_of(const u64 *ends, u64 i) { return i == 0 ? 0 : ends[i - 1]; }

// limit_counts writes the number of rows of each group, at most a limit.
KERNEL limit_counts(u64 *counts, const u64 *ends, u64 limit, u64 groups) {
    const u64 step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < groups; i += step) {
        const u64 n = ends[i] - begin_of(ends, i);
        counts[i] = n < limit ? n : limit;
    }
}

// list_first_rows lists the first rows of each group, as many as kept_ends leave room for. A warp has a group.
KERNEL list_first_rows(u32 *list, const u32 *sorted, const u64 *ends, const u64 *kept_ends, u64 groups) {
    const u64 step = threads_per_grid() / warp_threads;
    for (u64 i = thread_in_grid() / warp_threads; i < groups; i += step) {
        const u64 begin = begin_of(ends, i), to = begin_of(kept_ends, i), n = kept_ends[i] - to;
        for (u64 j = lane_in_warp(); j < n; j += warp_threads)
            list[to + j] = sorted[begin + j];
    }
}

// quantiles interpolates between two of the values of each group. sorted has the numbers of the rows, sorted by
// group and value.
KERNEL quantiles(u64 *results, u32 *valid, const Source values, const u32 *sorted, const u64 *ends, f64 fraction, u64 groups) {
    const u64 step = threads_per_grid(), padded = (groups + 63) / 64 * 64;
    for (u64 i = thread_in_grid(); i < padded; i += step) {
        const u64 begin = i < groups ? begin_of(ends, i) : 0, n = i < groups ? ends[i] - begin : 0;
        const u32 there = ballot(n != 0);
        if (lane_in_warp() == 0)
            valid[i / warp_threads] = there;
        if (i >= groups)
            continue;
        f64 x = 0;
        if (n != 0) {
            const f64 place = multiply((f64)(n - 1), fraction);
            const u64 below = (u64)place, row = begin + below;
            const f64 part = subtract(place, (f64)below);
            x = values.real(values.load(sorted[row]));
            if (part > 0 && below + 1 < n)
                x = interpolate(x, values.real(values.load(sorted[row + 1])), part);
        }
        results[i] = x == x ? __builtin_bit_cast(u64, x) : nan_f64;
    }
}

// numbers_of_lists writes the number of the list of each element, as numbers has it, or all
// bits set for elements outside of all lists.
KERNEL numbers_of_lists(u32 *of, const i32 *offsets, const u32 *numbers, const i64 *rows, i64 capacity, u64 elements) {
    const u64 n = device_rows(rows, capacity), step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < elements; i += step) {
        u64 low = 0, high = n; // the first list that ends after the element
        while (low < high) {
            const u64 middle = low + (high - low) / 2;
            if (offsets[middle + 1] > (i64)i)
                high = middle;
            else
                low = middle + 1;
        }
        of[i] = low < n && offsets[low] <= (i64)i ? numbers[low] : 0xffffffff;
    }
}

// scatter_numbers writes the number of each row to the place that it had before others were
// removed.
KERNEL scatter_numbers(u32 *of, const u64 *places, const u32 *numbers, const i64 *rows, i64 capacity) {
    const u64 n = device_rows(rows, capacity), step = threads_per_grid();
    for (u64 row = thread_in_grid(); row < n; row += step)
        of[places[row]] = numbers[row];
}
