// Functions of vectors, which are lists of numbers, and vectors as float32 without gaps.
#include "bitrow.cuh"
#include "scan.cuh"

// Number is the kind of values of the elements.
//go:layout number
enum Number : u32 { signed_1, signed_2, signed_4, signed_8, unsigned_1, unsigned_2, unsigned_4, unsigned_8, float_4, float_8 };

// Operation is a function of two vectors, or of one that stands for both.
//go:layout operation
enum Operation : u32 { dot_product, cosine_similarity, l2_distance, norm };

// Lists is a column of vectors, or one vector that all rows have.
//go:layout listsLayout any
struct Lists {
    const void *offsets, *sizes; // sizes only in list views
    const u8 *valid;
    const void *values;
    const u8 *values_valid;
    u64 bit, values_bit;
    u64 first, size; // of lists of a fixed size
    u64 extent;      // the number of all elements
    u32 width;       // of an offset in bytes; zero for lists of a fixed size
    u32 number;
    u32 constant; // not zero if all rows have the first list
    u32 unused;
};

// lanes is the number of lanes that compute one row, and of the sums that it starts with.
static constexpr u32 lanes = 8;

DEVICE bool bit_of(const u8 *bits, u64 i) { return (bits[i / 8] >> (i % 8) & 1) != 0; }

DEVICE i64 word_of(const void *words, u32 width, u64 i) { return width == 4 ? ((const i32 *)words)[i] : ((const i64 *)words)[i]; }

// Span is the elements of a list.
struct Span {
    u64 begin, count;
    bool valid;
};

DEVICE Span span_of(const Lists &l, u64 row) {
    const u64 i = l.constant != 0 ? 0 : row;
    if (l.valid != nullptr && !bit_of(l.valid, l.bit + i))
        return {0, 0, false};
    if (l.width == 0)
        return {(l.first + i) * l.size, l.size, true};
    const i64 begin = word_of(l.offsets, l.width, i);
    const i64 count = l.sizes != nullptr ? word_of(l.sizes, l.width, i) : word_of(l.offsets, l.width, i + 1) - begin;
    if (begin < 0 || count < 0 || (u64)begin > l.extent || (u64)count > l.extent - begin)
        return {0, 0, true};
    return {(u64)begin, (u64)count, true};
}

// value_of returns an element as a float64.
template <u32 number> DEVICE f64 value_of(const Lists &l, u64 i) {
    if (number == float_4)
        return ((const f32 *)l.values)[i];
    if (number == float_8)
        return ((const f64 *)l.values)[i];
    switch (l.number) {
    case signed_1:
        return ((const i8 *)l.values)[i];
    case signed_2:
        return ((const i16 *)l.values)[i];
    case signed_4:
        return ((const i32 *)l.values)[i];
    case signed_8:
        return ((const i64 *)l.values)[i];
    case unsigned_1:
        return ((const u8 *)l.values)[i];
    case unsigned_2:
        return ((const u16 *)l.values)[i];
    case unsigned_4:
        return ((const u32 *)l.values)[i];
    case unsigned_8:
        return ((const u64 *)l.values)[i];
    case float_4:
        return ((const f32 *)l.values)[i];
    }
    return ((const f64 *)l.values)[i];
}

DEVICE f64 added(f64 sum, f64 a, f64 b) { return __nvvm_add_rn_d(sum, __nvvm_mul_rn_d(a, b)); }

// folded adds the sums of the lanes of a row.
DEVICE f64 folded(f64 sum) {
    for (u32 other = lanes / 2; other > 0; other /= 2)
        sum = __nvvm_add_rn_d(sum, shuffle_value(sum, lane_in_warp() ^ other));
    return sum;
}

// lengths_of is productOfLengths of functions_host.go.
DEVICE f64 lengths_of(f64 a, f64 b) {
    const f64 squared = __nvvm_mul_rn_d(a, b);
    if (squared >= 0x1p-900 && squared <= 0x1p900)
        return __nvvm_sqrt_rn_d(squared);
    return __nvvm_mul_rn_d(__nvvm_sqrt_rn_d(a), __nvvm_sqrt_rn_d(b));
}

struct Sums {
    f64 both, left, right;
    bool valid;
};

