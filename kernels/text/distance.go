package text

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// The limits of strings whose distance is computed, in characters: of the shorter one, and
// below which both are.
const (
	mostOfShorter = 256
	mostOfLonger  = 1 << 16
)

// EditDistance is the least number of characters that have to be inserted, removed or
// replaced to make one string the other, as int64: the distance of Levenshtein. A byte that
// is no UTF-8 is one character. It is null if the shorter string has more than 256
// characters, or the longer one 65,536 or more.
func EditDistance(a, b expr.Expr) expr.Expr {
	return expr.Apply(distance{}, expr.Concat(a), expr.Concat(b)) // dictionaries become plain strings
}

type distance struct{}

// Name implements expr.Operator.
func (distance) Name() string { return "edit_distance" }

// Result implements expr.Operator.
func (distance) Result(operands []arrow.DataType) (arrow.DataType, error) {
	for _, t := range operands {
		if _, err := plain(t); err != nil {
			return nil, err
		}
	}
	return arrow.PrimitiveTypes.Int64, nil
}

// Run implements expr.Operator.
func (distance) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	call, err := op.Begin(ctx, options, operands...)
	if err != nil {
		return nil, err
	}
	a, err := textsOf(&call, operands[0])
	if err != nil {
		return nil, err
	}
	b, err := textsOf(&call, operands[1])
	if err != nil {
		return nil, err
	}
	if a.column.Len() != b.column.Len() {
		return nil, fmt.Errorf("columns of %d and %d rows: %w", a.column.Len(), b.column.Len(), expr.ErrType)
	}
	result := op.Result{Type: arrow.PrimitiveTypes.Int64, Length: a.column.Len(), RowCount: a.column.RowCount(), Nullable: true}
	return call.NewColumn(result, func(out op.Buffers) error {
		switch {
		case a.column.Len() == 0:
			return nil
		case call.OnHost():
			return distancesOnHost(&call, a, b, out)
		}
		return launchRows(&call, "codes", "edit_distance", a.column.Len(), out.Values, out.Valid, a.argument(), b.argument())
	})
}

func distancesOnHost(call *op.Call, a, b texts, out op.Buffers) error {
	readA, err := a.reader()
	if err != nil {
		return err
	}
	readB, err := b.reader()
	if err != nil {
		return err
	}
	to, err := out.Host()
	if err != nil {
		return err
	}
	clear(to.Values)
	other, err := b.valid.Host()
	if err != nil {
		return err
	}
	return a.each(call, func(_, row int) {
		if at := b.bit + row; len(other) > 0 && other[at/8]>>(at%8)&1 == 0 {
			return
		}
		if n, ok := distanceOf(characters(readA(row)), characters(readB(row))); ok {
			op.Elements[int64](to.Values)[row] = n
			to.SetValid(row)
		}
	})
}

// characters decodes a string. Bytes that are no UTF-8 are beyond all characters.
func characters(text []byte) (list []rune) {
	for len(text) > 0 {
		c, width := utf8.DecodeRune(text)
		if c == utf8.RuneError && width == 1 {
			c = utf8.MaxRune + 1 + rune(text[0])
		}
		list, text = append(list, c), text[width:]
	}
	return list
}

func distanceOf(a, b []rune) (int64, bool) {
	if len(b) < len(a) {
		a, b = b, a
	}
	if len(a) > mostOfShorter || len(b) >= mostOfLonger {
		return 0, false
	}
	row := make([]int, len(a)+1)
	for i := range row {
		row[i] = i
	}
	for i, c := range b {
		diagonal := row[0]
		row[0] = i + 1
		for k, d := range a {
			above, changed := row[k+1], diagonal
			if c != d {
				changed++
			}
			row[k+1] = min(changed, above+1, row[k]+1)
			diagonal = above
		}
	}
	return int64(row[len(a)]), true
}
