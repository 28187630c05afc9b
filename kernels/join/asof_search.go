package join

import (
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/memory"
)

// search finds the nearest rows by searches. The caller releases the matches.
func (a *asOfMatcher) search() (*matches, error) {
	m, err := newMatches(a.call, a.left[0].Len(), a.right[0].Len())
	if err != nil || m.probe == 0 {
		return m, err
	}
	return release.OnError(m, a.searchNearest(m))
}

// searchNearest sorts the right rows and searches the left rows among them.
func (a *asOfMatcher) searchNearest(m *matches) error {
	owned, options := &a.held, a.options
	s, keys, err := sortUsable(a.call, owned, m, a.right, options.Sorted)
	if err != nil {
		return err
	}
	left, _, err := keyTable(owned, a.left)
	if err != nil {
		return err
	}
	n := &nearest{direction: options.Direction, notEqual: options.NotEqual, sorted: rowsOf(s.table), distances: a.distances}
	if err := a.searchAsOf(n, s, left, keys); err != nil {
		return err
	}
	valid, err := usableOf(a.call, owned, left, len(keys)-1)
	if err != nil {
		return err
	}
	if valid != nil {
		n.valid = valid.Buffer(1)
	}
	if n.distances.wanted {
		last := left.NumColumns() - 1
		if n.left, err = distanceKeys(a.call, owned, left.Column(last), &n.distances); err != nil {
			return err
		}
		if n.right, err = distanceKeys(a.call, owned, s.table.Column(last), &n.distances); err != nil {
			return err
		}
	}
	n.list, m.list, m.single = m.list, memory.Slice[uint32]{}, true
	if a.OnHost() {
		return errors.Join(a.waitIdle(), n.onHost(a.call, m))
	}
	return n.onDevice(a.call, m)
}

// searchAsOf makes the searches that the direction needs.
func (a *asOfMatcher) searchAsOf(n *nearest, s *sortedRows, left *buffer.Buffer, keys []order.Key) error {
	owned := &a.held
	find := func(to *memory.Slice[uint32], sorted, values *buffer.Buffer, keys []order.Key, upper bool) error {
		places, err := searchPlaces(a.call, owned, sorted, values, keys, upper)
		if err == nil {
			*to, err = uint32sOf(places)
		}
		return err
	}
	backward, forward := n.direction != Forward, n.direction != Backward
	if backward && n.notEqual || forward && !n.notEqual {
		if err := find(&n.low, s.table, left, keys, false); err != nil {
			return err
		}
	}
	if backward && !n.notEqual || forward && n.notEqual {
		if err := find(&n.high, s.table, left, keys, true); err != nil {
			return err
		}
	}
	by := keys[:len(keys)-1]
	if len(by) == 0 {
		return nil
	}
	bySorted, err := firstColumns(owned, s.table, len(by))
	if err != nil {
		return err
	}
	byLeft, err := firstColumns(owned, left, len(by))
	if err != nil {
		return err
	}
	if backward {
		if err := find(&n.begin, bySorted, byLeft, by, false); err != nil {
			return err
		}
	}
	if forward {
		return find(&n.end, bySorted, byLeft, by, true)
	}
	return nil
}

// distanceKeys returns the values of keys: integers as they are, floats as float64.
func distanceKeys(c *call, owned *release.Stack, keys *column.Column, d *distances) (memory.Slice[uint8], error) {
	if keys.Len() == 0 {
		return memory.Slice[uint8]{}, nil
	}
	if d.real && keys.Type().ID() != arrow.FLOAT64 {
		reals, err := cast(c.Context(), keys, arrow.PrimitiveTypes.Float64, c.scratch())
		if err != nil {
			return memory.Slice[uint8]{}, err
		}
		owned.Add(reals)
		keys = reals
	}
	l, err := layout.Of(keys.Type())
	if err != nil {
		return memory.Slice[uint8]{}, err
	}
	d.width = l.Width
	return keys.ValuesRegion()
}
