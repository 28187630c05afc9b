// Lists: where their elements are, rows for the elements, and folds of each list.
#include "bitrow.cuh"
#include "scan.cuh"

// none is the place of an element that does not exist: that of a null list, for example.
static constexpr u32 none = 0xffffffff;

// Form selects the part of each list.
//go:layout form
enum Form : u32 {
    // every is all elements. A null list has the place none.
    every,
    // every_or_none has an element that does not exist for each list without elements.
    every_or_none,
    // part is some consecutive elements.
    part,
    // single is an element, or none.
    single,
};

// Lists is a column of lists.
//go:layout listsLayout any
struct Lists {
    const void *offsets, *sizes; // sizes only in list views
    const u8 *valid;
    u64 bit;
    const i64 *counted;
    i64 rows;
    u64 capacity, extent;
    u64 first, size; // of lists of a fixed size
    u32 width;       // of an offset in bytes; zero for lists of a fixed size
    u32 form;
    i64 from, most; // of a part
};

DEVICE i64 word_of(const void *words, u32 width, u64 i) { return width == 4 ? ((const i32 *)words)[i] : ((const i64 *)words)[i]; }

// list_spans writes the place of the first element of each list, or none for a null, and the
// number of elements. Lists that reach beyond the elements are empty.
KERNEL LAUNCH_BOUNDS(256) list_spans(u32 *begins, i64 *counts, Lists lists) {
    const u64 rows = device_rows(lists.counted, lists.rows), step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < lists.capacity; i += step) {
        const u64 bit = lists.bit + i;
        i64 begin = 0, count = 0;
        const bool valid = i < rows && (lists.valid == nullptr || (lists.valid[bit / 8] >> (bit % 8) & 1) != 0);
        if (valid && lists.width == 0) {
            begin = (lists.first + i) * lists.size, count = lists.size;
        } else if (valid) {
            begin = word_of(lists.offsets, lists.width, i);
            count = lists.sizes != nullptr ? word_of(lists.sizes, lists.width, i) : word_of(lists.offsets, lists.width, i + 1) - begin;
        }
        if (begin < 0 || count < 0 || (u64)begin > lists.extent || (u64)count > lists.extent - begin)
            begin = 0, count = 0;
        bool exists = valid;
        if (lists.form == every_or_none) {
            exists = count > 0;
            count = exists ? count : i < rows;
        } else if (lists.form == part) {
            const i64 low = lists.from < 0 ? lists.from + count : lists.from;
            const i64 high = low > 0 && lists.most > (i64)~(1ull << 63) - low ? count : low + lists.most;
            const i64 start = low < 0 ? 0 : low > count ? count : low;
            const i64 end = high < start ? start : high > count ? count : high;
            begin += start, count = end - start;
        } else if (lists.form == single) {
            const i64 at = lists.from < 0 ? lists.from + count : lists.from;
            exists = at >= 0 && at < count;
            begin += at, count = exists;
        }
        begins[i] = exists ? (u32)begin : none;
        counts[i] = count;
    }
}

// sequence_spans writes the lengths of lists that a column has, and 0 as the place of their
// first element, or none for a null.
KERNEL LAUNCH_BOUNDS(256) sequence_spans(u32 *begins, i64 *counts, const i64 *values, const u8 *valid, u64 bit, const i64 *counted, i64 capacity, u64 n) {
    const u64 rows = device_rows(counted, capacity), step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < n; i += step) {
        const u64 at = bit + i;
        const bool exists = i < rows && (valid == nullptr || (valid[at / 8] >> (at % 8) & 1) != 0);
        begins[i] = exists ? 0 : none;
        counts[i] = exists && values[i] > 0 ? values[i] : 0;
    }
}

static constexpr u32 tile = 2048;

// row_of returns the first row from low to high that ends behind an element. All lanes of a
// warp take part: each step divides the rows by 32.
DEVICE u64 row_of(const i64 *ends, u64 low, u64 high, u64 element) {
    while (low < high) {
        const u64 step = (high - low + 31) / 32, at = low + (lane_in_warp() + 1) * step - 1;
        const u32 before = __builtin_popcount(ballot(at < high && ends[at] <= (i64)element));
        const u64 limit = low + (before + 1) * step - 1;
        low += before * step;
        high = limit < high ? limit : high;
    }
    return low;
}

