// The output of a page of Zstandard, written by the warps of a block. It is Pieces with more threads.
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
    static constexpr u32 most_bytes = 32 * team_threads, literal = 1u << 31;
    // A thread writes a byte of each group of a part.
    static constexpr u32 groups = 8, part_bytes = groups * team_threads;

    // The numbers of bytes, literals and pieces up to the end of each sequence.
    u32 bytes[team_threads], literals[team_threads], pieces[team_threads];
    u32 totals[3][team_warps], stops[team_warps];
    u32 begin[2 * team_threads]; // of each piece, and the bit literal
    u32 from[2 * team_threads];  // the place of the literals, or the distance of the match
    // A bit for each byte at which a piece begins; zeros between batches.
    u32 marks[team_threads];
    u32 before[team_threads + 1]; // pieces that begin before the bytes of a word of marks
    i32 sources[part_bytes];
    Sequence alone;

    METHOD void clear() {
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
        synchronize_block();
    }

    // stop returns the first thread from first on with a sequence that is not written together with
    // the ones before.
    METHOD u32 stop(u32 first, u32 base, const Sequence &s) {
        const u32 thread = thread_in_block(), warp = thread / warp_threads;
        const bool fits = thread < first || s.literals + s.match <= most_together && bytes[thread] - base <= most_bytes;
        const u32 others = ballot(!fits);
        if (lane_in_warp() == 0)
            stops[warp] = others ? warp * warp_threads + __builtin_ctz(others) : team_threads;
        synchronize_block();
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
        for (u32 word = at / 32 + 1; word * 32 <= at + n && word <= team_threads; word++)
            before[word] = number + 1;
    }

    // write writes n bytes of pieces to the output.
    METHOD void write(u8 *to, u32 n, const u8 *literal_bytes) {
        const u32 thread = thread_in_block();
        synchronize_block();
#pragma nounroll
        for (u32 first = 0; first < n; first += part_bytes) {
            u8 *part = to + first;
            i32 source[groups];
            bool waits = false;
#pragma unroll
            for (u32 g = 0; g < groups; g++) {
                const u32 i = g * team_threads + thread;
                source[g] = first + i < n ? source_of(first, i) : -1;
                *(volatile i32 *)&sources[i] = source[g];
                waits |= (u32)source[g] < part_bytes;
            }
            // The distance to the first source doubles in each round (pointer jumping).
#pragma nounroll
            while (team_any(waits)) {
                waits = false;
#pragma unroll
                for (u32 g = 0; g < groups; g++) {
                    if ((u32)source[g] < part_bytes) {
                        source[g] = *(volatile i32 *)&sources[source[g]];
                        *(volatile i32 *)&sources[g * team_threads + thread] = source[g];
                        waits |= (u32)source[g] < part_bytes;
                    }
                }
            }
            u8 value[groups];
#pragma unroll
            for (u32 g = 0; g < groups; g++)
                if (first + g * team_threads + thread < n)
                    value[g] = source[g] < 0 ? part[source[g]] : literal_bytes[source[g] - part_bytes];
#pragma unroll
            for (u32 g = 0; g < groups; g++)
                if (first + g * team_threads + thread < n)
                    part[g * team_threads + thread] = value[g];
            synchronize_block();
        }
        marks[thread] = 0;
        synchronize_block();
    }

    // source_of returns the source of byte i of the part from first on. A negative number is output
    // before the part; below part_bytes, a byte of the part; from there on, literals.
    METHOD i32 source_of(u32 first, u32 i) const {
        i += first;
        const u32 number = before[i / 32] + __builtin_popcount(marks[i / 32] & (2u << i % 32) - 1) - 1;
        const u32 word = begin[number], at = word & ~literal, offset = from[number];
        u32 inside = i - at;
        if (word & literal)
            return (i32)(offset + inside + part_bytes);
        if (inside >= offset)
            inside %= offset; // the match overlaps its output
        return (i32)(at + inside - offset - first);
    }
};

// write_alone writes the sequence of one thread.
DEVICE void write_alone(Team &team, const Output &out, const Literals &literals, u32 thread, const Sequence &own) {
    if (thread_in_block() == thread)
        team.alone = own;
    synchronize_block();
    const Sequence s = team.alone;
    u8 *to = out.page + out.at + team.bytes[thread] - s.match - s.literals;
    team_copy(to, literals.at + team.literals[thread] - s.literals, s.literals);
    to += s.literals;
    if (s.distance >= s.match)
        team_copy(to, to - s.distance, s.match);
    else if (thread_in_block() < warp_threads)
        copy_match(to, s.distance, s.match, lane_in_warp());
    synchronize_block();
}

// write_team writes the sequences of all threads.
DEVICE u32 write_team(Team &team, Output &out, Literals &literals, const Sequence &s) {
    const u32 thread = thread_in_block();
    team.scan(s);
    const u32 taken = team.literals[team_threads - 1], bytes = team.bytes[team_threads - 1], end = team.bytes[thread];
    if (taken > literals.left)
        return bad_block;
    if (bytes > out.left())
        return too_long;
    if (team_any(s.match > 0 && (s.distance == 0 || s.distance > out.at + end - s.match - out.frame)))
        return bad_distance;
#pragma nounroll
    for (u32 first = 0; first < team_threads;) {
        const u32 base = first > 0 ? team.bytes[first - 1] : 0, number = first > 0 ? team.pieces[first - 1] : 0;
        const u32 stop = team.stop(first, base, s);
        if (stop == first) {
            write_alone(team, out, literals, first++, s);
            continue;
        }
        if (thread >= first && thread < stop) {
            u32 piece = team.pieces[thread] - number;
            if (s.match > 0)
                team.add(--piece, end - s.match - base, s.match, s.distance, false);
            if (s.literals > 0)
                team.add(--piece, end - s.match - s.literals - base, s.literals, team.literals[thread] - s.literals, true);
        }
        team.write(out.page + out.at + base, team.bytes[stop - 1] - base, literals.at);
        first = stop;
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
