// Short copies that a warp executes together: each lane writes other bytes of them.
#pragma once
#include "page.cuh"

// Pieces is a batch of pieces of the output, in order: literals, and matches with earlier output,
// that of the same batch included. A byte looks up its piece and its source there, and takes over the
// source of that byte, until it is a literal or earlier output. So the bytes of a part are loaded
// without waiting for each other.
struct Pieces {
    // most is the number of pieces and most_bytes that of their bytes at most.
    static constexpr u32 most = 64, most_bytes = 1024, words = most_bytes / 32;
    static constexpr u32 literal = 1u << 31;
    // A lane writes a byte of each group of a part.
    static constexpr u32 groups = 8, part_bytes = groups * warp_threads;

    u32 begin[most]; // and the bit literal
    u32 from[most]; // the position of the literals, or the distance of the match
    // A bit for each byte at which a piece begins; zeros between batches.
    u32 marks[words];
    u32 before[words + 1]; // pieces that begin before the bytes of a word
    i32 sources[part_bytes];

    METHOD void clear(u32 lane) {
        marks[lane] = 0;
        before[lane] = 0;
        synchronize_warp();
    }

    // add defines piece number, which has bytes. Any lane calls it for any piece.
    METHOD void add(u32 number, u32 at, u32 bytes, u32 source, bool is_literal) {
        begin[number] = is_literal ? at | literal : at;
        from[number] = source;
        __nvvm_atom_or_gen_i((int *)&marks[at / 32], (int)(1u << at % 32));
        for (u32 word = at / 32 + 1; word * 32 <= at + bytes; word++)
            before[word] = number + 1;
    }

    // write writes the bytes of all pieces to the output, which begins at page and continues at
    // to + position. Positions of literals refer to literals. All lanes call it.
    METHOD void write(u8 *to, u32 position, u32 bytes, const u8 *literals, u32 lane) {
        synchronize_warp();
        for (u32 first = 0; first < bytes; first += part_bytes) {
            u8 *part = to + position + first;
            i32 source[groups];
#pragma unroll
            for (u32 g = 0; g < groups; g++) {
                const u32 i = g * warp_threads + lane;
                source[g] = first + i < bytes ? source_of(first, i) : -1;
                *(volatile i32 *)&sources[i] = source[g];
            }
            resolve(source, lane);
            u8 value[groups];
#pragma unroll
            for (u32 g = 0; g < groups; g++) {
                if (first + g * warp_threads + lane < bytes)
                    value[g] = source[g] < 0 ? part[source[g]] : literals[source[g] - part_bytes];
            }
#pragma unroll
            for (u32 g = 0; g < groups; g++) {
                if (first + g * warp_threads + lane < bytes)
                    part[g * warp_threads + lane] = value[g];
            }
            synchronize_warp();
        }
        marks[lane] = 0;
        synchronize_warp();
    }

    // source_of returns the source of byte i of the part from first on. A negative number is output
    // before the part; below part_bytes, a byte of the part; from there on, literals.
    METHOD i32 source_of(u32 first, u32 i) const {
        i += first;
        const u32 number = before[i / 32] + __builtin_popcount(marks[i / 32] & (2u << i % 32) - 1) - 1;
        const u32 at = begin[number] & ~literal, offset = from[number];
        u32 inside = i - at;
        if (begin[number] & literal)
            return (i32)(offset + inside + part_bytes);
        if (inside >= offset)
            inside %= offset; // the match overlaps its output
        return (i32)(at + inside - offset - first);
    }

    // resolve replaces sources in the part by their sources, until no byte has one. The distance
    // to the first source doubles in each round (pointer jumping).
    METHOD void resolve(i32 (&source)[groups], u32 lane) {
        while (ballot(waits(source)) != 0) {
            synchronize_warp();
#pragma unroll
            for (u32 g = 0; g < groups; g++) {
                if ((u32)source[g] < part_bytes) {
                    source[g] = *(volatile i32 *)&sources[source[g]];
                    *(volatile i32 *)&sources[g * warp_threads + lane] = source[g];
                }
            }
        }
    }

    METHOD static bool waits(const i32 (&source)[groups]) {
        bool any = false;
#pragma unroll
        for (u32 g = 0; g < groups; g++)
            any |= (u32)source[g] < part_bytes;
        return any;
    }
};
