package group

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

var errNoEstimate = fmt.Errorf("the memory depends on the data, so it is not known before the operator runs: %w", device.ErrNotSupported)

// bound is an upper bound of the memory of an aggregation. The data decides which groups there are and how
// they are found, so each part is that of the largest case: as many groups as rows, or MaxGroups.
type bound struct {
	query   Query
	plan    *plan
	options ByOptions
	onHost  bool
	// places is set if tables of places, and partitions, may be used, hashed if partitions by hashes may be.
	places, hashed bool
	// rows is the most rows, and groups the most groups.
	rows, groups uint64
	// shared is the shared memory of a block, multiprocessors the number of these.
	shared, multiprocessors uint64
	failure                 error
}

// estimate records an upper bound of the memory of an aggregation. It returns kernels.ErrEstimated.
func (q Query) estimate(ctx context.Context, p *plan, options ByOptions) error {
	for i := range p.outputs {
		if o := &p.outputs[i]; o.method.readsNumbers() {
			return &AggregateError{i, o.aggregate, errNoEstimate}
		}
	}
	call, err := op.Begin(ctx, options.Options)
	if err != nil {
		return err
	}
	b := bound{query: q, plan: p, options: options, rows: uint64(q.table.Capacity())}
	dev := q.table.Device()
	b.onHost = dev.Kind() == device.Host
	if n, known := q.table.HostRows(); known {
		b.rows = min(b.rows, uint64(n))
	}
	f := numberer{call: &call, waits: options.MaxGroups == 0}
	b.places = f.measures(int(b.rows))
	b.hashed = f.waits && !b.onHost && len(q.keys) == 1 && (b.rows >= fewestHashedRows || tuningOf(ctx).Find == hashesName)
	b.groups = b.rows
	if b.places { // the result may have room for this many places
		b.groups = max(b.groups, unwaited)
	}
	if options.MaxGroups > 0 {
		b.groups = min(b.groups, uint64(options.MaxGroups))
	}
	if !b.onHost {
		shared, err := dev.Attribute(backend.MaxSharedMemoryPerBlockOptIn)
		if err != nil {
			return err
		}
		b.shared, b.multiprocessors = uint64(shared), uint64(max(dev.Info().Multiprocessors, 1))
	}
	// Columns of a result may share a block with memory of the same length.
	result := 2 * b.results(b.groups)
	if q.numbered { // Transform has them for each row
		result = 2 * b.outputs(b.rows)
	}
	scratch := b.inputs() + b.filtered() + b.tables() + max(b.states(), b.partitioned())
	if q.numbered {
		scratch += b.results(b.groups) + 16*b.rows
	}
	if options.Order == ByKey {
		scratch += result + sortBytes*b.groups
	}
	if b.failure != nil {
		return b.failure
	}
	return call.Estimate([]uint64{result}, []uint64{scratch})
}

// columnBytes is the memory of a number of rows of a type. Strings have those of a column at most, or
// are refused without one.
func (b *bound) columnBytes(t arrow.DataType, c *column.Column, rows uint64) uint64 {
	l, err := layout.Of(t)
	if err != nil {
		b.failure = err
		return 0
	}
	bytes := op.BitmapBytes(int(rows)) + 3*boundPadding
	switch {
	case l.Kind == layout.Bits:
		return 2 * bytes
	case l.Kind == layout.Binary && c != nil && c.Len() > 0:
		return bytes + uint64(l.Width)*(rows+1) + c.Buffer(2).Bytes()
	case l.Kind == layout.Struct:
		for i := range l.Children() {
			child, _ := l.Child(i)
			var values *column.Column
			if c != nil {
				values = c.Child(i)
			}
			bytes += b.columnBytes(child, values, rows)
		}
		return bytes
	case l.Kind == layout.Binary || l.Width == 0:
		b.failure = fmt.Errorf("the length of its values of %v is not known before the operator runs (compute the column before): %w", t, device.ErrNotSupported)
		return 0
	}
	return bytes + uint64(l.Width)*rows
}

// read is the memory of a number of values of an expression, and whether a column of the table has them.
func (b *bound) read(e expr.Expr, rows uint64) (bytes uint64, stored bool) {
	if name, plain := e.Column(); plain {
		if c, err := b.query.table.ColumnByName(name); err == nil {
			return b.columnBytes(c.Type(), c, rows), true
		}
	}
	t, _, err := e.Type(b.query.table.Schema())
	if err != nil {
		b.failure = err
		return 0, false
	}
	return b.columnBytes(t, nil, rows), false
}

// key is the memory of a number of values of a key.
func (b *bound) key(k Key, rows uint64) (bytes uint64, stored bool) {
	if k.Values != nil {
		return b.columnBytes(k.Values.Type(), k.Values, rows), true
	}
	return b.read(k.expression(), rows)
}

// keys is the memory of a number of rows of all keys.
func (b *bound) keys(rows uint64) (bytes uint64) {
	for _, k := range b.query.keys {
		key, _ := b.key(k, rows)
		bytes += key
	}
	return bytes
}

