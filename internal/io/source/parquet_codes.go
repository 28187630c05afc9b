package source

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Conditions on columns of which a column chunk has only codes of a dictionary are evaluated once for each value there. Rows are
// selected by their codes, and values of all columns are made for these rows only. The conditions stay in the query, so rows
// that do not meet them may be left.

var ( // tests change them
	// leastMatchedRows is the number of rows of a row group from which on its rows are selected.
	leastMatchedRows int64 = 1 << 10
	// leastUnmatched is the number of rows between two selected ones that are left out. To leave out fewer takes as long as
	// to make their values.
	leastUnmatched int64 = 16
)

// unmatchedShare is the part of the rows, as a divisor, that conditions must leave out.
const unmatchedShare = 8

// codeCondition is a condition that can be evaluated on the dictionary of a column.
type codeCondition struct {
	place     int // of the column
	condition expr.Expr
}

// codeConditions returns the conditions of a request that can be evaluated on dictionaries, one for each column. Rows with numbers
// and a limit of rows count all of them.
func codeConditions(schema *arrow.Schema, request Request) (conditions []codeCondition) {
	if request.Numbered || request.Limit > 0 {
		return nil
	}
	for _, where := range request.Where {
		for _, c := range where.Conjuncts() {
			names := c.Columns()
			if len(names) != 1 || !isSimple(c) {
				continue
			}
			places := schema.FieldIndices(names[0])
			if len(places) != 1 || schema.Field(places[0]).Type.ID() == arrow.DICTIONARY {
				continue
			}
			at := slices.IndexFunc(conditions, func(other codeCondition) bool { return other.place == places[0] })
			if at < 0 {
				conditions = append(conditions, codeCondition{places[0], c})
			} else {
				conditions[at].condition = conditions[at].condition.And(c)
			}
		}
	}
	return conditions
}

// isSimple reports whether a condition compares one column with literals, so that it is not true for null, and cannot fail.
func isSimple(condition expr.Expr) bool {
	operands := condition.Operands()
	switch condition.Operation() {
	case "and", "and_strict", "or", "or_strict", "not":
		return !slices.ContainsFunc(operands, func(e expr.Expr) bool { return !isSimple(e) })
	case "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "in", "starts_with", "ends_with", "contains", "like":
	default:
		return false
	}
	columns := 0
	for _, operand := range operands {
		if _, ok := operand.Column(); ok {
			columns++
		} else if value, ok := operand.Literal(); !ok || value == nil {
			return false
		}
	}
	return columns == 1
}

// selectRows returns the rows of the row group that are read, and sets selected if conditions on dictionaries leave out many.
func (d *groupDecoder) selectRows(ctx context.Context) ([]span, error) {
	all := d.group.spans
	if all == nil {
		all = []span{{0, d.group.rows}}
	}
	if len(d.conditions) == 0 || d.group.rows < leastMatchedRows {
		return all, nil
	}
	mask, err := d.matchAll(ctx, all)
	if mask == nil || err != nil {
		return all, err
	}
	selected := selectedSpans(mask, all)
	left := rowsOf(all) - rowsOf(selected)
	if left*unmatchedShare < rowsOf(all) {
		return all, nil
	}
	d.counters.MatchedRows.Add(rowsOf(all))
	d.counters.UnmatchedRows.Add(left)
	d.selected = true
	if !d.remote { // of an object all pages are in memory
		counted := d.group.spans != nil
		d.group.spans = selected
		for _, c := range d.matched {
			if !counted {
				d.count(c.part)
			}
		}
	}
	return selected, nil
}

// matchAll evaluates the conditions on the dictionaries of the row group. It returns a bit for each row of the spans, or nil if
// no column has a dictionary with all values.
func (d *groupDecoder) matchAll(ctx context.Context, spans []span) (mask []byte, err error) {
	masks, failures := make([][]byte, len(d.conditions)), make([]error, len(d.conditions))
	columns := make([]*flatColumn, len(d.conditions))
	var matching sync.WaitGroup
	for i, c := range d.conditions {
		matching.Add(1)
		d.processors.run(d.part, func() {
			defer matching.Done()
			if ctx.Err() == nil {
				columns[i], masks[i], failures[i] = d.match(ctx, c, spans)
			}
		})
	}
	matching.Wait()
	d.matched = map[int]*flatColumn{}
	for i, c := range d.conditions {
		if columns[i] != nil {
			d.matched[c.place] = columns[i]
		}
		if failure := failures[i]; failure != nil {
			field := d.schema.Field(c.place)
			err = errors.Join(err, fmt.Errorf("column %q of %v: %w", field.Name, field.Type, failure))
		}
		if mask == nil {
			mask = masks[i]
		} else if masks[i] != nil {
			bitutil.BitmapAnd(mask, masks[i], 0, 0, mask, 0, rowsOf(spans))
		}
	}
	return mask, errors.Join(err, cancel.Error(ctx))
}

