package group

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/window"
	"github.com/gpuframe/gpuframe/memory"
)

// Keys that are strings of few bytes are grouped by numbers. One pass finds the range of bytes of
// each position and the range of lengths; a second one makes a number of each string, with a digit for
// each position that has more than one byte, and one for the length. Different strings have different
// numbers, so no strings are hashed or compared, and small ranges of numbers are dense keys or
// partitions. The numbers of the groups are made strings again. "id000" to "id099" are the numbers
// 0 to 99.

// textDigit is a position with several bytes.
type textDigit struct {
	position, least int
	values, factor  uint64
}

// textNumbers are the numbers of the strings of a column.
type textNumbers struct {
	strings *column.Column
	// key is the number of the key.
	key               int
	shortest, longest int
	digits            []textDigit
	// lengthFactor is the factor of the length, or 0 if all have the same. null is the number of
	// null, and of numbers without it.
	lengthFactor, null uint64
	pattern            [2]uint64
	// column has the numbers, of 8, 32 or 64 bits. narrow permits 8: the kernel of plain columns takes a
	// single key of 32.
	column *column.Column
	narrow bool
}

// argument returns the digits as the kernels take them.
func (n *textNumbers) argument() any {
	l := textDigitsLayout{count: uint32(len(n.digits)), shortest: uint32(n.shortest), lengthFactor: n.lengthFactor, numbers: n.null, pattern: n.pattern}
	for i, d := range n.digits {
		l.digit[i] = textDigitLayout{position: uint32(d.position), least: uint32(d.least), places: d.values, factor: d.factor}
	}
	return l.asArgument()
}

// width is the number of bytes of a number.
func (n *textNumbers) width() int {
	switch {
	case n.narrow && n.null <= math.MaxUint8-1:
		return 1
	case n.null <= math.MaxUint32-1:
		return 4
	}
	return 8
}

// divide chooses the digits from bounds. It returns false for strings that are too long, and for too
// many numbers.
func (n *textNumbers) divide(bounds column.TextBounds) bool {
	n.null = 1
	if bounds.Shortest > bounds.Longest { // no strings
		n.null = 0
		return true
	}
	n.longest, n.shortest = bounds.Longest, bounds.Shortest
	if n.longest > mostTextBytes {
		return false
	}
	for i := range n.longest {
		least, greatest := int(bounds.Least[i]), int(bounds.Greatest[i])
		if least == greatest {
			n.pattern[i/8] |= uint64(least) << (8 * (i % 8))
			continue
		}
		d := textDigit{position: i, least: least, values: uint64(greatest - least + 1), factor: n.null}
		high, low := bits.Mul64(n.null, d.values)
		if high != 0 {
			return false
		}
		n.digits, n.null = append(n.digits, d), low
	}
	if n.longest == n.shortest {
		return n.null < math.MaxUint64
	}
	n.lengthFactor = n.null
	high, low := bits.Mul64(n.null, uint64(n.longest-n.shortest+1))
	n.null = low
	return high == 0 && low < math.MaxUint64
}

// textBoundsOf returns the bounds that bound_texts has found.
func textBoundsOf(words []uint32) column.TextBounds {
	if words[longestText] == 0 { // no strings
		return column.TextBounds{Shortest: 1}
	}
	bounds := column.TextBounds{Longest: int(words[longestText] - 1), Shortest: int(mostLength + 1 - words[shortestText])}
	for i := range min(bounds.Longest, mostTextBytes) {
		bounds.Least[i], bounds.Greatest[i] = byte(256-words[mostTextBytes+i]), byte(words[i]-1)
	}
	return bounds
}

// textKeys are the keys of a query that are replaced by numbers.
type textKeys struct {
	// query has the numbers as keys.
	query   Query
	call    op.Call
	numbers []*textNumbers
	table   *buffer.Buffer
	owned   release.Stack
}

