// The tables of Zstandard's codes: RFC 8878, 4.1.1 (FSE) and 4.2.1 (Huffman). A warp builds a table;
// all its lanes have the same arguments.
#pragma once

#include "page.cuh"
#include "zstd_bits.cuh"

static constexpr u32 most_huffman_bits = 11, most_weight_bits = 6;

// The codes of sequences, in the order of their tables in a block, and that of Huffman weights.
static constexpr u32 literal_lengths = 0, offsets = 1, match_lengths = 2, weights = 3;

// HuffmanTable has a symbol and, in the upper byte, the length of its code, by the next bits.
struct HuffmanTable {
    u16 entry[1 << most_huffman_bits];
};

// SequenceTables has the tables of the codes of sequences, by state: see state_entry.
struct SequenceTables {
    u32 literal_lengths[512], offsets[256], match_lengths[512];
};

// Draft is shared memory for building tables.
struct Draft {
    u32 weight_states[1 << most_weight_bits];
    u32 places[16];
    i16 counts[64];
    u16 starts[64], next[64];
    u8 symbols[512];
    u8 weight[256];
};

// The distributions of predefined codes: RFC 8878, 3.1.1.3.2.2.
static __constant__ i8 predefined[3][64] = {
    {4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1},
    {1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1},
    {1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
     1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1},
};

DEVICE u32 lanes_before() { return (1u << lane_in_warp()) - 1; }
DEVICE u32 lanes_with(u32 value) { return __nvvm_match_any_sync_i32(whole_warp, value); }

// code_value returns the number of extra bits of a code and the factor and the shift that give its
// base value, in 5, 7 and 5 bits: RFC 8878, 3.1.1.3.2.1.1. The base values of match lengths are less 3.
DEVICE u32 code_value(u32 kind, u32 code) {
    if (kind == offsets)
        return code | 1 << 5 | code << 12;
    const u32 direct = kind == match_lengths ? 32 : 16;
    if (code < direct)
        return code << 5;
    const u32 above = code - direct;
    if (kind == literal_lengths) {
        if (above < 4)
            return 1 | (16 + 2 * above) << 5;
        if (above < 6)
            return 2 | (24 + 4 * (above - 4)) << 5;
        if (above < 9)
            return above < 8 ? 3 | (32 + 8 * (above - 6)) << 5 : 4 | 48 << 5;
        return (code - 19) | 1 << 5 | (code - 19) << 12;
    }
    if (above < 4)
        return 1 | (32 + 2 * above) << 5;
    if (above < 6)
        return 2 | (40 + 4 * (above - 4)) << 5;
    if (above < 8)
        return 3 | (48 + 8 * (above - 6)) << 5;
    if (above < 11)
        return above < 10 ? 4 | (64 + 16 * (above - 8)) << 5 : 5 | 96 << 5;
    return (code - 36) | 1 << 5 | (code - 36) << 12;
}

// state_entry is the entry of a state: the base of the next state, the number of bits to add, and the
// code's value, or its symbol if it is a weight.
DEVICE u32 state_entry(u32 kind, u32 code, u32 base, u32 bits) {
    return (kind == weights ? code : code_value(kind, code)) | bits << 17 | base << 21;
}
DEVICE u32 entry_symbol(u32 entry) { return entry & 0xffff; }
DEVICE u32 entry_extra(u32 entry) { return entry & 31; }
DEVICE u32 entry_value(u32 entry) { return (entry >> 5 & 127) << (entry >> 12 & 31); }
DEVICE u32 entry_bits(u32 entry) { return entry >> 17 & 15; }
DEVICE u32 entry_base(u32 entry) { return entry >> 21; }

