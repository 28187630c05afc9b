// Finds the heads of runs of equal keys, and whether the rows are in order:
// kernels/window/heads.go. One kernel compares the keys of neighbours and writes a bit for
// each place, and the extent of the heads of each tile. One block scans the extents, and a
// last kernel writes for every 32 places what heads.cuh needs.

#include "bitrow.cuh"
#include "heads.cuh"
#include "state.cuh"

static constexpr u32 head_threads = 256, head_loads = 16;
static constexpr u32 head_warp_rows = warp_threads * head_loads, head_rows = head_threads * head_loads;
static constexpr u32 head_words = head_rows / 32, head_warps = head_threads / warp_threads;

// Extent is the heads of some places in order: one more than the last one, or 0, the first
// one, or ~0, and their number.
struct Extent {
    u32 last, first, count;

    METHOD static Extent of(u32 bits, u64 place) {
        const u32 base = (u32)place;
        return bits == 0 ? Extent{0, ~0u, 0}
                         : Extent{base + 32 - __builtin_clz(bits), base + __builtin_ctz(bits), (u32)__builtin_popcount(bits)};
    }
};

// Extents is the fold of neighbouring extents.
struct Extents {
    METHOD Extent none() const { return Extent{0, ~0u, 0}; }
    METHOD Extent fold(const Extent &a, const Extent &b) const {
        return Extent{b.last == 0 ? a.last : b.last, a.first == ~0u ? b.first : a.first, a.count + b.count};
    }
};

// Places are the places of rows.
//go:layout placesLayout any
struct Places {
    const u32 *listed;
    const i64 *counted;
    i64 capacity;

    METHOD u64 count() const { return device_rows(counted, capacity); }
    METHOD u64 row(u64 place) const { return listed == nullptr ? place : listed[place]; }
};

// Found is heads as the kernels write them.
//go:layout foundLayout
struct Found {
    u32 *bits;
    Extent *tiles;

    // write writes the words of a warp: lane i has the bits of word i, of head_loads. All
    // threads of the block take part.
    METHOD void write(u32 bits, u64 begin, Extent *shared) const {
        const u32 lane = lane_in_warp(), warp = thread_in_block() / warp_threads;
        const u64 place = begin + warp * head_warp_rows + lane * 32;
        if (lane < head_loads)
            this->bits[place / 32] = bits;
        if (tiles == nullptr)
            return;
        const Extents f;
        const Extent all = warp_fold(lane < head_loads ? Extent::of(bits, place) : f.none(), f);
        if (lane == 0)
            shared[warp] = all;
        synchronize_block();
        if (thread_in_block() == 0) {
            Extent tile = f.none();
            for (u32 i = 0; i < head_warps; i++)
                tile = f.fold(tile, shared[i]);
            tiles[begin / head_rows] = tile;
        }
        synchronize_block();
    }
};

// sample_is_unsorted reports whether a sample has shown that the rows are in no order: then the heads are not
// needed. unsorted is null, or has what the sample shows and then what all rows show.
DEVICE bool sample_is_unsorted(const u32 *unsorted) { return unsorted != nullptr && unsorted[0] != 0; }

// find_heads compares words: the key is one column of integers without nulls. flip gives the
// words the order of the keys.
template <typename T> DEVICE void find_heads(const Places &places, const T *keys, T flip, const Found &found, u32 *unsorted) {
    __shared__ Extent shared[head_warps];
    if (sample_is_unsorted(unsorted))
        return;
    const u64 n = places.count(), begin = (u64)block_in_grid() * head_rows;
    const u32 lane = lane_in_warp();
    const u64 first = begin + thread_in_block() / warp_threads * head_warp_rows;
    T key[head_loads];
    if (first + head_warp_rows <= n && places.listed == nullptr) {
#pragma unroll
        for (u32 i = 0; i < head_loads; i++)
            key[i] = keys[first + i * 32 + lane] ^ flip;
    } else {
#pragma unroll
        for (u32 i = 0; i < head_loads; i++) {
            const u64 place = first + i * 32 + lane;
            key[i] = place < n ? keys[places.row(place)] ^ flip : 0;
        }
    }
    // The key of the row before that of the first lane.
    T before = 0;
    if (lane == 0 && first > 0 && first < n)
        before = keys[places.row(first - 1)] ^ flip;
    u32 bits = 0;
    bool less = false;
#pragma unroll
    for (u32 i = 0; i < head_loads; i++) {
        const u64 place = first + i * 32 + lane;
        const T turned = shuffle_value(key[i], (lane + 31) % 32);
        const T previous = lane == 0 ? before : turned;
        before = turned; // of the next row of lane 0
        const bool inside = place < n;
        less = less || inside && place > 0 && key[i] < previous;
        const u32 word = ballot(inside && (place == 0 || key[i] != previous));
        bits = lane == i ? word : bits;
    }
    if (unsorted != nullptr && ballot(less) != 0 && lane == 0)
        unsorted[1] = 1;
    found.write(bits, begin, shared);
}