static constexpr u32 expand_threads = 256, expand_loads = tile / expand_threads;

// ElementRows are the rows of the elements of a tile, in shared memory.
struct ElementRows {
    u64 bounds[2]; // the rows of the first and of the last element
    u32 behind[tile]; // of each element the rows behind the first one
    u32 warps[expand_threads / warp_threads];

    // find finds the rows of the elements from begin to end. All threads of the block take
    // part.
    METHOD void find(const i64 *ends, u64 rows, u64 begin, u64 end) {
        const u32 thread = thread_in_block(), warp = thread / warp_threads;
        if (warp < 2) {
            const u64 row = row_of(ends, 0, rows - 1, warp == 0 ? begin : end - 1);
            if (lane_in_warp() == 0)
                bounds[warp] = row;
        }
#pragma unroll
        for (u32 i = 0; i < expand_loads; i++)
            behind[i * expand_threads + thread] = 0;
        synchronize_block();
        const u64 low = bounds[0], high = bounds[1];
        // The first element of a row has its number. Empty rows before it have none.
        for (u64 row = low + thread; row < high; row += expand_threads) {
            const i64 limit = ends[row];
            if (ends[row + 1] != limit)
                behind[limit - begin] = (u32)(row + 1 - low);
        }
        synchronize_block();
        // The numbers increase, so the row of an element is the greatest number up to it.
        u32 most[expand_loads], own = 0;
#pragma unroll
        for (u32 i = 0; i < expand_loads; i++) {
            const u32 number = behind[thread * expand_loads + i];
            own = number > own ? number : own;
            most[i] = own;
        }
        const Most<u32> f;
        const u32 scanned = warp_scan(own, f);
        u32 before = before_lane(scanned, f), total;
        const u32 earlier = block_fold_before<expand_threads / warp_threads>(shuffle_value(scanned, warp_threads - 1), warps, total, f);
        before = f.fold(earlier, before);
#pragma unroll
        for (u32 i = 0; i < expand_loads; i++)
            behind[thread * expand_loads + i] = f.fold(before, most[i]);
        synchronize_block();
    }

    METHOD u64 row(u64 at) const { return bounds[0] + behind[at]; }
};

// expand_lists writes n elements, each by one thread: the row of the list, the place among
// the elements, and the position in the list with a bit if the element exists. Each output
// may be missing.
KERNEL LAUNCH_BOUNDS(expand_threads) expand_lists(u32 *parents, u32 *places, i64 *positions, u32 *exist, const i64 *ends, const u32 *begins, u64 rows, u64 n) {
    __shared__ ElementRows found;
    for (u64 begin = (u64)block_in_grid() * tile; begin < n; begin += (u64)blocks_per_grid() * tile) {
        const u64 end = begin + tile < n ? begin + tile : n;
        found.find(ends, rows, begin, end);
        for (u64 i = begin + thread_in_block(); i < (end + 63) / 64 * 64; i += expand_threads) {
            const bool inside = i < end;
            const u64 row = found.row(inside ? i - begin : 0);
            const u64 position = i - (row == 0 ? 0 : (u64)ends[row - 1]);
            const u32 first = begins == nullptr ? none : begins[row];
            const u32 word = ballot(inside && first != none);
            if (exist != nullptr && lane_in_warp() == 0)
                exist[i / warp_threads] = word;
            if (!inside)
                continue;
            if (parents != nullptr)
                parents[i] = (u32)row;
            if (places != nullptr)
                places[i] = first == none ? none : first + (u32)position;
            if (positions != nullptr)
                positions[i] = first == none ? 0 : position;
        }
        synchronize_block();
    }
}

// repeat writes the value of its row to each of n elements.
template <typename T> DEVICE void repeat(T *to, const T *values, const i64 *ends, u64 rows, u64 n) {
    __shared__ ElementRows found;
    for (u64 begin = (u64)block_in_grid() * tile; begin < n; begin += (u64)blocks_per_grid() * tile) {
        const u64 end = begin + tile < n ? begin + tile : n;
        found.find(ends, rows, begin, end);
        T value[expand_loads];
#pragma unroll
        for (u32 i = 0; i < expand_loads; i++) {
            const u64 at = begin + i * expand_threads + thread_in_block();
            if (at < end)
                value[i] = values[found.row(at - begin)];
        }
#pragma unroll
        for (u32 i = 0; i < expand_loads; i++) {
            const u64 at = begin + i * expand_threads + thread_in_block();
            if (at < end)
                to[at] = value[i];
        }
        synchronize_block();
    }
}

