package pipelinetest

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// registers is the number of tables of a pipeline.
const registers = 4

// Operator is a kind of step.
type Operator struct {
	Name string
	// Draw chooses the operator's action on the tables of a draw, or returns false if
	// it cannot act on them. The text describes the choice.
	Draw func(d *Draw) (text string, run Run, ok bool)
}

// Run applies an operator. The caller releases the result.
type Run func(ctx context.Context, in Inputs) (*buffer.Buffer, error)

// Inputs are the arguments of a step. The tables are borrowed.
type Inputs struct {
	Table, Other *buffer.Buffer
	Manager      *memory.Manager
	// Options name the stream.
	Options kernels.Options
}

// Draw is the state for which an operator is drawn.
type Draw struct {
	*rand.Rand
	// Schema and Rows describe the table, OtherSchema and OtherRows the other table.
	Schema, OtherSchema *arrow.Schema
	Rows, OtherRows     int64
	names               *int
}

// Name returns a name that no column has.
func (d *Draw) Name() string {
	*d.names++
	return fmt.Sprint("e", *d.names)
}

// Columns returns the numbers of the columns of accepted types.
func (d *Draw) Columns(accepts func(t arrow.DataType) bool) (numbers []int) {
	for i, f := range d.Schema.Fields() {
		if accepts(f.Type) {
			numbers = append(numbers, i)
		}
	}
	return numbers
}

// Column returns one of [Draw.Columns], or false if it is empty.
func (d *Draw) Column(accepts func(t arrow.DataType) bool) (number int, ok bool) {
	numbers := d.Columns(accepts)
	if len(numbers) == 0 {
		return 0, false
	}
	return numbers[d.IntN(len(numbers))], true
}

// Any accepts every type.
func Any(arrow.DataType) bool { return true }

// Is accepts types of some ids.
func Is(ids ...arrow.Type) func(arrow.DataType) bool {
	return func(t arrow.DataType) bool {
		for _, id := range ids {
			if t.ID() == id {
				return true
			}
		}
		return false
	}
}

// Step is one operator of a pipeline.
type Step struct {
	Text string
	// From and With are the registers of the tables, To that of the result.
	From, With, To int
	// Stream is the number of the stream, 0 or 1.
	Stream int
	Run    Run
}

// String describes the step so that it can be written as a test.
func (s Step) String() string {
	return fmt.Sprintf("r%d = %s of r%d (with r%d) on stream %d", s.To, s.Text, s.From, s.With, s.Stream)
}
