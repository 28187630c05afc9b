// Zstandard, all blocks of all pages at the same time. The phases are kernels:
//
//   zstd_plan    a thread for each page lists its blocks and reserves memory for them
//   zstd_decode  a warp decodes the sequences of 8 blocks, 4 lanes the same for each, or
//                the literals of 8 blocks, a lane for each stream
//   zstd_write   4 warps for each page write the output, block by block
//
// Blocks that use codes of earlier blocks build them again. Recent distances that come from earlier
// blocks stay unknown until the last phase. zstd.cu decompresses the pages with blocks that do not fit the memory.
#include "zstd_blocks.cuh"
#include "zstd_team.cuh"

// A warp decodes warp_blocks blocks, by group_lanes lanes each.
static constexpr u32 warp_blocks = 8, group_lanes = warp_threads / warp_blocks;

// survey_page calls visit(block) for the blocks of a page.
template <typename Visit> DEVICE u32 survey_page(Survey &survey, const Span &in, Visit visit) {
    FrameHeader frame;
    survey.literals = survey.sequences = survey.literal_bytes = survey.blocks = 0;
    return each_block(
        in,
        [&](const FrameHeader &header) INLINE -> u32 {
            survey.begin_frame();
            frame = header;
            return header.has_length && header.length > survey.length ? too_long : complete;
        },
        [&](const BlockHeader &header, const Span &content) INLINE -> u32 {
            Block block;
            const u32 status = survey.read(frame, header, content, block);
            if (status == complete)
                visit(block);
            return status;
        },
        [](const FrameHeader &) INLINE -> u32 { return complete; });
}

// plan_blocks reserves memory for the blocks of a page and lists them.
DEVICE Plan plan_blocks(Survey &survey, const Span &in, u32 page, const Memory &memory) {
    const u64 first = __nvvm_atom_add_gen_ll((long long *)&memory.used->blocks, survey.blocks);
    const u64 literals = __nvvm_atom_add_gen_ll((long long *)&memory.used->literals, (long long)survey.literals);
    const u64 sequences = __nvvm_atom_add_gen_ll((long long *)&memory.used->sequences, (long long)survey.sequences);
    const u32 count = survey.blocks;
    const bool fits = survey.length < most_packed && first + count <= memory.size.blocks &&
        literals + survey.literals <= memory.size.literals && sequences + survey.sequences <= memory.size.sequences;
    if (!fits) {
        for (u64 i = first; i < first + count && i < memory.size.blocks; i++)
            memory.blocks[i].type = unused_block;
        return {0, absent};
    }
    u64 place = first;
    survey_page(survey, in, [&](Block &block) INLINE {
        block.page = page;
        block.literals += literals;
        block.sequences += sequences;
        memory.blocks[place++] = block;
    });
    return {(u32)first, count};
}

KERNEL LAUNCH_BOUNDS(32) zstd_plan(const Page *pages, u32 count, const u8 *input, u64 input_bytes, u64 output_bytes, u32 *status, Memory memory) {
    const u32 number = (u32)thread_in_grid();
    if (number >= count)
        return;
    const Page page = pages[number];
    Plan plan = {0, 0};
    u32 result = outside;
    if (within(page.source, page.compressed, input_bytes) && within(page.target, page.length, output_bytes)) {
        const u8 *from = input + page.source;
        const Span in = {from, from + page.compressed};
        Survey survey;
        survey.page = from;
        survey.length = page.length;
        result = survey_page(survey, in, [](const Block &) INLINE {});
        if (result == complete)
            plan = plan_blocks(survey, in, number, memory);
    }
    memory.plans[number] = plan;
    status[number] = result;
}

// input_of returns the input of a page from an offset on.
DEVICE Span input_of(const Page &page, const u8 *input, u32 offset) {
    return {input + page.source + offset, input + page.source + page.compressed};
}

// content_of returns the content of a block.
DEVICE Span content_of(const Page &page, const u8 *input, const Block &block) {
    const u8 *at = input + page.source + block.content;
    return {at, at + (block.type == repeated_block ? 1 : block.size)};
}

// LiteralsWork is literals that a group of lanes decodes.
struct LiteralsWork {
    LiteralsHeader header;
    Span in;
    u32 log, page;
    u8 *to;
};

// prepare_literals reads the Huffman code of a block's literals, or writes those that have no code.
DEVICE u32 prepare_literals(Draft &draft, HuffmanTable &table, const Page &page, const u8 *input, const Block &block, const Memory &memory, LiteralsWork &work) {
    Span in = content_of(page, input, block);
    work.to = memory.literals + block.literals;
    if (const u32 status = read_literals_header(in, work.header))
        return status;
    work.in = {in.at, in.at + work.header.bytes};
    if (work.header.type == repeated_literal)
        write_repeated(work.to, *in.at, work.header.length);
    if (work.header.type < compressed_literals)
        return complete;
    if (work.header.type == compressed_literals)
        return read_huffman(draft, work.in, work.log, table);
    Span tree = input_of(page, input, block.tree);
    LiteralsHeader header;
    if (const u32 status = read_literals_header(tree, header))
        return status;
    tree.end = tree.at + header.bytes;
    return read_huffman(draft, tree, work.log, table);
}

