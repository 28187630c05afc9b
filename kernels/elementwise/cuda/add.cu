#include "gpuframe.cuh"

// add writes a + b. The output may be one of the inputs, so no pointer is declared
// restrict: the same thread reads and writes each element, and reads it before it
// writes it.
template <typename T> DEVICE void add(T *out, const T *a, const T *b, u64 n) {
    constexpr int lanes = 16 / sizeof(T);
    typedef Vector<T, lanes> Group;

    const u64 first = thread_in_grid(), step = threads_per_grid();
    u64 done = 0;
    if (aligned(out, 16) && aligned(a, 16) && aligned(b, 16)) {
        const u64 groups = n / lanes;
        for (u64 i = first; i < groups; i += step) {
            const Group x = ((const Group *)a)[i], y = ((const Group *)b)[i];
            Group sum;
#pragma unroll
            for (int lane = 0; lane < lanes; lane++)
                sum.lane[lane] = x.lane[lane] + y.lane[lane];
            ((Group *)out)[i] = sum;
        }
        done = groups * lanes;
    }
    for (u64 i = done + first; i < n; i += step)
        out[i] = a[i] + b[i];
}

KERNEL add_f32(f32 *out, const f32 *a, const f32 *b, u64 n) { add(out, a, b, n); }
KERNEL add_f64(f64 *out, const f64 *a, const f64 *b, u64 n) { add(out, a, b, n); }

// Unsigned addition wraps; signed overflow would be undefined.
KERNEL add_i64(u64 *out, const u64 *a, const u64 *b, u64 n) { add(out, a, b, n); }
