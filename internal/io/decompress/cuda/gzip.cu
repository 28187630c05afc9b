// Gzip: members of RFC 1952 with blocks of RFC 1951. The checksums are not compared.
#include "copies.cuh"
#include "input.cuh"
#include "pieces.cuh"
#include "prefix_code.cuh"

static constexpr u32 most_literals = 286, most_distances = 30, most_lengths = 19; // symbols of a block
static constexpr u32 fixed_literals = 288, fixed_distances = 32;
static constexpr u32 most_match = 258;

struct Shared {
    alignas(16) u32 ring[Input::ring_words];
    Pieces pieces;
    u8 literals[Pieces::most_bytes]; // at their places in the batch
    PrefixCode<10, fixed_literals> literal_code;
    PrefixCode<8, fixed_distances> distance_code; // and that of the lengths
    u8 lengths[fixed_literals + fixed_distances];
};

// Bits reads the input bit by bit. All lanes have the same.
struct Bits {
    Input in;
    u64 buffer;
    u32 count; // bits of the buffer
    u32 next; // the word after them, counted from the begin of the ring

    // move continues at a byte, up to which the input must be there.
    METHOD void move(u32 position) {
        in.prepare(position);
        const u32 at = position + in.lead, skipped = at % 4 * 8;
        next = at / 4 + 1;
        buffer = in.ring[at / 4 % Input::ring_words] >> skipped;
        count = 32 - skipped;
    }

    // refill makes 33 bits readable. The input must be prepared.
    METHOD void refill() {
        if (count > 32)
            return;
        buffer |= (u64)in.ring[next % Input::ring_words] << count;
        count += 32;
        next++;
    }

    METHOD void drop(u32 n) { buffer >>= n, count -= n; }

    METHOD u32 take(u32 n) {
        const u32 bits = (u32)buffer & (1u << n) - 1;
        drop(n);
        return bits;
    }

    // position is that of the first byte of which no bit was taken.
    METHOD u32 position() const { return next * 4 - in.lead - count / 8; }

    METHOD bool past() const { return position() > in.length; }

    // prepare makes the next bits readable: see Input::ahead.
    METHOD void prepare() { in.prepare(position()); }
};

// Batch is the pieces of a batch. Lane i has piece i.
struct Batch {
    u32 pieces, bytes, run; // run is the begin of the literals at the end
    u32 begin, length, source;
    bool is_literal;

    METHOD void add(u32 at, u32 n, u32 from, bool literal, u32 lane) {
        if (lane == pieces)
            begin = at, length = n, source = from, is_literal = literal;
        pieces++;
    }

    METHOD void literal(u8 byte, u8 *literals, u32 lane) {
        if (lane == 0)
            literals[bytes] = byte;
        bytes++;
    }

    METHOD void end_literals(u32 lane) {
        if (bytes != run)
            add(run, bytes - run, run, true, lane);
        run = bytes;
    }

    METHOD void match(u32 n, u32 distance, u32 lane) {
        end_literals(lane);
        add(bytes, n, distance, false, lane);
        bytes += n;
        run = bytes;
    }

    METHOD bool has_room() const { return pieces + 2 <= warp_threads && bytes + most_match <= Pieces::most_bytes; }
};

// stored_block copies a block without compression.
DEVICE u32 stored_block(const Work &w, Bits &bits, u32 &to, u32 lane) {
    u32 at = bits.position();
    if (at > w.compressed || w.compressed - at < 4)
        return truncated;
    const u32 length = w.from[at] | w.from[at + 1] << 8, inverse = w.from[at + 2] | w.from[at + 3] << 8;
    at += 4;
    if ((length ^ inverse) != 0xffff)
        return bad_block;
    if (length > w.compressed - at)
        return truncated;
    if (length > w.length - to)
        return too_long;
    copy_bytes(w.to + to, w.from + at, length, lane);
    synchronize_warp();
    to += length;
    bits.move(at + length);
    return complete;
}

// Symbols is the numbers of symbols of a block, with codes of s.lengths.
struct Symbols {
    u32 literals, distances;
};

// fixed_lengths sets the lengths of the codes of blocks that do not define codes.
DEVICE void fixed_lengths(Shared &s, u32 lane) {
    for (u32 i = lane; i < fixed_literals + fixed_distances; i += warp_threads)
        s.lengths[i] = i >= fixed_literals ? 5 : i >= 280 ? 8 : i >= 256 ? 7 : i >= 144 ? 9 : 8;
    synchronize_warp();
}

