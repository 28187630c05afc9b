// A value of 16 bytes, beside the integers of 1 to 8 bytes.
#pragma once

#include "rows.cuh"

// Pair is a value of 16 bytes, which moves in one instruction.
typedef Vector<u64, 2> Pair;

template <typename T> DEVICE T filled(u64 filling) {
    if constexpr (sizeof(T) == sizeof(Pair))
        return {{filling, 0}};
    else
        return T(filling);
}

template <typename T> DEVICE T pick(bool first, T a, T b) { return first ? a : b; }
DEVICE Pair pick(bool first, Pair a, Pair b) {
    return {{first ? a.lane[0] : b.lane[0], first ? a.lane[1] : b.lane[1]}};
}