// read_counts reads the distribution of a code with at most 64 symbols.
DEVICE u32 read_counts(Draft &draft, Span &in, u32 most_log, u32 most_symbols, u32 &log) {
    const u32 lane = lane_in_warp();
    draft.counts[lane] = 0;
    draft.counts[lane + 32] = 0;
    synchronize_warp();
    log = (peek(in, 0) & 15) + 5;
    if (log > most_log)
        return bad_tree;
    i32 threshold = 1 << log, remaining = threshold + 1;
    u32 width = log + 1, bit = 4, symbol = 0;
    bool zeros = false;
#pragma nounroll
    while (remaining > 1 && symbol < most_symbols) {
        const u32 word = peek(in, bit);
        if (zeros) {
            symbol += word & 3;
            bit += 2;
            zeros = (word & 3) == 3;
            continue;
        }
        const i32 shorter = 2 * threshold - 1 - remaining;
        i32 count = (i32)word & (threshold - 1);
        if (count < shorter) {
            bit += width - 1;
        } else {
            count = (i32)word & (2 * threshold - 1);
            if (count >= threshold)
                count -= shorter;
            bit += width;
        }
        count--;
        remaining -= count < 0 ? 1 : count;
        if (lane == 0)
            draft.counts[symbol] = (i16)count;
        symbol++;
        zeros = count == 0;
        if (remaining < 1)
            return bad_tree;
        while (remaining < threshold) {
            width--;
            threshold >>= 1;
        }
    }
    synchronize_warp();
    if (remaining != 1)
        return bad_tree;
    if ((bit + 7) / 8 > in.left())
        return truncated;
    in.at += (bit + 7) / 8;
    return complete;
}

// symbol_at returns the symbol with a place in the order of symbols.
DEVICE u32 symbol_at(const Draft &draft, u32 place) {
    u32 symbol = 0;
#pragma unroll
    for (u32 step = 32; step > 0; step /= 2)
        if (draft.starts[symbol + step] <= place)
            symbol += step;
    return symbol;
}

// build_states builds a table of states from the counts. Their sum is its size, a multiple of 32.
DEVICE void build_states(Draft &draft, u32 kind, u32 log, u32 *table) {
    const u32 lane = lane_in_warp(), before = lanes_before(), size = 1u << log;
    u32 counted = 0, rare = 0;
#pragma unroll
    for (u32 symbol = lane; symbol < 64; symbol += 32) {
        const i32 count = draft.counts[symbol];
        const u32 common = count > 0 ? (u32)count : 0, scanned = warp_scan(common, Sum<u32>()), below = ballot(count < 0);
        draft.starts[symbol] = (u16)(counted + scanned - common);
        draft.next[symbol] = (u16)(count < 0 ? 1 : common);
        if (count < 0)
            draft.symbols[size - 1 - rare - __builtin_popcount(below & before)] = (u8)symbol;
        counted += shuffle_value(scanned, 31);
        rare += __builtin_popcount(below);
    }
    synchronize_warp();
    u32 filled = 0;
#pragma nounroll
    for (u32 i = lane; i < size; i += 32) {
        const u32 place = i * (size / 2 + size / 8 + 3) & (size - 1);
        const bool free = place < size - rare;
        const u32 places = ballot(free);
        if (free)
            draft.symbols[place] = (u8)symbol_at(draft, filled + __builtin_popcount(places & before));
        filled += __builtin_popcount(places);
    }
    synchronize_warp();
#pragma nounroll
    for (u32 state = lane; state < size; state += 32) {
        const u32 symbol = draft.symbols[state], same = lanes_with(symbol), rank = __builtin_popcount(same & before);
        const u32 next = draft.next[symbol] + rank;
        synchronize_warp();
        if (rank == 0)
            draft.next[symbol] = (u16)(next + __builtin_popcount(same));
        synchronize_warp();
        const u32 bits = log - (31 - __builtin_clz(next));
        table[state] = state_entry(kind, symbol, (next << bits) - size, bits);
    }
    synchronize_warp();
}

// read_weights reads weights that are coded by two states: RFC 8878, 4.2.1.2.
DEVICE u32 read_weights(Draft &draft, Span in, u32 &count) {
    u32 log;
    if (const u32 status = read_counts(draft, in, most_weight_bits, 64, log))
        return status;
    build_states(draft, weights, log, draft.weight_states);
    i32 position = stream_bits(in);
    u32 state = bits_before(in, position, log);
    position -= (i32)log;
    u32 other = bits_before(in, position, log);
    position -= (i32)log;
    if (position < 0)
        return bad_tree;
#pragma nounroll
    for (count = 0; count < 254; ) {
        const u32 entry = draft.weight_states[state], bits = entry_bits(entry);
        if (lane_in_warp() == 0)
            draft.weight[count] = (u8)entry_symbol(entry);
        count++;
        state = other;
        other = entry_base(entry) + bits_before(in, position, bits);
        position -= (i32)bits;
        if (position < 0) {
            if (lane_in_warp() == 0)
                draft.weight[count] = (u8)entry_symbol(draft.weight_states[state]);
            count++;
            return complete;
        }
    }
    return bad_tree;
}

