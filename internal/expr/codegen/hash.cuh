#pragma once
#include "strings.cuh"

// hash_word is HashWord of package exprtree: the finaliser of SplitMix64.
DEVICE u64 hash_word(u64 h, u64 word) {
    u64 x = (h + 0x9e3779b97f4a7c15ull) ^ word;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

// gpuframe_hash_text adds the words of a string and its length to a hash.
FUNCTION u64 gpuframe_hash_text(u64 h, u64 address, u64 bytes, u64 begin, u64 end) {
    bytes = bounded(bytes, {begin, end});
#pragma nounroll
    for (u64 i = 0; i < bytes; i += 8)
        h = hash_word(h, text_word(address + i, bytes - i < 8 ? bytes - i : 8, {begin, end}));
    return hash_word(h, bytes);
}
