// The output of a page of Zstandard, written by the warps of a block. Team is Pieces for more threads.
#pragma once

#include "zstd_output.cuh"

static constexpr u32 team_warps = 4, team_threads = team_warps * warp_threads;

// team_any reports whether the predicate of a thread is true. It synchronizes the block.
DEVICE bool team_any(bool predicate) { return __nvvm_bar0_or(predicate) != 0; }

// team_part is the part of n bytes that a warp copies.
struct TeamPart {
    u32 begin, bytes;
};
DEVICE TeamPart team_part(u32 n) {
    const u32 share = (n / team_warps + 63) & ~63u, begin = least(n, thread_in_block() / warp_threads * share);
    return {begin, least(n - begin, thread_in_block() / warp_threads + 1 == team_warps ? n : share)};
}

// team_copy copies bytes, none of which the same call writes.
DEVICE void team_copy(u8 *to, const u8 *from, u32 n) {
    const TeamPart part = team_part(n);
    copy_bytes(to + part.begin, from + part.begin, part.bytes, lane_in_warp());
    synchronize_block();
}

// Team is shared memory for the sequences of all threads, one each.
struct Team {
    // A thread writes a byte of each group.
    static constexpr u32 groups = 8, most_bytes = groups * team_threads, literal = 1u << 31;

    // The numbers of bytes, literals and pieces up to the end of each sequence.
    u32 bytes[team_threads], literals[team_threads], pieces[team_threads];
    u32 totals[3][team_warps], stops[team_warps];
    u32 begin[2 * team_threads]; // of each piece, and the bit literal
    u32 from[2 * team_threads];  // the place of the literals, or the distance of the match
    // A bit for each byte at which a piece begins; zeros between batches.
    u32 marks[most_bytes / 32];
    u32 before[most_bytes / 32 + 1]; // pieces that begin before the bytes of a word of marks
    i32 sources[most_bytes];
    Sequence alone;

    METHOD void clear() {
        if (thread_in_block() < most_bytes / 32)
            marks[thread_in_block()] = 0;
        if (thread_in_block() == 0)
            before[0] = 0;
        synchronize_block();
    }

    METHOD void scan(const Sequence &s) {
        const u32 thread = thread_in_block(), warp = thread / warp_threads;
        u32 value[3] = {s.literals + s.match, s.literals, (u32)(s.literals > 0) + (s.match > 0)};
#pragma unroll
        for (u32 k = 0; k < 3; k++) {
            value[k] = warp_scan(value[k], Sum<u32>());
            if (lane_in_warp() == warp_threads - 1)
                totals[k][warp] = value[k];
        }
        synchronize_block();
#pragma unroll
        for (u32 w = 0; w + 1 < team_warps; w++)
#pragma unroll
            for (u32 k = 0; k < 3; k++)
                value[k] += w < warp ? totals[k][w] : 0;
        bytes[thread] = value[0], literals[thread] = value[1], pieces[thread] = value[2];
        const u32 others = ballot(s.literals + s.match > most_together || value[0] > most_bytes);
        if (lane_in_warp() == 0)
            stops[warp] = others ? warp * warp_threads + __builtin_ctz(others) : team_threads;
        synchronize_block();
    }

    // together returns the number of sequences that are written together: 0 if the first one is long.
    METHOD u32 together() const {
        u32 result = team_threads;
#pragma unroll
        for (u32 w = 0; w < team_warps; w++)
            result = least(result, stops[w]);
        return result;
    }

    METHOD void add(u32 number, u32 at, u32 n, u32 source, bool is_literal) {
        begin[number] = is_literal ? at | literal : at;
        from[number] = source;
        __nvvm_atom_or_gen_i((int *)&marks[at / 32], (int)(1u << at % 32));
        for (u32 word = at / 32 + 1; word * 32 <= at + n; word++)
            before[word] = number + 1;
    }

