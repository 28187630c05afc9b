// Numbers of a row group: as those of the file, their range and their length in DELTA_BINARY_PACKED,
// and their distinct values: see device.go.
#include "values.cuh"

// Form is how a number of the column becomes one of the file.
//go:layout form
enum Form : u32 { same4, same8, signed1, signed2, unsigned1, unsigned2, decimal4, decimal8 };

// convert writes the numbers of valid rows behind each other. It has a block for each block of rows.
// status becomes 1 if a decimal has too many digits.
KERNEL LAUNCH_BOUNDS(block_threads) convert(Rows rows, u64 values, u64 to, u64 status, u32 form) {
    const u32 row = block_in_grid() * block_threads + thread_in_block();
    u64 place;
    if (!rows.place(row, place))
        return;
    i64 number = 0;
    switch (form) {
    case same4:
        number = load<u32>(values + (u64)row * 4);
        break;
    case same8:
        number = load<i64>(values + (u64)row * 8);
        break;
    case signed1:
        number = load<i8>(values + row);
        break;
    case signed2:
        number = load<i16>(values + (u64)row * 2);
        break;
    case unsigned1:
        number = load<u8>(values + row);
        break;
    case unsigned2:
        number = load<u16>(values + (u64)row * 2);
        break;
    default:
        number = load<i64>(values + (u64)row * 16);
        if (load<i64>(values + (u64)row * 16 + 8) != number >> 63 || form == decimal4 && (i32)number != number)
            or_word(status, 1);
    }
    if (form == same8 || form == decimal8)
        store<i64>(to + place * 8, number);
    else
        store<u32>(to + place * 4, (u32)number);
}

// Facts are those of a part of the numbers.
//go:layout factsLayout
struct Facts {
    u64 low, high; // of the ranks
    u64 length;    // in DELTA_BINARY_PACKED
};

template <typename T> struct Least {
    METHOD T none() const { return (T)-1; }
    METHOD T fold(T a, T b) const { return b < a ? b : a; }
};

template <typename T> struct Bits {
    METHOD T none() const { return 0; }
    METHOD T fold(T a, T b) const { return a | b; }
};

DEVICE u32 bits_of(u64 v) { return v == 0 ? 0 : 64 - __builtin_clzll(v); }

DEVICE u32 varint_length(i64 v) { return (bits_of((u64)(v << 1 ^ v >> 63) | 1) + 6) / 7; }

DEVICE u32 uvarint_length(u64 v) { return (bits_of(v | 1) + 6) / 7; }

DEVICE i64 with_sign(u32 v) { return (i32)v; }
DEVICE i64 with_sign(u64 v) { return (i64)v; }

static constexpr u32 delta_values = 128, delta_parts = 4;

// find_facts has a block for each part of the numbers. mask maps numbers to ranks.
template <typename T> DEVICE void find_facts(u64 values, u32 count, u32 part_values, T mask, u64 facts) {
    constexpr u32 warps = block_threads / warp_threads;
    __shared__ u64 folded[warps];
    const T top = (T)1 << (sizeof(T) * 8 - 1);
    const u32 part = block_in_grid(), lane = lane_in_warp(), warp = thread_in_block() / warp_threads;
    const u32 first = part * part_values, rest = count - first, n = rest < part_values ? rest : part_values;
    const u64 at = values + (u64)first * sizeof(T);
    T low = (T)-1, high = 0;
    for (u32 i = thread_in_block(); i < n; i += block_threads) {
        const T rank = load<T>(at + (u64)i * sizeof(T)) ^ mask;
        low = rank < low ? rank : low;
        high = rank > high ? rank : high;
    }
    u64 length = 0;
    // A warp reads a block of differences: lane l has those with the numbers l, l + 32, …
    for (u32 begin = 1 + warp * delta_values; begin < n; begin += warps * delta_values) {
        T deltas[delta_parts], least = (T)-1;
#pragma unroll
        for (u32 k = 0; k < delta_parts; k++) {
            const u32 i = begin + k * warp_threads + lane;
            deltas[k] = 0;
            if (i < n) {
                deltas[k] = load<T>(at + (u64)i * sizeof(T)) - load<T>(at + (u64)(i - 1) * sizeof(T));
                least = (deltas[k] ^ top) < least ? deltas[k] ^ top : least;
            }
        }
        least = warp_fold(least, Least<T>()) ^ top;
        u32 widths = 0;
#pragma unroll
        for (u32 k = 0; k < delta_parts; k++)
            widths += bits_of(warp_fold((T)(begin + k * warp_threads + lane < n ? deltas[k] - least : 0), Bits<T>()));
        length += varint_length(with_sign(least)) + delta_parts + widths * (delta_values / delta_parts / 8);
    }
    u64 all_low, all_high, all_length;
    block_fold_before<warps>((u64)warp_fold(low, Least<T>()), folded, all_low, Least<u64>());
    block_fold_before<warps>((u64)warp_fold(high, Most<T>()), folded, all_high, Most<u64>());
    block_fold_before<warps>(shuffle_value(length, 0), folded, all_length, Sum<u64>());
    if (thread_in_block() != 0)
        return;
    all_length += uvarint_length(delta_values) + uvarint_length(delta_parts) + uvarint_length(n);
    all_length += n == 0 ? 1 : varint_length(with_sign(load<T>(at)));
    Facts *const to = (Facts *)facts + part;
    to->low = all_low, to->high = all_high, to->length = all_length;
}

