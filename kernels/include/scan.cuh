// Folding and scanning in a warp, in a fixed order.
//
// A fold is a type with
//
//     T none() const            the identity
//     T fold(T a, T b) const    a comes before b; associative, need not be commutative
//
// Rounding makes float sums not quite associative. Every function here therefore
// documents the order in which it folds, and the order depends only on positions: the
// same input gives the same bits in every run and on every device, and the host can
// reproduce them.
#pragma once

#include "gpuframe.cuh"

// METHOD declares a member function that is inlined into the kernels.
#define METHOD inline __device__ __attribute__((always_inline))

// Sums of integers wrap, which requires unsigned types.
template <typename T> struct Sum {
    static_assert((T)-1 > (T)0, "signed sums may not wrap");
    METHOD T none() const { return 0; }
    METHOD T fold(T a, T b) const { return a + b; }
};

// The compiler must not contract the addition with a multiplication. The identity is −0:
// 0 would turn −0 into 0.
template <> struct Sum<f64> {
    METHOD f64 none() const { return -0.0; }
    METHOD f64 fold(f64 a, f64 b) const { return __nvvm_add_rn_d(a, b); }
};

template <typename T> struct Most {
    METHOD T none() const { return 0; }
    METHOD T fold(T a, T b) const { return b > a ? b : a; }
};

// Words is a value as the 32-bit words that shuffles move.
template <typename T> struct Words {
    static constexpr int count = (sizeof(T) + 3) / 4;
    u32 word[count];

    METHOD static Words of(const T &value) {
        Words w;
        w.word[count - 1] = 0;
        __builtin_memcpy(w.word, &value, sizeof(T));
        return w;
    }
    METHOD T value() const {
        T v;
        __builtin_memcpy(&v, word, sizeof(T));
        return v;
    }
};

// shuffle_value returns the value of one lane, shuffle_value_up that of the lane with
// the number lower by delta and shuffle_value_down that of the lane with the number
// higher by delta. If that lane does not exist, they return the calling lane's value.
// All 32 lanes take part.
template <typename T> DEVICE T shuffle_value(const T &value, u32 lane) {
    Words<T> w = Words<T>::of(value);
#pragma unroll
    for (int i = 0; i < Words<T>::count; i++)
        w.word[i] = __nvvm_shfl_sync_idx_i32(whole_warp, w.word[i], lane, warp_threads - 1);
    return w.value();
}

template <typename T> DEVICE T shuffle_value_up(const T &value, u32 delta) {
    Words<T> w = Words<T>::of(value);
#pragma unroll
    for (int i = 0; i < Words<T>::count; i++)
        w.word[i] = __nvvm_shfl_sync_up_i32(whole_warp, w.word[i], delta, 0);
    return w.value();
}

template <typename T> DEVICE T shuffle_value_down(const T &value, u32 delta) {
    Words<T> w = Words<T>::of(value);
#pragma unroll
    for (int i = 0; i < Words<T>::count; i++)
        w.word[i] = shuffle_down(w.word[i], delta);
    return w.value();
}

// synchronize_warp waits for the lanes of the warp, and makes their writes visible to
// each other.
DEVICE void synchronize_warp() { __nvvm_bar_warp_sync(whole_warp); }

// warp_fold folds the values of all 32 lanes and returns the result to each lane. The
// order: neighbours, then neighbouring pairs, fours, eights, sixteens.
template <typename T, typename Fold> DEVICE T warp_fold(T value, Fold f) {
#pragma unroll
    for (u32 delta = 1; delta < warp_threads; delta *= 2)
        value = f.fold(value, shuffle_value_down(value, delta));
    return shuffle_value(value, 0);
}

// warp_scan returns the fold of the lanes up to and including the calling one. The
// order: lane i adds the value of lane i − 1, then of lane i − 2, i − 4, i − 8, i − 16
// (Hillis and Steele 1986).
template <typename T, typename Fold> DEVICE T warp_scan(T value, Fold f) {
    const u32 lane = lane_in_warp();
#pragma unroll
    for (u32 delta = 1; delta < warp_threads; delta *= 2) {
        const T before = shuffle_value_up(value, delta);
        if (lane >= delta)
            value = f.fold(before, value);
    }
    return value;
}

// before_lane turns the result of warp_scan into the fold of the lanes before the
// calling one.
template <typename T, typename Fold> DEVICE T before_lane(const T &scanned, Fold f) {
    const T before = shuffle_value_up(scanned, 1);
    return lane_in_warp() == 0 ? f.none() : before;
}

// block_fold_before returns the fold of the values of the warps before the calling one,
// in sequence from the first, and in total that of all warps. Each warp passes one
// value, the same in all its lanes. shared holds one value for each warp. The function
// synchronizes the block twice, so shared may be reused immediately.
template <u32 warps, typename T, typename Fold> DEVICE T block_fold_before(T value, T *shared, T &total, Fold f) {
    const u32 warp = thread_in_block() / warp_threads;
    if (lane_in_warp() == 0)
        shared[warp] = value;
    synchronize_block();
    T before = f.none(), all = f.none();
#pragma unroll
    for (u32 i = 0; i < warps; i++) {
        if (i == warp)
            before = all;
        all = f.fold(all, shared[i]);
    }
    synchronize_block();
    total = all;
    return before;
}
