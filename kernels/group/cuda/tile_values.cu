// Adds the values of expressions to the slots of few groups, as tiles.cu does, without columns of
// the values: values.go selects what is added so.
//
// The kernel is a template. value_kernel.go replaces the marked line by code that loads the columns of
// some rows before it uses one, finds their groups, computes the expressions, and adds the values to the
// words of the slots.
#include "tiles_add.cuh"

// Arguments holds the arguments of the expressions and of the keys, one word for each.
struct Arguments {
    u64 word[1];
};

// add_outside_value adds a value that does not fit the window of a sum. The code of the hole calls it.
extern "C" __device__ __attribute__((noinline, used)) void add_outside_value(const TileBatch *batch, u64 reader, u64 slot, f64 x) {
    const TileReader &r = batch->reader[reader];
    const u64 group = batch->first_group + slot;
    add_outside(r.window, r.states + group * r.stride, r.list, r.room, (u32)group, x);
}

static constexpr u32 value_samples = 2048; // as many as choose_windows takes

// sample_values writes the values of expressions in a sample of the rows, for choose_windows.
KERNEL LAUNCH_BOUNDS(256) sample_values(const i64 *rows, i64 capacity, Arguments) {
    const u64 n = device_rows(rows, capacity), samples = n < value_samples ? n : value_samples, sample = thread_in_grid();
    if (sample >= samples)
        return;
    const u64 row = sample * n / samples;
    asm volatile("//@samples %0 %1" ::"l"(row), "l"(sample) : "memory");
}

// add_values adds rows. tile is the number of rows of a thread that the hole takes: row first, and
// each tile_threads-th row after it, as far as the own rows from first on include them.
KERNEL LAUNCH_BOUNDS(tile_threads)
add_values(const i64 *rows, i64 capacity, const i64 *groups, i64 most_groups, u32 tile, const TileBatch arguments, Arguments) {
    __shared__ TileBatch batch;
    __shared__ Window windows[most_readers];
    const u32 thread = thread_in_block();
    const TileBlock block = begin_block(rows, capacity, groups, most_groups, arguments, batch, windows);
    const u32 copy = 4 * (thread & arguments.copies - 1), shift = arguments.copy_bits + 2, apart = 4 * arguments.entries;
    const u32 trash = 4 * (arguments.entries - warp_threads + thread % warp_threads), first_group = batch.first_group;
    const u64 rows_of_block = (u64)tile * tile_threads, step = block.parts * rows_of_block;
#pragma unroll 1
    for (u64 first = block.part * rows_of_block + thread; first < block.rows; first += step) {
        const u64 left = block.rows - first;
        const u32 own = left < rows_of_block ? (u32)left : (u32)rows_of_block;
        asm volatile("//@values %0 %1 %2 %3 %4 %5 %6 %7 %8 %9 %10 %11 %12" ::"l"(first), "r"(own), "r"(first_group), "r"(block.known), "r"(shift), "r"(copy), "r"(trash),
                     "r"(block.sums), "r"(block.extremes), "r"(apart), "l"((u64)&batch), "r"(shared_address(windows)), "r"(batch.span)
                     : "memory");
    }
    synchronize_block();
    end_block(block, batch);
}
