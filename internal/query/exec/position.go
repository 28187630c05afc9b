package exec

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/random"
	"github.com/gpuframe/gpuframe/memory"
)

// A position is a number of a row that is higher than those of the rows before it in the order
// of a plan for one device: bits for the input, for the batch, and for the row among those that
// the worker has of that batch. The inputs have as many bits as their number needs.
const (
	rowBits  = 32
	restBits = 63 - rowBits
)

// positions counts the rows of a worker in the order of their ordinals.
type positions struct {
	at   ordinal
	rows int64
}

// next returns the position of the first of some rows of one of several inputs.
func (p *positions) next(at ordinal, rows int64, inputs int) (int64, error) {
	if at != p.at {
		*p = positions{at: at}
	}
	first := p.rows
	p.rows += rows
	batchBits := max(restBits-bits.Len(uint(max(inputs, 1)-1)), 0)
	switch {
	case at.batch >= 1<<batchBits:
		return 0, fmt.Errorf("batch %d of one of %d inputs on several devices, expected fewer than %d: make batches of more rows: %w", at.batch, inputs, 1<<batchBits, memory.ErrOverflow)
	case p.rows > 1<<rowBits:
		return 0, fmt.Errorf("%d rows of one batch on several devices, expected at most %d: %w", p.rows, int64(1)<<rowBits, memory.ErrOverflow)
	}
	return (int64(at.input)<<batchBits|at.batch)<<rowBits | first, nil
}

// position adds the positions of rows.
func position(s *stage, _ *plan.Position) func(context.Context, *buffer.Buffer) (*buffer.Buffer, error) {
	var next positions
	return func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
		before := next
		positioned, err := s.positioned(ctx, table, &next)
		if err != nil {
			next = before // the rows are tried again in smaller tables
		}
		return positioned, err
	}
}

// positioned returns a table with the positions of its rows.
func (s *stage) positioned(ctx context.Context, table *buffer.Buffer, next *positions) (*buffer.Buffer, error) {
	rows, err := table.NumRows(ctx)
	if err != nil {
		return nil, err
	}
	first, err := next.next(s.worker.at, rows, s.worker.inputs)
	if err != nil {
		return nil, err
	}
	return s.withNumbers(ctx, table, plan.PositionName, first)
}

// withNumbers returns a table with a column of consecutive numbers, one for each row.
func (s *stage) withNumbers(ctx context.Context, table *buffer.Buffer, name string, first int64) (*buffer.Buffer, error) {
	numbers, err := random.Numbers(ctx, int(table.Capacity()), random.Options{Options: s.options(), First: uint64(first), Rows: table.RowCount()})
	if err != nil {
		return nil, err
	}
	numbered, err := table.AppendColumn(arrow.Field{Name: name, Type: numbers.Type()}, numbers)
	return release.OnError(numbered, err, numbers.Release())
}
