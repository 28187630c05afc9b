// Literals of a block of Zstandard: RFC 8878, 3.1.1.3.1.
#pragma once

#include "zstd_tables.cuh"

static constexpr u32 most_block = 128 << 10; // bytes of a block

// LiteralsHeader describes a section of literals.
struct LiteralsHeader {
    u32 type, streams;
    u32 length; // of the literals
    u32 bytes;  // of the section after its header
};
static constexpr u32 raw_literals = 0, repeated_literal = 1, compressed_literals = 2, treeless_literals = 3;

DEVICE u32 read_literals_header(Span &in, LiteralsHeader &header) {
    if (in.left() == 0)
        return truncated;
    const u64 word = (u64)peek(in, 32) << 32 | peek(in, 0);
    const u32 format = (u32)word >> 2 & 3;
    header.type = (u32)word & 3;
    u32 size;
    if (header.type < compressed_literals) {
        size = format == 1 ? 2 : format == 3 ? 3 : 1;
        header.length = format == 1 ? (u32)word >> 4 & 0xfff : format == 3 ? (u32)word >> 4 & 0xfffff : (u32)word >> 3 & 31;
        header.bytes = header.type == raw_literals ? header.length : 1;
        header.streams = 0;
    } else {
        const u32 bits = format < 2 ? 10 : format == 2 ? 14 : 18, mask = (1u << bits) - 1;
        size = format < 2 ? 3 : format + 2;
        header.length = (u32)(word >> 4) & mask;
        header.bytes = (u32)(word >> (4 + bits)) & mask;
        header.streams = format == 0 ? 1 : 4;
    }
    if (size > in.left() || header.bytes > in.left() - size)
        return truncated;
    in.at += size;
    return header.length > most_block || header.streams == 4 && header.length < 6 ? bad_block : complete;
}

// HuffmanStream decodes literals, one lane for a stream.
struct HuffmanStream {
    Span in;
    Bits bits;
    u32 ahead; // the word that is added next

    METHOD void begin(i32 count) {
        bits.begin(in, count);
        ahead = stream_word(in, bits.next - 4);
    }

    METHOD void refill() {
        if (bits.count > 32)
            return;
        bits.add(ahead);
        bits.next -= 4;
        ahead = stream_word(in, bits.next - 4);
    }

    METHOD u32 symbol(const u16 *table, u32 shift) {
        const u32 entry = table[(u32)(bits.word >> 32) >> shift];
        bits.skip(entry >> 8);
        return entry & 0xff;
    }

    // write writes n literals and reports whether they take all bits of the stream.
    METHOD bool write(const u16 *table, u32 log, u8 *to, u32 n) {
        const u32 shift = 32 - log;
        u8 *end = to + n;
        for (; to < end && !aligned(to, 4); to++) {
            refill();
            *to = (u8)symbol(table, shift);
        }
        for (; to + 4 <= end; to += 4) {
            refill();
            u32 word = symbol(table, shift);
            word |= symbol(table, shift) << 8;
            refill();
            word |= symbol(table, shift) << 16;
            word |= symbol(table, shift) << 24;
            *(u32 *)to = word;
        }
        for (; to < end; to++) {
            refill();
            *to = (u8)symbol(table, shift);
        }
        return bits.left(in) == 0;
    }
};

// stream_of returns the stream of a lane and the place of its literals.
DEVICE Span stream_of(const Span &in, u32 streams, u32 length, u32 lane, u32 &first, u32 &count) {
    if (streams == 1) {
        first = 0, count = length;
        return in;
    }
    const u32 quarter = (length + 3) / 4;
    u32 begin = 6;
    for (u32 i = 0; i < lane; i++)
        begin += peek(in, i * 16) & 0xffff;
    first = lane * quarter;
    count = lane < 3 ? quarter : length - 3 * quarter;
    const u32 end = lane < 3 ? begin + (peek(in, lane * 16) & 0xffff) : (u32)in.left();
    return begin <= end && end <= in.left() ? Span{in.at + begin, in.at + end} : Span{in.at, in.at};
}

// write_stream writes the literals of the stream of a lane, if it has one, and reports whether the
// stream ends with the last one.
DEVICE bool write_stream(const HuffmanTable &table, const Span &in, u32 log, const LiteralsHeader &header, u8 *to, u32 lane) {
    if (lane >= header.streams)
        return true;
    if (header.streams == 4 && in.left() < 6)
        return false;
    u32 first, count;
    HuffmanStream stream;
    stream.in = stream_of(in, header.streams, header.length, lane, first, count);
    const i32 bits = stream_bits(stream.in);
    if (bits < 0)
        return false;
    stream.begin(bits);
    return stream.write(table.entry, log, to + first, count);
}
