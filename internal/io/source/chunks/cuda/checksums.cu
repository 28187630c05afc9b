// Checksums of pages: the CRC-32 of IEEE 802.3 with the least significant bits first. A polynomial has the coefficient of the
// greatest power in the lowest bit of a word.
//
//   sum_checksums      a block for each part of a page: the remainder of its bytes, and of zeros in place of those behind it
//   compare_checksums  a warp for each page adds its parts
#include "page.cuh"

static constexpr u32 divisor = 0xedb88320, unit = 0x80000000;
static constexpr u32 sum_threads = 256, piece_bytes = 256, part_bytes = sum_threads * piece_bytes;

// Check is a page with a checksum.
struct Check {
    u64 bytes; // address of the page in the file, with levels
    u32 length, checksum;
    u32 page;  // its number
    u32 first; // number of its first part; the next ones follow
};

template <typename T> struct Xor {
    METHOD T fold(T a, T b) const { return a ^ b; }
};

constexpr u32 times_x(u32 a) { return a >> 1 ^ (a & 1 ? divisor : 0); }

constexpr u32 product(u32 a, u32 b) {
    u32 result = 0;
    for (u32 bit = unit; bit != 0; bit >>= 1) {
        result ^= a & bit ? b : 0;
        b = times_x(b);
    }
    return result;
}

// Powers are x to the power of 8, 16, 32, and so on: the factor of zeros behind 1, 2, 4 bytes.
struct Powers {
    u32 factors[32];
};
constexpr Powers powers_of_bytes() {
    Powers p = {};
    u32 x = unit;
    for (u32 i = 0; i < 8; i++)
        x = times_x(x);
    for (u32 i = 0; i < 32; i++) {
        p.factors[i] = x;
        x = product(x, x);
    }
    return p;
}
static constexpr Powers powers = powers_of_bytes();

DEVICE u32 multiply(u32 a, u32 b) {
    u32 result = 0;
#pragma unroll
    for (u32 i = 0; i < 32; i++) {
        result ^= b & 0u - (a >> (31 - i) & 1);
        b = b >> 1 ^ (divisor & 0u - (b & 1));
    }
    return result;
}

// behind returns the remainder of bytes with n zeros behind them, given that of the bytes.
DEVICE u32 behind(u32 remainder, u32 n) {
#pragma nounroll
    for (u32 i = 0; n != 0; i++, n >>= 1)
        if (n & 1)
            remainder = multiply(remainder, powers.factors[i]);
    return remainder;
}

// Tables are the remainders of a byte with 0 to 7 bytes of zeros behind it.
struct Tables {
    u32 remainders[8][256];

    // fill is called by all threads of the block.
    METHOD void fill() {
        const u32 thread = thread_in_block();
        u32 value = thread;
#pragma unroll
        for (u32 i = 0; i < 8; i++)
            value = value >> 1 ^ (divisor & 0u - (value & 1));
        remainders[0][thread] = value;
        synchronize_block();
#pragma unroll
        for (u32 k = 1; k < 8; k++) {
            value = value >> 8 ^ remainders[0][value & 255];
            remainders[k][thread] = value;
        }
        synchronize_block();
    }

    METHOD u32 add(u32 remainder, u64 eight) const {
        const u32 low = (u32)eight ^ remainder, high = (u32)(eight >> 32);
        return remainders[7][low & 255] ^ remainders[6][low >> 8 & 255] ^ remainders[5][low >> 16 & 255] ^ remainders[4][low >> 24] ^
            remainders[3][high & 255] ^ remainders[2][high >> 8 & 255] ^ remainders[1][high >> 16 & 255] ^ remainders[0][high >> 24];
    }

    // remainder returns that of n bytes.
    METHOD u32 remainder(u64 at, u32 n) const {
        u32 result = 0;
#pragma nounroll
        for (; n % 8 != 0; n--)
            result = result >> 8 ^ remainders[0][(result ^ load<u8>(at++)) & 255];
#pragma nounroll
        for (; n != 0; n -= 8, at += 8)
            result = add(result, load_bytes(at));
        return result;
    }
};

// sum_checksums takes the part as if it had zeros before it, which do not change the remainder, so that each thread has the
// piece_bytes bytes of its number.
KERNEL LAUNCH_BOUNDS(256) sum_checksums(const Page *, Outcome *, const Tile *parts, const Check *checks, u32 *sums) {
    __shared__ Tables tables;
    __shared__ u32 warps[sum_threads / warp_threads];
    const Tile part = parts[block_in_grid()];
    const Check check = checks[part.page];
    const u32 thread = thread_in_block(), n = minimum(part_bytes, check.length - part.first), zeros = part_bytes - n;
    tables.fill();
    const u32 begin = thread * piece_bytes, end = begin + piece_bytes;
    u32 own = 0;
    if (end > zeros) {
        const u32 from = begin < zeros ? zeros : begin;
        own = tables.remainder(check.bytes + part.first + (from - zeros), end - from);
    }
#pragma unroll
    for (u32 k = 0; k < 5; k++)
        own = multiply(own, powers.factors[8 + k]) ^ shuffle_value(own, (lane_in_warp() + (1u << k)) % warp_threads);
    if (lane_in_warp() == 0)
        warps[thread / warp_threads] = own;
    synchronize_block();
    if (thread != 0)
        return;
    own = 0;
#pragma unroll
    for (u32 w = 0; w < sum_threads / warp_threads; w++)
        own = multiply(own, powers.factors[13]) ^ warps[w];
    sums[block_in_grid()] = behind(own, check.length - part.first - n);
}

// compare_checksums is called behind all other kernels: the sum replaces the bytes of an outcome.
KERNEL LAUNCH_BOUNDS(32) compare_checksums(const Page *, Outcome *outcomes, const Check *checks, const u32 *sums) {
    const Check check = checks[block_in_grid()];
    const u32 parts = check.length / part_bytes + (check.length % part_bytes != 0);
    u32 sum = 0;
    for (u32 i = lane_in_warp(); i < parts; i += warp_threads)
        sum ^= sums[check.first + i];
    sum = warp_fold(sum, Xor<u32>());
    if (lane_in_warp() != 0)
        return;
    sum ^= behind(whole_warp, check.length) ^ whole_warp;
    if (sum == check.checksum)
        return;
    damage(outcomes + check.page, bad_checksum);
    outcomes[check.page].bytes = (u64)check.checksum << 32 | sum;
}
