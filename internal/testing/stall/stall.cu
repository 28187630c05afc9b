// A kernel that keeps the work behind it on a stream from running.
#include "gpuframe.cuh"

DEVICE u64 nanoseconds_now() {
    u64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

// stall ends when the gate, which is in memory of the host, is not zero. So that a
// host which went away does not leave it running it ends after the given time too.
// One thread runs it.
KERNEL stall(const volatile u32 *gate, u64 nanoseconds) {
    const u64 begin = nanoseconds_now();
    while (*gate == 0 && nanoseconds_now() - begin < nanoseconds) {
    }
}
