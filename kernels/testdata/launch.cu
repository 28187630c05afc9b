// Kernels for the tests of launching.
#include "gpuframe.cuh"

// empty takes nothing and does nothing: what is left is the cost of a launch.
KERNEL empty() {}

// empty_8 does as little with as many arguments as kernels usually have.
KERNEL empty_8(const f64 *, const f64 *, const f64 *, f64 *, u64, u64, f64, u32) {}

struct Pair {
    u64 low, high;
};

// echo stores each of its arguments, which have every width there is, 16 bytes
// apart.
KERNEL echo(u8 *out, u8 a, i16 b, u32 c, f64 d, Pair e, bool f, f32 g) {
    if (thread_in_grid() != 0)
        return;
    *(u8 *)(out + 0) = a;
    *(i16 *)(out + 16) = b;
    *(u32 *)(out + 32) = c;
    *(f64 *)(out + 48) = d;
    *(u64 *)(out + 64) = e.low;
    *(u64 *)(out + 72) = e.high;
    *(u8 *)(out + 80) = f;
    *(f32 *)(out + 96) = g;
}

// increment adds one to each value.
KERNEL increment(u32 *values, u64 n) {
    for (u64 i = thread_in_grid(); i < n; i += threads_per_grid())
        values[i]++;
}

// add_scalar adds a number to each value. The stand-in for the driver knows it, too.
KERNEL add_scalar(u32 *values, u32 n, u32 scalar) {
    u64 i = thread_in_grid();
    if (i < n)
        values[i] += scalar;
}

// Fields are what kernels.Struct makes, with gaps.
struct Inner {
    u16 first;
    u8 second;
};
struct Fields {
    u8 flag;
    const u32 *input;
    u16 half;
    Inner inner;
    u32 *output;
    f32 factor;
    u8 bytes[3];
    u64 words[2];
};

// fields writes each field of a struct to its output.
KERNEL fields(Fields f) {
    if (thread_in_grid() != 0)
        return;
    f.output[0] = f.flag;
    f.output[1] = f.input[1];
    f.output[2] = f.half;
    f.output[3] = f.inner.first;
    f.output[4] = f.inner.second;
    f.output[5] = (u32)(f.factor * 2);
    f.output[6] = f.bytes[0] + 256u * f.bytes[2];
    f.output[7] = (u32)(f.words[0] >> 32);
    f.output[8] = (u32)f.words[1];
}

// set stores a value if there is where to.
KERNEL set(u32 *out, u32 value) {
    if (out && thread_in_grid() == 0)
        *out = value;
}

// reverse turns n values of one block around by way of dynamic shared memory.
extern __shared__ u32 reversed[];

KERNEL reverse(u32 *values, u32 n) {
    for (u32 i = thread_in_block(); i < n; i += threads_per_block())
        reversed[n - 1 - i] = values[i];
    synchronize_block();
    for (u32 i = thread_in_block(); i < n; i += threads_per_block())
        values[i] = reversed[i];
}

// narrow may be launched with 64 threads a block at most.
LAUNCH_BOUNDS(64) KERNEL narrow(u32 *out) {
    if (thread_in_grid() == 0)
        *out = threads_per_block();
}
