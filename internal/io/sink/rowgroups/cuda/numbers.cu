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

// DeltaBlock is a block of differences, of which a lane of a warp has those with the numbers lane, lane + 32, ….
template <typename T> struct DeltaBlock {
    T least, deltas[delta_parts]; // relative to the least one
    u32 widths[delta_parts];

    METHOD DeltaBlock(u64 values, u32 begin, u32 count) {
        const T top = (T)1 << (sizeof(T) * 8 - 1);
        const u32 lane = lane_in_warp();
        T low = (T)-1;
#pragma unroll
        for (u32 k = 0; k < delta_parts; k++) {
            const u32 i = begin + k * warp_threads + lane;
            deltas[k] = 0;
            if (i < count) {
                deltas[k] = load<T>(values + (u64)i * sizeof(T)) - load<T>(values + (u64)(i - 1) * sizeof(T));
                low = (deltas[k] ^ top) < low ? deltas[k] ^ top : low;
            }
        }
        least = warp_fold(low, Least<T>()) ^ top;
#pragma unroll
        for (u32 k = 0; k < delta_parts; k++) {
            deltas[k] = begin + k * warp_threads + lane < count ? deltas[k] - least : 0;
            widths[k] = bits_of(warp_fold(deltas[k], Bits<T>()));
        }
    }

    METHOD u32 length() const {
        u32 all = 0;
#pragma unroll
        for (u32 k = 0; k < delta_parts; k++)
            all += widths[k];
        return varint_length(with_sign(least)) + delta_parts + all * (delta_values / delta_parts / 8);
    }
};

