// A kernel with holes, for the tests of Splice.
#include "gpuframe.cuh"

struct Arguments {
    u64 words[1];
};

// keep writes 1 for rows where the predicate that is spliced in holds, and 0
// elsewhere: to one four rows at a time, to other one by one.
KERNEL keep(u32 *four, u32 *one, u64 n, Arguments) {
    for (u64 first = thread_in_grid() * 4; first < n; first += threads_per_grid() * 4) {
        if (first + 4 <= n) {
            u32 a, b, c, d;
            asm volatile("//@predicate %0 %1 %2 %3 %4 %5" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(first), "n"(1));
            four[first] = a, four[first + 1] = b, four[first + 2] = c, four[first + 3] = d;
        }
        for (u64 row = first; row < n && row < first + 4; row++) {
            u32 kept;
            asm volatile("//@predicate %0 %1" : "=r"(kept) : "l"(row));
            one[row] = kept;
            if (first + 4 > n)
                four[row] = kept;
        }
    }
}
