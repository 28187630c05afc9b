package exec

import (
	"context"
	"errors"
	"slices"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/plan"
	"github.com/gpuframe/gpuframe/kernels/nested"
)

// grownShare is the part of the budget that the rows made of one piece may take. The next
// operation copies them at least once.
const grownShare = 8

// exploding makes rows of the elements of lists. A table with elements that are expected to
// take much of the budget is cut first.
type exploding struct {
	mapping
	columns []string
}

func newExploding(s *stage, n *plan.Explode) *exploding {
	options := n.Options()
	options.Options = s.options()
	return &exploding{columns: n.Columns(), mapping: mapping{stage: s, apply: func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
		return nested.Explode(ctx, table, n.Columns(), options)
	}}}
}

// Next implements buffer.Reader.
func (e *exploding) Next(ctx context.Context) (*buffer.Buffer, error) {
	if e.pieces.isEmpty() && len(e.inputs) > 0 {
		table, err := e.inputs[0].Next(ctx)
		if err == nil {
			err = e.cut(ctx, table)
		}
		if err != nil {
			return nil, e.failed(err)
		}
	}
	return e.mapping.Next(ctx)
}

// cut adds the pieces of a table, which it takes over.
func (e *exploding) cut(ctx context.Context, table *buffer.Buffer) error {
	rows, err := table.NumRows(ctx)
	if err != nil {
		return errors.Join(err, table.Release())
	}
	most := e.settings.Manager.Stats().Budget / grownShare
	count := min(int64(e.grown(table)/max(most, 1)), rows)
	if most == 0 || count < 2 {
		e.pieces.push(table)
		return nil
	}
	each := (rows + count - 1) / count
	var list []*buffer.Buffer
	for at := int64(0); at < rows && err == nil; at += each {
		var piece *buffer.Buffer
		if piece, err = table.Slice(at, min(each, rows-at)); err == nil {
			list = append(list, piece)
		}
	}
	if err = errors.Join(err, table.Release()); err != nil {
		_, err = releasing(nil, err, list...)
		return err
	}
	for _, piece := range slices.Backward(list) {
		e.pieces.push(piece)
	}
	return nil
}

// grown returns the expected number of bytes of the rows that a table becomes: those of the
// table for each element of an average list.
func (e *exploding) grown(table *buffer.Buffer) uint64 {
	list, err := table.ColumnByName(e.columns[0])
	if err != nil || list.NumChildren() == 0 || list.Len() == 0 {
		return 0
	}
	elements := uint64(list.Child(0).Len())/uint64(list.Len()) + 1
	return table.Bytes() * elements
}
