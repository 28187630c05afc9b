// Formats whose tokens are whole bytes, Snappy and LZ4, by a warp for each page: each lane reads the
// tokens that would begin at its bytes of the next 64.
#pragma once
#include "copies.cuh"
#include "input.cuh"
#include "pieces.cuh"

struct Shared {
    alignas(16) u32 ring[Input::ring_words];
    Pieces pieces;
};

static constexpr u32 most_short = 64; // bytes of a copy in a batch; longer ones are copied apart

// Warp copies long tokens by the lanes of a warp.
struct Warp {
    u32 lane;

    METHOD void copy(u8 *to, const u8 *from, u32 n) const {
        copy_bytes(to, from, n, lane);
        synchronize_warp();
    }

    METHOD void repeat(u8 *to, u32 distance, u32 n) const { copy_match(to, distance, n, lane); }
};

// Sequence is a token: literals, a match, or a match after literals.
struct Sequence {
    u32 header, literals, tail; // bytes of the token, tail those after the literals
    u32 match, distance;
    bool is_short;

    METHOD u32 bytes() const { return header + literals + tail; }
    METHOD u32 output() const { return literals + match; }

    // fault checks the sequence, given the rest of the input and the length of the output before it.
    METHOD u32 fault(u32 rest, u32 before) const {
        if (bytes() > rest)
            return truncated;
        return match != 0 && (distance == 0 || distance > before + literals) ? bad_distance : complete;
    }
};

// Half is the tokens that begin at 32 bytes, of which each lane knows the one at its byte.
struct Half {
    u32 tokens; // a bit for each lane at which a token begins
    u32 bytes; // of the output of the tokens from this lane on
    u32 end; // the lane after the token of this lane

    // follow finds the tokens from that of each lane on, sixteen at most. usable is false if no short
    // token begins at this lane.
    METHOD void follow(bool usable, u32 token_bytes, u32 output, u32 lane) {
        end = lane + token_bytes;
        tokens = usable ? 1u << lane : 0;
        // The lane after the tokens, and in 16 bits their output.
        u32 chain = usable ? end << 16 | output : warp_threads << 16;
#pragma unroll
        for (u32 round = 0; round < 4; round++) {
            const u32 from = chain >> 16 & warp_threads - 1;
            const u32 far_tokens = shuffle_value(tokens, from), far_chain = shuffle_value(chain, from);
            if (chain < warp_threads << 16)
                tokens |= far_tokens, chain = far_chain + (chain & 0xffff);
        }
        bytes = chain & 0xffff;
    }
};

// Chain is the tokens from a lane of a half on.
struct Chain {
    u32 tokens, bytes; // as in Half, of the lane; zero without tokens
    u32 end; // the lane after the last token

    METHOD static Chain from(const Half &half, u32 lane) {
        Chain c = {shuffle_value(half.tokens, lane % warp_threads), shuffle_value(half.bytes, lane % warp_threads), lane};
        const u32 end = shuffle_value(half.end, 31 - __builtin_clz(c.tokens | 1));
        return c.tokens == 0 ? c : Chain{c.tokens, c.bytes, end};
    }

    METHOD bool has(u32 lane) const { return tokens >> lane & 1; }
};

// add_pieces adds the pieces of a token if it has some. first is the number of pieces before those of
// all lanes; the return value is the one after them.
DEVICE u32 add_pieces(Pieces &pieces, u32 first, bool has, const Sequence &q, u32 position, u32 begin, u32 lane) {
    const u32 literals = ballot(has && q.literals != 0), matches = ballot(has && q.match != 0), below = (1u << lane) - 1;
    u32 number = first + __builtin_popcount(literals & below) + __builtin_popcount(matches & below);
    if (has && q.literals != 0)
        pieces.add(number++, begin, q.literals, position + q.header, true);
    if (has && q.match != 0)
        pieces.add(number, begin + q.literals, q.match, q.distance, false);
    return first + __builtin_popcount(literals) + __builtin_popcount(matches);
}

// decode_tokens decompresses the tokens from a position of the input on. Format::read returns the
// token at a position of the prepared input, which is short if no copy is longer than most_short;
// Format::copy_long decompresses one by all lanes.
template <typename Format> DEVICE u32 decode_tokens(const Work &w, Shared &s, Input &in, u32 at, u32 lane) {
    u32 to = 0;
    while (at < w.compressed) {
        in.prepare(at);
        Sequence token[2];
        Half half[2];
#pragma unroll
        for (u32 h = 0; h < 2; h++) {
            const u32 own = at + h * warp_threads + lane;
            token[h] = Format::template read<most_short>(in, own);
            half[h].follow(token[h].is_short && own < w.compressed, token[h].bytes(), token[h].output(), lane);
        }
        const Chain first = Chain::from(half[0], 0);
        Chain second = Chain::from(half[1], first.end - warp_threads);
        const bool is_full = first.bytes + second.bytes > Pieces::most_bytes;
        if (first.end < warp_threads || first.end >= 2 * warp_threads || is_full)
            second = {0, 0, first.end - warp_threads};
        const u32 bytes = first.bytes + second.bytes, end = second.end + warp_threads;
        if (bytes != 0) {
            const bool has[2] = {first.has(lane), second.has(lane)};
            const u32 begin[2] = {first.bytes - half[0].bytes, bytes - half[1].bytes};
            u32 fault = bytes > w.length - to ? too_long : complete;
#pragma unroll
            for (u32 h = 0; h < 2; h++) {
                if (has[h] && fault == complete)
                    fault = token[h].fault(w.compressed - (at + h * warp_threads + lane), to + begin[h]);
            }
            const u32 faults = ballot(fault != complete);
            if (faults != 0)
                return shuffle_value(fault, __builtin_ctz(faults));
            u32 pieces = 0;
#pragma unroll
            for (u32 h = 0; h < 2; h++)
                pieces = add_pieces(s.pieces, pieces, has[h], token[h], at + h * warp_threads + lane, begin[h], lane);
            s.pieces.write(w.to, to, bytes, w.from, lane);
            to += bytes;
        }
        at += end;
        if (end >= 2 * warp_threads || is_full && end >= warp_threads || at >= w.compressed)
            continue;
        // The tokens ended before a long one.
        const u32 fault = Format::copy_long(w, in, at, to, Warp{lane});
        if (fault != complete)
            return fault;
    }
    return to == w.length ? complete : too_short;
}
