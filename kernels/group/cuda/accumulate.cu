// Adds the rows of a table to the states of their groups: accumulator.go describes the
// states.
//
// One kernel adds to all states of up to twelve accumulators. Which state a row changes,
// and how, is decided at run time: all threads decide alike, and the time is that of the
// memory.
//
// # Slots
//
// A block has slots for groups in shared memory, and adds them to the states in global
// memory at the end. If all groups fit, each has a slot, and several copies of it as far as
// there is room: lanes that add to one group then do not wait for each other. Otherwise a
// group gets the slot of its hash from the first row that finds it free. A group with many
// rows soon has a slot in each block; rows of groups without a slot go to global memory.
//
// # Stages
//
// Sums of floats, and searches of the first row of an extreme, take two launches. The
// first one (stage 0) finds the greatest exponent or the extreme of each group, which is
// word 0 of the state. The second one (stage 1) reads it from global memory.
#include "accumulate.cuh"

static constexpr u32 accumulate_threads = 256;

// Batch is the readers of a launch.
//go:layout batchLayout
struct Batch {
    u32 readers;
    // words is the length of a slot, slots the number of words of all slots.
    u32 words, room, stage;
    Reader reader[most_readers];
};

// slots_shared are the slots, and behind them the groups that have them.
extern __shared__ u64 slots_shared[];

// accumulate adds rows. rows is the number of rows or null; groups is the number of groups
// or null.
KERNEL LAUNCH_BOUNDS(accumulate_threads)
accumulate(const u32 *numbers, const Keys keys, const i64 *rows, i64 capacity, const i64 *groups, i64 most_groups, const Batch batch) {
    const u64 n = device_rows(rows, capacity), known = device_rows(groups, most_groups);
    const u32 thread = thread_in_block(), stage = batch.stage, words = batch.words;
    u32 needed = 0; // a bit for each reader
    for (u32 a = 0; a < batch.readers; a++)
        if (batch.reader[a].needed == nullptr || *batch.reader[a].needed != 0)
            needed |= 1u << a;
    if (needed == 0)
        return;
    // A slot with its group takes a word more.
    const bool all_fit = known * words <= batch.room;
    u32 slots = all_fit ? (u32)known : batch.room / (words + 1), copies = 1;
    while (all_fit && copies < 32 && 2 * copies * slots * words <= batch.room)
        copies *= 2;
    u32 *const owners = (u32 *)(slots_shared + slots * words);
    for (u32 i = thread; i < slots * words * copies; i += accumulate_threads)
        slots_shared[i] = 0;
    if (!all_fit)
        for (u32 i = thread; i < slots; i += accumulate_threads)
            owners[i] = no_group;
    synchronize_block();

    const u32 copy = thread & copies - 1;
    const u64 step = threads_per_grid(), begin = thread_in_grid();
    const auto group_of = [&](u64 row) { return row >= n ? no_group : keys.direct != 0 ? keys.group_of(row) : numbers[row]; };
    u32 next = group_of(begin);
#pragma unroll 1
    for (u64 row = begin; row < n; row += step) {
        const u32 number = next;
        next = group_of(row + step); // in flight during this row
        if (number >= known)
            continue;
        u32 slot = number;
        if (!all_fit) {
            slot = (u32)((u64)(number * 0x9e3779b1u) * slots >> 32);
            u32 owner = *(volatile u32 *)&owners[slot];
            if (owner == no_group) {
                owner = (u32)__nvvm_atom_cas_gen_i((int *)&owners[slot], (int)no_group, (int)number);
                owner = owner == no_group ? number : owner;
            }
            if (owner != number)
                slot = no_group;
        }
#pragma unroll 1
        for (u32 a = 0; a < batch.readers; a++) {
            const Reader &r = batch.reader[a];
            if ((needed >> a & 1) == 0 || !r.takes(row))
                continue;
            u64 *const global = r.states + (u64)number * r.stride;
            const u64 found = stage == 1 && r.kind >= first_greatest ? *global : 0;
            if (slot != no_group)
                add_row(State<true>{slots_shared + (slot * words + r.offset) * copies + copy, copies, r.words - sum_first_bin, found}, stage, r, row);
            else
                add_row(State<false>{global, 1, r.words - sum_first_bin, found}, stage, r, row);
        }
    }
    synchronize_block();

    // Each thread adds a copy of a slot.
    for (u32 i = thread; i < slots * copies; i += accumulate_threads) {
        const u32 of = i / copies, owner = all_fit ? of : owners[of];
        if (owner == no_group)
            continue;
#pragma unroll 1
        for (u32 a = 0; a < batch.readers; a++) {
            const Reader &r = batch.reader[a];
            if ((needed >> a & 1) == 0)
                continue;
            u64 *const global = r.states + (u64)owner * r.stride;
            const u64 found = stage == 1 && r.kind >= first_greatest ? *global : 0;
            merge(State<false>{global, 1, r.words - sum_first_bin, found}, stage, r.kind, slots_shared + (of * words + r.offset) * copies + i % copies, copies, true);
        }
    }
}
