// The prefix codes of Deflate: RFC 1951, section 3.2.2.
#pragma once
#include "page.cuh"

static constexpr u32 most_code = 15; // bits of a code

// Alphabet is a kind of symbols.
enum Alphabet : u32 { literals_and_lengths, distances, code_lengths };

// Kind is the kind of a symbol.
enum Kind : u32 { match_length, end_of_block, no_symbol };

// Entry describes a symbol with its code: 4 bits with the length of the code, 4 with the number of
// extra bits, 2 with the kind, from bit 16 on the value, to which the extra bits are added, and bit
// 31 of literals. The word of no symbol is 0.
struct Entry {
    u32 word;
    METHOD u32 code_bits() const { return word & 15; }
    METHOD u32 extra_bits() const { return word >> 4 & 15; }
    METHOD u32 kind() const { return word >> 8 & 3; }
    METHOD bool is_literal() const { return word >> 31; }
    METHOD u32 value() const { return word >> 16 & 0x7fff; }
};

DEVICE Entry entry_of(Alphabet alphabet, u32 symbol, u32 code_bits) {
    u32 kind = match_length, value = symbol, extra = 0;
    if (alphabet == distances) {
        kind = symbol < 30 ? kind : no_symbol;
        value = symbol + 1;
        if (symbol >= 4) {
            extra = symbol / 2 - 1;
            value = (2 + symbol % 2 << extra) + 1;
        }
    } else if (alphabet == literals_and_lengths && symbol >= 256) {
        const u32 length = symbol - 257;
        kind = symbol == 256 ? end_of_block : symbol < 286 ? match_length : no_symbol;
        value = length + 3;
        if (symbol == 285)
            value = 258;
        else if (symbol > 264) {
            extra = length / 4 - 1;
            value = (4 + length % 4 << extra) + 3;
        }
    }
    const u32 literal = alphabet == literals_and_lengths && symbol < 256 ? 1u << 31 : 0;
    return {literal | (value & 0x7fff) << 16 | kind << 8 | (extra & 15) << 4 | code_bits};
}

// PrefixCode decodes the codes of an alphabet: short ones by a table, longer ones by their numbers.
template <u32 table_bits, u32 most_symbols> struct PrefixCode {
    u32 table[1 << table_bits];
    // For each length of codes: their number, the first code, and the index of its symbol.
    u32 count[most_code + 1], first[most_code + 1], index[most_code + 1];
    u16 symbols[most_symbols]; // by their codes

    // build makes the code of symbols 0, 1, … with given lengths, 0 for unused symbols. It returns
    // false if these are no prefix code. As in zlib, a code may be incomplete only if it has no
    // symbol, or one of one bit. All lanes call it.
    METHOD bool build(const u8 *lengths, u32 n, Alphabet alphabet, u32 lane) {
        if (lane <= most_code)
            count[lane] = 0;
        for (u32 i = lane; i < 1 << table_bits; i += warp_threads)
            table[i] = 0;
        synchronize_warp();
        for (u32 i = lane; i < n; i += warp_threads)
            __nvvm_atom_add_gen_i((int *)&count[lengths[i]], 1);
        synchronize_warp();
        u32 code = 0, used = 0;
        i32 unused = 1; // codes of a length that no shorter code begins
        bool is_code = true;
        for (u32 length = 1; length <= most_code; length++) {
            const u32 codes = count[length];
            code <<= 1;
            unused = 2 * unused - (i32)codes;
            is_code = is_code && unused >= 0;
            if (lane == 0)
                first[length] = code, index[length] = used;
            code += codes;
            used += codes;
        }
        if (!is_code || unused > 0 && used != 0 && !(used == 1 && count[1] == 1))
            return false;
        synchronize_warp();
        assign(lengths, n, alphabet, lane);
        return true;
    }

    // assign gives the symbols their codes, those of a length in ascending order.
    METHOD void assign(const u8 *lengths, u32 n, Alphabet alphabet, u32 lane) {
        u32 assigned = 0; // symbols with codes of the length `lane`
        for (u32 from = 0; from < n; from += warp_threads) {
            const u32 symbol = from + lane, length = symbol < n ? lengths[symbol] : 0;
            const u32 same = __nvvm_match_any_sync_i32(whole_warp, length);
            const u32 rank = shuffle_value(assigned, length) + __builtin_popcount(same & (1u << lane) - 1);
            for (u32 other = 1; other <= most_code; other++) {
                const u32 lanes = ballot(length == other);
                assigned += lane == other ? __builtin_popcount(lanes) : 0;
            }
            if (length != 0)
                enter(symbol, length, rank, alphabet);
        }
        synchronize_warp();
    }

    METHOD void enter(u32 symbol, u32 length, u32 rank, Alphabet alphabet) {
        symbols[index[length] + rank] = (u16)symbol;
        if (length > table_bits)
            return;
        const u32 reversed = __builtin_bitreverse32(first[length] + rank) >> (32 - length);
        const Entry entry = entry_of(alphabet, symbol, length);
        for (u32 i = reversed; i < 1 << table_bits; i += 1 << length)
            table[i] = entry.word;
    }

    // find returns the entry of the code at the beginning of bits, or none.
    METHOD Entry find(u32 bits, Alphabet alphabet) const {
        const Entry entry = {table[bits % (1 << table_bits)]};
        return entry.word != 0 ? entry : find_long(bits, alphabet);
    }

    METHOD Entry find_long(u32 bits, Alphabet alphabet) const {
        const u32 reversed = __builtin_bitreverse32(bits);
        for (u32 length = table_bits + 1; length <= most_code; length++) {
            const u32 number = (reversed >> (32 - length)) - first[length];
            if (number < count[length])
                return entry_of(alphabet, symbols[index[length] + number], length);
        }
        return {0};
    }
};
