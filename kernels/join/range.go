package join

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
)

// Range joins each left row with the right rows that have a value in the left row's range.
// on are keys that have to be equal, too; there may be none. The kinds are Inner, Left,
// Semi and Anti. The result has the order of the left rows; pairs of a left row are in the
// order of the value, then of the right rows. Other options are those of [Tables]. Null
// and NaN are in no range, and are no bounds of one.
//
// # Waiting
//
// On a GPU Range waits as order.Indices and order.Search do, and for the number of pairs.
//
// # Ownership
//
// The caller releases the result.
//
// # Errors
//
// The errors are those of [Tables].
//
// # Estimates
//
// Estimates are upper bounds, those of [AsOf] for a result of at most MaxRows rows.
func Range(ctx context.Context, left, right *buffer.Buffer, between Between, on []On, options Options) (*buffer.Buffer, error) {
	table, err := joinRange(ctx, left, right, between, on, options)
	if err != nil {
		return nil, fmt.Errorf("join: range: %w", err)
	}
	return table, nil
}

func joinRange(ctx context.Context, left, right *buffer.Buffer, between Between, on []On, options Options) (*buffer.Buffer, error) {
	if err := between.check(&options); err != nil {
		return nil, err
	}
	options.Order = LeftOrder
	if options.Estimate != nil {
		return nil, estimateRange(ctx, left, right, between, on, options)
	}
	bounds := []On{{Left: between.Low, Right: between.Right}, {Left: between.High, Right: between.Right}}
	keys := append(append([]On(nil), on...), bounds...)
	if err := options.check(keys); err != nil {
		return nil, err
	}
	s := newSides(options)
	table, err := func() (*buffer.Buffer, error) {
		if err := s.open(ctx, left, right, keys, on); err != nil {
			return nil, err
		}
		n := len(on)
		if a, b := s.rightKeys[n].Type(), s.rightKeys[n+1].Type(); !arrow.TypeEqual(a, b) {
			return nil, &KeyError{n + 1, bounds[1], fmt.Errorf("the bounds compare with the right key as %v and as %v, expected one type: cast one of them: %w", a, b, device.ErrNotSupported)}
		}
		k := rangeMatcher{call: s.call, left: s.leftKeys, right: s.rightKeys[:n+1], bounds: between.Bounds}
		m, err := k.match()
		if err != nil {
			return nil, err
		}
		o := output{sides: s, roles: s.roles(false)}
		return o.tableOf(m)
	}()
	return release.OnError(table, err, s.Release())
}

// RangeSchema returns the schema of the result of [Range] for tables of two schemas.
func RangeSchema(left, right *arrow.Schema, on []On, options Options) (*arrow.Schema, error) {
	r, err := planResult(left, right, on, &options)
	if err != nil {
		return nil, fmt.Errorf("join: range: schema: %w", err)
	}
	return r.schema(left, right, options.Kind), nil
}
