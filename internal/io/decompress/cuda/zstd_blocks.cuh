// The blocks of many pages of Zstandard, which are decoded apart from each other.
#pragma once

#include "zstd_frame.cuh"

static constexpr u32 unused_block = 3; // a type
static constexpr u32 absent = 0xffffffff;

// Block is a block of a page. Offsets are those in the page's input.
struct Block {
    u64 literals, sequences; // where the decoded ones are, in bytes and in words
    u32 page;
    u32 type, content, size; // that of the output, if it is not compressed
    u32 tree;                // the content of the block that defines the Huffman code
    u32 section, count;      // the sequences
    u32 tables[3];           // the sequences of the blocks that define the tables
    u32 first, last;         // whether it is the first or last one of a frame
    u32 frame_length;        // of the last block, or absent
    u32 recent[3];           // the recent distances after the block
};

// Plan is the blocks of a page. count is absent if they did not fit the memory.
struct Plan {
    u32 first, count;
};

// Used is the memory that is reserved.
struct Used {
    u64 blocks, literals, sequences;
};

// Memory is the memory for blocks of pages and its size: zstdMemory in zstd.go.
struct Memory {
    Used *used;
    Plan *plans;
    Block *blocks;
    u8 *literals;
    u64 *sequences;
    Used size;

    METHOD u32 blocks_used() const { return (u32)least(used->blocks, size.blocks); }
};

// A page with packed sequences is shorter than this.
static constexpr u32 most_packed = 1 << 29;

// A distance of this or more, in a packed sequence, is one of the distances before the block less a
// number: unknown_distance of its place, less the number, which is below 2^19.
DEVICE u32 unknown_distance(u32 place) { return most_packed + (place + 1) * (1 << 20); }

// known_distance returns a distance after a block began with recent ones. It is 0 if the distance is not positive.
DEVICE u32 known_distance(u32 distance, const u32 (&recent)[3]) {
    if (distance < most_packed)
        return distance;
    const u32 place = ((distance - most_packed + (1 << 19)) >> 20) - 1, less = unknown_distance(place) - distance;
    const u32 base = place == 0 ? recent[0] : place == 1 ? recent[1] : recent[2];
    return base > less ? base - less : 0;
}

// pack returns a sequence in one word: 17 bits for each length, 30 for the distance.
DEVICE u64 pack(const Sequence &s) { return s.literals | (u64)(s.match - 3) << 17 | (u64)s.distance << 34; }
DEVICE Sequence unpack(u64 word) { return {(u32)word & 0x1ffff, ((u32)(word >> 17) & 0x1ffff) + 3, (u32)(word >> 34)}; }

// fail sets the status of a page.
DEVICE void fail(u32 *status, u32 code) {
    if (code != complete)
        __nvvm_atom_max_gen_ui(status, code);
}

// Survey finds the blocks of a page, the codes that they use, and the memory that they need.
struct Survey {
    const u8 *page;
    u32 length; // of the output
    u32 tree, tables[3];
    bool first;
    u64 literals, sequences, literal_bytes;
    u32 blocks;

    METHOD void begin_frame() {
        tree = tables[0] = tables[1] = tables[2] = absent;
        first = true;
    }

    METHOD u32 offset(const u8 *at) const { return (u32)(at - page); }

    METHOD u32 read(const FrameHeader &frame, const BlockHeader &header, const Span &content, Block &block) {
        block.type = header.type;
        block.content = offset(content.at);
        block.size = header.type == compressed_block ? (u32)content.left() : header.size;
        block.first = first;
        block.last = header.last;
        block.frame_length = frame.has_length ? (u32)frame.length : absent;
        block.count = 0;
        first = false;
        blocks++;
        return header.type == compressed_block ? read_compressed(content, block) : (u32)complete;
    }

    METHOD u32 read_compressed(Span in, Block &block) {
        LiteralsHeader header;
        if (const u32 status = read_literals_header(in, header))
            return status;
        if (header.type == compressed_literals)
            tree = block.content;
        if (header.type == treeless_literals && tree == absent)
            return bad_tree;
        block.tree = tree;
        block.literals = literals;
        if (header.type != raw_literals)
            literals += header.length + 15 & ~15u;
        literal_bytes += header.length;
        in.at += header.bytes;
        block.section = offset(in.at);
        block.sequences = sequences;
        u32 modes;
        if (const u32 status = read_count(in, block.count, modes))
            return status;
        sequences += block.count;
        if (literal_bytes + 3 * sequences > length)
            return too_long;
        bool known = true;
#pragma unroll
        for (u32 kind = 0; kind < 3; kind++) {
            if (block.count > 0 && mode_of(modes, kind) != repeat_mode)
                tables[kind] = block.section;
            block.tables[kind] = tables[kind];
            known &= tables[kind] != absent;
        }
        return known || block.count == 0 ? complete : bad_tree;
    }
};