// numberTexts returns the numbers of keys that are columns of short strings. There are none for few rows: it waits for
// unknown bounds.
func (q Query) numberTexts(ctx context.Context, options *ByOptions) (*textKeys, error) {
	k := &textKeys{query: q}
	f := textFacts{
		tuning: tuningOf(ctx), rows: q.table.Capacity(), numbered: q.numbered, bounded: options.MaxGroups > 0, estimated: options.Estimate != nil,
	}
	if f.onHost = q.table.Device() == nil || q.table.Device().Kind() == device.Host; !f.numbersPay() {
		return k, nil
	}
	err := k.replace(ctx, *options)
	return release.OnError(k, err)
}

// Release releases the numbers.
func (k *textKeys) Release() error { return k.owned.Release() }

// replace replaces the keys.
func (k *textKeys) replace(ctx context.Context, options ByOptions) error {
	q := &k.query
	keys := slices.Clone(q.keys)
	k.table = q.table
	for i, key := range keys {
		c, err := q.textsOf(key)
		if err != nil {
			return err
		}
		if c == nil || !mayBeShort(c) || options.Nulls == DropNulls && op.Nullable(c) {
			continue
		}
		n := &textNumbers{strings: c, key: i, narrow: len(keys) > 1}
		if k.call, err = op.Begin(ctx, options.Options, c); err != nil {
			return err
		}
		fits, err := n.bound(&k.call)
		if err != nil {
			return err
		}
		if !fits {
			continue
		}
		if err := n.number(&k.call); err != nil {
			return err
		}
		k.owned.Add(n.column)
		name := fmt.Sprint("\x00number ", i)
		table, err := k.table.AppendColumn(arrow.Field{Name: name, Type: n.column.Type()}, n.column)
		if err != nil {
			return err
		}
		k.owned.Add(table)
		k.table, k.numbers = table, append(k.numbers, n)
		keys[i] = Key{Column: name, Name: key.name(i)}
	}
	combinations := uint64(1)
	for _, n := range k.numbers {
		combinations *= min(n.null+1, mostDensePlaces+1)
	}
	q.table, q.keys, q.texts = k.table, keys, len(k.numbers) > 0 && combinations <= mostDensePlaces
	return nil
}

// mayBeShort reports whether a column has strings of which the mean length, with those outside of a slice, is not
// above the length of strings with numbers.
func mayBeShort(c *column.Column) bool {
	if c.Type().ID() != arrow.STRING && c.Type().ID() != arrow.BINARY || c.Len() == 0 {
		return false
	}
	const offsetBytes = 4
	return c.Buffer(2).Bytes() <= c.Buffer(1).Bytes()/offsetBytes*mostTextBytes
}

// textsOf returns the column of a key, or nil for an expression.
func (q Query) textsOf(key Key) (*column.Column, error) {
	if key.Values != nil {
		return key.Values, nil
	}
	name, ok := plainColumn(key.expression())
	if !ok {
		return nil, nil
	}
	return q.table.ColumnByName(name)
}

// aggregate aggregates by numbers, and makes strings of those of the groups. It releases the numbers.
func (k *textKeys) aggregate(ctx context.Context, aggregates []Aggregate, options ByOptions) (*buffer.Buffer, error) {
	table, err := k.groups(ctx, aggregates, options)
	return release.OnError(table, err, k.Release())
}

func (k *textKeys) groups(ctx context.Context, aggregates []Aggregate, options ByOptions) (*buffer.Buffer, error) {
	q, order := k.query, options.Order
	if order == ByKey {
		options.Order = Unspecified
	}
	p, err := q.check(aggregates, &options)
	if err != nil {
		return nil, err
	}
	r, err := q.beginPlanned(ctx, p, aggregates, options)
	if err != nil {
		return nil, err
	}
	step := r.result
	if q.asStates {
		step = r.partial
	}
	table, err := closing(r, step)
	if err != nil {
		return nil, err
	}
	k.learn()
	groups, err := k.texts(table)
	if groups, err = release.OnError(groups, err, table.Release()); err != nil || order != ByKey || q.asStates {
		return groups, err
	}
	return sortedByKeys(&k.call, groups, len(q.keys))
}

