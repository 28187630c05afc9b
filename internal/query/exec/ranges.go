package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/exchange"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// ranges finds the ranges of keys that the rows of a shuffle move by. Each device keeps its rows
// and samples their keys. Then the places of all rows are known, and the samples give the bounds of
// ranges with about as many rows each. A bound is a key and a place, so that rows with equal keys
// are divided too.
type ranges struct {
	below *fragment
	// columns are the key columns of a sample, which the rows get too while they are divided.
	columns []expr.Expr
	// keys order the rows by these columns and the place.
	keys []order.Key
	// unique is set if rows never have equal keys, so that they need no place.
	unique bool
	// rows are those of each device.
	rows []*rangeRows
	// bounds are the first rows of all ranges but the first one, on each device.
	bounds []*buffer.Buffer
}

// rangeRows are the rows of a device, and the samples of them.
type rangeRows struct {
	*held
	worker *worker
	tables []rangeTable
	// samples are the keys of sampled rows, in the order of list.
	samples []*buffer.Buffer
	list    []sampledRow
	// thinned counts how often every second row was dropped.
	thinned int
	// sampled is the number of tables that were sampled: none while the rows are few.
	sampled int
	count   int64
}

// rangeTable is a table that the rows of a device are in.
type rangeTable struct {
	heldTable
	at   ordinal
	rows int64
	// first is the number of its first row among those of all devices.
	first int64
}

// sampledRow is the number of a row in a table. It stands for a number of rows.
type sampledRow struct {
	table  int
	row    int64
	weight float64
}

const (
	// mostSamples is the number of rows in the samples of all devices, and leastSampled that of a
	// table at least, if it has as many.
	mostSamples, leastSampled = 4096, 4
	// mostSampleTables is the number of samples that are made one table.
	mostSampleTables = 16
)

func newRanges(below *fragment, keys []plan.SortKey) *ranges {
	r := &ranges{below: below}
	for i, k := range keys {
		name, plain := plan.Unnamed(k.Value).Column()
		if !plain {
			name = plan.Computed(fmt.Sprintf("key %d", i))
		}
		r.unique = r.unique || plain && name == plan.PositionName
		if !slices.ContainsFunc(r.columns, func(e expr.Expr) bool { return e.Name() == name }) {
			r.columns = append(r.columns, k.Value.As(name))
		}
		r.keys = append(r.keys, order.Key{Column: name, Descending: k.Descending, NullsFirst: k.NullsFirst})
	}
	if !r.unique {
		r.keys = append(r.keys, order.Key{Column: placeName})
	}
	return r
}

// move moves all rows of a shuffle.
func (r *ranges) move(ctx context.Context, s *shuffle) error {
	for _, w := range r.below.workers {
		r.rows = append(r.rows, &rangeRows{held: r.below.holdOn(w), worker: w})
	}
	err := r.below.each(ctx, func(ctx context.Context, w *worker) error { return r.read(ctx, r.rows[w.number]) })
	if err != nil {
		return err
	}
	switch rows := r.number(); {
	case rows == 0:
		return nil
	case rows <= r.below.settings.FewRows:
		return r.below.each(ctx, func(ctx context.Context, w *worker) error { return r.sendFirst(ctx, s, r.rows[w.number]) })
	}
	err = r.below.each(ctx, func(ctx context.Context, w *worker) error { return r.sampleRest(ctx, r.rows[w.number]) })
	if err != nil {
		return err
	}
	if err := r.find(ctx); err != nil {
		return r.below.failed(unended(err))
	}
	return r.below.each(ctx, func(ctx context.Context, w *worker) error { return r.send(ctx, s, r.rows[w.number]) })
}

// read keeps and samples the rows of a device.
func (r *ranges) read(ctx context.Context, local *rangeRows) error {
	return local.worker.all(ctx, func(table *buffer.Buffer) error {
		rows, err := table.NumRows(ctx)
		if local.count += rows; err == nil && rows > 0 && local.count > r.below.settings.FewRows {
			if err = r.sampleRest(ctx, local); err == nil {
				err = r.sample(ctx, local, table, rows)
			}
		}
		if err != nil {
			return errors.Join(err, table.Release())
		}
		at := local.worker.at
		if err := local.movable(ctx, table); err != nil {
			return err
		}
		for _, t := range local.held.tables { // one, or none for no rows
			local.tables = append(local.tables, rangeTable{heldTable: t, at: at, rows: rows})
		}
		local.held.tables = nil
		return nil
	})
}

