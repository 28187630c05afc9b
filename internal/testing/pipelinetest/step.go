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

// registers is how many tables a pipeline has.
const registers = 4

// Operator is what a step can be.
type Operator struct {
	Name string
	// Draw chooses what the operator does with the tables of a draw, or returns false
	// if it can do nothing with them. The text describes the choice.
	Draw func(d *Draw) (text string, run Run, ok bool)
}

// Run applies an operator. The caller releases the result.
type Run func(ctx context.Context, in Inputs) (*buffer.Buffer, error)

// Inputs are what a step gets. The tables are borrowed.
type Inputs struct {
	Table, Other *buffer.Buffer
	Manager      *memory.Manager
	// Options name the stream.
	Options kernels.Options
}

// Draw is what an operator is drawn for.
type Draw struct {
	*rand.Rand
	// Schema and Rows are those of the table, OtherSchema and OtherRows of the other.
	Schema, OtherSchema *arrow.Schema
	Rows, OtherRows     int64
	names               *int
}

// Name returns a name that no column has.
func (d *Draw) Name() string {
	*d.names++
	return fmt.Sprint("e", *d.names)
}

// Columns returns the numbers of the columns whose type a function accepts.
func (d *Draw) Columns(accepts func(t arrow.DataType) bool) (numbers []int) {
	for i, f := range d.Schema.Fields() {
		if accepts(f.Type) {
			numbers = append(numbers, i)
		}
	}
	return numbers
}

// Column returns one of [Draw.Columns]; false if there is none.
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
	// Stream is which of the two streams it runs on.
	Stream int
	Run    Run
}

// String describes the step so that it can be written down as a test.
func (s Step) String() string {
	return fmt.Sprintf("r%d = %s of r%d (with r%d) on stream %d", s.To, s.Text, s.From, s.With, s.Stream)
}
