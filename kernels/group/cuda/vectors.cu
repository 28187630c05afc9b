// Sums of vectors by group: vectors.go describes the states.
#include "accumulate.cuh"

// Vectors are lists of numbers, or of states of sums, of one length.
//go:layout vectorsLayout
struct Vectors {
    // list has the validity of the rows.
    Source list, elements, condition;
    // offsets are those of the lists, null if they have a fixed size.
    const void *offsets;
    // counts is the number of vectors of each row, or null if each has one. Without one a row is skipped.
    const i64 *counts;
    // size is the number of elements of a vector, first the row of the first list of a fixed size, extent the
    // number of all elements.
    u64 size, first, extent;
    // width is that of an offset in bytes.
    u32 width, conditional;

    METHOD i64 offset(u64 i) const { return width == 4 ? ((const i32 *)offsets)[i] : ((const i64 *)offsets)[i]; }

    // begin returns the first element of a row, and its number of elements.
    METHOD u64 begin(u64 row, u64 &count) const {
        if (offsets == nullptr) {
            count = size;
            return (first + row) * size;
        }
        const i64 at = offset(row), n = offset(row + 1) - at;
        count = at < 0 || n < 0 || (u64)at > extent || (u64)n > extent - (u64)at ? 0 : (u64)n;
        return count == 0 ? 0 : (u64)at;
    }

    // takes reports whether a row with some elements is added: it and its elements are not null.
    METHOD bool takes(u64 row, u64 at, u64 count) const {
        if (counts != nullptr ? counts[row] == 0 : !list.is_valid(row))
            return false;
        if (conditional != 0 && !(condition.is_true(row) && condition.is_valid(row)))
            return false;
        for (u64 i = 0; elements.valid != nullptr && i < count; i++)
            if (!elements.is_valid(at + i))
                return false;
        return true;
    }
};

// vector_rows writes whether each row is added. lengths gets the greatest length of these, and the greatest bits of a
// length inverted, of which the least one follows.
KERNEL LAUNCH_BOUNDS(256) vector_rows(u8 *taken, u64 *lengths, Vectors v, const i64 *rows, i64 capacity) {
    const u64 n = device_rows(rows, capacity), step = threads_per_grid();
    for (u64 row = thread_in_grid(); row < n; row += step) {
        u64 count;
        const u64 at = v.begin(row, count);
        const bool takes = v.takes(row, at, count);
        taken[row] = takes;
        if (takes && v.offsets != nullptr) {
            raise(lengths, count);
            raise(lengths + 1, ~count);
        }
    }
}

static constexpr u32 sum_words = 6, sum_bins = sum_words - sum_first_bin;

// Running is the state of a sum of floats in registers.
struct Running {
    u64 top, flags, bin[sum_bins];

    METHOD void clear() {
        top = flags = 0;
#pragma unroll
        for (u64 &b : bin)
            b = 0;
    }

    // raise_top is raiseTop of exact_sum.go.
    METHOD void raise_top(u64 to) {
        if (to <= top)
            return;
        const u64 down = to - top;
#pragma unroll
        for (u32 i = sum_bins; i-- > 0;) {
            u64 moved = 0;
#pragma unroll
            for (u32 j = 0; j < i; j++)
                moved = i - j == down ? bin[j] : moved;
            bin[i] = moved;
        }
        top = to;
    }

    template <u32 n> METHOD void add_bins(u64 to, const u64 (&piece)[n]) {
        raise_top(to);
        const u64 below = top - to;
#pragma unroll
        for (u32 i = 0; i < sum_bins; i++) {
#pragma unroll
            for (u32 j = 0; j <= i; j++)
                if (j < n)
                    bin[i] += i - j == below ? piece[j < n ? j : 0] : 0;
        }
    }

    METHOD void add(f64 x) {
        const Pieces p = pieces_of(x);
        flags |= p.flags;
        if (p.top != 0)
            add_bins(p.top, p.piece);
    }

    METHOD void add_state(const u64 *state) {
        flags |= state[sum_flags];
        u64 other[sum_bins];
#pragma unroll
        for (u32 i = 0; i < sum_bins; i++)
            other[i] = state[sum_first_bin + i];
        if (state[sum_top] != 0)
            add_bins(state[sum_top], other);
    }

    METHOD void store(u64 *to) const {
        to[sum_top] = top;
        to[sum_flags] = flags;
#pragma unroll
        for (u32 i = 0; i < sum_bins; i++)
            to[sum_first_bin + i] = bin[i];
    }
};

// Segments are rows in the order of their groups, in chunks. sorted has the numbers of the rows, or is null if they are
// in order; numbers has the group of each row.
//go:layout segmentsLayout
struct Segments {
    const u32 *sorted, *numbers;
    u64 groups, chunk_rows;

    METHOD u64 row(u64 i) const { return sorted == nullptr ? i : sorted[i]; }
    METHOD u64 group(u64 i) const { return numbers == nullptr ? 0 : numbers[row(i)]; }
};

// Totals are the states of sums of size elements, and the number of vectors, of each group or of each piece: those that
// begin before a chunk have piece 2 · chunk, those that end behind it 2 · chunk + 1.
//go:layout totalsLayout
struct Totals {
    u64 *sums, *counts;
};

