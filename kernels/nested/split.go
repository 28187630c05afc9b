package nested

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/text/render"
	"github.com/gpuframe/gpuframe/internal/text/textrows"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// Split is the list of the parts of a string between occurrences of a separator of one byte
// or more, as strings.Split makes it: an empty string is one empty part. Strings and
// binaries give lists of their type, dictionaries lists of the type of their values, each
// distinct value split once.
func Split(e expr.Expr, separator string) expr.Expr { return expr.Apply(split{separator}, e) }

type split struct{ separator string }

func (split) Name() string { return "split" }

func (s split) Result(operands []arrow.DataType) (arrow.DataType, error) {
	t := operands[0]
	if d, ok := t.(*arrow.DictionaryType); ok {
		t = d.ValueType
	}
	if s.separator == "" {
		return nil, fmt.Errorf("the separator is empty, expected one byte or more: %w", expr.ErrLiteral)
	}
	switch t.ID() {
	case arrow.STRING, arrow.BINARY, arrow.LARGE_STRING, arrow.LARGE_BINARY:
		return arrow.ListOf(t), nil
	}
	return nil, fmt.Errorf("%v is no string: %w", render.TypeName(t), expr.ErrType)
}

func (s split) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	c := operands[0]
	if c.Dictionary() == nil {
		return s.column(ctx, c, options)
	}
	lists, err := s.column(ctx, c.Dictionary(), options)
	if err != nil {
		return nil, err
	}
	indices, err := c.Indices()
	if err != nil {
		return nil, errors.Join(err, lists.Release())
	}
	taken, err := selection.TakeColumnWith(ctx, lists, indices, selection.TakeOptions{Options: options, Bounds: selection.Null})
	return release.OnError(taken, err, indices.Release(), lists.Release())
}

// texts is a column of strings and a separator.
type texts struct {
	lists
	// extent is the number of bytes.
	extent    int
	data      column.Bytes
	separator []byte
	// words is the separator on the device.
	words column.Bytes
}

func (s split) column(ctx context.Context, c *column.Column, options kernels.Options) (*column.Column, error) {
	call, err := op.Begin(ctx, options, c)
	if err != nil {
		return nil, err
	}
	if c.RowCount() == nil && !op.Nullable(c) && !call.OnHost() && textrows.Replaces(s.separator, "") {
		if whole, ok := textrows.WholeOf(c, c.Len(), memory.Slice[int64]{}); ok && whole.Data.Len() >= textrows.FewestBytes {
			return whole.Split(&call, s.separator)
		}
	}
	t, err := s.texts(&call, c)
	if err != nil {
		return nil, err
	}
	block, scratch, err := call.Scratch(uint64(len(t.separator)), 4*uint64(c.Len()), 8*uint64(c.Len()))
	if err != nil {
		return nil, err
	}
	extents := &spans{rows: c.Len(), block: block}
	t.words = scratch[0]
	var beginsErr, countsErr error
	extents.begins, beginsErr = memory.Reinterpret[uint32](scratch[1])
	extents.counts, countsErr = memory.Reinterpret[int64](scratch[2])
	err = errors.Join(beginsErr, countsErr)
	var pieces *column.Column
	if err == nil {
		pieces, err = t.split(&call, extents)
	}
	return release.OnError(pieces, err, extents.Release())
}

func (s split) texts(call *op.Call, c *column.Column) (t texts, err error) {
	format, err := layout.Of(c.Type())
	if err != nil {
		return t, err
	}
	t.column, t.width, t.separator = c, format.Width, []byte(s.separator)
	if t.rows, t.counted, err = c.Extent(call.Context()); err != nil || c.Len() == 0 {
		return t, err
	}
	if op.Nullable(c) {
		if t.valid, t.bit, err = c.Validity(); err != nil {
			return t, err
		}
	}
	t.data = c.Buffer(2)
	t.extent = t.data.Len()
	t.offsets, err = c.Buffer(1).Slice(c.Offset()*t.width, (c.Offset()+c.Len()+1)*t.width)
	return t, err
}

func (t *texts) argument() any {
	l := stringsLayout{
		offsets: t.offsets, data: t.data, valid: t.valid, bit: uint64(t.bit), counted: t.counted, rows: int64(t.rows), capacity: uint64(t.column.Len()),
		extent: uint64(t.extent), width: uint32(t.width), length: uint32(len(t.separator)), separator: t.words,
	}
	return l.asArgument()
}

