package join

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/op"
)

// estimateAsOf reports a bound of the memory of [AsOf]. It returns kernels.ErrEstimated.
func estimateAsOf(ctx context.Context, left, right *buffer.Buffer, on On, options AsOfOptions) error {
	estimate := options.Estimate
	options.Estimate = nil
	o, err := options.options()
	if err != nil {
		return err
	}
	o.Estimate = estimate
	e, call, err := newEstimator(ctx, left, right, options.By, &o)
	if err != nil {
		return err
	}
	e.rows, e.leftOnce = e.l, true
	return e.reportSearch(&call, append(options.By[:len(options.By):len(options.By)], on))
}

// estimateRange reports a bound of the memory of [Range]. It returns kernels.ErrEstimated.
func estimateRange(ctx context.Context, left, right *buffer.Buffer, between Between, on []On, options Options) error {
	if !options.Where.IsZero() {
		return errConditionWithoutBound
	}
	e, call, err := newEstimator(ctx, left, right, on, &options)
	if err != nil {
		return err
	}
	e.rows = e.l * e.r // both are below 2³²
	if options.Kind.leftOnly() {
		e.rows, e.leftOnce = e.l, true
	} else if options.Kind.keepsLeft() && e.rows < MaxPairs {
		e.rows += e.l
	}
	e.rows = min(e.rows, uint64(options.limit()))
	bounds := []On{{Left: between.Low, Right: between.Right}, {Left: between.High, Right: between.Right}}
	return e.reportSearch(&call, append(on[:len(on):len(on)], bounds...))
}

// reportSearch reports the bound of a join that sorts one side and searches the other one, or
// merges both.
func (e *estimator) reportSearch(call *op.Call, keys []On) error {
	columnBytes, err := e.columns()
	if err != nil {
		return err
	}
	total := uint64(fixedScratch)
	for i, pair := range keys {
		bytes, copied, err := e.searchedBytes(pair)
		if err != nil {
			return &KeyError{i, pair, err}
		}
		total += bytes + keyCopies*copied
	}
	total += sortedRow*(e.l+e.r) + pairRow*e.rows
	return call.Estimate([]uint64{columnBytes}, []uint64{total})
}

// searchedBytes returns a bound of the memory of a pair of keys in one type, and of a copy of
// them.
func (e *estimator) searchedBytes(pair On) (bytes, copied uint64, err error) {
	bytes, _, err = e.keyBytes(pair)
	if err != nil {
		return 0, 0, err
	}
	a, err := keyType("left", e.leftSchema, pair.Left, pair.LeftExpr)
	if err != nil {
		return 0, 0, err
	}
	b, err := keyType("right", e.right.Schema(), pair.Right, pair.RightExpr)
	if err != nil {
		return 0, 0, err
	}
	l, err := layout.Of(unifiedType(a, b))
	if err != nil {
		return 0, 0, err
	}
	width := uint64(max(l.Width, 8)) // also those of words and of nulls
	return bytes, width*(e.l+e.r) + e.texts(pair), nil
}

// texts returns the bytes of the columns of a pair of keys that have strings or dictionaries.
func (e *estimator) texts(pair On) (total uint64) {
	for side, table := range []*buffer.Buffer{e.left, e.right} {
		name, isColumn := columnName(pair.Left, pair.LeftExpr)
		if side == 1 {
			name, isColumn = columnName(pair.Right, pair.RightExpr)
		}
		if table == nil || !isColumn {
			continue
		}
		if c, err := table.ColumnByName(name); err == nil && (arrow.IsBaseBinary(c.Type().ID()) || c.Dictionary() != nil) {
			total += memoryOf(c)
		}
	}
	return total
}

// estimateIndex reports a bound of the memory of [Build]: the result is the memory of the index
// without the table. It returns kernels.ErrEstimated.
func estimateIndex(ctx context.Context, left *arrow.Schema, right *buffer.Buffer, on []On, options Options) error {
	given := options.Options
	options.Estimate = nil
	call, err := op.Begin(ctx, given, columnsOf(right)...)
	if err != nil {
		return err
	}
	e := &estimator{right: right, leftSchema: left, on: on, options: &options, r: uint64(right.Capacity())}
	held, scratch := uint64(0), uint64(fixedScratch)
	for i, pair := range on {
		bytes, copied, err := e.searchedBytes(pair)
		if err != nil {
			return &KeyError{i, pair, err}
		}
		held += bytes + copied // the keys may be held in one type, and in order
		scratch += (keyCopies - 1) * copied
	}
	if len(on) > 0 {
		held, scratch = held+keptTable*e.r, scratch+sortedRow*e.r
	}
	return call.Estimate([]uint64{held + fixedScratch}, []uint64{scratch})
}