#define REPEAT(BITS, TYPE) \
    KERNEL LAUNCH_BOUNDS(expand_threads) repeat_##BITS(TYPE *to, const TYPE *values, const i64 *ends, u64 rows, u64 n) { repeat<TYPE>(to, values, ends, rows, n); }

struct Pair {
    u64 low, high; // aligned to 8 bytes only
};
REPEAT(8, u8)
REPEAT(16, u16)
REPEAT(32, u32)
REPEAT(64, u64)
REPEAT(128, Pair)

// list_offsets writes the offsets of lists that end at ends, of 4 or 8 bytes, and a bit for
// each that is not null, if there is a bitmap.
KERNEL LAUNCH_BOUNDS(256) list_offsets(void *offsets, u32 *valid, const i64 *ends, const u32 *begins, u64 rows, u32 width) {
    const u64 step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < (rows + 64) / 64 * 64; i += step) {
        if (i <= rows) {
            const i64 offset = i == 0 ? 0 : ends[i - 1];
            if (width == 4)
                ((i32 *)offsets)[i] = (i32)offset;
            else
                ((i64 *)offsets)[i] = offset;
        }
        if (valid != nullptr) {
            const u32 word = ballot(i < rows && begins[i] != none);
            if (lane_in_warp() == 0 && i < (rows + 63) / 64 * 64)
                valid[i / warp_threads] = word;
        }
    }
}

// Fold is Function of fold.go.
enum Fold : u32 { count_valid, sum, least, greatest, mean, any, all, contains, find, length };

// Number is the kind of values that folds read.
//go:layout number
enum Number : u32 { boolean, signed_1, signed_2, signed_4, signed_8, unsigned_1, unsigned_2, unsigned_4, unsigned_8, float_4, float_8 };

// Values is the elements of lists.
//go:layout valuesLayout
struct Values {
    const u8 *values, *valid;
    u64 value_bit, valid_bit;
    u32 number;
};

DEVICE bool bit_of(const u8 *bits, u64 i) { return (bits[i / 8] >> (i % 8) & 1) != 0; }

DEVICE f64 real_of(u64 bits) { return __builtin_bit_cast(f64, bits); }

// value_of returns an integer extended to 64 bits, or the bits of a float64.
DEVICE u64 value_of(const Values &v, u64 i) {
    switch (v.number) {
    case boolean:
        return bit_of(v.values, v.value_bit + i);
    case signed_1:
        return (i64)((const i8 *)v.values)[i];
    case signed_2:
        return (i64)((const i16 *)v.values)[i];
    case signed_4:
        return (i64)((const i32 *)v.values)[i];
    case unsigned_1:
        return v.values[i];
    case unsigned_2:
        return ((const u16 *)v.values)[i];
    case unsigned_4:
        return ((const u32 *)v.values)[i];
    case float_4:
        return __builtin_bit_cast(u64, (f64)((const f32 *)v.values)[i]);
    }
    return ((const u64 *)v.values)[i];
}

// before reports whether a value is less than another: NaN after all numbers, and -0 before
// 0.
DEVICE bool before(u32 number, u64 a, u64 b) {
    if (number >= float_4) {
        const f64 x = real_of(a), y = real_of(b);
        if (x != x || y != y)
            return x == x;
        return x < y || x == y && (a >> 63) > (b >> 63);
    }
    return number >= signed_1 && number <= signed_8 ? (i64)a < (i64)b : a < b;
}

// Total is a sum: an integer of 128 bits, or a float in low.
struct Total {
    u64 low;
    i64 high;
};

DEVICE void add(Total &t, u32 number, u64 value) {
    if (number >= float_4) {
        t.low = __builtin_bit_cast(u64, __nvvm_add_rn_d(real_of(t.low), real_of(value)));
        return;
    }
    const u64 low = t.low + value;
    t.high += (low < t.low) + (number >= signed_1 && number <= signed_8 && (i64)value < 0 ? -1 : 0);
    t.low = low;
}