// split makes the lists.
func (t *texts) split(call *op.Call, s *spans) (*column.Column, error) {
	if err := t.count(call, s); err != nil {
		return nil, err
	}
	if err := s.sum(call); err != nil {
		return nil, err
	}
	var parts *column.Column
	var err error
	switch {
	case s.total == 0:
		parts, err = column.New(column.Data{Type: t.column.Type(), Manager: call.Manager, Buffers: make([]column.Bytes, 3)})
	case call.OnHost():
		parts, err = t.partsOnHost(call, s)
	default:
		parts, err = t.partsOnDevice(call, s)
	}
	if err != nil {
		return nil, err
	}
	listed, err := s.list(call, &t.lists, arrow.ListOf(t.column.Type()), parts)
	return release.OnError(listed, err, parts.Release())
}

func (t *texts) count(call *op.Call, s *spans) error {
	if s.rows == 0 {
		return nil
	}
	if !call.OnHost() {
		if err := t.words.Upload(call.Context(), call.Stream, t.separator); err != nil {
			return err
		}
		return launchIn(call, "split", "split_count", s.rows, s.begins, s.counts, t.argument())
	}
	begins, beginsErr := s.begins.Host()
	counts, countsErr := s.counts.Host()
	if err := errors.Join(beginsErr, countsErr); err != nil {
		return err
	}
	for i := range begins {
		begins[i], counts[i] = none, 0
	}
	return t.each(func(row int, text []byte) {
		begins[row], counts[row] = 0, int64(bytes.Count(text, t.separator)+1)
	})
}

// each calls visit for each row on the host that is not null.
func (t *texts) each(visit func(row int, text []byte)) error {
	offsets, offsetsErr := t.offsets.Host()
	data, dataErr := t.data.Host()
	valid, validErr := t.valid.Host()
	rows, rowsErr := t.hostRows()
	if err := errors.Join(offsetsErr, dataErr, validErr, rowsErr); err != nil {
		return err
	}
	for i := range rows {
		if len(valid) > 0 && valid[(t.bit+i)/8]>>((t.bit+i)%8)&1 == 0 {
			continue
		}
		begin, end := word(offsets, t.width, i), word(offsets, t.width, i+1)
		if begin < 0 || begin > end || end > int64(t.extent) {
			begin, end = 0, 0
		}
		visit(i, data[begin:end])
	}
	return nil
}

// partsOnDevice makes the column of all parts.
func (t *texts) partsOnDevice(call *op.Call, s *spans) (*column.Column, error) {
	block, places, err := call.Scratch(8*uint64(s.total), 8*uint64(s.total))
	if err != nil {
		return nil, err
	}
	ends, err := column.Elements[int64](s.ends)
	if err == nil {
		err = launchIn(call, "split", "split_places", s.rows, places[0], places[1], ends, t.argument())
	}
	var parts *column.Column
	if err == nil {
		parts, err = textrows.Make(*call, textrows.Rows{
			Type: t.column.Type(), Capacity: s.total, Sources: []memory.Slice[uint8]{t.data},
			Parts: []textrows.Part{{Places: places[0], Lengths: places[1]}},
		})
	}
	return release.OnError(parts, err, block.Release())
}

func (t *texts) partsOnHost(call *op.Call, s *spans) (*column.Column, error) {
	total := 0
	err := t.each(func(_ int, text []byte) {
		total += len(text) - bytes.Count(text, t.separator)*len(t.separator)
	})
	if err != nil {
		return nil, err
	}
	if most := strategy.MaximumOffset(call.Context(), t.width); int64(total) > most {
		return nil, fmt.Errorf("parts of %d bytes, the offsets of %v reach to %d: use a column with large offsets: %w", total, t.column.Type(), most, memory.ErrOverflow)
	}
	block, buffers, err := call.Allocate(uint64(s.total+1)*uint64(t.width), uint64(total))
	if err != nil {
		return nil, err
	}
	err = t.write(buffers[0], buffers[1])
	var parts *column.Column
	if err == nil {
		parts, err = column.New(column.Data{Type: t.column.Type(), Length: s.total, Manager: call.Manager, Buffers: []column.Bytes{{}, buffers[0], buffers[1]}})
	}
	return release.OnError(parts, err, block.Release())
}

// write writes the offsets and the bytes of all parts on the host.
func (t *texts) write(offsets, data column.Bytes) error {
	to, toErr := offsets.Host()
	out, outErr := data.Host()
	if err := errors.Join(toErr, outErr); err != nil {
		return err
	}
	narrow, wide := op.Elements[int32](to), op.Elements[int64](to)
	part, end := 0, 0
	next := func() {
		if t.width == 4 {
			narrow[part] = int32(end)
		} else {
			wide[part] = int64(end)
		}
		part++
	}
	next()
	return t.each(func(_ int, text []byte) {
		for _, each := range bytes.Split(text, t.separator) {
			end += copy(out[end:], each)
			next()
		}
	})
}