KERNEL LAUNCH_BOUNDS(head_threads) heads_32(Places places, const u32 *keys, u64 flip, Found found, u32 *unsorted) {
    find_heads<u32>(places, keys, (u32)flip, found, unsorted);
}
KERNEL LAUNCH_BOUNDS(head_threads) heads_64(Places places, const u64 *keys, u64 flip, Found found, u32 *unsorted) {
    find_heads<u64>(places, keys, flip, found, unsorted);
}

// HeadKey is a column of numbers with its direction.
//go:layout headKeyLayout
struct HeadKey {
    Values column;
    u32 format, descending, nulls_first, unused;

    // word returns a number with the order of the values. −0 equals 0, and NaN is greater
    // than all numbers.
    METHOD u64 word(u64 row) const {
        u64 raw = raw_at(column.values, format, row);
        if (format / 4 == class_float && (raw & ~(1ull << ((8u << format % 4) - 1))) == 0)
            raw = 0;
        return least_key(raw, format, 0);
    }

    // compare returns a number below, equal to or above 0 as row a sorts before, with or
    // behind row b.
    METHOD i32 compare(u64 a, u64 b) const {
        const bool has_a = column.is_valid(a), has_b = column.is_valid(b);
        if (!has_a || !has_b)
            return has_a == has_b ? 0 : has_a == (nulls_first != 0) ? 1 : -1;
        const u64 x = word(a), y = word(b);
        const i32 sign = x < y ? -1 : x > y ? 1 : 0;
        return descending != 0 ? -sign : sign;
    }
};

// most_head_keys is the number of keys that a kernel compares without encoding them.
//go:layout
static constexpr u32 most_head_keys = 4;

// HeadKeys are the keys of partitions, and then those of the order.
//go:layout headKeysLayout
struct HeadKeys {
    HeadKey key[most_head_keys];
    u32 partitions, count; // the number of keys of partitions, and of all
};

// heads_any finds the heads of partitions and of peers for up to four columns of numbers.
KERNEL LAUNCH_BOUNDS(head_threads) heads_any(Places places, HeadKeys keys, Found partitions, Found peers, u32 *unsorted) {
    __shared__ Extent shared[head_warps];
    if (sample_is_unsorted(unsorted))
        return;
    const u64 n = places.count(), begin = (u64)block_in_grid() * head_rows;
    const u32 lane = lane_in_warp();
    const u64 first = begin + thread_in_block() / warp_threads * head_warp_rows;
    u32 partition_bits = 0, peer_bits = 0;
    bool less = false;
#pragma unroll 1
    for (u32 i = 0; i < head_loads; i++) {
        const u64 place = first + i * 32 + lane;
        bool partition = place == 0, peer = partition;
        if (place < n && place > 0) {
            const u64 a = places.row(place - 1), b = places.row(place);
            i32 order = 0;
#pragma unroll
            for (u32 k = 0; k < most_head_keys; k++) {
                if (k < keys.count && order == 0) {
                    order = keys.key[k].compare(a, b);
                    partition = partition || k < keys.partitions && order != 0;
                }
            }
            peer = order != 0;
            less = less || order > 0;
        }
        const u32 a = ballot(place < n && partition), b = ballot(place < n && peer);
        partition_bits = lane == i ? a : partition_bits;
        peer_bits = lane == i ? b : peer_bits;
    }
    if (unsorted != nullptr && ballot(less) != 0 && lane == 0)
        unsorted[1] = 1;
    if (partitions.bits != nullptr)
        partitions.write(partition_bits, begin, shared);
    if (peers.bits != nullptr)
        peers.write(peer_bits, begin, shared);
}

static constexpr u32 sample_threads = 1024;

// heads_sample compares some neighbours, from all parts of the rows, in one block.
KERNEL LAUNCH_BOUNDS(sample_threads) heads_sample(Places places, HeadKeys keys, u32 *unsorted) {
    const u64 n = places.count(), place = n / sample_threads * thread_in_block();
    if (place + 1 >= n)
        return;
    const u64 a = places.row(place), b = places.row(place + 1);
    i32 order = 0;
#pragma unroll 1
    for (u32 k = 0; k < keys.count && order == 0; k++)
        order = keys.key[k].compare(a, b);
    if (order > 0)
        unsorted[0] = 1;
}

// heads_numbers finds the heads of runs with numbers, which order.FindRuns gives.
KERNEL LAUNCH_BOUNDS(head_threads) heads_numbers(Places places, const u32 *numbers, Found found) {
    places.listed = nullptr; // the numbers are in order
    find_heads<u32>(places, numbers, 0, found, nullptr);
}

// A group is the tiles that a warp folds together.
static constexpr u32 extent_threads = 1024, extent_warps = extent_threads / warp_threads, group_tiles = warp_threads;

