// A kernel that blocks the work behind it on a stream.
#include "gpuframe.cuh"

DEVICE u64 nanoseconds_now() {
    u64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

// stall ends when the gate, a word in host memory, is not zero, or after the given
// time, so that it also ends when the host process has died. One thread runs it.
KERNEL stall(const volatile u32 *gate, u64 nanoseconds) {
    const u64 begin = nanoseconds_now();
    while (*gate == 0 && nanoseconds_now() - begin < nanoseconds) {
    }
}
