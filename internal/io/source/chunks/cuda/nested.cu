// Levels of columns of lists and structs: see nested.go.
#include "runs.cuh"
#include "tiles.cuh"

// Streams are the levels of a page.
struct Streams {
    Runs definitions, repetitions;
    u32 begin; // of the values in the page's bytes
};

// Levels is a page with levels, and where they go.
struct Levels {
    u64 definitions, repetitions; // address of a byte for each entry of the column, or 0
    u64 marks;                    // address of the marks of the repetition levels
    u32 page;
    u32 most_definition, most_repetition;
    u32 repetition_bytes; // of a DataPageV2

    METHOD u32 section(const Page &page, u32 &begin, u32 most, Runs &runs) const {
        const u32 left = page.length - begin, length = left < 4 ? 0 : load_word(page.bytes + begin);
        if (left < 4 || length > left - 4)
            return left < 4 ? cut : bad_length;
        runs = Runs{page.bytes + begin + 4, length, width(most)};
        begin += 4 + length;
        return 0;
    }
    METHOD static u32 width(u32 most) { return 32 - __builtin_clz(most | 1); }

    // find finds the levels, and returns damage.
    METHOD u32 find(const Page &page, Streams &s) const {
        s.begin = 0;
        if (page.level_bytes != none) {
            s.repetitions = Runs{page.levels, repetition_bytes, width(most_repetition)};
            s.definitions = Runs{page.levels + repetition_bytes, page.level_bytes - repetition_bytes, width(most_definition)};
            return 0;
        }
        const u32 status = most_repetition == 0 ? 0 : section(page, s.begin, most_repetition, s.repetitions);
        return status != 0 ? status : section(page, s.begin, most_definition, s.definitions);
    }
};

// find_nested finds the runs of the levels of listed pages, a block for each.
KERNEL LAUNCH_BOUNDS(256) find_nested(const Page *pages, Outcome *outcomes, const Levels *list) {
    const Levels levels = list[block_in_grid()];
    const Page page = pages[levels.page];
    Outcome *const outcome = outcomes + levels.page;
    if (outcome->status != 0 || page.rows == 0)
        return;
    synchronize_block(); // before the status changes
    Streams streams;
    const u32 status = levels.find(page, streams);
    if (status != 0) {
        if (thread_in_block() == 0)
            damage(outcome, status);
        return;
    }
    if (levels.most_repetition != 0) {
        find_runs<256>(streams.repetitions, levels.marks, page.rows, outcome);
        synchronize_block(); // its shared memory was read
    }
    find_runs<256>(streams.definitions, page.marks, page.rows, outcome);
    synchronize_block();
    if (outcome->status == 0 && thread_in_block() == 0) {
        outcome->valid = none;
        outcome->begin = streams.begin;
    }
}

// Cursor reads the numbers of a stream in their order.
struct Cursor {
    Runs runs;
    u32 place;
    u64 before;
    Run run;

    METHOD Cursor(const Runs &stream, u64 marks, u32 first) : runs(stream) {
        const Mark mark = load_mark(marks, first / mark_values);
        before = mark.before;
        read(mark.place);
    }
    METHOD void read(u32 at) {
        if (runs.read(at, run) != 0)
            run = Run{at, none, none, 0};
    }
    METHOD u32 at(u32 k) {
#pragma nounroll
        while (k - before >= run.count) {
            before += run.count;
            read(run.behind);
        }
        if (run.packed == none)
            return run.value;
        const u64 bit = (k - before) * runs.width;
        return (u32)(load_bytes(runs.from + run.packed + bit / 8) >> bit % 8) & (1u << runs.width) - 1;
    }
};

// Bytes are up to 32 levels of a lane.
struct Bytes {
    u64 part[4];

    METHOD void set(u32 i, u32 level) {
#pragma unroll
        for (u32 k = 0; k < 4; k++)
            if (i / 8 == k)
                part[k] |= (u64)level << i % 8 * 8;
    }
    // write writes count of them from a place on, of a word of which the lane has all or a part.
    METHOD void write(u64 to, u32 shift, u32 count) const {
        if (count == 32) {
#pragma unroll
            for (u32 k = 0; k < 4; k++)
                store<u64>(to + 8 * k, part[k]);
            return;
        }
#pragma nounroll
        for (u32 i = 0; i < count; i++) {
            u64 bytes = 0;
#pragma unroll
            for (u32 k = 0; k < 4; k++)
                bytes = i / 8 == k ? part[k] : bytes;
            store<u8>(to + shift + i, (u8)(bytes >> i % 8 * 8));
        }
    }
};

