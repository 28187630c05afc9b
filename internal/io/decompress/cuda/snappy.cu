// Snappy: "Snappy compressed format description" in the repository google/snappy.
//
// Encoders compress each 64 KiB of a page, a fragment, by itself. A page can be decompressed by its fragments:
//
//   snappy_list     lists pieces of the input of each page
//   snappy_survey   a block for each piece finds its tokens, from a guess on
//   snappy_join     a block for each page compares the ends and the beginnings of pieces, and corrects wrong guesses
//   snappy_divide   a block for each piece finds the fragments that begin there
//   snappy(_block)  decompresses the fragments, then the pages that could not be divided
//
// A token in two fragments, a copy from another one and all damage leave a page undivided.
#include "block_tokens.cuh"

struct Snappy {
    template <u32 most_short, typename Bytes> METHOD static Sequence read(const Bytes &in, u32 at) {
        const u64 x = in.eight(at);
        const u32 tag = (u32)x & 0xff, operand = (u32)(x >> 8), kind = tag & 3, upper = tag >> 2;
        // Few branches, because the lanes read tokens of all kinds.
        const bool is_near = kind == 1;
        const u32 extra = kind == 0 && upper >= 60 ? upper - 59 : 0;
        u32 length = (upper & (is_near ? 7 : 63)) + (is_near ? 4 : 1);
        if (extra != 0)
            length = least(operand & 0xffffffff >> (4 - extra) * 8, most_bytes) + 1;
        const u32 distance = operand & 0xffffffff >> (is_near ? 24 : kind == 2 ? 16 : 0) | (is_near ? tag >> 5 << 8 : 0);
        const u32 header = (0x5321 >> kind * 4 & 15) + extra;
        return {header, kind == 0 ? length : 0, 0, kind == 0 ? 0 : length, distance, kind != 0 || length <= most_short};
    }

    // copy_long copies long literals.
    template <typename Bytes, typename Team> METHOD static u32 copy_long(const Work &w, const Bytes &in, u32 &at, u32 &to, const Team &team) {
        const Sequence q = read<most_short>(in, at);
        if (q.bytes() > w.compressed - at)
            return truncated;
        if (q.literals > w.length - to)
            return too_long;
        team.copy(w.to + to, w.from + at + q.header, q.literals);
        at += q.bytes();
        to += q.literals;
        return complete;
    }
};

// read_length reads the length of the output and returns the number of its bytes, 0 if it is not
// of the format.
template <typename Bytes> DEVICE u32 read_length(const Bytes &in, u32 &length) {
    const u64 x = in.eight(0);
    u64 value = 0;
    for (u32 i = 0; i < 5 && i < in.length; i++) {
        const u32 byte = (u32)(x >> 8 * i) & 0xff;
        value |= (u64)(byte & 0x7f) << 7 * i;
        if (byte < 0x80) {
            length = (u32)least(value, (u64)most_bytes + 1);
            return i + 1;
        }
    }
    return 0;
}

// Fragment is a part of a page by itself: its tokens, without the length, and its output.
struct Fragment {
    u32 owner; // the number of the page, plus one
    u32 begin; // of its tokens in the page
};

// undivided is the status of a page that has to be decompressed as a whole.
static constexpr u32 undivided = ~0u;

// absent is a position that is not known.
static constexpr u32 absent = ~0u;

// Plan is the places of a page in the lists of pieces and fragments. That of the pieces becomes absent if a fragment cannot be
// decompressed by itself.
struct Plan {
    u32 pieces, fragments;
};

// Piece is a part of the input of a page, and the tokens that begin there.
struct Piece {
    u32 owner, number; // the number of the page, plus one, and of the piece in it
    u32 entry, exit;   // the position of the first token, and of the first one behind the piece
    u32 output;        // bytes of the output of these tokens
    u32 to;            // bytes of the output before
};

// Division is the lists of a division of pages, and their lengths.
struct Division {
    Plan *plans;
    Piece *pieces;
    Fragment *fragments;
    Plan *used;
    u32 piece_count, fragment_count;
    u32 piece_bytes, fragment_bytes; // of the input and of the output

    METHOD bool has(const u32 *status, u32 page) const { return status[page] != undivided && plans[page].pieces != absent; }