// sampleRest samples the tables that were kept while the rows were few.
func (r *ranges) sampleRest(ctx context.Context, local *rangeRows) error {
	for local.sampled < len(local.tables) {
		t := local.tables[local.sampled]
		table, err := acquired(ctx, t)
		if err != nil {
			return err
		}
		err = r.sample(ctx, local, table, t.rows)
		if err = errors.Join(err, table.Release()); err != nil {
			return err
		}
	}
	return nil
}

// sample adds some rows of the next table to the sample.
func (r *ranges) sample(ctx context.Context, local *rangeRows, table *buffer.Buffer, rows int64) error {
	most := mostSamples / len(r.rows)
	wanted := min(rows, int64(max(most/2>>local.thinned, leastSampled)))
	spread, numbers, err := local.spread(ctx, table, wanted, rows)
	if err != nil {
		return err
	}
	keys, err := local.project(ctx, spread, r.columns)
	if keys, err = release.OnError(keys, err, spread.Release()); err != nil {
		return err
	}
	for _, number := range numbers {
		local.list = append(local.list, sampledRow{local.sampled, number, float64(rows) / float64(wanted)})
	}
	local.sampled++
	local.samples = append(local.samples, keys)
	if len(local.list) > most {
		return local.thin(ctx)
	}
	if len(local.samples) < mostSampleTables {
		return nil
	}
	return local.unite(ctx)
}

// unite makes the samples one table.
func (l *rangeRows) unite(ctx context.Context) error {
	samples := l.samples
	l.samples = nil
	all, err := selection.Concat(ctx, samples, l.options())
	if all, err = release.OnError(all, err, release.All(samples)); err == nil {
		l.samples = []*buffer.Buffer{all}
	}
	return err
}

// thin keeps every second row of the samples, which stands for two.
func (l *rangeRows) thin(ctx context.Context) error {
	if err := l.unite(ctx); err != nil {
		return err
	}
	l.thinned++
	var rows []uint32
	var list []sampledRow
	for i, s := range l.list {
		if i%2 == 0 {
			rows, list = append(rows, uint32(i)), append(list, s)
		} else {
			list[i/2].weight += s.weight
		}
	}
	l.list = list
	indices, err := column.FromSlice(ctx, l.settings.Manager, rows, column.SliceOptions{Stream: l.settings.stream(), Tag: l.settings.Tag})
	if err != nil {
		return err
	}
	halved, err := selection.Take(ctx, l.samples[0], indices, l.options())
	if halved, err = release.OnError(halved, err, indices.Release(), l.samples[0].Release()); err != nil {
		l.samples = nil
		return err
	}
	l.samples[0] = halved
	return nil
}

// number sets the number of the first row of each table, and returns the number of rows.
func (r *ranges) number() (rows int64) {
	var all []*rangeTable
	for _, local := range r.rows {
		for i := range local.tables {
			all = append(all, &local.tables[i])
		}
	}
	slices.SortStableFunc(all, func(a, b *rangeTable) int {
		return cmp.Or(cmp.Compare(a.at.input, b.at.input), cmp.Compare(a.at.batch, b.at.batch))
	})
	for _, t := range all {
		t.first = rows
		rows += t.rows
	}
	return rows
}

// find makes the bounds of the samples, on each device.
func (r *ranges) find(ctx context.Context) error {
	var samples []*buffer.Buffer
	var places []int64
	var weights []float64
	for _, local := range r.rows {
		samples = append(samples, local.samples...)
		for _, s := range local.list {
			places = append(places, local.tables[s.table].first+s.row)
			weights = append(weights, s.weight)
		}
	}
	all, err := exchange.Gather(ctx, samples, r.below.settings.Manager, exchange.Options{Tag: r.below.settings.Tag})
	for _, local := range r.rows {
		err = errors.Join(err, release.All(local.samples))
		local.samples = nil
	}
	if err != nil {
		return errors.Join(err, all.Release())
	}
	if !r.unique {
		if all, err = r.below.withPlaces(ctx, all, places); err != nil {
			return err
		}
	}
	bounds, err := r.choose(ctx, all, weights)
	if bounds, err = release.OnError(bounds, err, all.Release()); err != nil {
		return err
	}
	for _, local := range r.rows {
		moved, err := local.settings.Move(ctx, bounds, local.settings.Manager)
		if err != nil {
			return errors.Join(local.failed(err), bounds.Release())
		}
		r.bounds = append(r.bounds, moved)
	}
	return bounds.Release()
}

