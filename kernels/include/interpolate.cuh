// Values between two others, as internal/op/aggregate.Interpolate has them.
#pragma once

#include "gpuframe.cuh"

// interpolate returns x + (y − x) · part for a part from 0 to 1, without contraction. Half of each
// is computed with if the difference of two finite values is infinite.
DEVICE f64 interpolate(f64 x, f64 y, f64 part) {
    if (x == y)
        return x;
    const f64 difference = __nvvm_add_rn_d(y, -x), most = 1.7976931348623157e308;
    if (__builtin_fabs(difference) > most && __builtin_fabs(x) <= most && __builtin_fabs(y) <= most) {
        const f64 half = __nvvm_add_rn_d(__nvvm_mul_rn_d(y, 0.5), -__nvvm_mul_rn_d(x, 0.5));
        return __nvvm_mul_rn_d(__nvvm_add_rn_d(__nvvm_mul_rn_d(x, 0.5), __nvvm_mul_rn_d(half, part)), 2);
    }
    return __nvvm_add_rn_d(x, __nvvm_mul_rn_d(difference, part));
}
