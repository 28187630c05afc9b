#include "fill.cuh"

// fill_1 fills booleans, which are bits. The bits after the last row in the last word
// become 0.
KERNEL LAUNCH_BOUNDS(fill_threads)
fill_1(u32 *out, u32 *out_valid, const u8 *values, const u8 *valid, u64 bit, const i64 *row_count, i64 capacity, void *state,
       u32 backward) {
    const u64 rows = device_rows(row_count, capacity);
    fill_tiles(out_valid, valid, bit, rows, state, backward != 0, [&](const Tile &tile) {
        const u32 first = 32 * tile.word;
        if (first >= tile.rows)
            return;
        // Valid rows set their bit in made; null rows, with a bit set in handed, take
        // it from a neighbour. A word takes five steps, like a carry-lookahead adder.
        u32 made = tile.bits & load_bits<32>(values, bit + tile.begin + first, bit + rows), handed = ~tile.bits;
#pragma unroll
        for (u32 delta = 1; delta < 32; delta *= 2) {
            made |= handed & (backward ? made >> delta : made << delta);
            handed &= backward ? handed >> delta | ~(~0u >> delta) : handed << delta | low_bits(delta);
        }
        if (tile.source != 0) {
            const u64 at = bit + tile.source - 1;
            if ((values[at >> 3] >> (at & 7) & 1) != 0)
                made |= handed;
        }
        const u32 left = tile.rows - first;
        out[(tile.begin + first) / 32] = made & low_bits(left < 32 ? left : 32);
    });
}

// The templates for values of 8 to 256 bits. Their holes are:
//
//     bytes = the size of a value
//     load  = (address) the words of a value, the lowest first
//     store address i words: writes value number i from the address on; i is a constant
//
// Words have 64 bits. Addresses are global ones.
template <u32 words> struct Value;

template <> struct Value<1> {
    u64 word;

    METHOD void load(u64 address) { asm("//@load %0 = %1" : "=&l"(word) : "l"(address)); }
    METHOD void store(u64 address, u32 i) const { asm volatile("//@store %0 %1 %2" ::"l"(address), "n"(i), "l"(word)); }
};

template <> struct Value<4> {
    u64 word[4];

    METHOD void load(u64 address) {
        asm("//@load %0 %1 %2 %3 = %4" : "=&l"(word[0]), "=&l"(word[1]), "=&l"(word[2]), "=&l"(word[3]) : "l"(address));
    }
    METHOD void store(u64 address, u32 i) const {
        asm volatile("//@store %0 %1 %2 %3 %4 %5" ::"l"(address), "n"(i), "l"(word[0]), "l"(word[1]), "l"(word[2]), "l"(word[3]));
    }
};

// fill_values has each thread load some values before it stores them.
template <u32 value_words, u32 together>
DEVICE void fill_values(u64 to, u32 *out_valid, u64 from, const u8 *valid, u64 bit, u64 rows, void *state, bool backward) {
    __shared__ u32 words[fill_threads];
    __shared__ u64 sources[fill_threads];
    u64 bytes;
    asm("//@bytes %0 =" : "=&l"(bytes));
    fill_tiles(out_valid, valid, bit, rows, state, backward, [&](const Tile &tile) {
        synchronize_block(); // all threads have read the shared memory of the previous tile
        words[tile.word] = tile.bits;
        sources[tile.word] = tile.source;
        synchronize_block();
        for (u32 base = thread_in_block(); base < tile.rows; base += together * fill_threads) {
            Value<value_words> value[together];
            const u64 out = to + (tile.begin + base) * bytes;
#pragma unroll
            for (u32 i = 0; i < together; i++) {
                const u32 row = base + i * fill_threads;
                value[i] = Value<value_words>();
                if (row >= tile.rows)
                    continue;
                // The position of the value's row, or 0 if no row has one.
                const u32 word = row / 32, at = row % 32, bits = words[word];
                const u32 ahead = backward ? bits >> at : bits & low_bits(at + 1);
                u64 source = tile.begin + (backward ? row + lowest_bit(ahead) : 32 * word + highest_bit(ahead)) + 1;
                if (ahead == 0)
                    source = sources[word];
                if (source != 0)
                    value[i].load(from + (source - 1) * bytes);
            }
#pragma unroll
            for (u32 i = 0; i < together; i++) {
                const u32 row = base + i * fill_threads;
                if (row < tile.rows)
                    value[i].store(out, i * fill_threads);
            }
        }
    });
}

#define FILL(name, words, together)                                                                                   \
    KERNEL LAUNCH_BOUNDS(fill_threads)                                                                                \
    name(void *out, u32 *out_valid, const void *values, const u8 *valid, u64 bit, const i64 *rows, i64 capacity,      \
         void *state, u32 backward) {                                                                                 \
        fill_values<words, together>(global_address(out), out_valid, global_address(values), valid, bit,              \
                                     device_rows(rows, capacity), state, backward != 0);                              \
    }

// More rows at a time would take more registers than four blocks on a multiprocessor have.
FILL(fill_word, 1, 8)
FILL(fill_words, 4, 4)