struct LiteralsShared {
    HuffmanTable tables[warp_blocks];
    Draft draft;
};

// decode_literals decodes the literals of the blocks from first on.
DEVICE void decode_literals(LiteralsShared &shared, u32 first, const Page *pages, const u8 *input, u32 *status, const Memory &memory) {
    const u32 group = lane_in_warp() / group_lanes;
    LiteralsWork own;
    own.header.streams = 0;
#pragma nounroll
    for (u32 k = 0; k < warp_blocks; k++) {
        const u32 number = first + k;
        if (number >= memory.blocks_used() || memory.blocks[number].type != compressed_block)
            continue;
        const Block &block = memory.blocks[number];
        LiteralsWork work;
        work.page = block.page;
        work.log = most_huffman_bits;
        const u32 fault = prepare_literals(shared.draft, shared.tables[k], pages[block.page], input, block, memory, work);
        if (fault != complete) {
            work.header.streams = 0;
            if (lane_in_warp() == 0)
                fail(status + block.page, fault);
        }
        if (k == group)
            own = work;
        synchronize_warp();
    }
    if (!write_stream(shared.tables[group], own.in, own.log, own.header, own.to, lane_in_warp() % group_lanes))
        fail(status + own.page, bad_block);
}

// read_defined reads the tables of a block's sequences, some of which earlier blocks define, and
// leaves in at the bits of the sequences.
DEVICE u32 read_defined(Draft &draft, SequenceTables &to, const Page &page, const u8 *input, const Block &block, Tables &tables, Span &in) {
    in = input_of(page, input, block.section);
    in.end = input + page.source + block.content + block.size;
#pragma nounroll
    for (u32 k = 0; k < 4; k++) {
        // The sections of the earlier blocks, then that of the block.
        const u32 section = k == 0 ? block.tables[0] : k == 1 ? block.tables[1] : k == 2 ? block.tables[2] : block.section;
        if (k < 3 && (section == block.section || k > 0 && section == block.tables[k - 1]))
            continue;
        Span other = k < 3 ? input_of(page, input, section) : in;
        u32 count, modes;
        if (const u32 status = read_count(other, count, modes))
            return status;
#pragma nounroll
        for (u32 kind = 0; kind < 3; kind++) {
            const u32 mode = mode_of(modes, kind);
            const u32 definer = kind == 0 ? block.tables[0] : kind == 1 ? block.tables[1] : block.tables[2];
            u32 log, fault = complete;
            if (mode == repeat_mode)
                continue;
            if (definer == section)
                fault = read_table(draft, to, other, kind, mode, tables);
            else if (mode == counts_mode)
                fault = read_counts(draft, other, 9, 53, log);
            else if (mode == symbol_mode)
                other.at += other.left() > 0;
            if (fault != complete)
                return fault;
        }
        if (k == 3)
            in.at = other.at;
    }
    return complete;
}

// SequencesWork is sequences that a group of lanes decodes.
struct SequencesWork {
    Sequences sequences;
    Tables tables;
    u32 count, page;
    Block *block;
    u64 *to;
};

struct SequencesShared {
    SequenceTables tables[warp_blocks];
    alignas(16) u32 staged[warp_blocks][Sequences::staged_words];
    Draft draft;
};

// decode_groups decodes the sequences of all groups and returns a status for each.
DEVICE u32 decode_groups(SequencesWork &work, const SequenceTables &tables) {
    Sequences &sequences = work.sequences;
    u32 farthest = 0;
    sequences.stage<group_lanes>(work.count > 0);
    if (work.count > 0)
        sequences.begin_states(work.tables);
    for (u32 i = 0; i < 3; i++)
        sequences.recent[i] = unknown_distance(i);
#pragma nounroll
    for (u32 first = 0; ballot(first < work.count); first += Sequences::most_batch) {
        sequences.stage<group_lanes>(first < work.count);
        const u32 end = least(work.count, first + Sequences::most_batch);
#pragma nounroll
        for (u32 i = first; i < end; i++) {
            const Sequence s = sequences.next(tables, i + 1 == work.count);
            farthest = sequences.offset > farthest ? sequences.offset : farthest;
            work.to[i] = pack(s); // by all lanes of the group, in one transaction
        }
    }
    if (work.count == 0)
        return complete;
    for (u32 i = 0; i < 3; i++)
        work.block->recent[i] = sequences.recent[i];
    return farthest >= most_packed ? bad_distance : sequences.bits_left() != 0 ? bad_block : complete;
}