KERNEL LAUNCH_BOUNDS(block_threads) find_facts_4(u64 values, u32 count, u32 part_values, u32 mask, u64 facts) {
    find_facts<u32>(values, count, part_values, mask, facts);
}

KERNEL LAUNCH_BOUNDS(block_threads) find_facts_8(u64 values, u32 count, u32 part_values, u64 mask, u64 facts) {
    find_facts<u64>(values, count, part_values, mask, facts);
}

// mark_values writes the distance of each rank from the least one, and marks it in a table.
template <typename T> DEVICE void mark_values(u64 values, u32 count, T mask, T low, u64 ids, u64 table) {
    for (u64 i = thread_in_grid(); i < count; i += threads_per_grid()) {
        const u32 id = (u32)((load<T>(values + i * sizeof(T)) ^ mask) - low);
        store<u32>(ids + i * 4, id);
        store<u32>(table + (u64)id * 4, 1);
    }
}

KERNEL LAUNCH_BOUNDS(block_threads) mark_values_4(u64 values, u32 count, u32 mask, u32 low, u64 ids, u64 table) {
    mark_values<u32>(values, count, mask, low, ids, table);
}

KERNEL LAUNCH_BOUNDS(block_threads) mark_values_8(u64 values, u32 count, u64 mask, u64 low, u64 ids, u64 table) {
    mark_values<u64>(values, count, mask, low, ids, table);
}

// number_marks numbers the marks of a table, and lists their places: most of them at most. It has one block.
KERNEL LAUNCH_BOUNDS(block_threads) number_marks(u64 table, u32 length, u64 list, u32 most, u64 total) {
    constexpr u32 warps = block_threads / warp_threads, own = 8;
    __shared__ u32 folded[warps];
    u32 number = 0;
    for (u32 begin = 0; begin < length; begin += block_threads * own) {
        const u32 first = begin + thread_in_block() * own;
        u32 marks = 0;
#pragma unroll
        for (u32 k = 0; k < own; k++)
            if (first + k < length && load<u32>(table + (u64)(first + k) * 4) != 0)
                marks |= 1u << k;
        u32 all;
        const u32 scanned = warp_scan((u32)__builtin_popcount(marks), Sum<u32>());
        u32 at = number + before_lane(scanned, Sum<u32>()) + block_fold_before<warps>(shuffle_value(scanned, warp_threads - 1), folded, all, Sum<u32>());
#pragma unroll
        for (u32 k = 0; k < own; k++) {
            if ((marks >> k & 1) == 0)
                continue;
            store<u32>(table + (u64)(first + k) * 4, at);
            if (at < most)
                store<u32>(list + (u64)at * 4, first + k);
            at++;
        }
        number += all;
    }
    if (thread_in_block() == 0)
        store<u32>(total, number);
}

// PackedPage is the part of the values that a page has.
//go:layout packedPageLayout
struct PackedPage {
    u32 first, count;
    u64 to; // address of the bits of their indices
};

// PageBounds are the least and the greatest index of a page.
//go:layout pageBoundsLayout
struct PageBounds {
    u32 low, high;
};

// Blocks of threads for a page.
//go:layout
static constexpr u32 page_blocks = 8;

// pack_indices writes the indices of pages with a few bits each. It has page_blocks blocks for each page.
KERNEL LAUNCH_BOUNDS(block_threads) pack_indices(u64 ids, u64 table, u64 pages, u64 bounds, u32 width) {
    constexpr u32 warps = block_threads / warp_threads;
    __shared__ u32 folded[warps];
    const u32 number = block_in_grid() / page_blocks, part = block_in_grid() % page_blocks;
    const PackedPage page = ((const PackedPage *)pages)[number];
    const u32 words = ((page.count + 7) / 8 * width + 3) / 4;
    u32 low = (u32)-1, high = 0;
    for (u32 word = part * block_threads + thread_in_block(); word < words; word += page_blocks * block_threads) {
        const u64 begin = (u64)word * 32;
        u32 bits = 0;
        for (u32 i = (u32)(begin / width); i < page.count && (u64)i * width < begin + 32; i++) {
            const u32 index = load<u32>(table + (u64)load<u32>(ids + (u64)(page.first + i) * 4) * 4);
            const i64 shift = (i64)((u64)i * width) - (i64)begin;
            bits |= shift < 0 ? index >> -shift : index << shift;
            low = index < low ? index : low;
            high = index > high ? index : high;
        }
        store<u32>(page.to + (u64)word * 4, bits);
    }
    u32 all_low, all_high;
    block_fold_before<warps>(warp_fold(low, Least<u32>()), folded, all_low, Least<u32>());
    block_fold_before<warps>(warp_fold(high, Most<u32>()), folded, all_high, Most<u32>());
    if (thread_in_block() != 0 || all_low > all_high)
        return;
    PageBounds *const to = (PageBounds *)bounds + number;
    __atomic_fetch_min(&to->low, all_low, __ATOMIC_RELAXED);
    __atomic_fetch_max(&to->high, all_high, __ATOMIC_RELAXED);
}
