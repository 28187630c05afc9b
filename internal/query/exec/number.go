package exec

import (
	"context"
	"errors"
	"math"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/random"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// numbering adds columns that depend on the number of each row. It waits for the number of rows
// of each table. Of several devices each numbers its rows: see [rowCounter].
type numbering struct {
	mapping
	plan *plan.Number
	// next is the number of the next row.
	next    int64
	counter *rowCounter
}

func newNumbering(s *stage, n *plan.Number) *numbering {
	m := &numbering{mapping: mapping{stage: s}, plan: n}
	m.apply = m.number
	if s.worker != nil {
		m.counter = s.worker.count(!n.CountsRows())
	}
	return m
}

// Next implements buffer.Reader.
func (m *numbering) Next(ctx context.Context) (*buffer.Buffer, error) {
	table, err := m.mapping.Next(ctx)
	if err == errEnd && m.counter != nil {
		m.counter.end()
	}
	return table, err
}

func (m *numbering) number(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
	rows, err := table.NumRows(ctx)
	if err != nil {
		return nil, err
	}
	if m.counter != nil && rows > 0 {
		if m.next, err = m.counter.first(ctx, m.next); err != nil {
			return nil, m.failed(err)
		}
	}
	numbered, err := m.numbered(ctx, m.plan, table, uint64(m.next))
	if err != nil {
		return nil, err
	}
	m.next += rows
	if m.counter != nil {
		m.counter.add(rows)
	}
	return numbered, nil
}

func (s *stage) numbered(ctx context.Context, n *plan.Number, table *buffer.Buffer, first uint64) (*buffer.Buffer, error) {
	options := n.Options()
	with := random.Options{Options: s.options(), Seed: options.Seed, First: first, Rows: table.RowCount()}
	columns := make([]*column.Column, 0, table.NumColumns()+3)
	for i := range table.NumColumns() {
		columns = append(columns, table.Column(i))
	}
	var added []*column.Column
	for _, make := range []struct {
		name     string
		generate func(context.Context, int, random.Options) (*column.Column, error)
	}{{options.Row, random.Numbers}, {options.Random, random.Integers}, {options.Uniform, random.Floats}} {
		if make.name == "" {
			continue
		}
		c, err := make.generate(ctx, int(table.Capacity()), with)
		if err != nil {
			return nil, errors.Join(err, release.All(added))
		}
		added = append(added, c)
	}
	result, err := op.Table(n.Schema(), append(columns, added...), table.Rows())
	return release.OnError(result, err, release.All(added))
}

// draw takes random rows of all.
func draw(s *stage, n *plan.Draw) func(context.Context) (*buffer.Buffer, error) {
	return func(ctx context.Context) (*buffer.Buffer, error) {
		all, err := s.collect(ctx, s.inputs[0])
		if err != nil {
			return nil, err
		}
		sample, err := s.drawn(ctx, n.Options(), all)
		return release.OnError(sample, err, all.Release())
	}
}

func (s *stage) drawn(ctx context.Context, options plan.DrawOptions, all *buffer.Buffer) (*buffer.Buffer, error) {
	rows, err := all.NumRows(ctx)
	if err != nil {
		return nil, err
	}
	wanted := options.Rows
	if wanted == plan.All {
		wanted = int64(math.Round(float64(rows) * options.Fraction))
	}
	if rows == 0 || wanted == 0 {
		return all.Slice(0, 0)
	}
	drawn, err := random.Below(ctx, int(wanted), uint64(rows), random.Options{Options: s.options(), Seed: options.Seed})
	if err != nil {
		return nil, err
	}
	sample, err := selection.TakeWith(ctx, all, drawn, selection.TakeOptions{Options: s.options(), Bounds: selection.Trust})
	return release.OnError(sample, err, drawn.Release())
}
