// Sums and means of decimals: kernels/window/decimals.go. A decimal is four words of 32 bits, of which the
// kernels of frames add up each as an integer.

#include "bitrow.cuh"
#include "decimals.cuh"
#include "scan.cuh"

static constexpr u32 decimal_threads = 256;
// decimal_words is the number of words of 32 bits of a decimal, the last of which has the sign.
//go:layout
static constexpr u32 decimal_words = 4;

// decimals_word writes one of the words of each decimal, the lowest is word 0.
KERNEL LAUNCH_BOUNDS(decimal_threads) decimals_word(const u32 *values, u32 word, u32 *to, const i64 *counted, i64 capacity) {
    const u64 n = device_rows(counted, capacity);
    for (u64 i = thread_in_grid(); i < n; i += threads_per_grid())
        to[i] = values[decimal_words * i + word];
}

// WordSums are the sums of the words of decimals.
//go:layout wordSumsLayout
struct WordSums {
    const u64 *sum[decimal_words];

    METHOD Wide total(u64 row) const {
        Wide total = wide(sum[0][row], 0, 0);
#pragma unroll
        for (u32 i = 1; i < decimal_words; i++) {
            const u64 word = sum[i][row], sign = i + 1 < decimal_words ? 0 : (u64)((i64)word >> 63);
            total = sum_of(total, left(wide(word, sign, sign), 32 * i));
        }
        return total;
    }
};

// decimals_join writes sums of decimals or, with counts of the values, means: the sum times a factor,
// divided by the count. Those of more than 38 digits become null. Threads have consecutive rows.
KERNEL LAUNCH_BOUNDS(decimal_threads)
decimals_join(WordSums sums, const u64 *counts, u32 factor, u64 *values, u32 *valid, const i64 *counted, i64 capacity) {
    const u64 n = device_rows(counted, capacity), padded = (n + warp_threads - 1) / warp_threads * warp_threads;
    for (u64 i = thread_in_grid(); i < padded; i += threads_per_grid()) {
        bool ok = i < n && (valid[i / warp_threads] >> i % warp_threads & 1) != 0;
        if (ok) {
            Wide result = sums.total(i);
            if (counts != nullptr)
                result = mean_decimal<u32>(result, (u32)counts[i], factor);
            ok = fits_decimal(result);
            values[2 * i] = ok ? result.word[0] : 0;
            values[2 * i + 1] = ok ? result.word[1] : 0;
        } else if (i < n)
            values[2 * i] = values[2 * i + 1] = 0;
        const u32 bits = ballot(ok);
        if (lane_in_warp() == 0)
            valid[i / warp_threads] = bits;
    }
}
