// Sequences of a block of Zstandard: RFC 8878, 3.1.1.3.2.
#pragma once

#include "zstd_literals.cuh"

// Tables holds the logarithms of the sizes of the tables of sequences, or unknown.
struct Tables {
    static constexpr u32 unknown = 255;
    u32 logs;

    METHOD u32 log(u32 kind) const { return logs >> 8 * kind & 255; }
    METHOD void set(u32 kind, u32 log) { logs = (logs & ~(255u << 8 * kind)) | log << 8 * kind; }
};

static constexpr u32 predefined_mode = 0, symbol_mode = 1, counts_mode = 2, repeat_mode = 3;

// read_table reads the table of a kind of code.
DEVICE u32 read_table(Draft &draft, SequenceTables &to, Span &in, u32 kind, u32 mode, Tables &tables) {
    const u32 symbols = kind == literal_lengths ? 36 : kind == offsets ? 32 : 53, lane = lane_in_warp();
    u32 *table = kind == literal_lengths ? to.literal_lengths : kind == offsets ? to.offsets : to.match_lengths;
    u32 log = 0;
    switch (mode) {
    case repeat_mode:
        return tables.log(kind) == Tables::unknown ? bad_tree : complete;
    case symbol_mode: {
        if (in.left() == 0)
            return truncated;
        const u32 symbol = *in.at++;
        if (symbol >= symbols)
            return bad_tree;
        if (lane == 0)
            table[0] = state_entry(kind, symbol, 0, 0);
        synchronize_warp();
        tables.set(kind, 0);
        return complete;
    }
    case counts_mode:
        if (const u32 status = read_counts(draft, in, kind == offsets ? 8 : 9, symbols, log))
            return status;
        break;
    default:
        log = kind == offsets ? 5 : 6;
        draft.counts[lane] = predefined[kind][lane];
        draft.counts[lane + 32] = predefined[kind][lane + 32];
        synchronize_warp();
    }
    build_states(draft, kind, log, table);
    tables.set(kind, log);
    return complete;
}

// read_count reads the number of sequences and the modes of their tables, which are 0 without sequences.
DEVICE u32 read_count(Span &in, u32 &count, u32 &modes) {
    if (in.left() == 0)
        return truncated;
    const u32 word = peek(in, 0), first = word & 0xff, size = first < 128 ? 1 : first < 255 ? 2 : 3;
    if (size > in.left())
        return truncated;
    in.at += size;
    count = size == 1 ? first : size == 2 ? (first - 128) << 8 | (word >> 8 & 0xff) : (word >> 8 & 0xffff) + 0x7f00;
    modes = 0;
    if (count == 0)
        return in.left() == 0 ? complete : bad_block;
    if (in.left() == 0)
        return truncated;
    modes = *in.at++;
    return modes & 3 ? bad_block : complete;
}

DEVICE u32 mode_of(u32 modes, u32 kind) { return modes >> (6 - 2 * kind) & 3; }

// read_tables reads the tables of a block.
DEVICE u32 read_tables(Draft &draft, SequenceTables &to, Span &in, u32 modes, Tables &tables) {
#pragma nounroll
    for (u32 kind = 0; kind < 3; kind++)
        if (const u32 status = read_table(draft, to, in, kind, mode_of(modes, kind), tables))
            return status;
    return complete;
}

// Sequence is literals, and a match after them.
struct Sequence {
    u32 literals, match, distance;
};

// Sequences decodes the sequences of a block, in batches. The lanes of a group have the same
// state and decode the same.
struct Sequences {
    // A sequence has at most 89 bits: offset 31, lengths 16 each, states 9, 9 and 8. A window takes
    // three words. Up to 127 bits are taken before.
    static constexpr u32 most_batch = 32, staged_words = 96;

    Span in;
    i32 left;    // the bits of the stream that were not taken before the words were staged
    u32 *staged; // words of the stream, the last one first, aligned to 16 bytes
    u32 skipped; // the bits of the words that were taken before
    u32 taken;   // the bits of the words that are taken
    u32 literals_state, offset_state, match_state;
    u32 offset; // of the last sequence
    // The distances of the sequences before.
    u32 recent[3];

    // begin prepares the bits of a stream. The next step is to stage them.
    METHOD u32 begin(const Span &stream, u32 *words) {
        in = stream, staged = words;
        left = stream_bits(in);
        skipped = taken = 0;
        return left < 0 ? bad_block : complete;
    }

    // bits_left returns the number of bits that were not taken. It is negative if more were taken
    // than the stream has.
    METHOD i32 bits_left() const { return left - (i32)(taken - skipped); }

