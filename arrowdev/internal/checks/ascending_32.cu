#include "ascending.cuh"

// check_ascending_32 takes values of 4 bytes, and of 2. Of those there are too few
// for speed to matter: no more than 32,767 can be right.
KERNEL check_ascending_32(const u8 *__restrict__ values, u64 n, u64 width, u64 apart, u64 limit, Result *result) {
    ascending<u32>(values, n, width, apart, limit, result);
}
