#include "top.cuh"

TOP(8, u8)
TOP(16, u16)
TOP(32, u32)
TOP(64, u64)