// write_nested writes the levels of tiles of listed pages, each as a byte, and the bitmap of the entries with a value: a lane has a word
// of it.
KERNEL LAUNCH_BOUNDS(64) write_nested(const Page *pages, Outcome *outcomes, const Tile *tiles, const Levels *list) {
    const Tile tile = tiles[block_in_grid()];
    const Levels levels = list[tile.page];
    const Page page = pages[levels.page];
    Outcome *const outcome = outcomes + levels.page;
    if (outcome->valid != none)
        return;
    const u32 word = tile.first / 32 + thread_in_block(), ahead = (u32)(page.row % 32), all = (ahead + page.rows - 1) / 32 + 1;
    Streams streams;
    levels.find(page, streams);
    u32 bits = 0;
    if (word < all) {
        const u32 first = word == 0 ? 0 : word * 32 - ahead, shift = word == 0 ? ahead : 0, count = minimum(32 - shift, page.rows - first);
        const u64 entry = (page.row / 32 + word) * 32;
        Bytes bytes = {};
        Cursor definitions(streams.definitions, page.marks, first);
        u32 above = 0;
#pragma nounroll
        for (u32 i = 0; i < count; i++) {
            const u32 level = definitions.at(first + i);
            bytes.set(i, level & 255);
            above |= level > levels.most_definition;
            bits |= (u32)(level == levels.most_definition) << i;
        }
        bytes.write(levels.definitions + entry, shift, count);
        bits <<= shift;
        if (levels.most_repetition != 0) {
            bytes = {};
            Cursor repetitions(streams.repetitions, levels.marks, first);
#pragma nounroll
            for (u32 i = 0; i < count; i++) {
                const u32 level = repetitions.at(first + i);
                bytes.set(i, level & 255);
                above |= level > levels.most_repetition;
            }
            bytes.write(levels.repetitions + entry, shift, count);
        }
        if (above != 0)
            damage(outcome, bad_level);
        write_word(page.bitmap + 4 * (u64)(page.row / 32 + word), whole_warp >> (32 - count) << shift, bits);
    }
    count_words(page, word, all, bits);
}

static constexpr u32 most_depths = 8, entry_tile = 2048, entry_threads = 256, own_entries = 8;

// Leaf is a column of values with levels. An entry is a level of each kind, with or without a value.
struct Leaf {
    u64 definitions, repetitions; // address of a byte for each entry; or 0
    u64 sums;                     // address of the number of elements before each tile, for each depth
    u64 totals;                   // address of the number of elements of each depth, and of the first entry with damage behind them
    u64 keep;                     // address of a bitmap of the entries with an element of the last depth, or 0
    u32 entries, depths, tiles;   // depths is the number of lists around the values
    u32 first_node, nodes;        // of the list of nodes
    u32 padding;
    u32 elements[most_depths]; // definition level from which on an element of each depth exists
};

// Node is a part of a column that a leaf has the levels of: the validity of its elements, or the offsets of lists.
struct Node {
    u64 to;    // address of a byte for each element, or of the offsets of elements
    u64 bits;  // address of the bitmap, or 0 of offsets
    u64 valid; // address of the number of elements that are valid
    u32 depth; // of its elements, or of those that offsets are of
    u32 level; // definition level from which on an element is valid
    u32 leaf, padding;
};

// Entries are those that a thread has of a tile.
struct Entries {
    u64 definitions, repetitions;
    u32 first, count;

    METHOD Entries(const Leaf &leaf, u32 tile) {
        first = tile + thread_in_block() * own_entries;
        count = first < leaf.entries ? minimum(own_entries, leaf.entries - first) : 0;
        definitions = count > 0 ? load<u64>(leaf.definitions + first) : 0;
        repetitions = count > 0 && leaf.repetitions != 0 ? load<u64>(leaf.repetitions + first) : 0;
    }
    METHOD u32 definition(u32 i) const { return definitions >> 8 * i & 255; }
    METHOD u32 repetition(u32 i) const { return repetitions >> 8 * i & 255; }

    // begins reports whether an element of a depth begins with entry i.
    METHOD bool begins(u32 i, u32 depth, u32 element) const { return i < count && repetition(i) <= depth && definition(i) >= element; }

    METHOD u32 number(u32 depth, u32 element) const {
        u32 n = 0;
#pragma unroll
        for (u32 i = 0; i < own_entries; i++)
            n += begins(i, depth, element);
        return n;
    }

    // damaged reports whether an entry continues a list that does not go on.
    METHOD bool damaged(const Leaf &leaf, u32 i) const {
        const u32 depth = repetition(i);
        if (i >= count || depth == 0)
            return false;
        if (first + i == 0 || depth > leaf.depths)
            return true;
        const u32 element = leaf.elements[depth], before = i > 0 ? definition(i - 1) : load<u8>(leaf.definitions + first - 1);
        return definition(i) < element || before < element;
    }
};

// count_elements counts the elements of each depth in tiles of entries.
KERNEL LAUNCH_BOUNDS(256) count_elements(const Page *, const Outcome *, const Tile *tiles, const Leaf *leaves) {
    __shared__ u64 sums[entry_threads / warp_threads];
    const Tile tile = tiles[block_in_grid()];
    const Leaf &leaf = leaves[tile.page];
    const Entries entries(leaf, tile.first);
#pragma nounroll
    for (u32 depth = 0; depth <= leaf.depths; depth++) {
        const u64 sum = warp_fold((u64)entries.number(depth, leaf.elements[depth]), Sum<u64>());
        u64 total;
        block_fold_before<entry_threads / warp_threads>(sum, sums, total, Sum<u64>());
        if (thread_in_block() == 0)
            store<u64>(leaf.sums + 8 * ((u64)depth * leaf.tiles + tile.first / entry_tile), total);
    }
}

