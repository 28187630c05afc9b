#include "operators.cuh"

template <typename T> struct Xor {
    METHOD T none() const { return 0; }
    METHOD T fold(T a, T b) const { return a ^ b; }
};

typedef Wrapping<u8, u32, Xor> Xor8;
typedef Wrapping<u16, u32, Xor> Xor16;
typedef Wrapping<u32, u32, Xor> Xor32;
typedef Wrapping<u64, u64, Xor> Xor64;
CUMULATIVE(xor_8, false, 2, Xor8)
CUMULATIVE(xor_16, false, 4, Xor16)
CUMULATIVE(xor_32, false, 8, Xor32)
CUMULATIVE(xor_64, true, 8, Xor64)