// add_vectors adds the rows of chunks. columns threads read neighbouring elements of a row; the block has as many
// chunks as there are such threads in it. A group within a chunk is stored in groups, a piece of a group in pieces.
KERNEL LAUNCH_BOUNDS(128) add_vectors(Totals groups, Totals pieces, Vectors v, Segments s, const u8 *taken, u32 columns, u32 tiles, const i64 *rows, i64 capacity) {
    const u64 n = device_rows(rows, capacity), chunks_of_block = threads_per_block() / columns;
    const u64 chunk = (u64)(block_in_grid() / tiles) * chunks_of_block + thread_in_block() / columns;
    const u64 element = (u64)(block_in_grid() % tiles) * columns + thread_in_block() % columns;
    const u64 begin = chunk * s.chunk_rows;
    if (begin >= n)
        return;
    const u64 end = begin + s.chunk_rows < n ? begin + s.chunk_rows : n;
    const bool exists = element < v.size, states = v.elements.form == from_states;
    u64 first = begin, group = s.group(begin), count = 0;
    Running sum;
    sum.clear();
    for (u64 i = begin; i < end; i++) {
        const u64 row = s.row(i);
        if (taken == nullptr || taken[row] != 0) {
            u64 length;
            const u64 at = v.begin(row, length) + element;
            count += v.counts == nullptr ? 1 : (u64)v.counts[row];
            if (exists && length == v.size) {
                if (states)
                    sum.add_state((const u64 *)v.elements.values + at * sum_words);
                else
                    sum.add(v.elements.real(v.elements.load(at)));
            }
        }
        const u64 next = i + 1 < n ? s.group(i + 1) : ~0ull;
        if (i + 1 < end && next == group)
            continue;
        if (group < s.groups) {
            const bool earlier = first == begin && begin > 0 && s.group(begin - 1) == group, later = i + 1 == end && next == group;
            const Totals &to = earlier || later ? pieces : groups;
            const u64 place = earlier ? 2 * chunk : later ? 2 * chunk + 1 : group;
            if (exists)
                sum.store(to.sums + (place * v.size + element) * sum_words);
            if (element == 0)
                to.counts[place] = count;
        }
        first = i + 1, group = next, count = 0;
        sum.clear();
    }
}

// join_pieces adds the pieces of groups, in two stages: states.cuh describes them.
KERNEL LAUNCH_BOUNDS(256) join_pieces(Totals groups, Totals pieces, Segments s, u64 size, u32 stage, const i64 *rows, i64 capacity) {
    const u64 n = device_rows(rows, capacity), step = threads_per_grid(), width = size > 0 ? size : 1;
    const u64 total = (n + s.chunk_rows - 1) / s.chunk_rows * 2 * width;
    for (u64 thread = thread_in_grid(); thread < total; thread += step) {
        const u64 place = thread / width, element = thread % width, begin = place / 2 * s.chunk_rows;
        const u64 end = begin + s.chunk_rows < n ? begin + s.chunk_rows : n;
        const u64 group = s.group(place % 2 == 0 ? begin : end - 1);
        const bool earlier = begin > 0 && s.group(begin - 1) == group;
        // The last rows of a chunk are piece 2 · chunk if all of its rows are of a group that begins before.
        const bool stored = place % 2 == 0 ? earlier : end < n && s.group(end) == group && !(earlier && s.group(begin) == group);
        if (!stored || group >= s.groups)
            continue;
        if (element == 0 && stage == 1)
            add_to(groups.counts + group, pieces.counts[place]);
        if (element >= size)
            continue;
        State<false> state = {groups.sums + (group * size + element) * sum_words, 1, sum_bins, 0};
        state.found = *state.word(sum_top);
        merge(state, stage, sum_floats, pieces.sums + (place * size + element) * sum_words, 1, false);
    }
}

// finish_vectors writes the sums of groups, or their means.
KERNEL LAUNCH_BOUNDS(256) finish_vectors(f64 *out, Totals groups, u64 size, u64 capacity, u32 is_mean) {
    const u64 step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < capacity * size; i += step) {
        const u64 count = groups.counts[i / size];
        f64 x = count == 0 ? 0 : float_sum(groups.sums + i * sum_words, sum_words).high;
        if (is_mean != 0 && count != 0)
            x = __nvvm_div_rn_d(x, (f64)count);
        ((u64 *)out)[i] = x != x ? 0x7ff8000000000000ull : __builtin_bit_cast(u64, x);
    }
}

// groups_of_vectors writes a bit for each group that has vectors.
KERNEL groups_of_vectors(u32 *valid, const u64 *counts, u64 capacity) {
    const u64 step = threads_per_grid(), padded = (capacity + 63) / 64 * 64;
    for (u64 i = thread_in_grid(); i < padded; i += step) {
        const u32 bits = ballot(i < capacity && counts[i] != 0);
        if (lane_in_warp() == 0)
            valid[i / warp_threads] = bits;
    }
}

// regular_offsets writes the offsets of n lists of one size.
KERNEL regular_offsets(u32 *offsets, u64 size, u64 n) {
    const u64 step = threads_per_grid();
    for (u64 i = thread_in_grid(); i <= n; i += step)
        offsets[i] = (u32)(i * size);
}