// learn gives the strings the estimates of how many different numbers there are.
func (k *textKeys) learn() {
	for _, n := range k.numbers {
		if distinct, known := n.column.DistinctEstimate(); known {
			n.strings.LearnDistinctEstimate(distinct)
		}
	}
}

// texts returns a table of groups with strings instead of numbers.
func (k *textKeys) texts(table *buffer.Buffer) (*buffer.Buffer, error) {
	fields, columns := slices.Clone(table.Schema().Fields()), make([]*column.Column, table.NumColumns())
	for i := range columns {
		columns[i] = table.Column(i)
	}
	var temporaries release.Stack
	for _, n := range k.numbers {
		c, err := n.texts(&k.call, columns[n.key], table)
		if err != nil {
			return nil, errors.Join(err, temporaries.Release())
		}
		temporaries.Add(c)
		fields[n.key].Type, columns[n.key] = c.Type(), c
	}
	result, err := op.Table(arrow.NewSchema(fields, nil), columns, table.Rows())
	return release.OnError(result, err, temporaries.Release())
}

// source returns the strings as the kernels take them, and the number of rows.
func (n *textNumbers) source(call *op.Call) (any, int, error) {
	rows, counted, err := n.strings.Extent(call.Context())
	if err != nil {
		return nil, 0, err
	}
	valid, err := validityOf(n.strings)
	if err != nil {
		return nil, 0, err
	}
	l, err := layout.Of(n.strings.Type())
	if err != nil {
		return nil, 0, err
	}
	offsets, err := n.strings.Buffer(1).Slice(n.strings.Offset()*l.Width, (n.strings.Offset()+n.strings.Len()+1)*l.Width)
	if err != nil {
		return nil, 0, err
	}
	data := n.strings.Buffer(2)
	strings := stringsLayout{
		offsets: offsets, data: data, valid: valid.valid, bit: uint64(valid.bit), counted: counted, rows: int64(rows),
		capacity: uint64(n.strings.Len()), extent: data.Bytes(), width: uint32(l.Width),
	}
	return strings.asArgument(), rows, nil
}

// bound chooses the digits by the bounds of the strings. It reports false if the strings have no numbers.
// It finds unknown bounds, and waits for them.
func (n *textNumbers) bound(call *op.Call) (fits bool, err error) {
	bounds, known := n.strings.TextBounds()
	if !known {
		if bounds, err = n.findBounds(call); err != nil {
			return false, err
		}
		n.strings.LearnTextBounds(bounds)
	}
	return n.divide(bounds), nil
}

func (n *textNumbers) findBounds(call *op.Call) (bounds column.TextBounds, err error) {
	texts, rows, err := n.source(call)
	if err != nil {
		return bounds, err
	}
	block, buffers, err := call.Scratch(4 * textBounds)
	if err != nil {
		return bounds, err
	}
	defer func() { err = errors.Join(err, block.Release()) }()
	words, err := memory.Reinterpret[uint32](buffers[0])
	if err == nil {
		err = words.Fill(call.Stream, 0)
	}
	if err == nil {
		err = launchGrid(call, "texts", "bound_texts", rows, texts, words)
	}
	if err != nil {
		return bounds, err
	}
	var all [textBounds]uint32
	if err := words.Download(call.Context(), call.Stream, all[:]); err != nil {
		return bounds, err
	}
	return textBoundsOf(all[:]), nil
}