// outputs is the memory of the columns of aggregates.
func (b *bound) outputs(rows uint64) (bytes uint64) {
	for i := range b.plan.outputs {
		o := &b.plan.outputs[i]
		if o.method == byRow {
			values, _ := b.read(b.plan.inputs[o.value].expression, rows)
			bytes += values
			continue
		}
		bytes += b.columnBytes(o.dataType, nil, rows)
	}
	return bytes
}

func (b *bound) results(rows uint64) uint64 { return b.keys(rows) + b.outputs(rows) }

// inputs is the memory of keys, values and conditions that are computed.
func (b *bound) inputs() (bytes uint64) {
	add := func(size uint64, stored bool) {
		if !stored {
			bytes += size
		}
	}
	for _, k := range b.query.keys {
		add(b.key(k, b.rows))
	}
	for _, in := range b.plan.inputs {
		if in.ranked < 0 {
			add(b.read(in.expression, b.rows))
			continue
		}
		bytes += (4 + sortBytes) * b.rows // ranks
	}
	if !b.query.where.IsZero() {
		add(b.read(b.query.where, b.rows))
	}
	return bytes + boundSmall
}

// filtered is the memory of the rows that a condition, or keys that are not null, keep: of the columns
// of the table before expressions are computed, or of their values.
func (b *bound) filtered() (bytes uint64) {
	if b.query.where.IsZero() && b.options.Nulls != DropNulls && !b.plan.findsRows() && !b.query.numbered {
		return 0
	}
	aggregates := make([]Aggregate, len(b.plan.outputs))
	for i := range b.plan.outputs {
		aggregates[i] = b.plan.outputs[i].aggregate
	}
	for _, name := range b.query.columns(aggregates) {
		stored, _ := b.read(expr.Col(name), b.rows)
		bytes += stored
	}
	bytes += b.keys(b.rows)
	for _, in := range b.plan.inputs {
		if in.ranked < 0 {
			values, _ := b.read(in.expression, b.rows)
			bytes += values
		}
	}
	return bytes + 32*b.rows + boundSmall // with the numbers of rows, and the mask
}

// tables is the memory of the groups of all rows: a hash table for each key and for pairs of keys, or a
// table of places, and the keys of the groups.
func (b *bound) tables() uint64 {
	count := uint64(0)
	var flat func(t arrow.DataType)
	flat = func(t arrow.DataType) {
		count++
		if structure, nested := t.(*arrow.StructType); nested {
			for _, field := range structure.Fields() {
				flat(field.Type)
			}
		}
	}
	bytes := b.keys(b.rows) + 8*b.rows
	for _, k := range b.query.keys {
		t := arrow.DataType(nil)
		if k.Values != nil {
			t = k.Values.Type()
		} else {
			var err error
			if t, _, err = k.expression().Type(b.query.table.Schema()); err != nil {
				b.failure = err
				return 0
			}
		}
		flat(t)
		if t.ID() == arrow.DICTIONARY {
			bytes += compareBytes * b.rows
		}
	}
	bytes += (2*count+1)*(findBytes*b.rows+boundSmall) + count*(pairBytes*b.rows+boundPadding)
	if b.places {
		bytes += (count + 1) * placeBytes * mostPlaces
	}
	return bytes
}

// states is the memory of the states of all groups, of the accumulators' kernels, and of results before
// places without rows are removed.
func (b *bound) states() uint64 {
	words, floats, bytes, groups := uint64(0), uint64(0), uint64(0), max(b.rows, b.groups)
	for _, a := range b.plan.counted() {
		words += uint64(a.words())
		if a.kind == sumFloats {
			floats++
		}
	}
	for i := range b.plan.outputs {
		if b.plan.outputs[i].method == byRow || b.plan.outputs[i].findsRow() {
			bytes += 16*groups + boundSmall
		}
	}
	bytes += 8*words*groups + b.results(groups) + 2*op.BitmapBytes(int(groups)) + boundSmall
	if !b.onHost {
		bytes += min(mostRecordBytes, 8*mostRecordWords*groups) + floats*(8*windowWords*groups+outsideBytes*max(b.rows/outsideShare, fewestOutside)+boundSmall)
	}
	return bytes
}

// partitioned is the memory of partitions: moved rows, places and states of chunks.
func (b *bound) partitioned() uint64 {
	if !b.places && !b.hashed {
		return 0
	}
	moved, places := uint64(2+4+2*4), partitionedPerRow*b.rows
	for _, a := range b.plan.accumulators {
		if a.value >= 0 {
			moved += 2 * 8
		}
	}
	outputs := uint64(4)
	for range b.plan.outputs {
		outputs += 8 + 1
	}
	if b.hashed { // the places of all rows, and the key as a value and as a result
		moved, outputs = moved+4+2*8, outputs+8+1
	}
	chunks := min(b.rows/fewestChunkedRows, 2*b.multiprocessors)
	return moved*b.rows + outputs*(places+1<<mostPlaceBits) + 2*chunks*b.shared + b.results(b.rows) + 1<<24
}
