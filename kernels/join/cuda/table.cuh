// The hash table of the build side: struct Table of table.go.
#pragma once

#include "bitrow.cuh"

// A slot is a key and a value of 64 bits. Both begin as empty. The value is the row of the
// key or, after slot_spans, a span of the list of rows: its begin in the low half, its end
// in the high half. A key that looks like empty has the slot behind all others.
static constexpr u64 empty = ~0ull;
static constexpr u32 no_slot = 0xffffffff, no_row = 0xffffffff;

struct Slot {
    u64 key, value;
};

struct Table {
    Slot *slots;
    u64 size;
    // seed and factor are random; factor is odd.
    u64 seed, factor;
};

// Keys are the words of the keys of rows. valid is null if all rows are valid; bit is the
// bit of the first row.
struct Keys {
    const void *words;
    const u8 *valid;
    u64 bit, rows;
};

template <typename Word> DEVICE u64 word_of(const Keys &keys, u64 row) { return ((const Word *)keys.words)[row]; }

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

// claim replaces empty by a word, and returns the word that was there.
DEVICE u64 claim(u64 *word, u64 to) {
    u64 found;
    asm volatile("atom.relaxed.gpu.cas.b64 %0, [%1], %2, %3;" : "=l"(found) : "l"(word), "l"(empty), "l"(to) : "memory");
    return found;
}

// insert puts a row into the table and returns its slot. again is set if the key is in the
// table already.
DEVICE u64 insert(const Table &table, u64 word, u64 row, bool &again) {
    if (word == empty) {
        again = claim(&table.slots[table.size].value, row) != empty;
        return table.size;
    }
    u64 slot = home(table, word);
    while (true) {
        u64 there = look(&table.slots[slot].key);
        if (there == empty) {
            there = claim(&table.slots[slot].key, word);
            if (there == empty) {
                table.slots[slot].value = row;
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

// value_of returns the value of a word, or empty.
DEVICE u64 value_of(const Table &table, u64 word) {
    if (word == empty)
        return table.slots[table.size].value;
    u64 slot = home(table, word);
    while (true) {
        const Slot there = load_whole(&table.slots[slot]);
        if (there.key == word)
            return there.value;
        if (there.key == empty)
            return empty;
        slot = after(table, slot);
    }
}
