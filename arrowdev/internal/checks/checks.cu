#include "search.cuh"

// The kernels look for the first element that is wrong. They read all there is
// and write next to nothing, so each is made to read at the memory's speed.

// shuffle_from returns the value of another lane.
DEVICE u32 shuffle_from(u32 value, u32 lane) { return __nvvm_shfl_sync_idx_i32(whole_warp, value, lane, warp_threads - 1); }
DEVICE u64 shuffle_from(u64 value, u32 lane) {
    return (u64)shuffle_from((u32)(value >> 32), lane) << 32 | shuffle_from((u32)value, lane);
}
DEVICE i16 shuffle_from(i16 value, u32 lane) { return (i16)shuffle_from((u32)value, lane); }
DEVICE i32 shuffle_from(i32 value, u32 lane) { return (i32)shuffle_from((u32)value, lane); }
DEVICE i64 shuffle_from(i64 value, u32 lane) { return (i64)shuffle_from((u64)value, lane); }

// in_order reports whether a value may follow the one before it.
template <typename T, bool strict> DEVICE bool in_order(T before, T value, T most) {
    return (strict ? value > before : value >= before) && value <= most;
}

// ascending checks that n values ascend, the first from 0, and are at most limit.
// Strict means that no two are equal, and the first is not 0.
//
// A warp reads tiles of several groups of 16 bytes a lane at a time. What is
// before a lane's group comes from the lane below, so that each value is read
// once. What lies ahead of the first 16 byte boundary and behind the last tile is
// checked value by value.
template <typename T, bool strict> DEVICE void ascending(const u8 *values, u64 n, i64 limit, Result *result) {
    constexpr u32 width = 16 / sizeof(T), groups = 4;
    constexpr u64 tile = groups * warp_threads * width;
    typedef Vector<T, width> Group;
    const T most = (T)limit;
    const bool whole = aligned(values, sizeof(T));
    const u64 thread = thread_in_grid(), threads = threads_per_grid();
    u64 bad = none, head = 0, tiles = 0;
    if (whole) {
        head = (-(u64)values & 15) / sizeof(T);
        if (head > n)
            head = n;
        tiles = (n - head) / tile;
    }

    const u32 lane = lane_in_warp();
    // Blocks are whole warps, so that all lanes of a warp have the same tiles.
    for (u64 t = thread / warp_threads; t < tiles; t += threads / warp_threads) {
        const u64 start = head + t * tile;
        const Group *from = (const Group *)((const T *)values + start) + lane;
        Group group[groups];
#pragma unroll
        for (u32 g = 0; g < groups; g++)
            group[g] = from[g * warp_threads];
        // What the last lane gives to the first: the last value of the groups
        // before.
        T carried = start > 0 ? ((const T *)values)[start - 1] : (T)0;
#pragma unroll
        for (u32 g = 0; g < groups; g++) {
            const T last = group[g].lane[width - 1];
            T before = shuffle_from(lane == warp_threads - 1 ? carried : last, (lane + warp_threads - 1) % warp_threads);
            carried = last;
            const T first = before;
            bool fine = true;
#pragma unroll
            for (u32 j = 0; j < width; j++) {
                fine &= in_order<T, strict>(before, group[g].lane[j], most);
                before = group[g].lane[j];
            }
            if (!fine && bad == none) { // a thread's tiles and groups ascend
                before = first;
                u32 at = width;
#pragma unroll
                for (u32 j = 0; j < width; j++) {
                    if (at == width && !in_order<T, strict>(before, group[g].lane[j], most))
                        at = j;
                    before = group[g].lane[j];
                }
                bad = start + (g * warp_threads + lane) * width + at;
            }
        }
    }

#pragma nounroll
    for (u64 r = thread; r < n - tiles * tile; r += threads) {
        const u64 i = r < head ? r : r + tiles * tile;
        const T before = i > 0 ? load<T>(values, i - 1, whole) : (T)0;
        if (!in_order<T, strict>(before, load<T>(values, i, whole), most) && i < bad)
            bad = i;
    }
    report(result, bad);
    if (thread == 0) {
        result->first = (u64)(i64)load<T>(values, 0, whole);
        result->last = (u64)(i64)load<T>(values, n - 1, whole);
    }
}