// read_lengths reads the lengths of the codes of a block.
DEVICE u32 read_lengths(Shared &s, Bits &bits, u32 n, u32 lane) {
    u32 previous = 0;
    for (u32 i = 0; i < n;) {
        bits.prepare();
        bits.refill();
        const Entry entry = s.distance_code.find((u32)bits.buffer, code_lengths);
        if (entry.word == 0)
            return bad_tree;
        bits.drop(entry.code_bits());
        if (bits.past())
            return truncated;
        u32 value = entry.value(), times = 1;
        if (value == 16) {
            if (i == 0)
                return bad_tree;
            value = previous, times = 3 + bits.take(2);
        } else if (value == 17) {
            value = 0, times = 3 + bits.take(3);
        } else if (value == 18) {
            value = 0, times = 11 + bits.take(7);
        }
        if (times > n - i)
            return bad_tree;
        for (u32 k = lane; k < times; k += warp_threads)
            s.lengths[i + k] = (u8)value;
        previous = value;
        i += times;
    }
    synchronize_warp();
    return complete;
}

// own_lengths reads the lengths of the codes at the begin of a block.
DEVICE u32 own_lengths(Shared &s, Bits &bits, Symbols &symbols, u32 lane) {
    bits.prepare();
    bits.refill();
    symbols.literals = 257 + bits.take(5);
    symbols.distances = 1 + bits.take(5);
    const u32 lengths = 4 + bits.take(4);
    if (symbols.literals > most_literals || symbols.distances > most_distances)
        return bad_tree;
    if (lane < most_lengths)
        s.lengths[lane] = 0;
    synchronize_warp();
    for (u32 i = 0; i < lengths; i++) {
        // 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, …
        const u32 symbol = i < 3 ? 16 + i : i == 3 ? 0 : i % 2 == 0 ? 6 + i / 2 : 9 - i / 2;
        bits.refill();
        const u32 length = bits.take(3);
        if (lane == 0)
            s.lengths[symbol] = (u8)length;
    }
    synchronize_warp();
    if (!s.distance_code.build(s.lengths, most_lengths, code_lengths, lane))
        return bad_tree;
    return read_lengths(s, bits, symbols.literals + symbols.distances, lane);
}

// build_codes builds the codes of a block, which must be able to end.
DEVICE bool build_codes(Shared &s, Symbols symbols, u32 lane) {
    return s.lengths[256] != 0 && s.literal_code.build(s.lengths, symbols.literals, literals_and_lengths, lane) &&
        s.distance_code.build(s.lengths + symbols.literals, symbols.distances, distances, lane);
}

// decode_match decodes the rest of a match after the symbol of its length.
DEVICE u32 decode_match(Shared &s, Bits &bits, Batch &batch, Entry length_entry, u32 to, u32 lane) {
    if (length_entry.word == 0 || length_entry.kind() == no_symbol)
        return bad_tree;
    const u32 length = length_entry.value() + bits.take(length_entry.extra_bits());
    bits.refill();
    const Entry entry = s.distance_code.find((u32)bits.buffer, distances);
    if (entry.word == 0 || entry.kind() == no_symbol)
        return bad_tree;
    bits.drop(entry.code_bits());
    const u32 distance = entry.value() + bits.take(entry.extra_bits());
    if (distance > to + batch.bytes)
        return bad_distance;
    batch.match(length, distance, lane);
    return complete;
}

// decode_batch decodes symbols until the batch is full or the block ends.
DEVICE u32 decode_batch(Shared &s, Bits &bits, Batch &batch, u32 to, bool &ends, u32 lane) {
    bits.prepare();
    const u32 last = bits.next + Input::ahead / 4 - 4; // a symbol takes up to two words
    u32 fault = complete;
    while (fault == complete && !ends && batch.has_room() && bits.next < last) {
        bits.refill();
        const Entry entry = s.literal_code.find((u32)bits.buffer, literals_and_lengths);
        bits.drop(entry.code_bits());
        if (entry.is_literal())
            batch.literal((u8)entry.value(), s.literals, lane);
        else if (entry.kind() == end_of_block)
            ends = true;
        else
            fault = decode_match(s, bits, batch, entry, to, lane);
    }
    batch.end_literals(lane);
    return fault;
}

