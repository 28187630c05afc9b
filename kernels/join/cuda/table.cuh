// The table of the build side: struct table of table.go.
#pragma once

#include "pairing.cuh"
#include "bitrow.cuh"

static constexpr u64 empty = ~0ull;

// Header is the begin of a table's memory. All its bits are set at first.
struct Header {
    // least is the least key, rest the complement of the greatest one.
    u64 least, rest;
    // distinct becomes 0 if a key occurs twice.
    u32 distinct, unused[3];
    // The number of pairs, and whether they are right.
    u64 outcome[2];
};

// Table finds the row of a key.
//
// If the keys are integers in a small range, a key's place is its distance from the least
// key: the memory is an array of rows by places. Otherwise it is a hash table with open
// addressing. A slot has 32 bits: the number of a row, and above it a tag, the low bits of the
// hash of the row's key. The key itself is compared in words, the keys of the rows, and only if
// the tags are equal. Slots of four bytes keep a table of ten million keys about in the L2
// cache, where the atomic operations of an insertion are four times as fast as in memory.
//
// If keys occur several times, spans has for each slot a span of a list of rows: its begin in
// the low half, its end in the high half.
//go:layout tableLayout any
struct Table {
    u32 *slots;
    Header *header;
    u64 size;
    // seed and factor are random; factor is odd.
    u64 seed, factor;
    // The keys from least on have places, if places is not zero. If room is not zero the
    // header has the range of the keys with the bits of sign inverted, and they have places
    // if there are at most room.
    u64 least, places, room, sign;
    u64 *spans;
    const void *words;
    // row_bits is the number of bits of a row in a slot. No row has all of them set.
    u64 row_bits;
    // filter has 2^filter_bits bits, or is null: see Filter.
    u32 *filter;
    u64 filter_bits;
};

// Filter shows for most keys that are not in the table that they are not, by a bit instead of a slot. The bit of a key is its low bits,
// which the higher ones change, so that neighbouring integers have neighbouring bits, and sorted rows read few words.
// The bit of a key in the table is clear, and all others are set, as those of empty slots.
struct Filter {
    u32 *words;
    u32 bits;

    METHOD u32 bit(u64 word) const { return ((u32)word + (u32)(word >> bits) * 0x9e3779b1u) & (1u << bits) - 1; }

    METHOD void add(u64 word) const {
        const u32 at = bit(word), mask = 1u << at % 32;
        if ((words[at / 32] & mask) != 0)
            __nvvm_atom_and_gen_i((int *)&words[at / 32], (int)~mask);
    }

    METHOD bool may_have(u64 word) const {
        const u32 at = bit(word);
        return (words[at / 32] >> at % 32 & 1) == 0;
    }
};

DEVICE Filter filter_of(const Table &table) { return {table.filter, (u32)table.filter_bits}; }

// Range is the keys that have places.
struct Range {
    u64 least, places;
};

DEVICE Range range_of(const Table &table) {
    if (table.room == 0)
        return {table.least, table.places};
    const u64 least = table.header->least, greatest = ~table.header->rest;
    if (least > greatest || greatest - least >= table.room)
        return {0, 0};
    return {least ^ table.sign, greatest - least + 1};
}

// Keys are the words of the keys of rows. valid is null if all rows are valid; bit is the
// bit of the first row.
//go:layout keysLayout
struct Keys {
    const void *words;
    const u8 *valid;
    u64 bit, rows;
};

template <typename Word> DEVICE Word word_of(const Keys &keys, u64 row) { return ((const Word *)keys.words)[row]; }

DEVICE bool is_valid(const Keys &keys, u64 row) {
    const u64 at = keys.bit + row;
    return keys.valid == nullptr || (keys.valid[at >> 3] >> (at & 7) & 1) != 0;
}

// may_match reports whether a row is valid, and its key passes the filter, if there is one.
template <typename Word> DEVICE bool may_match(const Filter &filter, const Keys &keys, u64 row) {
    return is_valid(keys, row) && (filter.words == nullptr || filter.may_have(word_of<Word>(keys, row)));
}

