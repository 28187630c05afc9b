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
    u32 distinct, unused;
};

// Table finds the row of a key.
//
// If the keys are integers in a small range, a key's place is its distance from the least
// key: the memory is an array of rows by places. Otherwise it is a hash table with open
// addressing, at most half full. A wide slot is a key and a value of 64 bits; a key that
// looks like empty has the slot behind all others. A narrow slot has a key in its low half
// and a row in its high half.
//
// If keys occur several times, a slot has a span of a list of rows: its begin in the low
// half, its end in the high half. The spans of wide slots are their values, others are in
// spans.
struct Table {
    void *slots;
    Header *header;
    u64 size;
    // seed and factor are random; factor is odd.
    u64 seed, factor;
    // The keys from least on have places, if places is not zero. If room is not zero the
    // header has the range of the keys with the bits of sign inverted, and they have places
    // if there are at most room.
    u64 least, places, room, sign;
    u64 *spans;
};

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

// home returns the first slot for a word. The finaliser is that of MurmurHash3.
DEVICE u64 home(const Table &table, u64 word) {
    word = (word ^ table.seed) * table.factor;
    word = (word ^ word >> 33) * 0xff51afd7ed558ccdull;
    word = (word ^ word >> 33) * 0xc4ceb9fe1a85ec53ull;
    return __nvvm_mulhi_ull(word ^ word >> 33, table.size);
}

DEVICE u64 after(const Table &table, u64 slot) { return slot + 1 == table.size ? 0 : slot + 1; }

DEVICE u64 look(const u64 *word) {
    u64 found;
    asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(found) : "l"(word) : "memory");
    return found;
}

DEVICE u32 look(const u32 *word) {
    u32 found;
    asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(found) : "l"(word) : "memory");
    return found;
}

// claim replaces a word with all bits set by another one, and returns the word that was
// there.
DEVICE u64 claim(u64 *word, u64 to) {
    u64 found;
    asm volatile("atom.relaxed.gpu.cas.b64 %0, [%1], %2, %3;" : "=l"(found) : "l"(word), "l"(empty), "l"(to) : "memory");
    return found;
}

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
        u32 *const there = (u32 *)table.slots + place(word);
        again = look(there) != no_row || claim(there, row) != no_row;
        return place(word);
    }

    // slot returns the slot of a row.
    METHOD u64 slot(Word word, u32) const { return place(word); }

    // row returns the row of a word, or no_row.
    METHOD u32 row(Word word) const {
        const u64 at = place(word);
        return at < range.places ? ((const u32 *)table.slots)[at] : no_row;
    }

    // span returns the span of a word, or empty.
    METHOD u64 span(Word word) const {
        const u64 at = place(word);
        return at < range.places ? table.spans[at] : empty;
    }
};

struct WideSlot {
    u64 key, value;
};

template <typename Word> struct WideSlots {
    const Table &table;

    // slot returns the slot of a row, which it puts into the table.
    METHOD u64 slot(Word key, u32 row) const {
        bool again = false;
        return insert(key, row, again);
    }

    METHOD u64 insert(Word key, u32 row, bool &again) const {
        const u64 word = key;
        WideSlot *const slots = (WideSlot *)table.slots;
        if (word == empty) {
            again = claim(&slots[table.size].value, row) != empty;
            return table.size;
        }
        u64 slot = home(table, word);
        while (true) {
            u64 there = look(&slots[slot].key);
            if (there == empty) {
                there = claim(&slots[slot].key, word);
                if (there == empty) {
                    slots[slot].value = row;
                    return slot;
                }
            }
            if (there == word) {
                again = true;
                return slot;
            }
            slot = after(table, slot);
        }
    }

    METHOD u64 span(Word key) const {
        const u64 word = key;
        const WideSlot *const slots = (const WideSlot *)table.slots;
        if (word == empty)
            return slots[table.size].value;
        u64 slot = home(table, word);
        while (true) {
            const WideSlot there = load_whole(&slots[slot]);
            if (there.key == word)
                return there.value;
            if (there.key == empty)
                return empty;
            slot = after(table, slot);
        }
    }

    METHOD u32 row(Word key) const { return (u32)span(key); }
};

template <typename Word> struct NarrowSlots {
    const Table &table;

    // slot returns the slot of a row, which it puts into the table.
    METHOD u64 slot(Word key, u32 row) const {
        bool again = false;
        return insert(key, row, again);
    }

    METHOD u64 insert(Word key, u32 row, bool &again) const {
        u64 *const slots = (u64 *)table.slots;
        u64 slot = home(table, key);
        while (true) {
            u64 there = look(&slots[slot]);
            if (there == empty) {
                there = claim(&slots[slot], (u64)row << 32 | key);
                if (there == empty)
                    return slot;
            }
            if ((u32)there == key) {
                again = true;
                return slot;
            }
            slot = after(table, slot);
        }
    }

    // find returns the slot of a key, or empty, and what is in it.
    METHOD u64 find(Word key, u64 &there) const {
        const u64 *const slots = (const u64 *)table.slots;
        u64 slot = home(table, key);
        while (true) {
            there = slots[slot];
            if (there == empty)
                return empty;
            if ((u32)there == key)
                return slot;
            slot = after(table, slot);
        }
    }

    METHOD u32 row(Word key) const {
        u64 there;
        return find(key, there) == empty ? no_row : (u32)(there >> 32);
    }

    METHOD u64 span(Word key) const {
        u64 there;
        const u64 slot = find(key, there);
        return slot == empty ? empty : table.spans[slot];
    }
};
