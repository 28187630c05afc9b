// Headers of frames and blocks of Zstandard: RFC 8878, 3.1.1 and 3.1.2.
#pragma once

#include "zstd_sequences.cuh"

static constexpr u32 needs_dictionary = 10; // Dictionary of status.go

// FrameHeader is the header of a frame.
struct FrameHeader {
    bool has_checksum, has_length;
    u64 length;
};

// skip_frame skips a skippable frame after its magic number.
DEVICE u32 skip_frame(Span &in) {
    if (in.left() < 4 || peek(in, 0) > in.left() - 4)
        return truncated;
    in.at += 4 + (u64)peek(in, 0);
    return complete;
}

// read_frame_header reads the header of a frame after its magic number.
DEVICE u32 read_frame_header(Span &in, FrameHeader &header) {
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
    header.length = length_bytes == 2 ? 256 : 0;
    for (u32 i = 0; i < length_bytes; i++)
        header.length += (u64)*in.at++ << 8 * i;
    header.has_length = length_bytes != 0;
    header.has_checksum = descriptor & 4;
    return dictionary ? needs_dictionary : complete;
}

// skip_checksum skips the checksum after the last block of a frame.
DEVICE u32 skip_checksum(Span &in, const FrameHeader &header) {
    if (!header.has_checksum)
        return complete;
    if (in.left() < 4)
        return truncated;
    in.at += 4;
    return complete;
}

// BlockHeader describes a block.
struct BlockHeader {
    bool last;
    u32 type;
    u32 size; // of the output, if it is not compressed
};
static constexpr u32 raw_block = 0, repeated_block = 1, compressed_block = 2;

// read_block_header reads the header of a block and its content.
DEVICE u32 read_block_header(Span &in, BlockHeader &header, Span &content) {
    if (in.left() < 3)
        return truncated;
    const u32 word = peek(in, 0) & 0xffffff;
    header.last = word & 1;
    header.type = word >> 1 & 3;
    header.size = word >> 3;
    in.at += 3;
    if (header.size > most_block || header.type > compressed_block)
        return bad_block;
    const u32 bytes = header.type == repeated_block ? 1 : header.size;
    if (bytes > in.left())
        return truncated;
    content = {in.at, in.at + bytes};
    in.at = content.end;
    return complete;
}

// INLINE marks functions without names: a call would keep their state in memory.
#define INLINE __attribute__((always_inline))

// each_block reads the frames of a page, and calls frame(header) at the begin of each frame,
// block(header, content) for each block, and end(header) after the last one. They return a status.
template <typename Frame, typename Block, typename End> DEVICE u32 each_block(Span in, Frame frame, Block block, End end) {
#pragma nounroll
    while (in.left() > 0) {
        if (in.left() < 4)
            return truncated;
        const u32 magic = peek(in, 0);
        in.at += 4;
        if (magic >> 4 == 0x184d2a5) {
            if (const u32 status = skip_frame(in))
                return status;
            continue;
        }
        if (magic != 0xfd2fb528)
            return bad_header;
        FrameHeader header;
        if (const u32 status = read_frame_header(in, header))
            return status;
        if (const u32 status = frame(header))
            return status;
        BlockHeader b;
        b.last = false;
#pragma nounroll
        while (!b.last) {
            Span content;
            if (const u32 status = read_block_header(in, b, content))
                return status;
            if (const u32 status = block(b, content))
                return status;
        }
        if (const u32 status = end(header))
            return status;
        if (const u32 status = skip_checksum(in, header))
            return status;
    }
    return complete;
}