    // fragment returns fragment number of all as a page.
    METHOD Page fragment(const Page *pages, u32 number) const {
        const u32 owner = fragments[number].owner - 1, inside = number - plans[owner].fragments;
        const Page page = pages[owner];
        const u64 to = (u64)inside * fragment_bytes;
        const bool is_last = page.length - to <= fragment_bytes;
        const u32 begin = fragments[number].begin, end = is_last ? page.compressed : fragments[number + 1].begin;
        return {page.source + begin, page.target + to, end - begin, is_last ? page.length - (u32)to : fragment_bytes};
    }
};

// Scope is the part of a launch: all pages, fragments, or the pages that were not divided.
enum Scope : u32 { all_pages, all_fragments, undivided_pages };

// each_part calls decode(work, is_fragment) for the part of this block and writes the status of its page.
template <typename Decode>
DEVICE void each_part(const Page *pages, u32 scope, const Division &division, const u8 *input, u64 input_bytes, u8 *output, u64 output_bytes, u32 *status, Decode decode) {
    const u32 block = block_in_grid();
    const bool is_fragment = scope == all_fragments;
    const u32 owner = is_fragment ? division.fragments[block].owner - 1 : block;
    // The status of pages with fragments and the list of these do not change here, so that the threads of a block agree. That of
    // another page is changed by its block, behind the barriers of decode.
    if (is_fragment ? owner == absent || status[owner] == undivided : scope == undivided_pages && division.has(status, block))
        return;
    const Page part = is_fragment ? division.fragment(pages, block) : pages[block];
    u32 result = outside;
    if (within(part.source, part.compressed, input_bytes) && within(part.target, part.length, output_bytes)) {
        result = complete;
        if (part.compressed != 0 || part.length != 0)
            result = decode(Work{input + part.source, output + part.target, part.compressed, part.length}, is_fragment);
    }
    if (thread_in_block() != 0)
        return;
    if (!is_fragment)
        status[block] = result;
    else if (result != complete)
        division.plans[owner].pieces = absent; // a copy from another fragment, or damage
}

// first_token returns the position of the first token of a page, 0 if its length is wrong.
template <typename Bytes> DEVICE u32 first_token(const Work &w, const Bytes &in) {
    u32 length = 0;
    const u32 begin = read_length(in, length);
    return length == w.length ? begin : 0;
}

DEVICE u32 decode(const Work &w, Shared &s, bool is_fragment, u32 lane) {
    Input in;
    in.begin(w, s.ring, lane);
    s.pieces.clear(lane);
    const u32 begin = is_fragment ? 0 : first_token(w, in);
    return begin == 0 && !is_fragment ? bad_header : decode_tokens<Snappy>(w, s, in, begin, lane);
}

KERNEL LAUNCH_BOUNDS(32) snappy(const Page *pages, u32 scope, Division division, const u8 *input, u64 input_bytes, u8 *output, u64 output_bytes, u32 *status) {
    __shared__ Shared shared;
    each_part(pages, scope, division, input, input_bytes, output, output_bytes, status,
        [&](const Work &w, bool is_fragment) INLINE { return decode(w, shared, is_fragment, lane_in_warp()); });
}

DEVICE u32 decode(const Work &w, BlockShared &s, bool is_fragment) {
    Window in;
    in.begin(w, s.words);
    u32 begin = 0;
    if (!is_fragment) {
        in.fill(0);
        begin = first_token(w, in);
        synchronize_block();
        if (begin == 0)
            return bad_header;
    }
    return decode_windows<Snappy>(w, s, in, begin);
}

KERNEL RESIDENT_BOUNDS(block_threads, 2) snappy_block(const Page *pages, u32 scope, Division division, const u8 *input, u64 input_bytes, u8 *output, u64 output_bytes, u32 *status) {
    __shared__ BlockShared shared;
    each_part(pages, scope, division, input, input_bytes, output, output_bytes, status,
        [&](const Work &w, bool is_fragment) INLINE { return decode(w, shared, is_fragment); });
}