// hash_of returns the hash of a word: a multiplication by the random factor, and a step of the finaliser of
// MurmurHash3, whose second step takes as long and spreads random keys no better.
DEVICE u64 hash_of(const Table &table, u64 word) {
    word = (word ^ table.seed) * table.factor;
    word = (word ^ word >> 32) * 0xff51afd7ed558ccdull;
    return word ^ word >> 32;
}

DEVICE u32 look(const u32 *word) {
    u32 found;
    asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(found) : "l"(word) : "memory");
    return found;
}

// claim replaces a word with all bits set by another one, and returns the word that was
// there.
DEVICE u32 claim(u32 *word, u32 to) {
    u32 found;
    asm volatile("atom.relaxed.gpu.cas.b32 %0, [%1], %2, %3;" : "=r"(found) : "l"(word), "r"(no_row), "r"(to) : "memory");
    return found;
}

// Places has the rows of keys by their places.
template <typename Word> struct Places {
    const Table &table;
    Range range;

    METHOD u64 place(Word word) const { return (Word)(word - (Word)range.least); }

    // insert returns the slot of a row. again is set if the key is in the table already.
    METHOD u64 insert(Word word, u32 row, bool &again) const {
        u32 *const there = table.slots + place(word);
        again = look(there) != no_row || claim(there, row) != no_row;
        return place(word);
    }

    // slot returns the slot of a row.
    METHOD u64 slot(Word word, u32) const { return place(word); }

    // row returns the row of a word, or no_row.
    METHOD u32 row(Word word) const {
        const u64 at = place(word);
        return at < range.places ? table.slots[at] : no_row;
    }

    // span returns the span of a word, or empty.
    METHOD u64 span(Word word) const {
        const u64 at = place(word);
        return at < range.places ? table.spans[at] : empty;
    }
};

// Slots is the hash table.
template <typename Word> struct Slots {
    const Table &table;

    // Search is the slots of a word, in order.
    struct Search {
        u64 slot;
        u32 tag;
    };

    METHOD Search search(Word word) const {
        const u64 hash = hash_of(table, word);
        return {(hash >> 32) * (u32)table.size >> 32, (u32)hash << table.row_bits};
    }

    METHOD void advance(Search &s) const { s.slot = s.slot + 1 == table.size ? 0 : s.slot + 1; }

    METHOD u32 row_in(u32 there) const { return there & (1u << table.row_bits) - 1; }

    // has reports whether a slot that is not empty has a word.
    METHOD bool has(u32 there, Word word, const Search &s) const {
        return (there ^ s.tag) >> table.row_bits == 0 && ((const Word *)table.words)[row_in(there)] == word;
    }

    METHOD u64 insert(Word word, u32 row, bool &again) const {
        Search s = search(word);
        while (true) {
            u32 there = look(&table.slots[s.slot]);
            if (there == no_row)
                there = claim(&table.slots[s.slot], s.tag | row);
            if (there == no_row)
                return s.slot;
            if (has(there, word, s)) {
                again = true;
                return s.slot;
            }
            advance(s);
        }
    }

    // slot returns the slot of a row, which it puts into the table. The first read may come
    // from the cache of the multiprocessor: a slot that is taken does not change, and many
    // rows of few keys do not wait for one line of the L2 cache.
    METHOD u64 slot(Word word, u32 row) const {
        Search s = search(word);
        while (true) {
            u32 there = table.slots[s.slot];
            if (there == no_row)
                there = claim(&table.slots[s.slot], s.tag | row);
            if (there == no_row || has(there, word, s))
                return s.slot;
            advance(s);
        }
    }

    // find moves a search to the slot of a word, and returns what is in it, or no_row.
    METHOD u32 find(Search &s, Word word) const {
        while (true) {
            const u32 there = table.slots[s.slot];
            if (there == no_row || has(there, word, s))
                return there;
            advance(s);
        }
    }

    METHOD u32 row(Word word) const {
        Search s = search(word);
        const u32 there = find(s, word);
        return there == no_row ? no_row : row_in(there);
    }

    METHOD u64 span(Word word) const {
        Search s = search(word);
        return find(s, word) == no_row ? empty : table.spans[s.slot];
    }
};