// scan_elements adds the numbers of the tiles of leaves, a block for each of their depths.
KERNEL LAUNCH_BOUNDS(256) scan_elements(const Page *, const Outcome *, const Tile *list, const Leaf *leaves) {
    const Tile one = list[block_in_grid()]; // a leaf and a depth
    const Leaf &leaf = leaves[one.page];
    const u64 total = scan_sums<256>(leaf.sums + 8 * (u64)one.first * leaf.tiles, leaf.tiles, 0);
    if (thread_in_block() != 0)
        return;
    store<u64>(leaf.totals + 8 * (u64)one.first, total);
    if (one.first == 0)
        store<u64>(leaf.totals + 8 * (u64)(leaf.depths + 1), none);
}

// write_node writes what the entries of a thread have of a node. element and list are the numbers of its first element and of the
// first one of the lists around.
DEVICE void write_node(const Node &node, const Leaf &leaf, const Entries &entries, u32 element, u32 list) {
    const u32 depth = node.depth, level = leaf.elements[depth];
    if (node.bits != 0) {
#pragma unroll
        for (u32 i = 0; i < own_entries; i++)
            if (entries.begins(i, depth, level))
                store<u8>(node.to + element++, entries.definition(i) >= node.level);
        return;
    }
    const u32 outer = leaf.elements[depth - 1];
#pragma unroll
    for (u32 i = 0; i < own_entries; i++) {
        if (entries.begins(i, depth - 1, outer))
            store<u32>(node.to + 4 * (u64)list++, element);
        element += entries.begins(i, depth, level);
    }
    if (entries.count > 0 && entries.first + entries.count == leaf.entries)
        store<u32>(node.to + 4 * (u64)list, element);
}

// write_elements writes the offsets, and the validity as bytes, of the elements of tiles of entries.
KERNEL LAUNCH_BOUNDS(256) write_elements(const Page *, const Outcome *, const Tile *tiles, const Leaf *leaves, const Node *nodes) {
    __shared__ u64 sums[entry_threads / warp_threads];
    const Tile tile = tiles[block_in_grid()];
    const Leaf &leaf = leaves[tile.page];
    const Entries entries(leaf, tile.first);
    u32 list = 0;
#pragma nounroll
    for (u32 depth = 0; depth <= leaf.depths; depth++) {
        const u64 own = entries.number(depth, leaf.elements[depth]), scanned = warp_scan(own, Sum<u64>());
        u64 total, element = load<u64>(leaf.sums + 8 * ((u64)depth * leaf.tiles + tile.first / entry_tile)) + scanned - own;
        element += block_fold_before<entry_threads / warp_threads>(shuffle_value(scanned, warp_threads - 1), sums, total, Sum<u64>());
#pragma nounroll
        for (u32 k = 0; k < leaf.nodes; k++)
            if (nodes[leaf.first_node + k].depth == depth)
                write_node(nodes[leaf.first_node + k], leaf, entries, (u32)element, list);
        list = (u32)element;
    }
    u32 kept = 0;
#pragma unroll
    for (u32 i = 0; i < own_entries; i++) {
        kept |= (u32)entries.begins(i, leaf.depths, leaf.elements[leaf.depths]) << i;
        if (entries.damaged(leaf, i))
            __atomic_fetch_min((u64 *)(leaf.totals + 8 * (u64)(leaf.depths + 1)), (u64)(entries.first + i), __ATOMIC_RELAXED);
    }
    if (leaf.keep != 0 && entries.count > 0)
        store<u8>(leaf.keep + entries.first / 8, (u8)kept);
}

// pack_validity makes bitmaps of bytes, those of tiles of the elements of nodes.
KERNEL LAUNCH_BOUNDS(256) pack_validity(const Page *, const Outcome *, const Tile *tiles, const Leaf *leaves, const Node *nodes) {
    const Tile tile = tiles[block_in_grid()];
    const Node &node = nodes[tile.page];
    const u64 total = load<u64>(leaves[node.leaf].totals + 8 * (u64)node.depth), first = (u64)tile.first + thread_in_block() * 8;
    u32 bits = 0;
    if (first < total) {
        u64 bytes = load<u64>(node.to + first) & 0x0101010101010101;
        if (total - first < 8)
            bytes &= (1ull << 8 * (total - first)) - 1;
        bits = (u32)(bytes * 0x0102040810204080 >> 56);
        store<u8>(node.bits + first / 8, (u8)bits);
    }
    const u32 valid = warp_fold((u32)__builtin_popcount(bits), Sum<u32>());
    if (valid > 0 && lane_in_warp() == 0)
        __atomic_fetch_add((u64 *)node.valid, (u64)valid, __ATOMIC_RELAXED);
}
