// The values of delimited text.
#include "fields.cuh"
#include "values.cuh"

// parse_rows writes the values of rows and the lengths of their texts: a block for each tile.
KERNEL LAUNCH_BOUNDS(256) parse_rows(const Column *columns, Result *results, u32 count, Outcome *outcome, const u32 *ends, Text text, Nulls nulls, Powers powers) {
    __shared__ Piece shared[most_staged / sizeof(Piece)];
    if ((outcome->faults & ~bad_value) != 0)
        return;
    const Rows rows = stage<tile_rows, row_threads>(shared, text, ends);
    parse_tile<tile_rows, row_threads>(columns, results, count, outcome, rows, Fields{rows, nulls}, powers);
}
