package join

import (
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// lookup is the table and the words of matches that are not found yet, because the step that
// needs them can often find them itself.
type lookup struct {
	table *table
	words *words
}

// pair writes the pair of each row at the place of the row. With alone set one block has
// all rows; it compacts the pairs and writes the outcome.
func (l *lookup) pair(c *call, out any, alone bool, outcome memory.Slice[uint64], state memory.Slice[uint8]) error {
	t, err := l.table.argument()
	if err != nil {
		return err
	}
	f, err := c.Kernel(&set, "table", "probe_pairs"+l.words.width())
	if err != nil {
		return err
	}
	grid, block := kernels.GridFor(l.words.rows, threads), device.Dim3{X: threads}
	if alone {
		grid, block = device.Dim3{X: 1}, device.Dim3{X: aloneThreads}
	}
	return f.Launch(c.Stream, grid, block, 0, out, t, l.words.argument(), word(!l.table.decided), word(alone), outcome, state)
}
