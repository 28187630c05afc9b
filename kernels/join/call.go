package join

import (
	"embed"
	"errors"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/internal/op/parallel"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

//go:generate go run github.com/gpuframe/gpuframe/internal/op/kernelset/layouts cuda
//go:embed cuda/*.ptx*
var code embed.FS

// set has the kernels, each compiled when it is first used.
var set = kernelset.Set{Files: code, Directory: "cuda", Apart: true}

// call is one call of an operator, with the options that several steps read.
type call struct {
	op.Call
	// nullsEqual is set if a null key matches null keys.
	nullsEqual bool
	// kept is set for a build side that stays behind the call: its memory has the tag of results.
	kept bool
	// limit is the most rows of the result.
	limit int64
}

// waitIdle waits on the host for operators that have written the memory that is read next.
func (c *call) waitIdle() error {
	if !c.OnHost() {
		return nil
	}
	return c.WaitIdle(c.Context())
}

// scratch are the options of operators with results that are released before the call
// ends.
func (c *call) scratch() kernels.Options {
	return kernels.Options{Stream: c.Stream, Manager: c.Manager, Tag: op.ScratchTag}
}

// building are the options of operators with results that the build side holds.
func (c *call) building() kernels.Options {
	if c.kept {
		return c.resultOptions()
	}
	return c.scratch()
}

func (c *call) resultOptions() kernels.Options {
	return kernels.Options{Stream: c.Stream, Manager: c.Manager, Tag: c.Tag}
}

// checkLimit refuses results with more rows than the options allow.
func (c *call) checkLimit(rows int64) error {
	if rows > c.limit {
		return &TooManyRowsError{rows, c.limit}
	}
	return nil
}

// allocate allocates memory of the build side, which may stay behind the call.
func (c *call) allocate(sizes ...uint64) (*memory.Block, []memory.Slice[uint8], error) {
	if c.kept {
		return c.Allocate(sizes...)
	}
	return c.Scratch(sizes...)
}

// uint32s allocates scratch memory of several lengths. The caller releases the block.
func (c *call) uint32s(lengths ...int) (*memory.Block, []memory.Slice[uint32], error) {
	sizes := make([]uint64, len(lengths))
	for i, n := range lengths {
		sizes[i] = 4 * uint64(n)
	}
	block, slices, err := c.Scratch(sizes...)
	if err != nil {
		return nil, nil, err
	}
	words := make([]memory.Slice[uint32], len(slices))
	for i, s := range slices {
		if words[i], err = memory.Reinterpret[uint32](s); err != nil {
			return nil, nil, errors.Join(err, block.Release())
		}
	}
	return block, words, nil
}

// each runs f for parts of n rows on several goroutines.
func (c *call) each(n int, f func(begin, end int)) error {
	return parallel.Run(c.Context(), n, parallel.Parts(n), func(_, begin, end int) { f(begin, end) })
}

// filter returns the rows of a table for which a mask is true, which held releases. It waits for their number.
func (c *call) filter(held *release.Stack, table *buffer.Buffer, mask *column.Column) (*buffer.Buffer, error) {
	kept, err := selection.FilterMask(c.Context(), table, mask, c.scratch())
	if err != nil {
		return nil, err
	}
	held.Add(kept)
	n, err := kept.NumRows(c.Context())
	if err != nil {
		return nil, err
	}
	exact, err := kept.Slice(0, n)
	if err == nil {
		held.Add(exact)
	}
	return exact, err
}

// launch launches a kernel with a thread for each of n things.
func (c *call) launch(file, entry string, n int, arguments ...any) error {
	return c.launchBlocks(file, entry, kernels.GridFor(n, threads), threads, arguments...)
}

// launchBlocks launches a kernel with blocks of a number of threads.
func (c *call) launchBlocks(file, entry string, blocks device.Dim3, threads uint32, arguments ...any) error {
	f, err := c.Kernel(&set, file, entry)
	if err != nil {
		return err
	}
	return f.Launch(c.Stream, blocks, device.Dim3{X: threads}, 0, arguments...)
}

// launchTiles launches a kernel with a block for each tile.
func (c *call) launchTiles(file, entry string, tiles int, arguments ...any) error {
	return c.launchBlocks(file, entry, device.Dim3{X: uint32(tiles)}, threads, arguments...)
}

// launchLoop launches a kernel for n rows whose blocks loop over them.
func (c *call) launchLoop(entry string, n int, arguments ...any) error {
	f, err := c.Kernel(&set, "table", entry)
	if err != nil {
		return err
	}
	grid, err := f.Grid(n, threads, loopRows, 0)
	if err != nil {
		return err
	}
	return f.Launch(c.Stream, grid, device.Dim3{X: threads}, 0, arguments...)
}

// numberRows writes the numbers of all rows.
func (c *call) numberRows(rows memory.Slice[uint32]) error {
	if !c.OnHost() {
		return c.launch("pairs", "number_rows", rows.Len(), rows, uint64(rows.Len()))
	}
	numbers, err := rows.Host()
	for i := range numbers {
		numbers[i] = uint32(i)
	}
	return err
}

func rowsOf(table *buffer.Buffer) int { return int(table.Capacity()) }

func columnsOf(table *buffer.Buffer) []*column.Column {
	columns := make([]*column.Column, table.NumColumns())
	for i := range columns {
		columns[i] = table.Column(i)
	}
	return columns
}

// uint32sOf returns the values of a column of uint32.
func uint32sOf(c *column.Column) (memory.Slice[uint32], error) {
	if c.Len() == 0 {
		return memory.Slice[uint32]{}, nil
	}
	return column.Elements[uint32](c)
}
