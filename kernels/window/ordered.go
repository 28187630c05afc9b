package window

import (
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/keys/numbers"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/random"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// isExtremeOfRanks reports whether a minimum or maximum is found by the ranks of the values:
// those that are not numbers of at most 64 bits.
func (f Function) isExtremeOfRanks(t arrow.DataType) bool {
	_, isNumber := numbers.TypeOf(t)
	return (f.kind == minimumOf || f.kind == maximumOf) && !isNumber
}

// extremeOfRanks finds the least or greatest value of each frame for types that have an
// order but are no words: strings, booleans, decimals and others. A word with the dense rank
// of a value in its upper half and the number of its row in the lower one is folded instead;
// the result names a row that has the value.
func (a *arrangement) extremeOfRanks(f Function, value *column.Column, frame *framing) (*column.Column, error) {
	words, err := a.rankWords(f, value)
	if err != nil {
		return nil, err
	}
	extremes, err := a.fold(f, words, arrow.PrimitiveTypes.Uint64, frame)
	if err = errors.Join(err, words.Release()); err != nil {
		return nil, err
	}
	low := expr.Col("found").BitAnd(expr.Lit(uint64(noRow))).CastWrap(arrow.PrimitiveTypes.Uint32)
	rows, err := a.computed([]string{"found"}, []*column.Column{extremes}, low)
	if err = errors.Join(err, extremes.Release()); err != nil {
		return nil, err
	}
	picked, err := selection.TakeColumnWith(a.ctx, value, rows, selection.TakeOptions{Options: a.options, Bounds: selection.Null})
	return release.OnError(picked, err, rows.Release())
}

// rankWords returns the rank and the number of each row with a value, and null for others.
func (a *arrangement) rankWords(f Function, value *column.Column) (words *column.Column, err error) {
	isAbsent := expr.Col("value").IsNull()
	names, columns := []string{"value", "rank", "row"}, []*column.Column{value}
	if f.hasConditionOfRanks(a.table.Schema()) {
		condition, err := a.evaluate(expr.If(f.where, expr.Lit(true), expr.Lit(false)))
		if err != nil {
			return nil, err
		}
		defer func() { words, err = release.OnError(words, err, condition.Release()) }()
		isAbsent = isAbsent.Or(expr.Col("condition").Not())
		names, columns = append(names, "condition"), append(columns, nil, nil, condition)
	} else {
		columns = append(columns, nil, nil)
	}
	table, err := a.tableOf([]string{"value"}, []*column.Column{value})
	if err != nil {
		return nil, err
	}
	ranks, err := order.Rank(a.ctx, table, []order.Key{{Column: "value"}}, order.RankOptions{Options: a.scratch(), Method: order.Dense})
	if err = errors.Join(err, table.Release()); err != nil {
		return nil, err
	}
	options := a.scratch()
	rows, err := random.Numbers(a.ctx, a.capacity, random.Options{Options: options, Rows: a.table.RowCount()})
	if err != nil {
		return nil, errors.Join(err, ranks.Release())
	}
	rank, row := expr.Col("rank").CastWrap(arrow.PrimitiveTypes.Uint64), expr.Col("row").CastWrap(arrow.PrimitiveTypes.Uint64)
	word := expr.If(isAbsent, expr.Null(arrow.PrimitiveTypes.Uint64), rank.Mul(expr.Lit(uint64(1<<32))).Add(row))
	columns[1], columns[2] = ranks, rows
	words, err = a.computed(names, columns, word)
	return release.OnError(words, err, ranks.Release(), rows.Release())
}

// tableOf returns a table of columns with the rows of the arrangement's table.
func (a *arrangement) tableOf(names []string, columns []*column.Column) (*buffer.Buffer, error) {
	fields := make([]arrow.Field, len(names))
	for i, name := range names {
		fields[i] = arrow.Field{Name: name, Type: columns[i].Type(), Nullable: true}
	}
	return op.Table(arrow.NewSchema(fields, nil), columns, a.table.Rows())
}

// computed returns the values of an expression on some columns.
func (a *arrangement) computed(names []string, columns []*column.Column, e expr.Expr) (*column.Column, error) {
	table, err := a.tableOf(names, columns)
	if err != nil {
		return nil, err
	}
	values, err := expr.Evaluate(a.ctx, table, []expr.Expr{e}, a.scratch())
	if err = errors.Join(err, table.Release()); err != nil {
		return nil, errors.Join(err, release.All(values))
	}
	return values[0], nil
}
