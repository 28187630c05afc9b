package join

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/internal/op"
)

// estimator finds upper bounds of the memory of a join, from the tables without their rows.
type estimator struct {
	// left is nil for an index.
	left, right *buffer.Buffer
	leftSchema  *arrow.Schema
	on          []On
	options     *Options
	result      result
	// l and r are the most rows of both tables, rows those of the result.
	l, r, rows uint64
	// leftOnce and rightOnce report whether each row of a side is in the result at most
	// once.
	leftOnce, rightOnce bool
	// reversed is set if the right rows may be looked up, and the pairs sorted by their left rows.
	reversed bool
}

// newEstimator prepares an estimate, and begins the call that reports it.
func newEstimator(ctx context.Context, left, right *buffer.Buffer, on []On, options *Options) (*estimator, op.Call, error) {
	base := options.Options
	options.Estimate = nil
	for _, table := range []*buffer.Buffer{left, right} {
		if err := table.Check(); err != nil {
			return nil, op.Call{}, err
		}
	}
	e := &estimator{left: left, right: right, leftSchema: left.Schema(), on: on, options: options, l: uint64(left.Capacity()), r: uint64(right.Capacity())}
	var err error
	if e.result, err = planResult(left.Schema(), right.Schema(), on, options); err != nil {
		return nil, op.Call{}, err
	}
	fewest := left.Capacity()
	if _, known := left.HostRows(); !known {
		fewest = min(fewest, 1)
	}
	e.reversed = options.reverses(ctx, len(on), fewest, right.Capacity())
	call, err := op.Begin(ctx, base, append(columnsOf(left), columnsOf(right)...)...)
	return e, call, err
}

// estimateTables reports the bounds to the caller of [Tables]. It returns
// kernels.ErrEstimated.
func estimateTables(ctx context.Context, left, right *buffer.Buffer, on []On, options Options) error {
	e, call, err := newEstimator(ctx, left, right, options.withNulls(left.Schema(), right.Schema(), on), &options)
	if err != nil {
		return err
	}
	if _, err := schemaOf(left.Schema(), right.Schema(), on, options); err != nil {
		return err
	}
	if !options.Where.IsZero() {
		return errConditionWithoutBound
	}
	e.countRows()
	scratch, err := e.scratch(call.OnHost())
	if err != nil {
		return err
	}
	columnBytes, err := e.columns()
	if err != nil {
		return err
	}
	return call.Estimate([]uint64{columnBytes}, []uint64{scratch})
}

// countRows finds the most rows of the result.
func (e *estimator) countRows() {
	leftUnique, rightUnique := e.unique(e.left, 0), e.unique(e.right, 1)
	kind, pairs := e.options.Kind, e.l*e.r // both are below 2³²
	if kind != Cross && rightUnique {
		pairs = min(pairs, e.l)
	}
	if kind != Cross && leftUnique {
		pairs = min(pairs, e.r)
	}
	e.rows = pairs
	switch {
	case kind.leftOnly(), kind == Left && rightUnique:
		e.rows = e.l
	case kind == Right && leftUnique:
		e.rows = e.r
	case pairs < MaxPairs:
		if kind.keepsLeft() {
			e.rows += e.l
		}
		if kind.keepsRight() {
			e.rows += e.r
		}
	}
	e.rows = min(e.rows, uint64(e.options.limit()))
	e.leftOnce = kind != Cross && rightUnique || kind.leftOnly()
	e.rightOnce = kind != Cross && leftUnique
}

// unique reports whether a side is known to have no two rows with equal keys.
func (e *estimator) unique(table *buffer.Buffer, side int) bool {
	for _, pair := range e.on {
		name, isColumn := columnName(pair.side(side))
		if !isColumn {
			continue
		}
		if c, err := table.ColumnByName(name); err == nil && c.Known().Unique == column.Yes {
			return true
		}
	}
	return false
}

// columns returns a bound of the memory of the result.
func (e *estimator) columns() (total uint64, err error) {
	kind := e.options.Kind
	for _, c := range e.result.columns {
		if !c.selected {
			continue
		}
		from, number, once, missing := e.left, c.number, e.leftOnce, kind.keepsRight()
		if c.right {
			from, once, missing = e.right, e.rightOnce, kind.keepsLeft()
		}
		if c.shared >= 0 && kind == Right {
			from, number, once, missing = e.right, c.shared, e.rightOnce, false
		}
		if c.shared >= 0 && kind == Full {
			once = false // unified from both tables
		}
		bytes, err := bytesOf(from.Column(number), c.field(e.left.Schema(), e.right.Schema(), kind).Type, e.rows, once, missing || kind == Full)
		if err != nil {
			return 0, fmt.Errorf("column %q: %w", c.name, err)
		}
		total += bytes
	}
	return total, nil
}

