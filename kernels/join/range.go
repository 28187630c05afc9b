package join

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/kernels/order"
)

// Bounds selects the ends of a range that are part of it.
type Bounds uint8

const (
	// LowClosed is a ≤ x < b.
	LowClosed Bounds = iota
	// HighClosed is a < x ≤ b.
	HighClosed
	// Closed is a ≤ x ≤ b.
	Closed
	// Open is a < x < b.
	Open
)

// Between is the keys of a range join: Right of the right table lies between Low and High
// of the left table.
type Between struct {
	// Low, High and Right are names of columns of equal types.
	Low, High, Right string
	Bounds           Bounds
}

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

func (b *Between) check(options *Options) error {
	switch {
	case b.Bounds > Open:
		return fmt.Errorf("Bounds is %d, expected LowClosed, HighClosed, Closed or Open: %w", b.Bounds, device.ErrInvalidValue)
	case options.Kind != Inner && options.Kind != Left && options.Kind != Semi && options.Kind != Anti:
		return fmt.Errorf("Kind is %v, expected Inner, Left, Semi or Anti: %w", options.Kind, device.ErrInvalidValue)
	case options.NullsEqual:
		return fmt.Errorf("NullsEqual is set, but null is in no range: %w", device.ErrInvalidValue)
	}
	return nil
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
	r := &run{options: options}
	table, err := func() (*buffer.Buffer, error) {
		if err := r.open(ctx, left, right, keys, on); err != nil {
			return nil, err
		}
		n := len(on)
		if a, b := r.rightKeys[n].Type(), r.rightKeys[n+1].Type(); !arrow.TypeEqual(a, b) {
			return nil, &KeyError{n + 1, bounds[1], fmt.Errorf("the bounds compare with the right key as %v and as %v, expected one type: cast one of them: %w", a, b, device.ErrNotSupported)}
		}
		m, err := r.ranges(n, between.Bounds)
		if err != nil {
			return nil, err
		}
		return r.tableOf(m, false)
	}()
	return release.OnError(table, err, r.close())
}

// ranges finds the matches of ranges, the last two of the left keys, with the same values
// in the first n keys. The caller releases them.
func (r *run) ranges(n int, bounds Bounds) (*matches, error) {
	var held release.Stack
	m, err := r.newMatches(rowsOf(r.left), rowsOf(r.right))
	if err != nil {
		return nil, err
	}
	err = r.fillRanges(&held, m, n, bounds)
	return release.OnError(m, err, held.Release())
}

func (r *run) fillRanges(held *release.Stack, m *matches, n int, bounds Bounds) error {
	if m.probe == 0 {
		return nil
	}
	r.rightKeys = r.rightKeys[:n+1]
	s, keys, err := r.sortUsable(held, m, false)
	if err != nil {
		return err
	}
	var places [2]*column.Column
	for i := range places {
		upper := i == 0 && (bounds == HighClosed || bounds == Open) || i == 1 && (bounds == HighClosed || bounds == Closed)
		if places[i], err = r.placesOf(held, s, append(r.leftKeys[:n:n], r.leftKeys[n+i]), keys, upper); err != nil {
			return err
		}
	}
	all, _, err := r.keyTable(held, r.leftKeys)
	if err != nil {
		return err
	}
	valid, err := r.usableBounds(held, all)
	if err != nil {
		return err
	}
	return r.fillSpans(m, places[0], places[1], valid)
}

// placesOf searches the values of some keys of the left table.
func (r *run) placesOf(held *release.Stack, s *sortedRows, columns []*column.Column, keys []order.Key, upper bool) (*column.Column, error) {
	values, _, err := r.keyTable(held, columns)
	if err != nil {
		return nil, err
	}
	return r.places(held, s.table, values, keys, upper)
}

// usableBounds returns booleans that are false for rows with a null key or NaN as a bound,
// or nil.
func (r *run) usableBounds(held *release.Stack, keys *buffer.Buffer) (*column.Column, error) {
	last := keys.NumColumns() - 1
	return r.usableOf(held, keys, last-1, last)
}

// RangeSchema returns the schema of the result of [Range] for tables of two schemas.
func RangeSchema(left, right *arrow.Schema, on []On, options Options) (*arrow.Schema, error) {
	r, err := planResult(left, right, on, &options)
	if err != nil {
		return nil, fmt.Errorf("join: range: schema: %w", err)
	}
	return r.schema(left, right, options.Kind), nil
}