// decode_sequences decodes the sequences of the blocks from first on.
DEVICE void decode_sequences(SequencesShared &shared, u32 first, const Page *pages, const u8 *input, u32 *status, const Memory &memory) {
    const u32 group = lane_in_warp() / group_lanes;
    SequencesWork own;
    own.count = 0;
    own.sequences.in = {input, input};
    own.sequences.staged = shared.staged[group];
    own.sequences.left = own.sequences.skipped = own.sequences.taken = 0;
#pragma nounroll
    for (u32 k = 0; k < warp_blocks; k++) {
        const u32 number = first + k;
        if (number >= memory.blocks_used())
            break;
        Block &block = memory.blocks[number];
        if (block.type != compressed_block || block.count == 0)
            continue;
        SequencesWork work = {{}, {0}, block.count, block.page, &block, memory.sequences + block.sequences};
        Span in;
        u32 fault = read_defined(shared.draft, shared.tables[k], pages[block.page], input, block, work.tables, in);
        if (fault == complete)
            fault = work.sequences.begin(in, shared.staged[k]);
        if (fault == complete && k == group)
            own = work;
        if (lane_in_warp() == 0)
            fail(status + block.page, fault);
        synchronize_warp();
    }
    const u32 fault = decode_groups(own, shared.tables[group]);
    if (fault != complete)
        fail(status + own.page, fault);
}

// The sequences take longer, so that they begin first.
KERNEL LAUNCH_BOUNDS(32) zstd_decode(const Page *pages, const u8 *input, u32 *status, Memory memory) {
    __shared__ union {
        LiteralsShared literals;
        SequencesShared sequences;
    } shared;
    const u32 half = blocks_per_grid() / 2, block = block_in_grid();
    if (block < half)
        decode_sequences(shared.sequences, block * warp_blocks, pages, input, status, memory);
    else
        decode_literals(shared.literals, (block - half) * warp_blocks, pages, input, status, memory);
}

// prefetch begins to load a word into the cache.
DEVICE void prefetch(const u64 *word) { asm volatile("prefetch.global.L1 [%0];" ::"l"(word)); }

// write_decoded writes a block from its decoded literals and sequences.
DEVICE u32 write_decoded(Team &team, const Page &page, const u8 *input, const Block &block, const Memory &memory, Output &out, u32 (&recent)[3]) {
    Span in = content_of(page, input, block);
    LiteralsHeader header;
    if (const u32 status = read_literals_header(in, header))
        return status;
    Literals literals = {header.type == raw_literals ? in.at : memory.literals + block.literals, header.length, false};
    const u64 *words = memory.sequences + block.sequences;
    const u32 thread = thread_in_block(), count = block.count;
#pragma nounroll
    for (u32 i = 0; i < count;) {
        Sequence s = {};
        if (i + thread < count) {
            s = unpack(words[i + thread]);
            s.distance = known_distance(s.distance, recent);
        }
        if (i + thread + team_threads < count)
            prefetch(words + i + thread + team_threads);
        u32 n = count - i;
        if (const u32 status = write_team(team, out, literals, s, n))
            return status;
        i += n;
    }
    if (count > 0) {
        const u32 before[3] = {recent[0], recent[1], recent[2]};
#pragma unroll
        for (u32 i = 0; i < 3; i++)
            recent[i] = known_distance(block.recent[i], before);
    }
    if (literals.left > out.left())
        return too_long;
    team_copy(out.page + out.at, literals.at, literals.left);
    out.at += literals.left;
    return complete;
}

// write_other writes a block that is not compressed.
DEVICE u32 write_other(const Page &page, const u8 *input, const Block &block, Output &out) {
    if (block.size > out.left())
        return too_long;
    const u8 *from = content_of(page, input, block).at;
    if (block.type == raw_block)
        team_copy(out.page + out.at, from, block.size);
    else
        team_repeated(out.page + out.at, *from, block.size);
    out.at += block.size;
    return complete;
}

// write_page writes the blocks of a page.
DEVICE u32 write_page(Team &team, const Page &page, const u8 *input, const Plan &plan, const Memory &memory, Output &out) {
    u32 recent[3];
#pragma nounroll
    for (u32 i = 0; i < plan.count; i++) {
        const Block &block = memory.blocks[plan.first + i];
        const u32 start = out.at;
        if (block.first) {
            recent[0] = 1, recent[1] = 4, recent[2] = 8;
            out.frame = out.at;
        }
        const u32 status = block.type == compressed_block ? write_decoded(team, page, input, block, memory, out, recent) : write_other(page, input, block, out);
        if (status != complete)
            return status;
        if (out.at - start > most_block)
            return bad_block;
        if (block.last && block.frame_length != absent && block.frame_length != out.at - out.frame)
            return bad_header;
    }
    return out.left() == 0 ? complete : too_short;
}

KERNEL LAUNCH_BOUNDS(128) zstd_write(const Page *pages, const u8 *input, u8 *output, u32 *status, Memory memory) {
    __shared__ Team team;
    const u32 number = block_in_grid();
    const Plan plan = memory.plans[number];
    if (plan.count == absent || status[number] != complete)
        return;
    team.clear();
    const Page page = pages[number];
    Output out = {output + page.target, page.length, 0, 0};
    const u32 fault = write_page(team, page, input, plan, memory, out);
    if (thread_in_block() == 0)
        fail(status + number, fault);
}