KERNEL check_offsets_i32(const u8 *__restrict__ values, u64 n, i64 limit, Result *result) { ascending<i32, false>(values, n, limit, result); }
KERNEL check_offsets_i64(const u8 *__restrict__ values, u64 n, i64 limit, Result *result) { ascending<i64, false>(values, n, limit, result); }
KERNEL check_run_ends_i16(const u8 *__restrict__ values, u64 n, i64 limit, Result *result) { ascending<i16, true>(values, n, limit, result); }
KERNEL check_run_ends_i32(const u8 *__restrict__ values, u64 n, i64 limit, Result *result) { ascending<i32, true>(values, n, limit, result); }
KERNEL check_run_ends_i64(const u8 *__restrict__ values, u64 n, i64 limit, Result *result) { ascending<i64, true>(values, n, limit, result); }

// list_views checks offsets and sizes: 0 <= offset, 0 <= size, and both together
// at most limit.
template <typename T> DEVICE void list_views(const u8 *offsets, const u8 *sizes, u64 n, u64 limit, Result *result) {
    struct View {
        T offset, size;
    };
    const auto find = [=](u64 i, View view) {
        // Of two that are not negative the sum fits 64 bits.
        return (view.offset | view.size) < 0 || (u64)view.offset + (u64)view.size > limit ? i : none;
    };
    if (aligned(offsets, sizeof(T)) && aligned(sizes, sizeof(T)))
        report(result, search<4>(n, [=](u64 i) { return View{load<T>(offsets, i, true), load<T>(sizes, i, true)}; }, find));
    else
        report(result, search<1>(n, [=](u64 i) { return View{load<T>(offsets, i, false), load<T>(sizes, i, false)}; }, find));
}

KERNEL check_list_views_i32(const u8 *__restrict__ offsets, const u8 *__restrict__ sizes, u64 n, u64 limit, Result *result) {
    list_views<i32>(offsets, sizes, n, limit, result);
}
KERNEL check_list_views_i64(const u8 *__restrict__ offsets, const u8 *__restrict__ sizes, u64 n, u64 limit, Result *result) {
    list_views<i64>(offsets, sizes, n, limit, result);
}

// check_binary_views checks views of 16 bytes: a length and, where it is more than
// 12, the first four bytes, which buffer and where in it. Null slots may hold
// anything; the bitmap is only looked at for a view that is wrong.
KERNEL check_binary_views(const u8 *__restrict__ views, u64 n, const u8 *__restrict__ bits, u64 bit_offset,
                          const i64 *__restrict__ lengths, u64 buffers, Result *result) {
    typedef Vector<i32, 4> View;
    const auto find = [=](u64 i, View view) {
        const i32 length = view.lane[0], buffer = view.lane[2], offset = view.lane[3];
        if (0 <= length && length <= 12)
            return none;
        if (length > 12 && (u64)(i64)buffer < buffers && offset >= 0 && (i64)offset + length <= lengths[buffer])
            return none;
        return valid(bits, bit_offset + i) ? i : none;
    };
    if (aligned(views, 16))
        report(result, search<4>(n, [=](u64 i) { return ((const View *)views)[i]; }, find));
    else {
        const bool whole = aligned(views, 4);
        const auto read = [=](u64 i) {
            View view;
#pragma unroll
            for (u32 j = 0; j < 4; j++)
                view.lane[j] = load<i32>(views, 4 * i + j, whole);
            return view;
        };
        report(result, search<1>(n, read, find));
    }
}

// indices checks that those of valid slots are below limit, which fits a T. For
// signed ones it is one that a negative index is beyond when it is taken for
// unsigned.
template <typename T> DEVICE void indices(const u8 *values, u64 n, const u8 *bits, u64 bit_offset, u64 limit, Result *result) {
    const T most = (T)limit;
    report(result, search_values<T>(
        values, n, [=](T value) { return value >= most; }, [=](u64 i) { return !valid(bits, bit_offset + i); }));
}

