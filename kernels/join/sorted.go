package join

import (
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// sortedRows are the rows of a table in the order of keys.
type sortedRows struct {
	table *buffer.Buffer
	// rows are the numbers of the rows, as uint32.
	rows *column.Column
}

// sortRows sorts a table. Rows with equal keys keep their order.
func sortRows(c *call, held *release.Stack, table *buffer.Buffer, keys []order.Key) (*sortedRows, error) {
	rows, err := order.Indices(c.Context(), table, keys, c.building())
	if err != nil {
		return nil, err
	}
	held.Add(rows)
	ordered, err := selection.TakeWith(c.Context(), table, rows, selection.TakeOptions{Options: c.building(), Bounds: selection.Trust, Distinct: true})
	if err != nil {
		return nil, err
	}
	held.Add(ordered)
	return &sortedRows{table: ordered, rows: rows}, nil
}

// searchPlaces returns, for each row of values, the number of sorted rows before it, as uint32.
// If upper is set these include equal rows.
func searchPlaces(c *call, held *release.Stack, sorted, values *buffer.Buffer, keys []order.Key, upper bool) (*column.Column, error) {
	ranks, err := order.Search(c.Context(), sorted, values, keys, order.SearchOptions{Options: c.scratch(), Upper: upper, Unchecked: true})
	if err == nil {
		held.Add(ranks)
	}
	return ranks, err
}

// sortUsable sorts the right rows that can match by their keys. The list of the matches
// becomes the numbers of these rows. If the table is sorted by the last key, a stable sort
// by the others is enough.
func sortUsable(c *call, held *release.Stack, m *matches, rightKeys []*column.Column, isSorted bool) (*sortedRows, []order.Key, error) {
	table, keys, err := keyTable(held, rightKeys)
	if err != nil {
		return nil, nil, err
	}
	mask, err := usableOf(c, held, table, len(keys)-1)
	if err != nil {
		return nil, nil, err
	}
	var list *column.Column
	if mask != nil {
		if table, list, err = filterRows(c, held, table, mask); err != nil {
			return nil, nil, err
		}
	}
	s := &sortedRows{table: table}
	sortKeys := keys
	if isSorted {
		sortKeys = keys[:len(keys)-1]
	}
	if len(sortKeys) > 0 {
		if s, err = sortRows(c, held, table, sortKeys); err != nil {
			return nil, nil, err
		}
		if list == nil {
			list = s.rows
		} else if list, err = selection.TakeColumnWith(c.Context(), list, s.rows, selection.TakeOptions{Options: c.scratch(), Bounds: selection.Trust, Distinct: true}); err != nil {
			return nil, nil, err
		} else {
			held.Add(list)
		}
	}
	if list == nil {
		return s, keys, nil
	}
	if err := list.Retain(); err != nil {
		return nil, nil, err
	}
	m.held.Add(list)
	m.list, err = uint32sOf(list)
	return s, keys, err
}

// between returns matches with the sorted rows from low up to high, and none for rows
// that are not valid.
func (s *sortedRows) between(c *call, low, high, valid *column.Column) (*matches, error) {
	m, err := newMatches(c, low.Len(), s.rows.Len())
	if err != nil {
		return nil, err
	}
	if err = s.rows.Retain(); err == nil {
		m.held.Add(s.rows)
		m.list, err = uint32sOf(s.rows)
	}
	if err == nil {
		err = m.fillSpans(c, low, high, valid)
	}
	return release.OnError(m, err)
}

const (
	// sortedRow is a bound of the memory for each row of a side that is sorted or searched,
	// without copies of its keys: a mask of the rows that can match, their numbers, the order, and
	// places.
	sortedRow = 40
	// keyCopies is a bound of the copies of a key: the rows that can match, those in order, and
	// their words.
	keyCopies = 3
)
