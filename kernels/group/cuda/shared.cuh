// Words of shared memory that the threads of a block add to, and integers of several of them.
#pragma once

#include "gpuframe.cuh"

DEVICE u32 shared_address(const void *p) { return (u32)(u64)(__attribute__((address_space(3))) const void *)p; }

DEVICE u32 fetch_add(u32 address, u32 x) {
    u32 old;
    asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(old) : "r"(address), "r"(x) : "memory");
    return old;
}

DEVICE void fetch_or(u32 address, u32 x) {
    u32 old;
    asm volatile("atom.shared.or.b32 %0, [%1], %2;" : "=r"(old) : "r"(address), "r"(x) : "memory");
}

DEVICE void raise_shared(u32 address, u64 x) {
    u64 old;
    asm volatile("atom.shared.max.u64 %0, [%1], %2;" : "=l"(old) : "r"(address), "l"(x) : "memory");
}

DEVICE u64 load_shared_64(u32 address) {
    u64 x;
    asm volatile("ld.volatile.shared.u64 %0, [%1];" : "=l"(x) : "r"(address) : "memory");
    return x;
}

DEVICE u32 load_volatile(u32 address) {
    u32 x;
    asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(x) : "r"(address) : "memory");
    return x;
}

DEVICE u32 load_shared(u32 address) {
    u32 x;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(x) : "r"(address) : "memory");
    return x;
}

DEVICE void store_shared(u32 address, u32 x) { asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(x) : "memory"); }

DEVICE void raise_shared_32(u32 address, u32 x) {
    u32 old;
    asm volatile("atom.shared.max.u32 %0, [%1], %2;" : "=r"(old) : "r"(address), "r"(x) : "memory");
}

// fetch_add adds to 32 bits, which the hardware does in one step. It adds 64 bits there by a loop that
// tries again as long as other lanes change the word.
DEVICE u32 fetch_add(u32 *word, u32 x) {
    u32 old;
    asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(old) : "l"((__attribute__((address_space(3))) u32 *)word), "r"(x) : "memory");
    return old;
}

// add_with_carry adds an integer of several words, the low one first. add(i, x) adds to word i and returns its value
// before. Carries are rare, and most of the words are zero or become zero by them.
template <typename Word, u32 words, typename Add> DEVICE void add_with_carry(const Word (&x)[words], const Add &add) {
    Word carry = 0;
#pragma unroll
    for (u32 i = 0; i < words; i++) {
        const Word term = x[i] + carry;
        carry = term < carry;
        if (term != 0)
            carry |= add(i, term) + term < term;
    }
}
