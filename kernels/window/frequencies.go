package window

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// CountDistinct is the number of distinct values of the frame or, with several expressions, of
// distinct combinations of values. Rows in which any of them is null are skipped.
//
// The host computes CountDistinct and [Mode], also for tables of a GPU: the numbers of the values,
// of the rows in order and of the frames' ends are copied there, 12 bytes or more for each row, and
// the results back.
func CountDistinct(e expr.Expr, others ...expr.Expr) Function {
	return Function{kind: distinctOf, value: e, others: others}
}

// Mode is the most frequent value of the frame. Of equally frequent ones it is the one that occurs
// first. See [CountDistinct].
func Mode(e expr.Expr) Function { return Function{kind: modeOf, value: e} }

// ofFrequencies reports whether the function is of the numbers of equal values in a frame.
func (f Function) ofFrequencies() bool { return f.kind == distinctOf || f.kind == modeOf }

// frequencies computes CountDistinct or Mode.
func (a *arrangement) frequencies(f Function, value *column.Column, frame *framing) (*column.Column, error) {
	p, err := a.placed(f, value, frame)
	if err != nil {
		return nil, err
	}
	if f.kind == modeOf {
		return a.modes(f, value, p)
	}
	results, valid, err := p.distinct(a.ctx, uint64(f.least))
	if err != nil {
		return nil, err
	}
	if f.least == 0 {
		valid = nil
	}
	return uploaded(a, arrow.PrimitiveTypes.Int64, results, valid)
}

// modes takes the most frequent value of each frame.
func (a *arrangement) modes(f Function, value *column.Column, p *placedValues) (*column.Column, error) {
	rows, err := p.modes(a.ctx, uint64(f.least))
	if err != nil {
		return nil, err
	}
	picked, err := uploaded(a, arrow.PrimitiveTypes.Uint32, rows, nil)
	if err != nil {
		return nil, err
	}
	taken, err := selection.TakeColumnWith(a.ctx, value, picked, selection.TakeOptions{Options: a.options, Bounds: selection.Null})
	return release.OnError(taken, err, picked.Release())
}

// uploaded returns a column of values in host memory, by row. Without valid no value is null.
func uploaded[T uint32 | int64](a *arrangement, t arrow.DataType, values []T, valid []byte) (*column.Column, error) {
	call, _, err := a.begin()
	if err != nil {
		return nil, err
	}
	return a.newColumn(&call, t, valid != nil, func(out op.Buffers) error {
		to, err := memory.Reinterpret[T](out.Values)
		if err != nil || len(values) == 0 {
			return err
		}
		if err := to.UploadRange(a.ctx, call.Stream, 0, values); err != nil || valid == nil {
			return err
		}
		return out.Valid.UploadRange(a.ctx, call.Stream, 0, valid)
	})
}

// placedValues are values as numbers, in the order of places, in host memory.
type placedValues struct {
	// rows are the numbers of the rows, or nil for a table in order.
	rows []uint32
	// numbers are those of the values, from 1, and 0 for rows that are skipped.
	numbers []uint32
	// heads are the places at which partitions begin, and behind them the number of places.
	heads []int
	frame hostFrame
}

// placed copies the numbers of values, the order of the rows and their frames to the host.
func (a *arrangement) placed(f Function, value *column.Column, frame *framing) (p *placedValues, err error) {
	numbers, err := a.numbered(f, value)
	if err != nil {
		return nil, err
	}
	list, err := hostNumbers[uint32](a.ctx, numbers)
	if err != nil {
		return nil, err
	}
	// The functions of places know the partitions on every device.
	places, err := a.rank(RowNumber(), arrow.PrimitiveTypes.Int64)
	if err != nil {
		return nil, err
	}
	within, err := hostNumbers[int64](a.ctx, places)
	if err != nil {
		return nil, err
	}
	p = &placedValues{numbers: list, frame: hostFrame{low: int(frame.low), high: int(frame.high)}}
	n := len(list)
	call, _, err := a.begin()
	if err != nil {
		return nil, err
	}
	get := func(s memory.Slice[uint32]) []uint32 {
		if s.Len() == 0 || n == 0 {
			return nil
		}
		copied := make([]uint32, n)
		err = errors.Join(err, s.DownloadRange(a.ctx, call.Stream, 0, copied))
		return copied
	}
	p.rows, p.frame.lows, p.frame.highs = get(a.listed), get(frame.lows), get(frame.highs)
	if err != nil {
		return nil, fmt.Errorf("copy to the host: %w", err)
	}
	if p.rows != nil {
		p.numbers = make([]uint32, n)
		for place, row := range p.rows {
			p.numbers[place] = list[row]
		}
	}
	for place := range n {
		if within[p.row(place)] == 1 {
			p.heads = append(p.heads, place)
		}
	}
	p.heads = append(p.heads, n)
	return p, nil
}

// numbered returns the numbers of the values from 1 on, in their order, and 0 for those that are skipped, by row.
func (a *arrangement) numbered(f Function, value *column.Column) (numbers *column.Column, err error) {
	columns, names := []*column.Column{value}, []string{"value"}
	defer func() { err = errors.Join(err, release.All(columns[1:])) }()
	isSkipped := expr.Col("value").IsNull()
	keys := []order.Key{{Column: "value"}}
	for i, e := range f.others {
		other, err := a.evaluate(e)
		if err != nil {
			return nil, err
		}
		name := fmt.Sprint("other ", i)
		columns, names, keys = append(columns, other), append(names, name), append(keys, order.Key{Column: name})
		isSkipped = isSkipped.Or(expr.Col(name).IsNull())
	}
	table, err := a.tableOf(names, columns)
	if err != nil {
		return nil, err
	}
	ranks, err := order.Rank(a.ctx, table, keys, order.RankOptions{Options: a.scratch(), Method: order.Dense})
	if ranks, err = release.OnError(ranks, err, table.Release()); err != nil {
		return nil, err
	}
	columns, names = append(columns, ranks), append(names, "rank")
	return a.computed(names, columns, expr.If(isSkipped, expr.LitOf(arrow.PrimitiveTypes.Uint32, 0), expr.Col("rank")))
}

// hostNumbers copies a column of numbers without nulls to the host, and releases it.
func hostNumbers[T uint32 | int64](ctx context.Context, c *column.Column) ([]T, error) {
	copied, err := c.Array(ctx)
	if err = errors.Join(err, c.Release()); err != nil {
		if copied != nil {
			copied.Release()
		}
		return nil, err
	}
	defer copied.Release()
	list := make([]T, copied.Len())
	switch numbers := copied.(type) {
	case *array.Uint32:
		for i, x := range numbers.Uint32Values() {
			list[i] = T(x)
		}
	case *array.Int64:
		for i, x := range numbers.Int64Values() {
			list[i] = T(x)
		}
	}
	return list, nil
}

// row returns the row of a place.
func (p *placedValues) row(place int) int {
	if p.rows == nil {
		return place
	}
	return int(p.rows[place])
}
