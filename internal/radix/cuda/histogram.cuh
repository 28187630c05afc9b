// The digits of all keys, counted in one pass over them.
#pragma once

#include "plan.cuh"

static constexpr u32 histogram_threads = 256;

// count_digits adds the digits of the keys to the plan's counts, and records whether a
// key is less than the key before it, and whether the values can be restored from the keys.
template <typename Key> DEVICE void count_digits(const Call &call, u32 source) {
    constexpr u32 lanes = 16 / sizeof(Key);
    typedef Vector<Key, lanes> Group;
    __shared__ u32 counts[most_digits][digit_values];
    const u32 thread = thread_in_block(), digits = call.field.digits();
    for (u32 i = thread; i < digits * digit_values; i += histogram_threads)
        counts[0][i] = 0;
    synchronize_block();

    const Key *const keys = call.key<Key>(source);
    const u64 n = call.count();
    const bool vectors = aligned(keys, 16);
    bool unsorted = false, lossy = false;
    for (u64 begin = thread_in_grid() * lanes; begin < n; begin += threads_per_grid() * lanes) {
        Key key[lanes + 1];
        if (vectors && begin + lanes < n) {
            const Group group = load_whole((const Group *)(keys + begin));
#pragma unroll
            for (u32 i = 0; i < lanes; i++)
                key[i] = group.lane[i];
            key[lanes] = keys[begin + lanes];
        } else
#pragma unroll
            for (u32 i = 0; i <= lanes; i++)
                key[i] = keys[begin + i < n ? begin + i : n - 1];
#pragma unroll
        for (u32 i = 0; i <= lanes; i++) {
            lossy |= call.encoding.loses(key[i]);
            key[i] = call.field.of(call.encoding.encode(key[i]));
        }
#pragma unroll
        for (u32 i = 0; i < lanes; i++) {
            unsorted |= key[i + 1] < key[i];
            // Places of digits are constants: a loop with a limit that is not takes twice as long.
            if (begin + i < n)
#pragma unroll
                for (u32 digit = 0; digit < sizeof(Key); digit++)
                    if (digit < digits)
                        __nvvm_atom_add_gen_i((int *)&counts[digit][(u32)(key[i] >> digit * digit_bits) & digit_values - 1], 1);
        }
    }
    if (unsorted)
        *(volatile u32 *)&call.plan->unsorted = 1;
    if (lossy)
        *(volatile u32 *)&call.plan->lossy = 1;
    synchronize_block();
    for (u32 i = thread; i < digits * digit_values; i += histogram_threads)
        if (counts[0][i] != 0)
            __nvvm_atom_add_gen_i((int *)&call.plan->counts[0][i], counts[0][i]);
}