    // stage loads the bits of a batch, by the lanes of an active group. All lanes of the warp call it.
    template <u32 lanes> METHOD void stage(bool active) {
        typedef Vector<u32, 4> Part;
        constexpr u32 parts = staged_words / 4, rounds = (parts + lanes - 1) / lanes;
        synchronize_warp();
        left = bits_left();
        const u64 last = (u64)in.at * 8 + (u64)(i64)left - 1; // the place of the next bit
        taken = skipped = 127 - (u32)last % 128;
        const u8 *end = (const u8 *)(last / 128 * 16) + 16;
        const u32 lane = lane_in_warp() % lanes;
        if (active && end - 4 * staged_words >= in.at && end <= in.end) {
            Part part[rounds];
#pragma unroll
            for (u32 k = 0; k < rounds; k++)
                if (k * lanes + lane < parts)
                    part[k] = *(const Part *)(end - 16 * (k * lanes + lane + 1));
#pragma unroll
            for (u32 k = 0; k < rounds; k++)
                if (k * lanes + lane < parts)
                    *(Part *)(staged + 4 * (k * lanes + lane)) = {{part[k].lane[3], part[k].lane[2], part[k].lane[1], part[k].lane[0]}};
        } else if (active) {
#pragma nounroll
            for (u32 i = lane; i < staged_words; i += lanes)
                staged[i] = stream_word(in, end - 4 * (i + 1));
        }
        synchronize_warp();
    }

    // window returns the next 64 bits.
    METHOD u64 window() const {
        const u32 *words = staged + taken / 32;
        const u64 high = (u64)words[0] << 32 | words[1], low = (u64)words[1] << 32 | words[2];
        return (high << taken % 32 >> 32) << 32 | (u32)(low << taken % 32 >> 32);
    }

    // first_bits returns the first n bits of a window, at most 31.
    METHOD static u32 first_bits(u64 window, u32 n) { return (u32)((window >> 32 << n) >> 32); }

    METHOD void begin_states(const Tables &tables) {
        u64 bits = window();
        literals_state = first_bits(bits, tables.log(literal_lengths));
        bits <<= tables.log(literal_lengths);
        offset_state = first_bits(bits, tables.log(offsets));
        bits <<= tables.log(offsets);
        match_state = first_bits(bits, tables.log(match_lengths));
        taken += tables.log(literal_lengths) + tables.log(offsets) + tables.log(match_lengths);
    }

    // distance returns the distance of a match and updates the recent ones: RFC 8878, 3.1.1.5. It is 0
    // if the stream is damaged.
    METHOD u32 distance(u32 value, u32 literals) {
        if (value > 3) {
            recent[2] = recent[1];
            recent[1] = recent[0];
            return recent[0] = value - 3;
        }
        const u32 place = value - (literals != 0);
        const u32 result = place == 0 ? recent[0] : place == 1 ? recent[1] : place == 2 ? recent[2] : recent[0] - 1;
        recent[2] = place > 1 ? recent[1] : recent[2];
        recent[1] = place > 0 ? recent[0] : recent[1];
        return recent[0] = result;
    }

    // next decodes a sequence. The last one has no states after it.
    METHOD Sequence next(const SequenceTables &table, bool last) {
        const u32 literals_entry = table.literal_lengths[literals_state], offset_entry = table.offsets[offset_state];
        const u32 match_entry = table.match_lengths[match_state];
        const u32 literals_extra = entry_extra(literals_entry), offset_extra = entry_extra(offset_entry), match_extra = entry_extra(match_entry);
        const u32 extra = literals_extra + offset_extra + match_extra;
        const u64 bits = window(), after_offset = bits << offset_extra, after_match = after_offset << match_extra;
        Sequence s;
        offset = (1u << offset_extra) + first_bits(bits, offset_extra);
        s.match = entry_value(match_entry) + first_bits(after_offset, match_extra) + 3;
        s.literals = entry_value(literals_entry) + first_bits(after_match, literals_extra);
        s.distance = distance(offset, s.literals);
        taken += extra;
        if (last)
            return s;
        const u32 literals_bits = entry_bits(literals_entry), match_bits = entry_bits(match_entry), offset_bits = entry_bits(offset_entry);
        const u32 state_bits = literals_bits + match_bits + offset_bits;
        u64 states = bits << extra;
        if (extra + state_bits > 64)
            states = window();
        literals_state = entry_base(literals_entry) + first_bits(states, literals_bits);
        states <<= literals_bits;
        match_state = entry_base(match_entry) + first_bits(states, match_bits);
        states <<= match_bits;
        offset_state = entry_base(offset_entry) + first_bits(states, offset_bits);
        taken += state_bits;
        return s;
    }
};