// find_facts has a block for each part of the numbers. mask maps numbers to ranks.
template <typename T> DEVICE void find_facts(u64 values, u32 count, u32 part_values, T mask, u64 facts) {
    constexpr u32 warps = block_threads / warp_threads;
    __shared__ u64 folded[warps];
    const u32 part = block_in_grid(), warp = thread_in_block() / warp_threads;
    const u32 first = part * part_values, rest = count - first, n = rest < part_values ? rest : part_values;
    const u64 at = values + (u64)first * sizeof(T);
    T low = (T)-1, high = 0;
    for (u32 i = thread_in_block(); i < n; i += block_threads) {
        const T rank = load<T>(at + (u64)i * sizeof(T)) ^ mask;
        low = rank < low ? rank : low;
        high = rank > high ? rank : high;
    }
    u64 length = 0;
    for (u32 begin = 1 + warp * delta_values; begin < n; begin += warps * delta_values)
        length += DeltaBlock<T>(at, begin, n).length();
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

// Distinct has the number of distinct values, and whether they are too many.
//go:layout distinctLayout
struct Distinct {
    u32 count, overflow;
};

// NumberEntry is a distinct number and its slot.
//go:layout numberEntryLayout
struct NumberEntry {
    u64 value;
    u32 slot, unused;
};

DEVICE u64 hash_number(u64 v) {
    v = (v ^ v >> 32) * 0x9e3779b97f4a7c15ull;
    return (v ^ v >> 29) * 0xbf58476d1ce4e5b9ull;
}

// number_values writes the slot of each number. slots has 2^slot_bits zeros; an occupied one has the place of a
// number plus one. The list has room for most numbers.
template <typename T> DEVICE void number_values(u64 values, u32 count, u64 slots, u32 slot_bits, u64 ids, u64 distinct, u64 entries, u32 most) {
    Distinct *const result = (Distinct *)distinct;
    const u32 mask = (1u << slot_bits) - 1;
    for (u64 i = thread_in_grid(); i < count; i += threads_per_grid()) {
        if (*(volatile u32 *)&result->overflow != 0)
            return;
        const T value = load<T>(values + i * sizeof(T));
        u32 slot = (u32)(hash_number(value) >> (64 - slot_bits)), tries = 0;
        for (; tries <= mask; tries++, slot = slot + 1 & mask) {
            u32 *const address = (u32 *)(slots + (u64)slot * 4);
            u32 owner = *(volatile u32 *)address;
            if (owner == 0) {
                __atomic_compare_exchange_n(address, &owner, (u32)i + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
                if (owner == 0) {
                    const u32 number = __atomic_fetch_add(&result->count, 1u, __ATOMIC_RELAXED);
                    if (number >= most) {
                        or_word((u64)&result->overflow, 1);
                        return;
                    }
                    NumberEntry *const entry = (NumberEntry *)entries + number;
                    entry->value = value, entry->slot = slot;
                    break;
                }
            }
            if (load<T>(values + (u64)(owner - 1) * sizeof(T)) == value)
                break;
        }
        if (tries > mask)
            or_word((u64)&result->overflow, 1);
        store<u32>(ids + i * 4, slot);
    }
}

KERNEL LAUNCH_BOUNDS(block_threads) number_values_4(u64 values, u32 count, u64 slots, u32 slot_bits, u64 ids, u64 distinct, u64 entries, u32 most) {
    number_values<u32>(values, count, slots, slot_bits, ids, distinct, entries, most);
}

KERNEL LAUNCH_BOUNDS(block_threads) number_values_8(u64 values, u32 count, u64 slots, u32 slot_bits, u64 ids, u64 distinct, u64 entries, u32 most) {
    number_values<u64>(values, count, slots, slot_bits, ids, distinct, entries, most);
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

// rank_slots writes the index of each entry into its slot. entries is the slot of the first one, stride the length
// of an entry.
KERNEL LAUNCH_BOUNDS(block_threads) rank_slots(u64 entries, u32 stride, u64 indices, u32 count, u64 slots) {
    for (u64 i = thread_in_grid(); i < count; i += threads_per_grid())
        store<u32>(slots + (u64)load<u32>(entries + i * stride) * 4, load<u32>(indices + i * 4));
}

DEVICE u64 write_uvarint(u64 to, u64 v) {
#pragma nounroll
    for (; v >= 128; v >>= 7)
        store<u8>(to++, (u8)(v | 128));
    store<u8>(to++, (u8)v);
    return to;
}

DEVICE u64 write_varint(u64 to, i64 v) { return write_uvarint(to, (u64)(v << 1 ^ v >> 63)); }

// DeltaPage is the part of the numbers that a page has, and where its bytes go.
//go:layout deltaPageLayout
struct DeltaPage {
    u32 first, count;
    u64 to;
};

// DeltaOutcome is the length of a page's bytes, and the range of its ranks.
//go:layout deltaOutcomeLayout
struct DeltaOutcome {
    u64 length, low, high;
};

// write_deltas writes pages in DELTA_BINARY_PACKED. It has a block for each page.
template <typename T> DEVICE void write_deltas(u64 values, u64 pages, u64 outcomes, T mask) {
    constexpr u32 warps = block_threads / warp_threads, together = 1024; // blocks of differences
    __shared__ u32 lengths[together];
    __shared__ u32 sums[warps];
    __shared__ u64 folded[warps];
    __shared__ u64 staged[warps][warp_threads];
    const DeltaPage page = ((const DeltaPage *)pages)[block_in_grid()];
    const u32 lane = lane_in_warp(), warp = thread_in_block() / warp_threads;
    const u64 from = values + (u64)page.first * sizeof(T);
    const u32 blocks = (page.count - 1 + delta_values - 1) / delta_values;
    T low = (T)-1, high = 0;
    for (u32 i = thread_in_block(); i < page.count; i += block_threads) {
        const T rank = load<T>(from + (u64)i * sizeof(T)) ^ mask;
        low = rank < low ? rank : low;
        high = rank > high ? rank : high;
    }
    u64 all_low, all_high;
    block_fold_before<warps>((u64)warp_fold(low, Least<T>()), folded, all_low, Least<u64>());
    block_fold_before<warps>((u64)warp_fold(high, Most<T>()), folded, all_high, Most<u64>());
    const i64 start = with_sign(load<T>(from));
    u64 to = page.to + uvarint_length(delta_values) + uvarint_length(delta_parts) + uvarint_length(page.count) + varint_length(start);
    if (thread_in_block() == 0)
        write_varint(write_uvarint(write_uvarint(write_uvarint(page.to, delta_values), delta_parts), page.count), start);
    for (u32 first = 0; first < blocks; first += together) {
        const u32 rest = blocks - first, n = rest < together ? rest : together;
        for (u32 b = warp; b < n; b += warps) {
            const DeltaBlock<T> block(from, 1 + (first + b) * delta_values, page.count);
            if (lane == 0)
                lengths[b] = block.length();
        }
        synchronize_block();
        constexpr u32 own = together / block_threads;
        u32 sum = 0, before[own];
#pragma unroll
        for (u32 k = 0; k < own; k++) {
            const u32 b = thread_in_block() * own + k;
            before[k] = sum;
            sum += b < n ? lengths[b] : 0;
        }
        const u32 scanned = warp_scan(sum, Sum<u32>());
        u32 total;
        const u32 start_of_thread = before_lane(scanned, Sum<u32>()) + block_fold_before<warps>(shuffle_value(scanned, warp_threads - 1), sums, total, Sum<u32>());
#pragma unroll
        for (u32 k = 0; k < own; k++)
            lengths[thread_in_block() * own + k] = start_of_thread + before[k];
        synchronize_block();
        for (u32 b = warp; b < n; b += warps) {
            const DeltaBlock<T> block(from, 1 + (first + b) * delta_values, page.count);
            u64 at = to + lengths[b];
            if (lane == 0)
                write_varint(at, with_sign(block.least));
            at += varint_length(with_sign(block.least));
#pragma unroll
            for (u32 k = 0; k < delta_parts; k++)
                if (lane == k)
                    store<u8>(at + k, (u8)block.widths[k]);
            at += delta_parts;
#pragma unroll
            for (u32 k = 0; k < delta_parts; k++) {
                const u32 width = block.widths[k];
                synchronize_warp();
                staged[warp][lane] = block.deltas[k];
                synchronize_warp();
                for (u32 word = lane; word < width; word += warp_threads) {
                    u32 bits = 0;
                    for (u32 i = word * 32 / width; i < warp_threads && i * width < word * 32 + 32; i++) {
                        const i32 shift = (i32)(i * width) - (i32)(word * 32);
                        bits |= (u32)(shift < 0 ? staged[warp][i] >> -shift : staged[warp][i] << shift);
                    }
#pragma unroll
                    for (u32 byte = 0; byte < 4; byte++)
                        store<u8>(at + word * 4 + byte, (u8)(bits >> byte * 8));
                }
                at += width * 4;
            }
        }
        to += total;
        synchronize_block();
    }
    if (thread_in_block() != 0)
        return;
    DeltaOutcome *const outcome = (DeltaOutcome *)outcomes + block_in_grid();
    outcome->length = to - page.to, outcome->low = all_low, outcome->high = all_high;
}

KERNEL LAUNCH_BOUNDS(block_threads) write_deltas_4(u64 values, u64 pages, u64 outcomes, u32 mask) { write_deltas<u32>(values, pages, outcomes, mask); }

KERNEL LAUNCH_BOUNDS(block_threads) write_deltas_8(u64 values, u64 pages, u64 outcomes, u64 mask) { write_deltas<u64>(values, pages, outcomes, mask); }