// bytesOf returns a bound of rows of a column as a type of its values. once reports whether
// each row is taken at most once, missing whether rows may be null.
func bytesOf(c *column.Column, t arrow.DataType, rows uint64, once, missing bool) (uint64, error) {
	l, err := layout.Of(t)
	if err != nil {
		return 0, err
	}
	sizes := []uint64{8} // a row count
	if missing || op.Nullable(c) {
		sizes = append(sizes, op.BitmapBytes(int(rows)))
	}
	switch l.Kind {
	case layout.Fixed, layout.Dictionary:
		sizes = append(sizes, rows*uint64(l.Width))
	case layout.Bits:
		sizes = append(sizes, op.BitmapBytes(int(rows)))
	case layout.Binary:
		if !once {
			return 0, fmt.Errorf("an estimate of %v has no bound, because rows of the other table may have equal keys: leave the column out, or join a column that is known to be unique: %w", t, device.ErrNotSupported)
		}
		sizes = append(sizes, (rows+1)*uint64(l.Width), c.Buffer(2).Bytes())
	default:
		return 0, layout.Refuse(t, "values of a fixed width, dictionaries, strings or binaries in an estimate", device.ErrNotSupported)
	}
	total := uint64(0)
	for _, size := range sizes {
		padded, err := op.Bytes(size)
		if err != nil {
			return 0, err
		}
		total += padded
	}
	return total, nil
}

// scratch returns a bound of the memory that a join holds beside its result.
func (e *estimator) scratch(onHost bool) (uint64, error) {
	total := uint64(fixedScratch)
	bits := uint64(0)
	for i, pair := range e.on {
		k, err := e.keyBound(pair)
		if err != nil {
			return 0, &KeyError{i, pair, err}
		}
		total, bits = total+k.bytes, bits+k.bits
	}
	if bits > rowkey.WordBits {
		return 0, fmt.Errorf("an estimate for keys of %d bits has no bound, expected at most %d: join by fewer or shorter keys: %w", bits, rowkey.WordBits, device.ErrNotSupported)
	}
	probe, build := e.l, e.r
	if e.reversed || e.options.Order == Unspecified && !e.options.Kind.leftOnly() && e.l < e.r {
		probe, build = build, probe
	}
	_, leftKnown := e.left.HostRows()
	_, rightKnown := e.right.HostRows()
	if !leftKnown || !rightKnown {
		probe, build = max(e.l, e.r), max(e.l, e.r) // the counts decide which side builds
	}
	if e.options.Kind != Cross {
		total += tableScratch(e.l, e.r, build, !e.options.Kind.leftOnly())
	}
	extra := uint64(0)
	if e.options.Kind.keepsLeft() || e.options.Kind.keepsRight() {
		extra = max(e.l, e.r)
	}
	// Filters and takes of strings have state for each tile of rows, and lists of positions.
	gathered := (e.l+e.r)/4 + 16*e.rows
	if e.reversed { // both numbers of each pair once more, in the order of the left rows
		gathered += 16 * e.rows
	}
	if e.options.Kind == Full { // the keys of both sides in one column
		gathered += 40 * (e.l + e.r)
	}
	return total + pairScratch(probe, e.rows, extra) + gathered, nil
}

// keyBound is a bound of the memory of a pair of keys.
type keyBound struct {
	// bytes is that of the keys in one type, copied that of a copy of them, bits the bits of a key as a word.
	bytes, copied, bits uint64
}

// keyBound returns the bound of a pair of keys.
func (e *estimator) keyBound(pair On) (k keyBound, err error) {
	a, b, err := pair.types(e.leftSchema, e.right.Schema())
	if err != nil {
		return k, err
	}
	common := unifiedType(a, b)
	l, err := layout.Of(common)
	if err != nil {
		return k, err
	}
	rows := e.l + e.r
	k.copied = uint64(max(l.Width, 8)) * rows // also those of words and of nulls
	texts := uint64(0)
	for side, table := range []*buffer.Buffer{e.left, e.right} {
		if table == nil {
			continue
		}
		name, isColumn := columnName(pair.side(side))
		if !isColumn {
			if l.Kind == layout.Binary {
				return k, fmt.Errorf("an estimate of strings that are computed has no bound: compute the column before: %w", device.ErrNotSupported)
			}
			k.bytes += 17 * rows
			continue
		}
		c, err := table.ColumnByName(name)
		if err != nil {
			return k, err
		}
		d := c.Dictionary()
		if d != nil && !arrow.TypeEqual(a, b) && d.Type().ID() == common.ID() && l.Kind == layout.Binary {
			return k, fmt.Errorf("an estimate of strings that are decoded has no bound: encode both keys, or none: %w", device.ErrNotSupported)
		}
		texts += memoryOf(c)
		if arrow.IsBaseBinary(c.Type().ID()) || d != nil {
			k.copied += memoryOf(c)
		}
	}
	k.bits = 32
	if l.Kind == layout.Fixed && l.Width <= 8 {
		k.bits = 8 * uint64(l.Width)
	}
	if l.Kind == layout.Bits {
		k.bits = 1
	}
	if e.options.NullsEqual {
		k.bits++
	}
	if !arrow.TypeEqual(a, b) {
		k.bytes += 34*rows + texts
	}
	if l.Kind == layout.Binary || l.Kind == layout.Dictionary || l.Kind == layout.Fixed && l.Width > 8 || common.ID() == arrow.DECIMAL128 {
		// Concatenated, and numbered by a hash table.
		k.bytes += 64*rows + 2*texts
	}
	return k, nil
}

// memoryOf returns the bytes of a column and of its dictionary.
func memoryOf(c *column.Column) (bytes uint64) {
	data := c.Data()
	for _, b := range data.Buffers {
		bytes += b.Bytes()
	}
	if data.Dictionary != nil {
		bytes += memoryOf(data.Dictionary)
	}
	return bytes
}
