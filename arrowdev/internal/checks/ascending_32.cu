#include "ascending.cuh"

// check_ascending_32 checks values of 4 bytes, and of 2. Values of 2 bytes need no
// speed: at most 32,767 of them can be valid.
KERNEL check_ascending_32(const u8 *__restrict__ values, u64 n, u64 width, u64 apart, u64 limit, Result *result) {
    ascending<u32>(values, n, width, apart, limit, result);
}