// match evaluates a condition on the dictionary of its column, of which it returns the bytes that it has read. The mask is nil if
// the column has no dictionary with all values.
func (d *groupDecoder) match(ctx context.Context, c codeCondition, spans []span) (column *flatColumn, mask []byte, err error) {
	defer recovered(&err)
	about, ok := d.flat(c.place)
	if !ok || d.group.footer.converts(d.schema.Field(c.place).Name) || !d.group.footer.dictionaryOnly(d.group.index, d.leaves[c.place][0]) {
		return nil, nil, nil
	}
	if column, err = d.readFlat(d.leaves[c.place][0], about); err != nil {
		return nil, nil, err
	}
	about.Values = column.part.rows
	matcher, err := pages.NewMatcher(*column.bytes, about, d.hostMemory(), func(values arrow.Array) ([]bool, error) {
		return d.accept(ctx, c, values)
	})
	if err == nil {
		defer matcher.Close()
		mask, err = matchedRows(matcher, column.part, spans)
	}
	if errors.Is(err, pages.ErrOther) {
		return column, nil, nil
	}
	return column, mask, err
}

// accept evaluates a condition on the values of a dictionary.
func (d *groupDecoder) accept(ctx context.Context, c codeCondition, values arrow.Array) ([]bool, error) {
	field := d.schema.Field(c.place)
	record := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: field.Name, Type: field.Type, Nullable: true}}, nil), []arrow.Array{values}, int64(values.Len()))
	defer record.Release()
	results, err := expr.EvaluateRecord(ctx, record, []expr.Expr{c.condition})
	if err != nil {
		return nil, pages.ErrOther // the query reports it when it binds the condition
	}
	defer release.Arrow(results)
	matches, ok := results[0].(*array.Boolean)
	if !ok {
		return nil, pages.ErrOther
	}
	accepted := make([]bool, matches.Len())
	for i := range accepted {
		accepted[i] = matches.IsValid(i) && matches.Value(i)
	}
	d.counters.MatchedValues.Add(int64(len(accepted)))
	return accepted, nil
}

// matchedRows returns a bit for each row of spans.
func matchedRows(matcher *pages.Decoder, part *chunkPart, spans []span) ([]byte, error) {
	mask, at, row := make([]byte, bitutil.BytesForBits(rowsOf(spans))), int64(0), 0
	for _, s := range spans {
		first := part.place(s.first)
		if err := matcher.Skip(first - at); err != nil {
			return nil, err
		}
		at = first + s.rows
		for left := s.rows; left > 0; {
			matches, err := matcher.Next(left)
			if err != nil {
				return nil, err
			}
			n := matches.Len()
			bitutil.CopyBitmap(matches.Data().Buffers()[1].Bytes(), 0, n, mask, row)
			matches.Release()
			row, left = row+n, left-int64(n)
		}
	}
	return mask, nil
}

// selectedSpans returns the rows of spans with a bit, and short gaps between them.
func selectedSpans(mask []byte, spans []span) []span {
	selected, before := []span{}, int64(0)
	for _, s := range spans {
		begin := len(selected)
		for at, end := before, before+s.rows; ; {
			from := nextBit(mask, at, end, true)
			if from == end {
				break
			}
			at = nextBit(mask, from, end, false)
			next := span{s.first + from - before, at - from}
			if last := len(selected) - 1; last >= begin && next.first-selected[last].end() < leastUnmatched {
				selected[last].rows = next.end() - selected[last].first
			} else {
				selected = append(selected, next)
			}
		}
		before += s.rows
	}
	return selected
}

// nextBit returns the place of the first bit of a value in [at, end), or end.
func nextBit(mask []byte, at, end int64, value bool) int64 {
	flip := uint64(math.MaxUint64)
	if value {
		flip = 0
	}
	for at < end {
		var word [8]byte
		copy(word[:], mask[at>>3:])
		if pattern := (binary.LittleEndian.Uint64(word[:]) ^ flip) >> (at & 7); pattern != 0 {
			return min(end, at+int64(bits.TrailingZeros64(pattern)))
		}
		at += 64 - at&7
	}
	return end
}

// takeMatched returns a column whose bytes were read for a condition, or nil. The columns of the row group are decoded at the same
// time, each by one goroutine.
func (d *groupDecoder) takeMatched(i int) *flatColumn {
	d.matchedLock.Lock()
	defer d.matchedLock.Unlock()
	c := d.matched[i]
	delete(d.matched, i)
	return c
}

// pickSpans returns rows of a column that begins with the row first. It takes the reference to the column.
func pickSpans(all *arrow.Chunked, first int64, rows []span, mem arrowmemory.Allocator) (*arrow.Chunked, error) {
	if len(rows) == 1 {
		return all, nil
	}
	defer all.Release()
	var arrays []arrow.Array
	defer func() { release.Arrow(arrays) }()
	for _, values := range all.Chunks() {
		parts := partsOf(values, first, rows)
		first += int64(values.Len())
		if len(parts) == 0 {
			continue
		}
		picked, err := array.Concatenate(parts, mem)
		release.Arrow(parts)
		if err != nil {
			return nil, err
		}
		arrays = append(arrays, picked)
	}
	return arrow.NewChunked(all.DataType(), arrays), nil
}

// partsOf returns the rows of spans that an array has, which begins with the row first.
func partsOf(values arrow.Array, first int64, rows []span) (parts []arrow.Array) {
	for _, s := range rows {
		from, to := max(s.first-first, 0), min(s.end()-first, int64(values.Len()))
		if from < to {
			parts = append(parts, array.NewSlice(values, from, to))
		}
	}
	return parts
}