    // write writes n bytes of pieces to the output.
    METHOD void write(u8 *to, u32 n, const u8 *literal_bytes) {
        const u32 thread = thread_in_block();
        synchronize_block();
        i32 source[groups];
        bool waits = false;
#pragma unroll
        for (u32 g = 0; g < groups; g++) {
            const u32 i = g * team_threads + thread;
            source[g] = i < n ? source_of(i) : -1;
            *(volatile i32 *)&sources[i] = source[g];
            waits |= (u32)source[g] < most_bytes;
        }
        // The distance to the first source doubles in each round (pointer jumping).
#pragma nounroll
        while (team_any(waits)) {
            waits = false;
#pragma unroll
            for (u32 g = 0; g < groups; g++) {
                if ((u32)source[g] < most_bytes) {
                    source[g] = *(volatile i32 *)&sources[source[g]];
                    *(volatile i32 *)&sources[g * team_threads + thread] = source[g];
                    waits |= (u32)source[g] < most_bytes;
                }
            }
        }
        u8 value[groups];
#pragma unroll
        for (u32 g = 0; g < groups; g++)
            if (g * team_threads + thread < n)
                value[g] = source[g] < 0 ? to[source[g]] : literal_bytes[source[g] - most_bytes];
#pragma unroll
        for (u32 g = 0; g < groups; g++)
            if (g * team_threads + thread < n)
                to[g * team_threads + thread] = value[g];
        clear();
    }

    // source_of returns the source of byte i. A negative number is output before the batch; below
    // most_bytes, a byte of the batch; from there on, literals.
    METHOD i32 source_of(u32 i) const {
        const u32 number = before[i / 32] + __builtin_popcount(marks[i / 32] & (2u << i % 32) - 1) - 1;
        const u32 word = begin[number], at = word & ~literal, offset = from[number];
        u32 inside = i - at;
        if (word & literal)
            return (i32)(offset + inside + most_bytes);
        if (inside >= offset)
            inside %= offset; // the match overlaps its output
        return (i32)(at + inside - offset);
    }
};

// write_alone writes the sequence of the first thread.
DEVICE void write_alone(Team &team, u8 *to, const u8 *literals, const Sequence &own) {
    if (thread_in_block() == 0)
        team.alone = own;
    synchronize_block();
    const Sequence s = team.alone;
    team_copy(to, literals, s.literals);
    to += s.literals;
    if (s.distance >= s.match)
        team_copy(to, to - s.distance, s.match);
    else if (thread_in_block() < warp_threads)
        copy_match(to, s.distance, s.match, lane_in_warp());
    synchronize_block();
}

// write_team writes some of the sequences of the threads, from the first one on. count is the
// number of sequences; then it is the number of those that are written, if that is less.
DEVICE u32 write_team(Team &team, Output &out, Literals &literals, const Sequence &s, u32 &count) {
    const u32 thread = thread_in_block();
    team.scan(s);
    const u32 together = team.together();
    count = least(count, together == 0 ? 1 : together);
    const u32 taken = team.literals[count - 1], bytes = team.bytes[count - 1], end = team.bytes[thread];
    if (taken > literals.left)
        return bad_block;
    if (bytes > out.left())
        return too_long;
    if (team_any(thread < count && (s.distance == 0 || s.distance > out.at + end - s.match - out.frame)))
        return bad_distance;
    if (together == 0) {
        write_alone(team, out.page + out.at, literals.at, s);
    } else {
        if (thread < count) {
            u32 piece = team.pieces[thread];
            team.add(--piece, end - s.match, s.match, s.distance, false);
            if (s.literals > 0)
                team.add(--piece, end - s.match - s.literals, s.literals, team.literals[thread] - s.literals, true);
        }
        team.write(out.page + out.at, bytes, literals.at);
    }
    out.at += bytes;
    literals.at += taken;
    literals.left -= taken;
    return complete;
}

// team_repeated writes n bytes of one value.
DEVICE void team_repeated(u8 *to, u8 value, u32 n) {
    const TeamPart part = team_part(n);
    write_repeated(to + part.begin, value, part.bytes);
    synchronize_block();
}