// count_weights completes the weights by the last one, and sets the places of their draft. All
// weights after those counted are 0.
DEVICE u32 count_weights(Draft &draft, u32 count, u32 &log) {
    const u32 lane = lane_in_warp();
    u32 total = 0;
    bool large = false;
    for (u32 i = lane; i < 256; i += 32) {
        const u32 weight = draft.weight[i];
        large |= weight > most_huffman_bits;
        total += (1u << weight) >> 1;
    }
    total = warp_fold(total, Sum<u32>());
    if (ballot(large) || total == 0)
        return bad_tree;
    log = 32 - __builtin_clz(total);
    const u32 rest = (1u << log) - total;
    if (log > most_huffman_bits || (rest & (rest - 1)) != 0)
        return bad_tree;
    synchronize_warp();
    if (lane == 0)
        draft.weight[count] = (u8)(32 - __builtin_clz(rest));
    if (lane < 16)
        draft.places[lane] = 0;
    synchronize_warp();
#pragma nounroll
    for (u32 i = lane; i < 256; i += 32) {
        const u32 weight = draft.weight[i], same = lanes_with(weight);
        if ((same & lanes_before()) == 0)
            draft.places[weight] += __builtin_popcount(same);
        synchronize_warp();
    }
    const u32 shortest = draft.places[1];
    const u32 codes_of_weight = lane > 0 && lane < 16 ? draft.places[lane] << (lane - 1) : 0;
    const u32 scanned = warp_scan(codes_of_weight, Sum<u32>());
    synchronize_warp();
    if (lane < 16)
        draft.places[lane] = scanned - codes_of_weight;
    synchronize_warp();
    return shortest < 2 || shortest % 2 != 0 ? bad_tree : complete;
}

// build_huffman builds the table of a Huffman code from the weights of the symbols.
DEVICE void build_huffman(Draft &draft, u32 log, HuffmanTable &table) {
    const u32 lane = lane_in_warp(), before = lanes_before();
#pragma nounroll
    for (u32 symbol = lane; symbol < 256; symbol += 32) {
        const u32 weight = draft.weight[symbol], same = lanes_with(weight), rank = __builtin_popcount(same & before);
        const u32 n = (1u << weight) >> 1, place = draft.places[weight] + rank * n, entry = symbol | (log + 1 - weight) << 8;
        synchronize_warp();
        if (rank == 0)
            draft.places[weight] = place + __builtin_popcount(same) * n;
        if (n <= 16)
            for (u32 k = 0; k < n; k++)
                table.entry[place + k] = (u16)entry;
        for (u32 wide = ballot(n > 16); wide != 0; wide &= wide - 1) {
            const u32 from = __builtin_ctz(wide), first = shuffle_value(place, from), words = shuffle_value(n, from), value = shuffle_value(entry, from);
            for (u32 k = lane; k < words; k += 32)
                table.entry[first + k] = (u16)value;
        }
        synchronize_warp();
    }
}

// read_huffman reads a Huffman code: RFC 8878, 4.2.1.
DEVICE u32 read_huffman(Draft &draft, Span &in, u32 &log, HuffmanTable &table) {
    if (in.left() == 0)
        return truncated;
    const u32 header = *in.at++, lane = lane_in_warp();
    const bool direct = header >= 128;
    u32 count = direct ? header - 127 : 0;
    const u32 bytes = direct ? (count + 1) / 2 : header;
    if (bytes > in.left())
        return truncated;
    for (u32 i = lane; i < 256; i += 32)
        draft.weight[i] = i < count ? in.at[i / 2] >> (i % 2 ? 0 : 4) & 15 : 0;
    synchronize_warp();
    if (!direct)
        if (const u32 status = read_weights(draft, {in.at, in.at + bytes}, count))
            return status;
    in.at += bytes;
    synchronize_warp();
    if (const u32 status = count_weights(draft, count, log))
        return status;
    build_huffman(draft, log, table);
    return complete;
}
