package group

import (
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// Dense keys are integers in small ranges, and constants. The combination of the keys of a
// row is its place, which is the number of its group: the kernel that adds rows to states
// computes it from the keys, so that no pass over the rows numbers them, and no column has
// the numbers. There are states for all places, of which those without rows are removed from
// the result.

// denseKey is a key and the range of its values.
type denseKey struct {
	source
	column *column.Column
	// constant is set if all rows have the same value.
	constant bool
	span     span
	// factor is the distance between the places of consecutive values.
	factor uint64
}

// denseKeys are the keys of a dense grouping.
type denseKeys struct {
	keys   []denseKey
	places uint64
}

// argument returns the keys as the kernel takes them. d may be nil.
func (d *denseKeys) argument() any {
	var l keysLayout
	if d != nil {
		l.direct = 1
		for i := range d.keys {
			if k := &d.keys[i]; !k.constant {
				l.key[l.count] = denseKeyLayout{values: k.source.layout(), least: k.span.least, places: k.span.places, factor: k.factor}
				l.count++
			}
		}
	}
	return l.asArgument()
}

// denseKeys returns the keys of which the combination is a place.
func (r *groupFinder) denseKeys() (*denseKeys, error) {
	d := &denseKeys{places: 1}
	for _, c := range r.constants {
		d.keys = append(d.keys, denseKey{column: c, constant: true, span: span{places: 1}})
	}
	for i, known := range r.facts.keys[len(d.keys):] {
		k := denseKey{column: r.rows.Column(i), constant: known.constant, span: known.span}
		if !k.constant {
			var err error
			if k.source, err = sourceOf(&r.call, k.column); err != nil {
				return nil, err
			}
		}
		d.keys = append(d.keys, k)
	}
	for i := range d.keys {
		d.keys[i].factor = d.places
		d.places *= d.keys[i].span.places
	}
	return d, nil
}

// findDense makes a group of each place.
func (r *groupFinder) findDense() error {
	d, err := r.denseKeys()
	if err != nil {
		return err
	}
	if r.groups, err = r.denseGrouping(d); err == nil {
		r.presence = r.plan.countPlaces(-1)
	}
	return err
}

func isConstant(k Key) bool {
	if k.Values != nil || k.Column != "" {
		return false
	}
	_, literal := k.Expr.Literal()
	return literal
}

// findOneGroup makes one group of all rows.
func (r *groupFinder) findOneGroup() error {
	n, _, err := r.rows.Extent(r.call.Context())
	if err != nil {
		return err
	}
	g := &grouping{rows: int(n), single: true}
	if g.keys, err = op.TableOf(r.keyNames(), r.constants, buffer.Rows{Count: 1}); err != nil {
		return err
	}
	g.owned.Add(g.keys)
	r.groups = g
	return nil
}

// denseGrouping returns a grouping with a group for each place.
func (r *groupFinder) denseGrouping(d *denseKeys) (*grouping, error) {
	n, counted, err := r.rows.Extent(r.call.Context())
	if err != nil {
		return nil, err
	}
	g := &grouping{dense: d, rows: int(n), counted: counted}
	var names []string
	var columns []*column.Column
	var keys release.Stack
	for i := range d.keys {
		c, err := r.keysOfPlaces(&d.keys[i], d.places)
		if err != nil {
			return nil, errors.Join(err, keys.Release())
		}
		keys.Add(c)
		names, columns = append(names, keyName(i)), append(columns, c)
	}
	g.keys, err = op.TableOf(names, columns, buffer.Rows{Count: int64(d.places)})
	if g.keys, err = release.OnError(g.keys, err, keys.Release()); err != nil {
		return nil, err
	}
	g.owned.Add(g.keys)
	return g, nil
}

// keysOfPlaces returns the value of a key for each place. A constant has one place.
func (r *groupFinder) keysOfPlaces(k *denseKey, places uint64) (*column.Column, error) {
	if k.constant {
		zeros, err := r.newScratch(op.Result{Type: arrow.PrimitiveTypes.Uint32, Length: int(places)}, func(out op.Buffers) error {
			return out.Values.Fill(r.call.Stream, 0)
		})
		if err != nil {
			return nil, err
		}
		taken, err := r.take(k.column, zeros, op.ScratchTag, selection.Trust)
		return release.OnError(taken, err, zeros.Release())
	}
	nullable := op.Nullable(k.column)
	result := op.Result{Type: k.column.Type(), Length: int(places), Nullable: nullable}
	return r.newScratch(result, func(out op.Buffers) error {
		padded := (int(places) + 63) / 64 * 64
		return launchRows(&r.call, "places", "keys_of_places", padded, out.Values, out.Valid, uint64(k.width), k.span.least, k.span.places, k.factor, places)
	})
}

// countPlaces adds the accumulator that counts the rows of each place for which a condition
// is true, or all of them if it is negative.
func (p *plan) countPlaces(where int) int {
	return p.accumulate(accumulator{kind: countRows, value: -1, other: -1, where: where})
}

// withRows removes the places without rows from a table, and releases it.
func (r *aggregation) withRows(table *buffer.Buffer) (*buffer.Buffer, error) {
	if r.present == table.Capacity() && table.RowCount() == nil && r.options.MaxGroups == 0 {
		return table, nil
	}
	mask, err := r.finish(&output{dataType: arrow.FixedWidthTypes.Boolean, finish: finishCount, states: []int{r.presence}})
	if err != nil {
		return nil, errors.Join(err, table.Release())
	}
	var kept *buffer.Buffer
	if r.present == unknownGroups {
		kept, err = selection.FilterMask(r.call.Context(), table, mask, r.resultOptions())
	} else {
		kept, err = selection.FilterMaskCounted(r.call.Context(), table, mask, r.present, r.resultOptions())
	}
	if kept, err = release.OnError(kept, err, table.Release(), mask.Release()); err != nil || r.options.MaxGroups == 0 || r.options.MaxGroups >= kept.Capacity() {
		return kept, err
	}
	bounded, err := shortenedTable(kept, r.options.MaxGroups)
	return release.OnError(bounded, err, kept.Release())
}

// shortenedTable returns a table with a lower capacity and the same row count, which may be
// too large for it: fetching it is an error then.
func shortenedTable(table *buffer.Buffer, capacity int64) (*buffer.Buffer, error) {
	count, err := column.NewRowCount(table.DeviceRows(), capacity)
	if err != nil {
		return nil, err
	}
	var parts release.Stack
	parts.Add(count)
	var columns []*column.Column
	for i := range table.NumColumns() {
		data := table.Column(i).Data()
		data.Rows, data.Length = count, int(capacity)
		c, err := column.New(data)
		if err != nil {
			return nil, errors.Join(err, parts.Release())
		}
		parts.Add(c)
		columns = append(columns, c)
	}
	bounded, err := buffer.New(table.Schema(), columns, buffer.Rows{Shared: count})
	return release.OnError(bounded, err, parts.Release())
}
