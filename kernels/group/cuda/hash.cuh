// The hash of scattered keys: partitions by hashes and the sketch of the number of keys use it.
#pragma once

#include "gpuframe.cuh"

// mixed spreads the bits of a word over all of it. hashOf of sketch_internal_test.go is the same.
DEVICE u64 mixed(u64 x) {
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93;
    x = (x ^ x >> 29) * 0xd6e8feb86659fd93;
    return x ^ x >> 32;
}