// Walk follows the tokens of a page by the threads of a block, and writes no output.
struct Walk {
    // warm_up is the number of bytes before a piece from which on tokens are read at an arbitrary byte: tokens are short,
    // so that such a walk soon comes to one of the page.
    static constexpr u32 warm_up = 2048;

    const Work &w;
    BlockShared &s;
    Window in;
    Tokens tokens;

    METHOD Walk(const Work &work, BlockShared &shared) : w(work), s(shared) {
        in.begin(w, s.words);
        tokens.clear();
    }

    // first returns the position of the first token, or absent.
    METHOD u32 first() {
        in.fill(0);
        const u32 begin = first_token(w, in);
        synchronize_block();
        return begin == 0 ? absent : begin;
    }

    // pass goes on from a token to the first one at limit or behind, and returns its position. It calls visit(position,
    // begin, token) for each token before, by one thread or by all, with the output before it, and adds their output. It
    // returns absent if a token does not fit the page, or a call returned false. guesses is set if the token may be none:
    // long ones are not believed.
    template <bool guesses, typename Visit> METHOD u32 pass(u32 at, u32 limit, u32 &output, Visit visit) {
        while (at < limit) {
            const u32 window = at;
            in.fill(at);
            tokens.read<Snappy>(in, window, s.chain);
            synchronize_block();
            for (;;) {
                tokens.follow(s, at - window);
                bool fits = true;
#pragma unroll
                for (u32 h = 0; h < Tokens::halves; h++) {
                    const u32 own = window + tokens.position(h);
                    if (!guesses && tokens.has[h] && own < limit)
                        fits &= tokens.token[h].bytes() <= w.compressed - own && visit(own, output + tokens.begin[h], tokens.token[h]);
                }
                if (synchronize_block_or(!fits))
                    return absent;
                u32 bytes = s.bytes;
                at = window + s.end;
                if (at > limit)
                    at = window + cut(limit - window, at - window, bytes);
                output += bytes;
                if (at >= limit || at - window >= Window::bytes)
                    break;
                // The tokens ended before a long one.
                const Sequence q = Snappy::read<Window::most_short>(in, at);
                synchronize_block();
                if (guesses) {
                    at++;
                } else {
                    if (q.bytes() > w.compressed - at || !visit(at, output, q))
                        return absent;
                    at += q.bytes(), output += q.literals;
                }
                if (at >= limit || at - window >= Window::bytes)
                    break;
            }
        }
        return at;
    }

    // cut returns the first token of the window at limit or behind, or end without one. bytes becomes the output before
    // it.
    METHOD u32 cut(u32 limit, u32 end, u32 &bytes) {
        if (tokens.block.thread == 0)
            s.fault = absent;
        synchronize_block();
#pragma unroll
        for (u32 h = 0; h < Tokens::halves; h++)
            if (tokens.has[h] && tokens.position(h) >= limit)
                __nvvm_atom_min_gen_ui(&s.fault, tokens.position(h));
        synchronize_block();
        const u32 first = s.fault;
        if (first == absent)
            return end;
#pragma unroll
        for (u32 h = 0; h < Tokens::halves; h++)
            if (tokens.has[h] && tokens.position(h) == first)
                s.bytes = tokens.begin[h];
        synchronize_block();
        bytes = s.bytes;
        return first;
    }
};

struct AcceptAll {
    METHOD bool operator()(u32, u32, const Sequence &) const { return true; }
};

DEVICE Work work_of(const Page &page, const u8 *input) { return {input + page.source, nullptr, page.compressed, page.length}; }

// snappy_list lists the pieces of a page, and reserves its fragments.
KERNEL LAUNCH_BOUNDS(32) snappy_list(const Page *pages, u64 input_bytes, u64 output_bytes, u32 *status, Division division) {
    const u32 number = block_in_grid(), lane = lane_in_warp();
    const Page page = pages[number];
    if (lane == 0)
        status[number] = undivided;
    if (!within(page.source, page.compressed, input_bytes) || !within(page.target, page.length, output_bytes))
        return;
    const Plan count = {page.compressed / division.piece_bytes + 1, page.length / division.fragment_bytes + 1};
    Plan place = {0, 0};
    if (lane == 0) {
        place.pieces = (u32)__nvvm_atom_add_gen_i((int *)&division.used->pieces, (int)count.pieces);
        place.fragments = (u32)__nvvm_atom_add_gen_i((int *)&division.used->fragments, (int)count.fragments);
        division.plans[number] = place;
    }
    place = {shuffle_value(place.pieces, 0), shuffle_value(place.fragments, 0)};
    if ((u64)place.pieces + count.pieces > division.piece_count || (u64)place.fragments + count.fragments > division.fragment_count)
        return;
    for (u32 i = lane; i < count.pieces; i += warp_threads)
        division.pieces[place.pieces + i] = {number + 1, i, absent, absent, 0, 0};
}