// sums_of adds up the elements of a row, each lane every eighth of them.
template <u32 left, u32 right> DEVICE Sums sums_of(const Lists &x, const Lists &y, const Span &a, const Span &b, u32 operation) {
    Sums s = {0, 0, 0, true};
    for (u64 i = lane_in_warp() % lanes; i < a.count; i += lanes) {
        if (x.values_valid != nullptr && !bit_of(x.values_valid, x.values_bit + a.begin + i) || y.values_valid != nullptr && !bit_of(y.values_valid, y.values_bit + b.begin + i))
            s.valid = false;
        const f64 v = value_of<left>(x, a.begin + i), w = value_of<right>(y, b.begin + i);
        if (operation == l2_distance) {
            const f64 d = __nvvm_add_rn_d(v, -w);
            s.both = added(s.both, d, d);
            continue;
        }
        s.both = added(s.both, v, w);
        if (operation == cosine_similarity)
            s.left = added(s.left, v, v), s.right = added(s.right, w, w);
    }
    return s;
}

template <u32 left, u32 right> DEVICE void compute(f64 *out, u32 *out_valid, const Lists &x, const Lists &y, u64 rows, u64 capacity, u32 operation) {
    const u32 lane = lane_in_warp();
    const u64 step = threads_per_grid() / warp_threads;
    for (u64 word = thread_in_grid() / warp_threads; word < (capacity + 63) / 64 * 2; word += step) {
        u32 valid = 0;
        for (u32 i = 0; i < warp_threads; i += warp_threads / lanes) {
            const u64 row = word * warp_threads + i + lane / lanes;
            Span a = {0, 0, false}, b = a;
            if (row < rows)
                a = span_of(x, row), b = span_of(y, row);
            const bool exists = a.valid && b.valid && a.count == b.count;
            if (!exists)
                a.count = 0;
            const Sums s = sums_of<left, right>(x, y, a, b, operation);
            const u32 missing = ballot(!s.valid);
            f64 result = folded(s.both);
            if (operation == cosine_similarity) {
                const f64 lengths = lengths_of(folded(s.left), folded(s.right));
                result = __nvvm_div_rn_d(result, lengths);
                result = result > 1 ? 1 : result < -1 ? -1 : result;
                if (lengths == 0)
                    a.valid = false;
            } else if (operation != dot_product) {
                result = __nvvm_sqrt_rn_d(result);
            }
            const bool ok = exists && a.valid && (missing >> (lane / lanes * lanes) & ((1u << lanes) - 1)) == 0;
            const u32 bits = ballot(ok && lane % lanes == 0);
            for (u32 j = 0; j < warp_threads / lanes; j++)
                valid |= (bits >> (j * lanes) & 1) << (i + j);
            if (lane % lanes == 0 && row < capacity)
                ((u64 *)out)[row] = !ok ? 0 : result != result ? 0x7ff8000000000000 : __builtin_bit_cast(u64, result);
        }
        if (lane == 0)
            out_valid[word] = valid;
    }
}

// vector_functions writes a float64 for each row, and whether it is valid.
KERNEL LAUNCH_BOUNDS(256) vector_functions(f64 *out, u32 *out_valid, Lists x, Lists y, const i64 *counted, u64 capacity, u32 operation) {
    const u64 rows = device_rows(counted, capacity);
    if (x.number == float_4 && y.number == float_4)
        compute<float_4, float_4>(out, out_valid, x, y, rows, capacity, operation);
    else if (x.number == float_8 && y.number == float_8)
        compute<float_8, float_8>(out, out_valid, x, y, rows, capacity, operation);
    else if (x.number == float_4 && y.number == float_8)
        compute<float_4, float_8>(out, out_valid, x, y, rows, capacity, operation);
    else
        compute<signed_1, signed_1>(out, out_valid, x, y, rows, capacity, operation);
}

// dense_vectors writes the elements of lists of a length as float32, zeros for other lists, and a bit for each
// list of the length without nulls.
KERNEL LAUNCH_BOUNDS(256) dense_vectors(f32 *out, u32 *out_valid, Lists x, u64 rows, u64 length) {
    const u32 lane = lane_in_warp();
    const u64 step = threads_per_grid() / warp_threads;
    for (u64 word = thread_in_grid() / warp_threads; word < (rows + 63) / 64 * 2; word += step) {
        u32 valid = 0;
        for (u32 i = 0; i < warp_threads && word * warp_threads + i < rows; i++) {
            const u64 row = word * warp_threads + i;
            const Span s = span_of(x, row);
            const bool exists = s.valid && s.count == length;
            bool whole = true;
            for (u64 j = lane; j < length; j += warp_threads) {
                if (exists && x.values_valid != nullptr && !bit_of(x.values_valid, x.values_bit + s.begin + j))
                    whole = false;
                out[row * length + j] = exists ? (f32)value_of<signed_1>(x, s.begin + j) : 0;
            }
            if (ballot(!whole) == 0 && exists)
                valid |= 1u << i;
        }
        if (lane == 0)
            out_valid[word] = valid;
    }
}
