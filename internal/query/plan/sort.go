package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
)

// SortKey orders rows by the value of an expression.
type SortKey struct {
	Value      expr.Expr
	Descending bool
	NullsFirst bool
}

// String formats the key: "price descending".
func (k SortKey) String() string {
	text := described(k.Value)
	if k.Descending {
		text += " descending"
	}
	if k.NullsFirst {
		text += " nulls first"
	}
	return text
}

// Sort yields the rows in order; rows with equal keys keep theirs. A limit keeps only the
// first rows of the result.
type Sort struct {
	single
	keys  []SortKey
	limit int64
}

// All is the limit of a [Sort] or the length of a [Slice] without one.
const All = -1

// NewSort makes a sort. The limit is All for all rows.
func NewSort(input Node, keys []SortKey, limit int64) (*Sort, error) {
	if len(keys) == 0 {
		return nil, fmt.Errorf("no key is given, expected one or more: %w", device.ErrInvalidValue)
	}
	if limit < All {
		return nil, fmt.Errorf("the number of rows is %d, expected zero or more: %w", limit, device.ErrInvalidValue)
	}
	for i, k := range keys {
		t, _, err := k.Value.Type(input.Schema())
		if err != nil {
			return nil, err
		}
		if err := rowkey.Check(t, i); err != nil {
			return nil, fmt.Errorf("%s: %w", described(k.Value), err)
		}
	}
	return &Sort{singleOf(input, input.Schema()), slices.Clone(keys), limit}, nil
}

// Keys returns the keys.
func (s *Sort) Keys() []SortKey { return s.keys }

// OrderKeys returns the keys for package order.
func (s *Sort) OrderKeys() []order.Key {
	return orderKeys(s.keys)
}

// Limit returns the number of rows that are kept, or All.
func (s *Sort) Limit() int64 { return s.limit }

// WithLimit returns the sort with a limit that is no higher.
func (s *Sort) WithLimit(rows int64) *Sort {
	limited := *s
	if s.limit == All || rows < s.limit {
		limited.limit = rows
	}
	return &limited
}

// WithInputs implements [Node].
func (s *Sort) WithInputs(inputs ...Node) (Node, error) {
	return node(NewSort(inputs[0], s.keys, s.limit))
}

// String implements [Node].
func (s *Sort) String() string {
	list := describedKeys(s.keys)
	if s.limit == All {
		return "sort by " + list
	}
	return fmt.Sprintf("top %d by %s", s.limit, list)
}

// describedKeys lists sort keys.
func describedKeys(keys []SortKey) string {
	texts := make([]string, len(keys))
	for i, k := range keys {
		texts[i] = k.String()
	}
	return strings.Join(texts, ", ")
}

func (s *Sort) estimate(_ *Analysis, first Size) Size { return limited(first, s.limit) }

func (s *Sort) isEmpty() bool { return isNothing(s.input) || s.limit == 0 }

// readsOrder is true because rows with equal keys keep their order.
func (s *Sort) readsOrder(_ int, own bool) bool { return own || s.limit != All }

func (s *Sort) sortedBy(keys []SortKey) (bool, []SortKey) {
	return len(keys) <= len(s.keys) && slices.EqualFunc(keys, s.keys[:len(keys)], SortKey.sameOrder), nil
}

func (s *Sort) conditionBelow() func(expr.Expr) (expr.Expr, bool) {
	if s.limit != All {
		return nil
	}
	return func(c expr.Expr) (expr.Expr, bool) { return c, true }
}

func (s *Sort) reads(wanted columnSet) []columnSet {
	read := wanted.with()
	for _, k := range s.keys {
		read.read(k.Value)
	}
	return []columnSet{read}
}

func (s *Sort) simplified() (Node, error) { return simplifySort(s) }

func (s *Sort) same(other Node) bool {
	o, ok := other.(*Sort)
	return ok && s.limit == o.limit && slices.EqualFunc(s.keys, o.keys, SortKey.same)
}

// rowNumbers are those of the input: the sorted rows are numbered.
func (s *Sort) rowNumbers() rowNumbers {
	if s.limit != All {
		return unknownNumbers
	}
	return inputNumbers
}

func (s *Sort) origin(name string) (Node, string) {
	if s.limit != All {
		return nil, ""
	}
	return s.input, name
}

func (s *Sort) first(_ *limitPusher, rows int64) (Node, error) { return s.WithLimit(rows), nil }

// sliced is the sort if it has no other rows.
func (s *Sort) sliced(_ *limitPusher, slice *Slice) (Node, error) {
	if slice.offset == 0 && s.limit != All && s.limit <= slice.length {
		return s, nil
	}
	return nil, nil
}

func (s *Sort) partialTables() partialTables { return positionedRows }

func (s *Sort) divided(d *distribution, inputs []spread) (spread, error) {
	switch {
	case inputs[0].all && s.limit != All:
		return d.top(s, inputs[0].node)
	case inputs[0].all && d.isWorthDividing(s):
		return d.sort(s, inputs[0].node)
	}
	return spread{}, nil
}

func (s *Sort) dividedAsMoved(d *distribution, inputs []spread) (spread, error) {
	if !inputs[0].positions || s.limit != All || !d.isWorthDividing(s) {
		return spread{}, nil
	}
	return d.sortPositioned(s, inputs[0])
}