// scan_behind returns the fold of the lanes behind the calling one.
DEVICE Extent scan_behind(Extent own) {
    const Extents f;
    const u32 lane = lane_in_warp();
#pragma unroll
    for (u32 delta = 1; delta < warp_threads; delta *= 2) {
        const Extent next = shuffle_value_down(own, delta);
        if (lane + delta < warp_threads)
            own = f.fold(own, next);
    }
    const Extent next = shuffle_value_down(own, 1);
    return lane == warp_threads - 1 ? f.none() : next;
}

// heads_tiles writes for each group of tiles the last head before it, the first one behind,
// and the number of heads before, in one block.
KERNEL LAUNCH_BOUNDS(extent_threads) heads_tiles(const Extent *tiles, u32 count, Extent *groups, const u32 *unsorted) {
    __shared__ Extent shared[extent_warps];
    if (sample_is_unsorted(unsorted))
        return;
    const u32 thread = thread_in_block(), lane = lane_in_warp(), warp = thread / warp_threads;
    const u32 all = (count + group_tiles - 1) / group_tiles;
    const Extents f;
    for (u32 group = warp; group < all; group += extent_warps) {
        const u32 tile = group * group_tiles + lane;
        const Extent total = warp_fold(tile < count ? tiles[tile] : f.none(), f);
        if (lane == 0)
            groups[group] = total;
    }
    synchronize_block();
    Extent carried = f.none();
    for (u32 begin = 0; begin < all; begin += extent_threads) {
        const u32 at = begin + thread;
        const Extent scanned = warp_scan(at < all ? groups[at] : f.none(), f);
        Extent total;
        const Extent earlier = block_fold_before<extent_warps>(shuffle_value(scanned, warp_threads - 1), shared, total, f);
        const Extent before = f.fold(carried, f.fold(earlier, before_lane(scanned, f)));
        if (at < all) {
            groups[at].last = before.last;
            groups[at].count = before.count;
        }
        carried = f.fold(carried, total);
    }
    // The first heads behind, in reverse. The threads wrote the other words.
    carried = f.none();
    for (u32 end = (all + extent_threads - 1) / extent_threads * extent_threads; end > 0; end -= extent_threads) {
        const u32 at = end - extent_threads + thread;
        const Extent own = at < all ? Extent{0, groups[at].first, 0} : f.none();
        const Extent behind = scan_behind(own);
        if (lane == 0)
            shared[warp] = f.fold(own, behind);
        synchronize_block();
        Extent later = f.none(), total = f.none();
        for (u32 i = 0; i < extent_warps; i++) {
            if (i > warp)
                later = f.fold(later, shared[i]);
            total = f.fold(total, shared[i]);
        }
        if (at < all)
            groups[at].first = f.fold(f.fold(behind, later), carried).first;
        carried = f.fold(total, carried);
        synchronize_block();
    }
}

// heads_finish writes the words. A warp has a tile, a lane consecutive words. groups is null
// for one tile.
KERNEL LAUNCH_BOUNDS(head_threads) heads_finish(HeadWord *words, const u32 *bits, const Extent *tiles, const Extent *groups, u32 count, const i64 *counted, i64 capacity, const u32 *unsorted) {
    static constexpr u32 each = head_words / warp_threads;
    const u32 lane = lane_in_warp(), tile = block_in_grid() * head_warps + thread_in_block() / warp_threads;
    if (tile >= count || sample_is_unsorted(unsorted))
        return;
    const u64 n = device_rows(counted, capacity), first = (u64)tile * head_words + lane * each;
    const Extents f;
    const Vector<u32, each> word = *(const Vector<u32, each> *)(bits + first);
    Extent own = f.none();
#pragma unroll
    for (u32 i = 0; i < each; i++)
        own = f.fold(own, Extent::of(word.lane[i], 32 * (first + i)));
    Extent outside = f.none();
    if (groups != nullptr) {
        // The tiles of the group before and behind this one.
        const u32 begin = tile / group_tiles * group_tiles, at = begin + lane;
        const Extent other = at < count ? tiles[at] : f.none();
        const Extent before = warp_fold(at < tile ? other : f.none(), f), behind = warp_fold(at > tile ? other : f.none(), f);
        const Extent group = groups[tile / group_tiles];
        outside = Extent{before.last == 0 ? group.last : before.last, behind.first == ~0u ? group.first : behind.first, group.count + before.count};
    }
    Extent before = f.fold(Extent{outside.last, ~0u, outside.count}, before_lane(warp_scan(own, f), f));
    const Extent behind = scan_behind(own);
    u32 after = behind.first == ~0u ? outside.first : behind.first;
    u32 afters[each];
#pragma unroll
    for (u32 i = each; i > 0; i--) {
        afters[i - 1] = after;
        after = word.lane[i - 1] == 0 ? after : (u32)(32 * (first + i - 1)) + __builtin_ctz(word.lane[i - 1]);
    }
#pragma unroll
    for (u32 i = 0; i < each; i++) {
        const u32 last = before.last == 0 ? 0 : before.last - 1;
        words[first + i] = HeadWord{word.lane[i], last, afters[i] == ~0u ? (u32)n : afters[i], before.count};
        before = f.fold(before, Extent::of(word.lane[i], 32 * (first + i)));
    }
}
