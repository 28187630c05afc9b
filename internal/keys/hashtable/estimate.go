package hashtable

import (
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/op"
)

// estimate records upper bounds of the allocations of an operator on the groups. The data
// decides how many groups there are, how long their strings are and, without a row
// count on the host, how many rows are read.
func (g *Groups) estimate() error {
	compared, err := g.estimateKeys()
	if err != nil {
		return err
	}
	marks, codes := g.markSizes(), g.codeBytes()
	values, valueScratch := g.valueSizes()
	table := []uint64{4 * (slotsFor(g.distinct) + 1)}
	after := valueScratch
	if g.ranked() {
		// The cumulative sum, and the state through which its blocks exchange sums.
		after = append(after, 4*uint64(g.words()), uint64(g.words())/16+256)
	}
	if g.call.OnHost() {
		table = nil // the host allocates it in Go
	}
	scratch, result := append(compared, marks...), values
	switch g.wanted {
	case WithCounts:
		scratch, result = append(scratch, codes), append(result, 8*uint64(g.most))
	case WithCodes:
		// The values are compacted: the result has at most a copy of them.
		result, after = append(result, codes), append(after, values...)
	}
	inTable, tableErr := op.Bytes(table...)
	behind, behindErr := op.Bytes(after...)
	if err := errors.Join(tableErr, behindErr); err != nil {
		return err
	}
	return g.call.Estimate(result, append(scratch, max(inTable, behind)))
}

// estimateKeys finds the bounds of the groups without the keys. It returns the sizes of
// the keys of a dictionary that may have equal values.
func (g *Groups) estimateKeys() (scratch []uint64, err error) {
	g.keys = g.column
	if err := g.column.Retain(); err != nil { // Release releases the keys
		return nil, err
	}
	values := g.column.Dictionary()
	c := g.column
	if values != nil {
		c = values
	}
	k, err := keysOf(c)
	if err != nil {
		return nil, err
	}
	g.bound(&k)
	if _, bit, err := g.column.Validity(); err == nil {
		g.bit = bit
	}
	if values == nil || comparableCodes(values) {
		return nil, nil
	}
	rows, n := uint64(values.Len()), g.column.Len()
	return []uint64{
		rows/8 + 8, rows/8 + 8, 4 * (rows + 64), 4 * (slotsFor(values.Len()) + 1), // marks, codes and table of the dictionary
		8 * uint64(n), 4 * uint64(n), op.BitmapBytes(n), // indices of 64 bits, and the key of each row
	}, nil
}

// valueSizes returns bounds of the sizes of the values and of the scratch memory for
// making them: a list of row numbers, the rows of each part of the column and, for
// strings, their positions.
func (g *Groups) valueSizes() (result, scratch []uint64) {
	most := g.most
	if !g.call.OnHost() && !g.listed() {
		most = g.column.Len() // a filter does not know the number of groups
	}
	const count = 8
	result, scratch = []uint64{count}, []uint64{8 * uint64(most), uint64(g.column.Len())/64 + 2048}
	if op.Nullable(g.column) {
		result = append(result, op.BitmapBytes(most))
	}
	l, err := layout.Of(g.column.Type())
	if err != nil {
		return result, scratch
	}
	switch l.Kind {
	case layout.Bits:
		result = append(result, op.BitmapBytes(most))
	case layout.Binary:
		offsets := uint64(most+1) * uint64(l.Width)
		result = append(result, offsets, g.column.Buffer(2).Bytes())
		scratch = append(scratch, offsets)
	default:
		result = append(result, uint64(most)*uint64(l.Width))
	}
	return result, scratch
}

// comparableCodes reports whether the codes of a dictionary are equal exactly if the
// values are.
func comparableCodes(values *column.Column) bool {
	return values.Known().Unique == column.Yes && values.NullCount() == 0
}

// tableType is the schema of the values of a column.
func tableType(t arrow.DataType) *arrow.Schema {
	return arrow.NewSchema([]arrow.Field{{Name: ValuesName, Type: t, Nullable: true}}, nil)
}
