package nested

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Sequence is the list of the integers from 0 to n, n excluded, as int64: an empty list for
// a negative n, and null for null. [Explode] of it repeats a row n times.
func Sequence(n expr.Expr) expr.Expr {
	return expr.Apply(sequence{}, n.Cast(arrow.PrimitiveTypes.Int64))
}

type sequence struct{}

func (sequence) Name() string { return "sequence" }

func (sequence) Result(operands []arrow.DataType) (arrow.DataType, error) {
	return arrow.ListOf(arrow.PrimitiveTypes.Int64), nil
}

func (sequence) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	c := operands[0]
	call, err := op.Begin(ctx, options, c)
	if err != nil {
		return nil, err
	}
	in, err := call.View(c)
	if err != nil {
		return nil, err
	}
	s, err := newSequenceSpans(&call, in)
	if err != nil {
		return nil, err
	}
	sequences, err := s.sequences(&call, in)
	return release.OnError(sequences, err, s.Release())
}

// newSequenceSpans makes lists of the lengths that a column has.
func newSequenceSpans(call *op.Call, in op.View) (*spans, error) {
	s, err := allocateSpans(call, in.Column.Len())
	if err != nil || s.rows == 0 {
		return s, err
	}
	if !call.OnHost() {
		err = launch(call, "sequence_spans", s.rows, s.begins, s.counts, in.Values, in.Valid, uint64(in.Bit), in.Counted, int64(in.Rows), uint64(s.rows))
		return release.OnError(s, err)
	}
	begins, beginsErr := s.begins.Host()
	counts, countsErr := s.counts.Host()
	host, err := in.Host()
	if err := errors.Join(beginsErr, countsErr, err); err != nil {
		return release.OnError(s, err)
	}
	lengths := op.Elements[int64](host.Values)
	for i := range s.rows {
		begins[i], counts[i] = none, 0
		if i < host.Rows && host.IsValid(i) {
			begins[i], counts[i] = 0, max(lengths[i], 0)
		}
	}
	return s, nil
}

// sequences makes the lists.
func (s *spans) sequences(call *op.Call, in op.View) (*column.Column, error) {
	if err := s.sum(call); err != nil {
		return nil, err
	}
	if uint64(s.total) >= none {
		return nil, fmt.Errorf("the lists have %d elements together, expected fewer than %d: use parts of the column: %w", s.total, uint32(none), device.ErrNotSupported)
	}
	elements, err := s.positions(call, false)
	if err != nil {
		return nil, err
	}
	l := lists{column: in.Column, valid: in.Valid, bit: in.Bit}
	listed, err := s.list(call, &l, arrow.ListOf(arrow.PrimitiveTypes.Int64), elements)
	return release.OnError(listed, err, elements.Release())
}
