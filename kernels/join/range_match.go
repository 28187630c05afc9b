package join

import (
	"fmt"

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

// rangeMatcher finds the matches of ranges, the last two of the left keys, with the same values
// in the keys before.
type rangeMatcher struct {
	*call
	left, right []*column.Column
	bounds      Bounds
	held        release.Stack
}

// match finds the matches. The caller releases them.
func (r *rangeMatcher) match() (*matches, error) {
	m, err := newMatches(r.call, r.left[0].Len(), r.right[0].Len())
	if err != nil {
		return nil, err
	}
	err = r.fill(m)
	return release.OnError(m, err, r.held.Release())
}

func (r *rangeMatcher) fill(m *matches) error {
	if m.probe == 0 {
		return nil
	}
	s, keys, err := sortUsable(r.call, &r.held, m, r.right, false)
	if err != nil {
		return err
	}
	n, bounds := len(r.right)-1, r.bounds
	var places [2]*column.Column
	for i := range places {
		upper := i == 0 && (bounds == HighClosed || bounds == Open) || i == 1 && (bounds == HighClosed || bounds == Closed)
		if places[i], err = r.places(s, append(r.left[:n:n], r.left[n+i]), keys, upper); err != nil {
			return err
		}
	}
	all, _, err := keyTable(&r.held, r.left)
	if err != nil {
		return err
	}
	valid, err := usableOf(r.call, &r.held, all, n, n+1) // NaN is no bound
	if err != nil {
		return err
	}
	return m.fillSpans(r.call, places[0], places[1], valid)
}

// places searches the values of some keys of the left table.
func (r *rangeMatcher) places(s *sortedRows, columns []*column.Column, keys []order.Key, upper bool) (*column.Column, error) {
	values, _, err := keyTable(&r.held, columns)
	if err != nil {
		return nil, err
	}
	return searchPlaces(r.call, &r.held, s.table, values, keys, upper)
}