KERNEL check_indices_8(const u8 *__restrict__ values, u64 n, const u8 *__restrict__ bits, u64 bit_offset, u64 limit, Result *result) {
    indices<u8>(values, n, bits, bit_offset, limit, result);
}
KERNEL check_indices_16(const u8 *__restrict__ values, u64 n, const u8 *__restrict__ bits, u64 bit_offset, u64 limit, Result *result) {
    indices<u16>(values, n, bits, bit_offset, limit, result);
}
KERNEL check_indices_32(const u8 *__restrict__ values, u64 n, const u8 *__restrict__ bits, u64 bit_offset, u64 limit, Result *result) {
    indices<u32>(values, n, bits, bit_offset, limit, result);
}
KERNEL check_indices_64(const u8 *__restrict__ values, u64 n, const u8 *__restrict__ bits, u64 bit_offset, u64 limit, Result *result) {
    indices<u64>(values, n, bits, bit_offset, limit, result);
}

// check_type_ids checks that the bit of each id is set in low, for the ids up to
// 63, or in high, for those up to 127.
KERNEL check_type_ids(const u8 *__restrict__ ids, u64 n, u64 low, u64 high, Result *result) {
    report(result, search_values<i8>(
        ids, n, [=](i8 id) { return id < 0 || !((id < 64 ? low : high) >> (id & 63) & 1); }, [](u64) { return false; }));
}

// check_dense_offsets checks the offsets of a dense union against the lengths of
// its children by their ids; a length is negative where there is no such child.
KERNEL check_dense_offsets(const u8 *__restrict__ ids, const u8 *__restrict__ offsets, u64 n, const i64 *__restrict__ lengths,
                           Result *result) {
    struct Slot {
        i32 id, offset;
    };
    const auto find = [=](u64 i, Slot slot) {
        return slot.id < 0 || slot.offset < 0 || slot.offset >= lengths[slot.id & 127] ? i : none;
    };
    if (aligned(offsets, 4))
        report(result, search<4>(n, [=](u64 i) { return Slot{(i8)ids[i], load<i32>(offsets, i, true)}; }, find));
    else
        report(result, search<1>(n, [=](u64 i) { return Slot{(i8)ids[i], load<i32>(offsets, i, false)}; }, find));
}

// check_valid adds the number of n bits that are set to the result's first word.
KERNEL check_valid(const u8 *__restrict__ bits, u64 offset, u64 n, Result *result) {
    const u64 thread = thread_in_grid(), threads = threads_per_grid();
    // The first and the last byte count in part.
    const u8 *from = bits + (offset >> 3);
    const u32 skip = offset & 7;
    const u64 bytes = (skip + n + 7) / 8;
    u64 head = -(u64)from & 15;
    if (head > bytes)
        head = bytes;
    typedef Vector<u32, 4> Group;
    const Group *body = (const Group *)(from + head);
    const u64 groups = (bytes - head) / 16;
    // All bytes count whole, and what is too much in them is taken off again.
    u64 count = 0;
#pragma unroll 4
    for (u64 g = thread; g < groups; g += threads) {
        const Group group = body[g];
#pragma unroll
        for (u32 j = 0; j < 4; j++)
            count += __builtin_popcount(group.lane[j]);
    }
#pragma nounroll
    for (u64 r = thread; r < bytes - 16 * groups; r += threads)
        count += __builtin_popcount(from[r < head ? r : r + 16 * groups]);
    if (thread == 0) {
        const u32 over = 8 * bytes - skip - n; // bits of the last byte that are beyond the end
        count -= __builtin_popcount(from[0] & ((1 << skip) - 1));
        count -= __builtin_popcount(from[bytes - 1] >> (8 - over));
    }
    // Blocks are whole warps. What thread 0 takes off may leave it below zero for
    // now: sums wrap around.
#pragma unroll
    for (u32 delta = warp_threads / 2; delta > 0; delta /= 2)
        count += (u64)shuffle_down((u32)(count >> 32), delta) << 32 | shuffle_down((u32)count, delta);
    if (lane_in_warp() == 0 && count != 0)
        __atomic_fetch_add(&result->first, count, __ATOMIC_RELAXED);
}
