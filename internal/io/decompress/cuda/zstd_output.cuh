// The output of a page of Zstandard, written by a warp.
#pragma once

#include "copies.cuh"
#include "zstd_sequences.cuh"

// Output is the output of a page, and positions in it.
struct Output {
    u8 *page;
    u32 length;
    u32 at;    // the number of bytes that are written
    u32 frame; // the first byte of the frame

    METHOD u32 left() const { return length - at; }
};

// Literals is literals of a block that are not copied yet. If they are in the output, they are after
// the bytes that are written. Decoded literals are at the end of the page's output, so that a block
// has its literals before it needs their memory: the rest of the block is at least as long.
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
DEVICE void copy_literals(u8 *to, const Literals &literals, u32 n) {
    if (literals.in_output && literals.at - to < n)
        move_down(to, literals.at, n);
    else
        copy_bytes(to, literals.at, n, lane_in_warp());
}

// most_run is the number of bytes of a run that copy_runs copies at most.
static constexpr u32 most_run = 64;

// copy_runs copies a run of bytes for each lane. Neighbouring lanes copy neighbouring bytes: they
// search the run of a byte. What is read must not be written by the same call.
DEVICE void copy_runs(u8 *to_base, u32 to, const u8 *from_base, u32 from, u32 n) {
    const u32 lane = lane_in_warp(), end = warp_scan(n, Sum<u32>()), total = shuffle_value(end, 31);
    // The places of the bytes are those in the sequence of all runs, and these.
    to -= end - n;
    from -= end - n;
    constexpr u32 groups = 4;
#pragma nounroll
    for (u32 first = lane; first < total + lane; first += groups * warp_threads) {
        u32 target[groups];
        u8 value[groups];
#pragma unroll
        for (u32 g = 0; g < groups; g++) {
            const u32 i = first + g * warp_threads;
            u32 run = 0;
#pragma unroll
            for (u32 step = 16; step > 0; step /= 2)
                run += shuffle_value(end, run + step - 1) <= i ? step : 0;
            target[g] = shuffle_value(to, run) + i;
            const u32 source = shuffle_value(from, run) + i;
            if (i < total)
                value[g] = from_base[source];
        }
#pragma unroll
        for (u32 g = 0; g < groups; g++)
            if (first + g * warp_threads < total)
                to_base[target[g]] = value[g];
    }
}

// write_literals writes the literals of a batch of sequences; those of this lane begin at first and
// go to a position. end is that of the batch.
DEVICE void write_literals(const Output &out, const Literals &literals, u32 first, u32 to, u32 n, u32 end) {
    u32 alone = ballot(n > most_run);
    if (literals.in_output && literals.at < out.page + end)
        alone = ballot(n > 0); // in order, as literals are written to where others were
    else
        copy_runs(out.page, to, literals.at, first, n > most_run ? 0 : n);
    for (; alone != 0; alone &= alone - 1) {
        const u32 lane = __builtin_ctz(alone);
        const Literals run = {literals.at + shuffle_value(first, lane), 0, literals.in_output};
        copy_literals(out.page + shuffle_value(to, lane), run, shuffle_value(n, lane));
    }
    synchronize_warp();
}

// write_matches writes the matches of a batch; that of this lane goes to a position.
DEVICE void write_matches(const Output &out, u32 to, u32 n, u32 distance) {
    // Matches with bytes before the batch do not wait for others.
    const bool apart = n <= most_run && distance >= n && to - distance + n <= out.at;
    if (ballot(apart && n > 0))
        copy_runs(out.page, to, out.page, to - distance, apart ? n : 0);
    synchronize_warp();
#pragma nounroll
    for (u32 others = ballot(!apart); others != 0; others &= others - 1) {
        const u32 lane = __builtin_ctz(others);
        copy_match(out.page + shuffle_value(to, lane), shuffle_value(distance, lane), shuffle_value(n, lane), lane_in_warp());
    }
}

// write_batch writes a batch of sequences, one of each lane.
DEVICE u32 write_batch(Output &out, Literals &literals, const Sequence &s) {
    const u32 literals_end = warp_scan(s.literals, Sum<u32>()), end = warp_scan(s.literals + s.match, Sum<u32>());
    const u32 taken = shuffle_value(literals_end, 31), bytes = shuffle_value(end, 31);
    if (taken > literals.left)
        return bad_block;
    if (bytes > out.left())
        return too_long;
    const u32 match = out.at + end - s.match;
    if (ballot(s.match > 0 && (s.distance == 0 || s.distance > match - out.frame)))
        return bad_distance;
    write_literals(out, literals, literals_end - s.literals, match - s.literals, s.literals, out.at + bytes);
    write_matches(out, match, s.match, s.distance);
    out.at += bytes;
    literals.at += taken;
    literals.left -= taken;
    return complete;
}

// write_rest writes the literals after the last sequence.
DEVICE u32 write_rest(Output &out, const Literals &literals) {
    if (literals.left > out.left())
        return too_long;
    copy_literals(out.page + out.at, literals, literals.left);
    synchronize_warp();
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
