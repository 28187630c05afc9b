// The strings that kernels of this package read. Each row has one or more parts, and the
// place of a part names a source: the data of a column, or a literal among the arguments.
#pragma once
#include "../../../expr/codegen/strings.cuh"

// Text is an argument of 8-byte words: for each part the addresses of its places and
// lengths, then for each source the bounds of its memory, then the literals. The end of a
// literal is 0 and its begin the number of its first word.
struct Text {
    u64 word[384];
};

// Layout describes a Text in memory.
//go:layout partsLayout
struct Layout {
    u32 parts, sources; // the number of parts, and of the first word of the sources
};

static constexpr u64 place_bits = (1ull << 56) - 1;

DEVICE u64 place_in(const Text &text, u32 part, u64 row) { return ((const u64 *)text.word[2 * part])[row]; }

// length_of returns the bytes of a part of a row: no more than its source has.
DEVICE u64 length_of(const Text &text, const Layout &layout, u32 part, u64 row) {
    const u64 place = place_in(text, part, row), offset = place & place_bits;
    const u64 length = ((const u64 *)text.word[2 * part + 1])[row];
    const u32 source = layout.sources + 2 * (u32)(place >> 56);
    const u64 begin = text.word[source], end = text.word[source + 1];
    if (end == 0)
        return length;
    const u64 left = offset < end - begin ? end - begin - offset : 0;
    return length < left ? length : left;
}

// global_word is text_word as one function, because the kernels have many calls.
static __device__ __attribute__((noinline)) u64 global_word(u64 address, u64 count, u64 begin, u64 end) {
    return text_word(address, count, {begin, end});
}

// bytes_at returns up to eight bytes of a part, from one of its bytes on; the others of the
// word are zero.
DEVICE u64 bytes_at(const Text &text, const Layout &layout, u64 place, u64 from, u64 count) {
    const u32 source = layout.sources + 2 * (u32)(place >> 56);
    const u64 begin = text.word[source], end = text.word[source + 1], offset = (place & place_bits) + from;
    if (end != 0)
        return global_word(begin + offset, count, begin, end);
    const u32 word = (u32)(begin + offset / 8), shift = (u32)(offset & 7) * 8;
    u64 bytes = text.word[word] >> shift;
    if (shift && count * 8 > 64 - shift)
        bytes |= text.word[word + 1] << (64 - shift);
    return count < 8 ? bytes & ((1ull << count * 8) - 1) : bytes;
}
