// Random numbers by Philox4x32-10: see philox.go.
#include "gpuframe.cuh"

// Form selects the values of a column.
//go:layout form
enum Form : u32 { integers, floats, below, numbers };

DEVICE u64 word_of(u64 seed, u64 n) {
    u32 c0 = (u32)n, c1 = (u32)(n >> 32), c2 = 0, c3 = 0, k0 = (u32)seed, k1 = (u32)(seed >> 32);
#pragma unroll
    for (u32 round = 0; round < 10; round++) {
        const u64 a = (u64)0xD2511F53 * c0, b = (u64)0xCD9E8D57 * c2;
        c0 = (u32)(b >> 32) ^ c1 ^ k0, c1 = (u32)b;
        c2 = (u32)(a >> 32) ^ c3 ^ k1, c3 = (u32)a;
        k0 += 0x9E3779B9, k1 += 0xBB67AE85;
    }
    return (u64)c1 << 32 | c0;
}

// random_words writes values first, first + 1, … of a seed.
KERNEL random_words(u64 *out, u64 n, u32 form, u64 seed, u64 first, u64 bound) {
    const u64 step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < n; i += step) {
        u64 value = first + i;
        if (form != numbers)
            value = word_of(seed, value);
        if (form == floats)
            value = __builtin_bit_cast(u64, __nvvm_mul_rn_d((f64)(value >> 11), 1.0 / 9007199254740992.0));
        else if (form == below)
            value = (u64)((unsigned __int128)value * bound >> 64);
        out[i] = value;
    }
}
