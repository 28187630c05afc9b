#include "ascending.cuh"

// check_ascending_64 takes values of 8 bytes.
KERNEL check_ascending_64(const u8 *__restrict__ values, u64 n, u64 apart, u64 limit, Result *result) {
    ascending<u64>(values, n, 8, apart, limit, result);
}
