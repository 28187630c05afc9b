#pragma once
#include "math.cuh"

// gpuframe_log returns the natural logarithm, to less than an ulp: the method and
// the coefficients are those of FreeBSD's e_log.c (Sun Microsystems 1993). With
// f = m − 1 and s = f / (2 + f), log m = f − (f²/2 − s (f²/2 + R(s²))).
FUNCTION f64 gpuframe_log(f64 x) {
    if (!(x > 0))
        return x == 0 ? -infinity : not_a_number;
    if (x == infinity)
        return x;
    const Parts p = parts_of(x);
    const f64 f = p.m - 1, s = f / (2 + f), z = s * s;
    f64 r = 1.479819860511658591e-01;
    r = fma(r, z, 1.531383769920937332e-01);
    r = fma(r, z, 1.818357216161805012e-01);
    r = fma(r, z, 2.222219843214978396e-01);
    r = fma(r, z, 2.857142874366239149e-01);
    r = fma(r, z, 3.999999999940941908e-01);
    r = fma(r, z, 6.666666666666735130e-01);
    r *= z;
    const f64 half = 0.5 * f * f, k = p.k;
    return fma(k, ln2_high, -((half - fma(s, half + r, k * ln2_low)) - f));
}