// coded_block decompresses a block by the codes of s.
DEVICE u32 coded_block(const Work &w, Shared &s, Bits &bits, u32 &to, u32 member, u32 lane) {
    for (bool ends = false; !ends;) {
        Batch batch = {};
        const u32 fault = decode_batch(s, bits, batch, to - member, ends, lane);
        if (bits.past())
            return truncated;
        if (fault != complete)
            return fault;
        if (batch.bytes > w.length - to)
            return too_long;
        if (lane < batch.pieces)
            s.pieces.add(lane, batch.begin, batch.length, batch.source, batch.is_literal);
        s.pieces.write(w.to, to, batch.bytes, s.literals, lane);
        to += batch.bytes;
    }
    return complete;
}

// inflate decompresses the blocks of a member from the position to of the output on.
DEVICE u32 inflate(const Work &w, Shared &s, Bits &bits, u32 &to, u32 lane) {
    const u32 member = to;
    bool has_fixed = false; // many short blocks would build the fixed codes many times
    for (bool last = false; !last;) {
        bits.prepare();
        bits.refill();
        last = bits.take(1);
        const u32 type = bits.take(2);
        u32 fault = complete;
        if (type == 0) {
            fault = stored_block(w, bits, to, lane);
        } else if (type == 3) {
            fault = bad_block;
        } else {
            Symbols symbols = {fixed_literals, fixed_distances};
            if (type == 2)
                fault = own_lengths(s, bits, symbols, lane);
            else if (!has_fixed)
                fixed_lengths(s, lane);
            const bool builds = fault == complete && !(type == 1 && has_fixed);
            if (builds && !build_codes(s, symbols, lane))
                fault = bad_tree;
            has_fixed = type == 1;
            if (fault == complete)
                fault = coded_block(w, s, bits, to, member, lane);
        }
        if (bits.past())
            return truncated;
        if (fault != complete)
            return fault;
    }
    return complete;
}

// skip_header moves at behind the header of a member.
DEVICE u32 skip_header(const Work &w, u32 &at) {
    enum : u32 { checked = 2, extra = 4, name = 8, comment = 16, reserved = 0xe0 };
    if (w.compressed - at < 10)
        return truncated;
    const u8 *head = w.from + at;
    const u32 flags = head[3];
    if (head[0] != 0x1f || head[1] != 0x8b || head[2] != 8 || (flags & reserved) != 0)
        return bad_header;
    at += 10;
    if (flags & extra) {
        if (w.compressed - at < 2)
            return truncated;
        const u32 length = w.from[at] | w.from[at + 1] << 8;
        at += 2;
        if (length > w.compressed - at)
            return truncated;
        at += length;
    }
    for (u32 texts = (flags & name ? 1 : 0) + (flags & comment ? 1 : 0); texts != 0; texts--) {
        while (at < w.compressed && w.from[at] != 0)
            at++;
        if (at == w.compressed)
            return truncated;
        at++;
    }
    if (flags & checked) {
        if (w.compressed - at < 2)
            return truncated;
        at += 2;
    }
    return complete;
}

// check_trailer compares the length of a member and moves at behind it.
DEVICE u32 check_trailer(const Work &w, u32 &at, u32 length) {
    if (w.compressed - at < 8)
        return truncated;
    const u8 *size = w.from + at + 4;
    at += 8;
    return (size[0] | size[1] << 8 | size[2] << 16 | (u32)size[3] << 24) == length ? complete : bad_header;
}

DEVICE u32 decode(const Work &w, Shared &s, u32 lane) {
    Bits bits;
    bits.in.begin(w, s.ring, lane);
    s.pieces.clear(lane);
    u32 at = 0, to = 0;
    do {
        const u32 member = to;
        u32 fault = skip_header(w, at);
        if (fault == complete) {
            bits.move(at);
            fault = inflate(w, s, bits, to, lane);
            at = bits.position();
        }
        if (fault == complete)
            fault = check_trailer(w, at, to - member);
        if (fault != complete)
            return fault;
    } while (at < w.compressed);
    return to == w.length ? complete : too_short;
}

KERNEL LAUNCH_BOUNDS(32) gzip(const Page *pages, const u8 *input, u64 input_bytes, u8 *output, u64 output_bytes, u32 *status) {
    __shared__ Shared shared;
    each_page(pages, input, input_bytes, output, output_bytes, status, [&](const Work &w, u32 lane) INLINE { return decode(w, shared, lane); });
}