// choose takes rows of a sample that divide all rows into as many parts of about the same size as
// there are devices.
func (r *ranges) choose(ctx context.Context, samples *buffer.Buffer, weights []float64) (*buffer.Buffer, error) {
	sorted, err := order.Indices(ctx, samples, r.keys, r.below.options())
	if err != nil {
		return nil, err
	}
	listed, err := sorted.Array(ctx)
	if err = errors.Join(err, sorted.Release()); err != nil {
		if listed != nil {
			listed.Release()
		}
		return nil, err
	}
	defer listed.Release()
	chosen := quantiles(listed.(*array.Uint32).Uint32Values(), weights, len(r.rows))
	indices, err := column.FromSlice(ctx, r.below.settings.Manager, chosen, column.SliceOptions{Stream: r.below.settings.stream(), Tag: r.below.settings.Tag})
	if err != nil {
		return nil, err
	}
	bounds, err := selection.Take(ctx, samples, indices, r.below.options())
	return release.OnError(bounds, err, indices.Release())
}

// quantiles returns the rows that divide rows in an order into parts of about the same weight.
func quantiles(sorted []uint32, weights []float64, parts int) []uint32 {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	var chosen []uint32
	before := 0.0
	for i, row := range sorted {
		for len(chosen) < parts-1 && (before >= total*float64(len(chosen)+1)/float64(parts) || i == len(sorted)-1) {
			chosen = append(chosen, row)
		}
		before += weights[row]
	}
	return chosen
}

// next returns the first table that has not moved, and removes it.
func (l *rangeRows) next(ctx context.Context) (*buffer.Buffer, rangeTable, error) {
	t := l.tables[0]
	table, err := acquired(ctx, t)
	if err != nil {
		return nil, t, err
	}
	l.tables = l.tables[1:]
	table, err = release.OnError(table, t.Release())
	return table, t, err
}

// sendFirst moves the rows of a device to the first one.
func (r *ranges) sendFirst(ctx context.Context, s *shuffle, local *rangeRows) error {
	for len(local.tables) > 0 {
		table, t, err := local.next(ctx)
		if err != nil {
			return err
		}
		if err := s.sendFirst(ctx, local.worker, table, t.at); err != nil {
			return err
		}
	}
	return nil
}

// send moves the rows of a device.
func (r *ranges) send(ctx context.Context, s *shuffle, local *rangeRows) error {
	bounds := r.bounds[local.worker.number]
	for len(local.tables) > 0 {
		table, t, err := local.next(ctx)
		if err != nil {
			return err
		}
		first := t.first
		var rest pieces
		rest.push(table)
		err = rest.all(ctx, func(piece *buffer.Buffer) error {
			rows, err := piece.NumRows(ctx)
			if err != nil {
				return err
			}
			divided, err := r.divide(ctx, local, piece, bounds, first)
			if err != nil {
				return err
			}
			first += rows
			if err := s.divide(ctx, local.worker, divided, t.at); err != nil {
				first -= rows
				return err
			}
			return nil
		})
		if err = errors.Join(err, rest.Release()); err != nil {
			return err
		}
	}
	return nil
}

// divide returns the parts of a table, with its columns only.
func (r *ranges) divide(ctx context.Context, local *rangeRows, table, bounds *buffer.Buffer, first int64) ([]*buffer.Buffer, error) {
	wide, err := r.withKeys(ctx, local, table, first)
	if err != nil {
		return nil, err
	}
	parts, err := exchange.PartitionByRange(ctx, wide, bounds, r.keys, local.options())
	if err = errors.Join(err, wide.Release()); err != nil {
		return nil, errors.Join(err, release.All(parts))
	}
	return narrow(parts, table.Schema())
}

// withKeys returns a table with the columns of the keys and with the places of its rows.
func (r *ranges) withKeys(ctx context.Context, local *rangeRows, table *buffer.Buffer, first int64) (*buffer.Buffer, error) {
	var expressions []expr.Expr
	for _, f := range table.Schema().Fields() {
		expressions = append(expressions, expr.Col(f.Name))
	}
	for _, e := range r.columns {
		if !table.Schema().HasField(e.Name()) {
			expressions = append(expressions, e)
		}
	}
	wide, err := local.project(ctx, table, expressions)
	if err != nil || r.unique {
		return wide, err
	}
	numbered, err := local.withNumbers(ctx, wide, placeName, first)
	return release.OnError(numbered, err, wide.Release())
}

// Release releases the rows that have not moved, and the bounds. It may be called for nil.
func (r *ranges) Release() error {
	if r == nil {
		return nil
	}
	var err error
	for _, local := range r.rows {
		err = errors.Join(err, release.All(local.tables), local.held.Release(), release.All(local.samples))
	}
	err = errors.Join(err, release.All(r.bounds))
	r.rows, r.bounds = nil, nil
	return err
}
