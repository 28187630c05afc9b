package plan

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/io/source"
)

// mostFetched is the largest limit of rows whose other columns are read by their numbers, and fetchedShare the least
// number of rows of the source for each of them: with more, most pages of a file would be read twice.
const (
	mostFetched  = 4096
	fetchedShare = 256
)

// leastLate is the number of bytes of a row that are worth a second access to a source.
const leastLate = 16

// rowName is the name of the column with numbers of rows below a [Fetch].
var rowName = Computed("row")

// lateColumns reads only the columns of keys and conditions below a sort with a small limit, and those of other columns for
// the rows that are left: most of a wide table is not read, or of a table in memory not copied.
func (o *optimization) lateColumns(root Node) (Node, error) {
	users := parents(root)
	return o.rewriteEach(inputsFirst(root), func(n Node, inputs []Node) (Node, error) {
		rewritten, err := withInputs(n, inputs...)
		s, ok := rewritten.(*Sort)
		if err != nil || !ok || s.limit <= 0 || s.limit > mostFetched {
			return rewritten, err
		}
		for below := n; len(below.Inputs()) > 0; below = below.Inputs()[0] {
			if users[below.Inputs()[0]] > 1 {
				return s, nil
			}
		}
		late, err := s.withLateColumns()
		if late == nil {
			late = s
		}
		return late, err
	})
}

// withLateColumns returns the sort of fewer columns, with the others fetched above it, or nil. A projection is computed of
// the rows that are left.
func (s *Sort) withLateColumns() (Node, error) {
	if p, ok := s.input.(*Project); ok {
		below, err := s.below(p)
		if err != nil {
			return nil, err
		}
		rows, err := below.withLateColumns()
		if rows == nil || err != nil {
			return nil, err
		}
		return p.WithInputs(rows)
	}
	var filters []*Filter
	below := s.input
	for {
		filter, ok := below.(*Filter)
		if !ok {
			break
		}
		filters, below = append(filters, filter), filter.input
	}
	scan, ok := below.(*Scan)
	if !ok || scan.limit > 0 || len(scan.bounds) > 0 || scan.rows < s.limit*fetchedShare || !source.ReadsRows(scan.source) ||
		len(filters) == 0 && source.OnDevice(scan.source) {
		return nil, nil
	}
	early, late := columnSet{}, columnSet{}
	for _, k := range s.keys {
		early.read(k.Value)
	}
	for _, f := range filters {
		early.read(f.condition)
	}
	bytes := 0
	for _, f := range scan.schema.Fields() {
		if !early[f.Name] {
			late[f.Name] = true
			bytes += lateBytes(f.Type)
		}
	}
	if len(early) == 0 || bytes < leastLate {
		return nil, nil
	}
	numbered, err := NewNumber(scan.WithColumns(early).withNumbers(), NumberOptions{Row: rowName})
	if err != nil {
		return nil, err
	}
	var rows Node = numbered
	for _, f := range slices.Backward(filters) {
		if rows, err = NewFilter(rows, f.condition); err != nil {
			return nil, err
		}
	}
	first, err := NewSort(rows, s.keys, s.limit)
	if err != nil {
		return nil, err
	}
	fetched, err := NewFetch(first, scan.WithColumns(late).withNumbers(), rowName)
	if err != nil {
		return nil, err
	}
	return exactly(fetched, columnsOf(s.schema))
}

// below returns the sort of the input of a projection, in the same order.
func (s *Sort) below(p *Project) (*Sort, error) {
	definitions := p.definitions()
	keys := slices.Clone(s.keys)
	for i, k := range keys {
		keys[i].Value = inline(k.Value, definitions)
	}
	return NewSort(p.input, keys, s.limit)
}

// lateBytes estimates the bytes of a value.
func lateBytes(t arrow.DataType) int {
	if fixed, ok := t.(arrow.FixedWidthDataType); ok && t.ID() != arrow.DICTIONARY {
		return fixed.BitWidth() / 8
	}
	return leastLate
}