// snappy_survey finds the tokens of a piece, as far as that is possible without those before.
KERNEL RESIDENT_BOUNDS(block_threads, 2) snappy_survey(const Page *pages, const u8 *input, Division division) {
    __shared__ BlockShared shared;
    Piece &piece = division.pieces[block_in_grid()];
    if (piece.owner == 0)
        return;
    const Work w = work_of(pages[piece.owner - 1], input);
    const u32 begin = piece.number * division.piece_bytes, end = least(begin + division.piece_bytes, w.compressed);
    Walk walk(w, shared);
    u32 ignored = 0, output = 0, entry;
    if (piece.number == 0)
        entry = walk.first();
    else
        entry = walk.pass<true>(begin - least(division.piece_bytes, Walk::warm_up), begin, ignored, AcceptAll());
    const u32 exit = entry < end ? walk.pass<false>(entry, end, output, AcceptAll()) : entry;
    if (thread_in_block() == 0)
        piece.entry = entry, piece.exit = exit, piece.output = output;
}

// snappy_join finds where the tokens of the pieces of a page begin.
KERNEL RESIDENT_BOUNDS(block_threads, 2) snappy_join(const Page *pages, const u8 *input, u32 *status, Division division) {
    __shared__ BlockShared shared;
    const u32 number = block_in_grid();
    const Plan plan = division.plans[number];
    if (plan.pieces >= division.piece_count || division.pieces[plan.pieces].owner != number + 1)
        return;
    const Work w = work_of(pages[number], input);
    Walk walk(w, shared);
    u32 at = walk.first(), to = 0;
    // Pieces behind the last token have none, also if one was guessed.
    for (u32 i = 0; at != absent && i <= w.compressed / division.piece_bytes; i++) {
        Piece &piece = division.pieces[plan.pieces + i];
        const u32 end = least((i + 1) * division.piece_bytes, w.compressed);
        u32 next = at, output = 0;
        if (at < end) {
            if (piece.entry == at)
                next = piece.exit, output = piece.output;
            else
                next = walk.pass<false>(at, end, output, AcceptAll());
        }
        synchronize_block();
        if (thread_in_block() == 0)
            piece.entry = at < end ? at : absent, piece.to = to;
        if (next == absent || output > w.length - to)
            return;
        at = next, to += output;
    }
    if (thread_in_block() == 0 && at == w.compressed && to == w.length)
        status[number] = complete;
}

// snappy_divide finds the fragments that begin in a piece.
KERNEL RESIDENT_BOUNDS(block_threads, 2) snappy_divide(const Page *pages, const u8 *input, const u32 *status, Division division) {
    __shared__ BlockShared shared;
    const Piece piece = division.pieces[block_in_grid()];
    if (piece.owner == 0 || piece.entry == absent || status[piece.owner - 1] == undivided)
        return;
    const Work w = work_of(pages[piece.owner - 1], input);
    Fragment *fragments = division.fragments + division.plans[piece.owner - 1].fragments;
    Walk walk(w, shared);
    u32 output = piece.to;
    const u32 length = division.fragment_bytes, end = least((piece.number + 1) * division.piece_bytes, w.compressed);
    const u32 exit = walk.pass<false>(piece.entry, end, output, [&](u32 position, u32 begin, const Sequence &q) INLINE {
        if (q.output() > w.length || begin > w.length - q.output())
            return false;
        if (begin % length == 0)
            fragments[begin / length] = {piece.owner, position};
        return begin % length + q.output() <= length;
    });
    if (exit == absent && thread_in_block() == 0)
        division.plans[piece.owner - 1].pieces = absent;
}
