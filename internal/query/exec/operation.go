package exec

import (
	"context"
	"fmt"
	"reflect"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/query/plan"
)

// operation is how nodes of a type run, and which memory they need.
type operation struct {
	// open makes the reader. The inputs of the stage are open.
	open opening
	// partial makes the reader of a [plan.Partial] of the node, if there are any.
	partial opening
	// opensInputs is set if the reader opens its inputs by itself, if it reads them at all.
	opensInputs bool
	// keepsFew is set if few rows that several nodes read are kept for them: that takes less time than
	// to compute them again.
	keepsFew bool
	// streams is set if the node works on whole batches. Others divide a batch that is too large for them.
	streams bool
	// smallest is the least memory of a node: nil is zero. That of a partial one is leastPartial, or
	// smallest if that is nil.
	smallest, leastPartial func(s sizes, n plan.Node) uint64
	// expected is the memory of a node at work. Nil is that of a batch of its result.
	expected func(w workload, n plan.Node) uint64
}

// opening makes the reader of a node.
type opening func(ctx context.Context, o *opener, s *stage, n plan.Node) (buffer.Reader, error)

func notSupported(_ context.Context, _ *opener, _ *stage, n plan.Node) (buffer.Reader, error) {
	return nil, fmt.Errorf("no execution of %T: %w", n, device.ErrNotSupported)
}

// operationOf returns the operation of a node. A node that [operations] lacks cannot be opened.
func operationOf(n plan.Node) operation {
	if known, ok := optionalOperation(reflect.TypeOf(n)); ok {
		return known
	}
	if known, ok := operations()[reflect.TypeOf(n)]; ok {
		return known
	}
	return operation{open: notSupported}
}

// opens opens a reader that needs no more than its stage.
func opens[N plan.Node, R buffer.Reader](reader func(s *stage, n N) R) opening {
	return func(_ context.Context, _ *opener, s *stage, n plan.Node) (buffer.Reader, error) {
		return reader(s, n.(N)), nil
	}
}

// tries is opens for a reader that may fail.
func tries[N plan.Node](reader func(s *stage, n N) (buffer.Reader, error)) opening {
	return func(_ context.Context, _ *opener, s *stage, n plan.Node) (buffer.Reader, error) {
		return reader(s, n.(N))
	}
}

// maps opens a reader that applies an operator to each table of its input.
func maps[N plan.Node](apply func(s *stage, n N) func(context.Context, *buffer.Buffer) (*buffer.Buffer, error)) opening {
	return opens(func(s *stage, n N) *mapping { return &mapping{stage: s, apply: apply(s, n)} })
}

// takesAll opens a reader that makes its result of all rows at once.
func takesAll[N plan.Node](result func(s *stage, n N) func(context.Context) (*buffer.Buffer, error)) opening {
	return opens(func(s *stage, n N) *once { return &once{stage: s, make: result(s, n)} })
}

// needs is the least memory of nodes of one type.
func needs[N plan.Node](bytes func(s sizes, n N) uint64) func(sizes, plan.Node) uint64 {
	return func(s sizes, n plan.Node) uint64 { return bytes(s, n.(N)) }
}
