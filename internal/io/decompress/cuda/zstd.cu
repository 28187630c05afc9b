// Zstandard: RFC 8878. A warp decompresses a page, block by block.
//
//   frames    3.1.1, 3.1.2    headers, skippable frames: zstd_frame.cuh
//   literals  3.1.1.3.1       a lane for each stream: zstd_literals.cuh
//   sequences 3.1.1.3.2       all lanes decode the same; then each has one of 32: zstd_sequences.cuh
//   execution 3.1.1.4         32 sequences: zstd_output.cuh
//   codes     4.1, 4.2        built by all lanes: zstd_tables.cuh
//
// Checksums are not compared, and windows not limited: a page is in memory as a whole.
#include "zstd_blocks.cuh"
#include "zstd_output.cuh"

struct Shared {
    HuffmanTable huffman;
    SequenceTables sequences;
    Draft draft;
    alignas(16) u32 staged[Sequences::staged_words];
    Pieces pieces;
};

// Frame is the state that a block leaves for the next one of its frame.
struct Frame {
    u32 huffman_log; // 0 if there is no code yet
    Tables tables;
    u32 recent[3];
};

// read_literals prepares the literals of a block. Those that are coded are decoded to the end of the
// page's output. The rest of the output is at least as long as they and the matches of the block, so
// that no byte is needed before its literals are copied.
DEVICE u32 read_literals(Shared &shared, Span &in, Frame &frame, const Output &out, Literals &literals) {
    LiteralsHeader header;
    if (const u32 status = read_literals_header(in, header))
        return status;
    Span section = {in.at, in.at + header.bytes};
    in.at = section.end;
    literals = {section.at, header.length, header.type != raw_literals};
    if (header.length > out.left())
        return too_long;
    if (header.type == raw_literals)
        return complete;
    u8 *to = out.page + (out.length - header.length);
    literals.at = to;
    if (header.type == repeated_literal) {
        write_repeated(to, *section.at, header.length);
        return complete;
    }
    if (header.type == compressed_literals) {
        if (const u32 status = read_huffman(shared.draft, section, frame.huffman_log, shared.huffman))
            return status;
    } else if (frame.huffman_log == 0) {
        return bad_tree;
    }
    const bool written = write_stream(shared.huffman, section, frame.huffman_log, header, to, lane_in_warp());
    synchronize_warp();
    return ballot(!written) ? bad_block : complete;
}

// next_batch decodes the next of count sequences, and returns that of this lane.
DEVICE Sequence next_batch(Sequences &sequences, const SequenceTables &tables, u32 count) {
    const u32 lane = lane_in_warp(), n = least(count, warp_threads);
    Sequence own = {};
#pragma nounroll
    for (u32 i = 0; i < n; i++) {
        const Sequence s = sequences.next(tables, i + 1 == count);
        own.literals = i == lane ? s.literals : own.literals;
        own.match = i == lane ? s.match : own.match;
        own.distance = i == lane ? s.distance : own.distance;
    }
    return own;
}

// write_compressed writes a compressed block.
DEVICE u32 write_compressed(Shared &shared, Span in, Frame &frame, Output &out) {
    Literals literals;
    if (const u32 status = read_literals(shared, in, frame, out, literals))
        return status;
    u32 count, modes;
    if (const u32 status = read_count(in, count, modes))
        return status;
    if (count == 0)
        return write_rest(out, literals);
    Sequences sequences;
    if (const u32 status = read_tables(shared.draft, shared.sequences, in, modes, frame.tables))
        return status;
    if (const u32 status = sequences.begin(in, shared.staged))
        return status;
    sequences.stage<warp_threads>(true);
    sequences.begin_states(frame.tables);
    for (u32 i = 0; i < 3; i++)
        sequences.recent[i] = frame.recent[i];
#pragma nounroll
    for (; count > 0; count -= least(count, warp_threads)) {
        sequences.stage<warp_threads>(true);
        const Sequence s = next_batch(sequences, shared.sequences, count);
        if (sequences.bits_left() < 0)
            return bad_block;
        if (const u32 status = write_batch(shared.pieces, out, literals, s))
            return status;
    }
    for (u32 i = 0; i < 3; i++)
        frame.recent[i] = sequences.recent[i];
    return sequences.bits_left() != 0 ? bad_block : write_rest(out, literals);
}

// write_block writes a block.
DEVICE u32 write_block(Shared &shared, const BlockHeader &header, const Span &content, Frame &frame, Output &out) {
    if (header.type == compressed_block) {
        const u32 start = out.at, status = write_compressed(shared, content, frame, out);
        return status == complete && out.at - start > most_block ? (u32)bad_block : status;
    }
    return write_plain(out, content, header.type, header.size);
}

// zstd decompresses pages, those without a plan if there are plans.
KERNEL LAUNCH_BOUNDS(32) zstd(const Page *pages, const u8 *input, u64 input_bytes, u8 *output, u64 output_bytes, u32 *status, const Plan *plans) {
    __shared__ Shared shared;
    if (plans != nullptr && plans[block_in_grid()].count != absent)
        return;
    shared.pieces.clear(lane_in_warp());
    each_page(pages, input, input_bytes, output, output_bytes, status, [&](const Work &w, u32) INLINE -> u32 {
        Output out = {w.to, w.length, 0, 0};
        Frame frame;
        const u32 fault = each_block(
            {w.from, w.from + w.compressed},
            [&](const FrameHeader &header) INLINE -> u32 {
                frame = {0, {~0u}, {1, 4, 8}};
                out.frame = out.at;
                return header.has_length && header.length > out.left() ? too_long : complete;
            },
            [&](const BlockHeader &header, const Span &content) INLINE -> u32 { return write_block(shared, header, content, frame, out); },
            [&](const FrameHeader &header) INLINE -> u32 { return header.has_length && header.length != out.at - out.frame ? bad_header : complete; });
        return fault != complete ? fault : out.left() == 0 ? complete : too_short;
    });
}
