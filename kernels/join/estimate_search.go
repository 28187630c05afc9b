package join

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
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
		k, err := e.keyBound(pair)
		if err != nil {
			return &KeyError{i, pair, err}
		}
		total += k.bytes + keyCopies*k.copied
	}
	total += sortedRow*(e.l+e.r) + pairRow*e.rows
	return call.Estimate([]uint64{columnBytes}, []uint64{total})
}

// estimateIndex reports a bound of the memory of [Build]: the result is the memory of the index
// without the table. It returns kernels.ErrEstimated.
func estimateIndex(ctx context.Context, left *arrow.Schema, right *buffer.Buffer, on []On, options Options) error {
	base := options.Options
	options.Estimate = nil
	call, err := op.Begin(ctx, base, columnsOf(right)...)
	if err != nil {
		return err
	}
	e := &estimator{right: right, leftSchema: left, on: on, options: &options, r: uint64(right.Capacity())}
	held, scratch := uint64(0), uint64(fixedScratch)
	for i, pair := range on {
		k, err := e.keyBound(pair)
		if err != nil {
			return &KeyError{i, pair, err}
		}
		held += k.bytes + k.copied // the keys may be held in one type, and in order
		scratch += (keyCopies - 1) * k.copied
	}
	if len(on) > 0 {
		held, scratch = held+keptTable*e.r, scratch+sortedRow*e.r
	}
	return call.Estimate([]uint64{held + fixedScratch}, []uint64{scratch})
}
