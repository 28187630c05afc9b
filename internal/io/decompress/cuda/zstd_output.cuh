// The output of a page of Zstandard, written by a warp.
#pragma once

#include "copies.cuh"
#include "pieces.cuh"
#include "zstd_frame.cuh"

// Output is the output of a page, and positions in it.
struct Output {
    u8 *page;
    u32 length;
    u32 at;    // the number of bytes that are written
    u32 frame; // the first byte of the frame

    METHOD u32 left() const { return length - at; }
};

// Literals is literals of a block that are not copied yet. They may be in the output, after the
// bytes that are written: see read_literals.
struct Literals {
    const u8 *at;
    u32 left;
    bool in_output;
};

// move_down copies bytes to an address that is lower or the same.
DEVICE void move_down(u8 *to, const u8 *from, u32 n) {
    const u32 lane = lane_in_warp();
    constexpr u32 groups = 4;
    if (to == from)
        return;
#pragma nounroll
    for (u32 first = lane; first < n + lane; first += groups * warp_threads) {
        u8 value[groups];
#pragma unroll
        for (u32 k = 0; k < groups; k++)
            if (first + k * warp_threads < n)
                value[k] = from[first + k * warp_threads];
        synchronize_warp();
#pragma unroll
        for (u32 k = 0; k < groups; k++)
            if (first + k * warp_threads < n)
                to[first + k * warp_threads] = value[k];
        synchronize_warp();
    }
}

// copy_literals copies n bytes of literals to the output.
DEVICE void copy_literals(u8 *to, const u8 *from, u32 n, bool in_output) {
    if (in_output && from < to + n)
        move_down(to, from, n);
    else
        copy_bytes(to, from, n, lane_in_warp());
    synchronize_warp();
}

// Batch is where the sequences of the lanes are in the output and in the literals.
struct Batch {
    // The numbers of bytes and pieces up to the end of a lane's sequence.
    u32 bytes, literals, pieces;

    METHOD void begin(const Sequence &s) {
        bytes = warp_scan(s.literals + s.match, Sum<u32>());
        literals = warp_scan(s.literals, Sum<u32>());
        pieces = warp_scan((u32)(s.literals > 0) + (s.match > 0), Sum<u32>());
    }
};

// write_sequence writes the sequence of one lane.
DEVICE void write_sequence(const Output &out, const Literals &literals, const Batch &batch, const Sequence &s, u32 lane) {
    const u32 n = shuffle_value(s.literals, lane), match = shuffle_value(s.match, lane), distance = shuffle_value(s.distance, lane);
    u8 *to = out.page + out.at + shuffle_value(batch.bytes, lane) - match - n;
    copy_literals(to, literals.at + shuffle_value(batch.literals, lane) - n, n, literals.in_output);
    if (match > 0)
        copy_match(to + n, distance, match, lane_in_warp());
}

// most_together is the number of bytes of a sequence that is written together with others.
static constexpr u32 most_together = 256;

// write_sequences writes the sequences of all lanes: those that are short together, others alone.
DEVICE void write_sequences(Pieces &pieces, const Output &out, const Literals &literals, const Batch &batch, const Sequence &s) {
    const u32 lane = lane_in_warp();
    // Literals that move within the output are copied in order.
    const bool in_order = literals.in_output && literals.at < out.page + out.at + shuffle_value(batch.bytes, 31);
    u32 bytes = 0, number = 0;
#pragma nounroll
    for (u32 first = 0; first < warp_threads;) {
        const bool fits = !in_order && s.literals + s.match <= most_together &&
            batch.bytes - bytes <= Pieces::most_bytes && batch.pieces - number <= Pieces::most;
        const u32 count = __builtin_ctzll(~(u64)(ballot(fits) >> first));
        if (count == 0) {
            write_sequence(out, literals, batch, s, first);
        } else if (lane >= first && lane < first + count) {
            const u32 begin = batch.bytes - s.literals - s.match - bytes;
            u32 piece = batch.pieces - number;
            if (s.match > 0)
                pieces.add(--piece, begin + s.literals, s.match, s.distance, false);
            if (s.literals > 0)
                pieces.add(--piece, begin, s.literals, batch.literals - s.literals, true);
        }
        first += count == 0 ? 1 : count;
        const u32 end = shuffle_value(batch.bytes, first - 1);
        if (count > 0)
            pieces.write(out.page, out.at + bytes, end - bytes, literals.at, lane);
        bytes = end;
        number = shuffle_value(batch.pieces, first - 1);
    }
}

// write_batch writes a sequence of each lane.
DEVICE u32 write_batch(Pieces &pieces, Output &out, Literals &literals, const Sequence &s) {
    Batch batch;
    batch.begin(s);
    const u32 taken = shuffle_value(batch.literals, 31), bytes = shuffle_value(batch.bytes, 31);
    if (taken > literals.left)
        return bad_block;
    if (bytes > out.left())
        return too_long;
    if (ballot(s.match > 0 && (s.distance == 0 || s.distance > out.at + batch.bytes - s.match - out.frame)))
        return bad_distance;
    write_sequences(pieces, out, literals, batch, s);
    out.at += bytes;
    literals.at += taken;
    literals.left -= taken;
    return complete;
}

// write_rest writes the literals after the last sequence.
DEVICE u32 write_rest(Output &out, const Literals &literals) {
    if (literals.left > out.left())
        return too_long;
    copy_literals(out.page + out.at, literals.at, literals.left, literals.in_output);
    out.at += literals.left;
    return complete;
}

// write_repeated writes n bytes of one value.
DEVICE void write_repeated(u8 *to, u8 value, u32 n) {
    if (n == 0)
        return;
    if (lane_in_warp() == 0)
        *to = value;
    synchronize_warp();
    copy_match(to + 1, 1, n - 1, lane_in_warp());
    synchronize_warp();
}

// write_plain writes a block that is not compressed.
DEVICE u32 write_plain(Output &out, const Span &content, u32 type, u32 size) {
    if (size > out.left())
        return too_long;
    if (type == raw_block)
        copy_bytes(out.page + out.at, content.at, size, lane_in_warp());
    else
        write_repeated(out.page + out.at, *content.at, size);
    synchronize_warp();
    out.at += size;
    return complete;
}