// number makes the column of numbers.
func (n *textNumbers) number(call *op.Call) error {
	texts, rows, err := n.source(call)
	if err != nil {
		return err
	}
	scratch := *call
	scratch.Tag = op.ScratchTag
	result := op.Result{Type: arrow.PrimitiveTypes.Uint32, Length: n.strings.Len(), RowCount: n.strings.RowCount()}
	switch n.width() {
	case 1:
		result.Type = arrow.PrimitiveTypes.Uint8
	case 8:
		result.Type = arrow.PrimitiveTypes.Uint64
	}
	n.column, err = newColumn(&scratch, result, func(out op.Buffers) error {
		kernel := "number_texts_"
		if n.shortest == n.longest && !op.Nullable(n.strings) {
			kernel = "number_fixed_"
		}
		return launchGrid(call, "texts", fmt.Sprint(kernel, 8*n.width()), rows, texts, n.argument(), out.Values)
	})
	if err != nil {
		return err
	}
	greatest := n.null
	if !op.Nullable(n.strings) && greatest > 0 {
		greatest--
	}
	n.column.LearnBounds(column.Bounds{Greatest: greatest})
	if distinct, known := n.strings.DistinctEstimate(); known {
		n.column.LearnDistinctEstimate(distinct)
	}
	return nil
}

// sameValues reports whether two columns have the same memory.
func sameValues(a, b *column.Column) bool {
	x, y := a.Buffer(1), b.Buffer(1)
	return a.Len() == b.Len() && a.Offset() == b.Offset() && x.Block() == y.Block() && x.Offset() == y.Offset()
}

// texts returns the strings of numbers, a column of a table.
func (n *textNumbers) texts(call *op.Call, numbers *column.Column, table *buffer.Buffer) (strings *column.Column, err error) {
	rows, counted, err := table.Extent(call.Context())
	if err != nil {
		return nil, err
	}
	if counted.Len() == 0 && int(rows) == n.strings.Len() && n.strings.RowCount() == nil && sameValues(numbers, n.column) {
		return n.strings, n.strings.Retain() // every row is a group
	}
	capacity, nullable := numbers.Len(), op.Nullable(n.strings)
	if capacity == 0 {
		return column.New(column.Data{Type: n.strings.Type(), Rows: table.RowCount(), Buffers: make([]column.Bytes, 3), Manager: call.Manager})
	}
	values, err := numbers.ValuesRegion()
	if err != nil {
		return nil, err
	}
	sizes := []uint64{0, 4 * (uint64(capacity) + 1), uint64(capacity) * uint64(n.longest)}
	if nullable {
		sizes[0] = op.BitmapBytes(capacity)
	}
	block, out, err := call.Allocate(sizes...)
	if err != nil {
		return nil, err
	}
	var scratch release.Stack
	scratch.Add(block)
	defer func() { strings, err = release.OnError(strings, err, scratch.Release()) }()
	result := op.Result{Type: arrow.PrimitiveTypes.Int64, Length: capacity}
	lengths, err := newColumn(call, result, func(to op.Buffers) error {
		return launchGrid(call, "texts", "lengths_of_numbers", (capacity+63)/64*64, values, uint32(n.width()), n.argument(), to.Values, out[0], counted, int64(rows))
	})
	if err != nil {
		return nil, err
	}
	scratch.Add(lengths)
	ends, err := window.CumulativeSum(call.Context(), lengths, window.Options{Options: scratchOptions(call)})
	if err != nil {
		return nil, err
	}
	scratch.Add(ends)
	region, err := ends.ValuesRegion()
	if err != nil {
		return nil, err
	}
	if err := offsetsOnDevice(call, op.Buffers{Values: out[1]}, region, capacity); err != nil {
		return nil, err
	}
	if err := launchGrid(call, "texts", "texts_of_numbers", capacity, values, uint32(n.width()), n.argument(), out[1], out[2], counted, int64(rows)); err != nil {
		return nil, err
	}
	data := column.Data{Type: n.strings.Type(), Length: capacity, Rows: table.RowCount(), Buffers: []column.Bytes{out[0], out[1], out[2]}, Manager: call.Manager}
	if nullable {
		data.NullCount = column.UnknownNullCount
	}
	return column.New(data)
}