// real_total returns a sum as the nearest float. Of an integer above 64 bits it takes the
// leading 64 bits; the lowest of them is set if one of the others is.
DEVICE f64 real_total(const Total &t, u32 number) {
    if (number >= float_4)
        return real_of(t.low);
    const bool negative = t.high < 0;
    const u64 low = negative ? 0 - t.low : t.low;
    const u64 high = negative ? ~(u64)t.high + (t.low == 0) : (u64)t.high;
    f64 magnitude = (f64)low;
    if (high != 0) {
        const u32 zeros = __builtin_clzll(high);
        u64 top = zeros == 0 ? high : high << zeros | low >> (64 - zeros);
        top |= (low << zeros) != 0;
        magnitude = __nvvm_mul_rn_d((f64)top, real_of((u64)(1023 + 64 - zeros) << 52));
    }
    return negative ? -magnitude : magnitude;
}

struct Folded {
    u64 value;
    bool valid;
};

// folded folds one list from its first element to its last.
DEVICE Folded folded(u32 fold, u64 begin, u64 count, const Values &v) {
    if (fold == length)
        return {count, true};
    Total total = {v.number >= float_4 ? 1ull << 63 : 0, 0};
    u64 n = 0, best = 0, truths = 0, first = none;
    for (u64 i = begin; i < begin + count; i++) {
        if (v.valid != nullptr && !bit_of(v.valid, v.valid_bit + i))
            continue;
        const u64 value = fold == count_valid ? 0 : value_of(v, i);
        if (fold == sum || fold == mean)
            add(total, v.number, value);
        if (fold == least && (n == 0 || before(v.number, value, best)))
            best = value;
        if (fold == greatest) {
            const bool is_nan = v.number >= float_4 && real_of(value) != real_of(value);
            const bool was_nan = n != 0 && v.number >= float_4 && real_of(best) != real_of(best);
            if (n == 0 || was_nan && !is_nan || !is_nan && before(v.number, best, value))
                best = value;
        }
        if (v.number == boolean && value != 0) {
            truths++;
            first = first == none ? i : first;
        }
        n++;
    }
    switch (fold) {
    case count_valid:
        return {n, true};
    case sum:
        if (v.number >= float_4)
            return {total.low, n != 0};
        if (v.number >= signed_1 && v.number <= signed_8)
            return {total.low, n != 0 && total.high == (i64)total.low >> 63};
        return {total.low, n != 0 && total.high == 0};
    case mean:
        return {__builtin_bit_cast(u64, __nvvm_div_rn_d(real_total(total, v.number), (f64)n)), n != 0};
    case any:
        return {truths != 0, n != 0};
    case all:
        return {truths == n, n != 0};
    case contains:
        return {truths != 0, true};
    case find:
        return {first, true};
    }
    return {best, n != 0};
}

// fold_lists writes a value of some bytes for each list, or a bit if width is zero, and
// whether it is valid.
KERNEL LAUNCH_BOUNDS(256) fold_lists(void *out, u32 *out_valid, u32 width, u32 fold, const u32 *begins, const i64 *counts, u64 rows, Values v) {
    const u64 step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < (rows + 63) / 64 * 64; i += step) {
        const u32 begin = i < rows ? begins[i] : none;
        Folded f = {fold == find ? none : 0u, false};
        if (begin != none)
            f = folded(fold, begin, counts[i], v);
        const u32 valid = ballot(f.valid), bits = ballot(f.value != 0);
        if (lane_in_warp() == 0) {
            if (out_valid != nullptr)
                out_valid[i / warp_threads] = valid;
            if (width == 0)
                ((u32 *)out)[i / warp_threads] = bits;
        }
        if (i >= rows)
            continue;
        if (width == 1)
            ((u8 *)out)[i] = (u8)f.value;
        else if (width == 2)
            ((u16 *)out)[i] = (u16)f.value;
        else if (width == 4)
            ((u32 *)out)[i] = v.number == float_4 && fold != find ? __builtin_bit_cast(u32, (f32)real_of(f.value)) : (u32)f.value;
        else if (width == 8)
            ((u64 *)out)[i] = f.value;
    }
}
