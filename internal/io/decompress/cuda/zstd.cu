// Zstandard: RFC 8878. A warp decompresses a page, block by block.
//
//   frames    3.1.1, 3.1.2    headers, skippable frames
//   blocks    3.1.1.2         raw, repeated, compressed
//   literals  3.1.1.3.1       a lane for each stream: zstd_literals.cuh
//   sequences 3.1.1.3.2       all lanes decode the same; then each has one of 32: zstd_sequences.cuh
//   execution 3.1.1.4         literals, then matches of 32 sequences: zstd_output.cuh
//   codes     4.1, 4.2        built by all lanes: zstd_tables.cuh
//
// Checksums are not compared, and windows not limited: a page is in memory as a whole.
#include "zstd_output.cuh"

static constexpr u32 needs_dictionary = 10; // Dictionary of status.go

struct Shared {
    Codes codes;
    u32 staged[Sequences::staged_words];
};

// Frame is what the blocks of a frame have in common.
struct Frame {
    bool has_checksum, has_length;
    u64 length;
    u32 huffman_log; // 0 if there is no code yet
    Tables tables;
    u32 recent[3];
};

// skip_frame skips a skippable frame after its magic number.
DEVICE u32 skip_frame(Span &in) {
    if (in.left() < 4 || peek(in, 0) > in.left() - 4)
        return truncated;
    in.at += 4 + (u64)peek(in, 0);
    return complete;
}

// read_frame_header reads the header of a frame after its magic number.
DEVICE u32 read_frame_header(Span &in, Frame &frame) {
    if (in.left() == 0)
        return truncated;
    const u32 descriptor = *in.at++, single = descriptor >> 5 & 1;
    const u32 dictionary_bytes = (1u << (descriptor & 3)) >> 1, window_bytes = 1 - single;
    const u32 length_bytes = descriptor >> 6 ? 1u << (descriptor >> 6) : single;
    if (descriptor & 8)
        return bad_header;
    if (window_bytes + dictionary_bytes + length_bytes > in.left())
        return truncated;
    in.at += window_bytes;
    u32 dictionary = 0;
    for (u32 i = 0; i < dictionary_bytes; i++)
        dictionary |= *in.at++;
    frame.length = length_bytes == 2 ? 256 : 0;
    for (u32 i = 0; i < length_bytes; i++)
        frame.length += (u64)*in.at++ << 8 * i;
    frame.has_length = length_bytes != 0;
    frame.has_checksum = descriptor & 4;
    frame.huffman_log = 0;
    frame.tables.logs = ~0u;
    frame.recent[0] = 1, frame.recent[1] = 4, frame.recent[2] = 8;
    return dictionary ? needs_dictionary : complete;
}

// read_literals prepares the literals of a block.
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
        if (const u32 status = read_huffman(shared.codes, section, frame.huffman_log))
            return status;
    } else if (frame.huffman_log == 0) {
        return bad_tree;
    }
    const u32 status = write_huffman(shared.codes, section, frame.huffman_log, header, to);
    synchronize_warp();
    return status;
}

// write_compressed writes a compressed block.
DEVICE u32 write_compressed(Shared &shared, Span in, Frame &frame, Output &out) {
    Literals literals;
    if (const u32 status = read_literals(shared, in, frame, out, literals))
        return status;
    u32 count;
    if (const u32 status = read_sequences_header(shared.codes, in, frame.tables, count))
        return status;
    if (count == 0)
        return write_rest(out, literals);
    Sequences sequences;
    if (const u32 status = sequences.begin(in, frame.tables, shared.staged))
        return status;
    for (u32 i = 0; i < 3; i++)
        sequences.recent[i] = frame.recent[i];
#pragma nounroll
    for (; count > 0; count -= least(count, warp_threads)) {
        const Sequence s = sequences.batch(shared.codes.sequences, count);
        if (sequences.bits.left(in) < 0)
            return bad_block;
        if (const u32 status = write_batch(out, literals, s))
            return status;
    }
    for (u32 i = 0; i < 3; i++)
        frame.recent[i] = sequences.recent[i];
    return sequences.bits.left(in) != 0 ? bad_block : write_rest(out, literals);
}

// write_block writes the next block and reports whether it is the last one of its frame.
DEVICE u32 write_block(Shared &shared, Span &in, Frame &frame, Output &out, bool &last) {
    if (in.left() < 3)
        return truncated;
    const u32 header = peek(in, 0) & 0xffffff, type = header >> 1 & 3, size = header >> 3, bytes = type == 1 ? 1 : size;
    last = header & 1;
    in.at += 3;
    if (size > most_block || type == 3)
        return bad_block;
    if (bytes > in.left())
        return truncated;
    const Span content = {in.at, in.at + bytes};
    in.at = content.end;
    if (type == 2) {
        const u32 start = out.at, status = write_compressed(shared, content, frame, out);
        return status == complete && out.at - start > most_block ? (u32)bad_block : status;
    }
    if (size > out.left())
        return too_long;
    if (type == 0)
        copy_bytes(out.page + out.at, content.at, size, lane_in_warp());
    else
        write_repeated(out.page + out.at, *content.at, size);
    synchronize_warp();
    out.at += size;
    return complete;
}

// write_frame writes the next frame.
DEVICE u32 write_frame(Shared &shared, Span &in, Output &out) {
    if (in.left() < 4)
        return truncated;
    const u32 magic = peek(in, 0);
    in.at += 4;
    if (magic >> 4 == 0x184d2a5)
        return skip_frame(in);
    if (magic != 0xfd2fb528)
        return bad_header;
    Frame frame;
    if (const u32 status = read_frame_header(in, frame))
        return status;
    if (frame.has_length && frame.length > out.left())
        return too_long;
    out.frame = out.at;
#pragma nounroll
    for (bool last = false; !last;)
        if (const u32 status = write_block(shared, in, frame, out, last))
            return status;
    if (frame.has_length && frame.length != out.at - out.frame)
        return bad_header;
    if (!frame.has_checksum)
        return complete;
    if (in.left() < 4)
        return truncated;
    in.at += 4;
    return complete;
}

KERNEL LAUNCH_BOUNDS(32) zstd(const Page *pages, const u8 *input, u64 input_bytes, u8 *output, u64 output_bytes, u32 *status) {
    __shared__ Shared shared;
    each_page(pages, input, input_bytes, output, output_bytes, status, [&](const Work &w, u32) -> u32 {
        Span in = {w.from, w.from + w.compressed};
        Output out = {w.to, w.length, 0, 0};
#pragma nounroll
        while (in.left() > 0)
            if (const u32 fault = write_frame(shared, in, out))
                return fault;
        return out.left() == 0 ? complete : too_short;
    });
}
