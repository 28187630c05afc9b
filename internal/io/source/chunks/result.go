package chunks

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// result makes a column of its memory.
func (b *Batch) result(ctx context.Context, t *target, outcomes []outcome, s writtenStrings) (*column.Column, error) {
	if t.length == 0 {
		return emptyColumn(b.manager, t.dataType)
	}
	data := column.Data{Type: t.dataType, Length: int(t.rows), Manager: b.manager, Buffers: make([]column.Bytes, 2)}
	for _, number := range t.pages {
		data.NullCount += int(b.pages[number].rows - outcomes[number].valid + outcomes[number].absent)
	}
	var err error
	if t.strings != nil && t.strings == t.dataType {
		data.Buffers = []column.Bytes{{}, s.offsets, s.bytes}
	} else if data.Buffers[1], err = b.region(t.values, t.valueBytes()); err != nil {
		return nil, err
	}
	if t.levels != nil && t.levels.required {
		data.NullCount = 0 // entries without a value are no elements, or in a struct that is null
	}
	if data.NullCount > 0 {
		if data.Buffers[0], err = b.region(t.bitmap, op.BitmapBytes(int(t.rows))); err != nil {
			return nil, err
		}
	}
	if d, ok := t.dataType.(*arrow.DictionaryType); ok {
		if data.Dictionary, err = s.column(d.ValueType, b.manager); err != nil {
			return nil, err
		}
		defer data.Dictionary.Release()
	}
	whole, err := column.New(data)
	if err != nil || t.length == t.rows {
		return whole, err
	}
	cut, err := b.cut(ctx, whole, t.spans)
	return release.OnError(cut, err, whole.Release())
}

// cut returns rows of a column.
func (b *Batch) cut(ctx context.Context, whole *column.Column, spans []rowSpan) (c *column.Column, err error) {
	if len(spans) == 1 {
		return whole.Slice(int(spans[0].first), int(spans[0].rows))
	}
	var parts []*column.Column
	defer func() { c, err = release.OnError(c, err, release.All(parts)) }()
	for _, s := range spans {
		part, err := whole.Slice(int(s.first), int(s.rows))
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return selection.ConcatColumns(ctx, parts, kernels.Options{Manager: b.manager, Stream: b.options.Stream, Tag: b.options.Tag})
}

// valueBytes is the length of the values of a column that has no strings itself.
func (t *target) valueBytes() uint64 {
	if width, ok := column.ElementBytes(t.dataType); ok {
		return t.rows * uint64(width)
	}
	if t.strings != nil {
		return t.rows * code.columnBytes()
	}
	return op.BitmapBytes(int(t.rows))
}

// region returns the memory of a column at a place.
func (b *Batch) region(at place, bytes uint64) (memory.Slice[uint8], error) {
	address := at
	b.spaces.resolve(&address)
	return memory.View[uint8](b.columns, uint64(address)-uint64(b.columns.Pointer()), int(bytes))
}

// emptyColumn returns a column without rows.
func emptyColumn(m *memory.Manager, t arrow.DataType) (*column.Column, error) {
	l, err := layout.Of(t)
	if err != nil {
		return nil, err
	}
	data := column.Data{Type: t, Manager: m, Buffers: make([]column.Bytes, l.Buffers())}
	for i := range l.Children() {
		childType, _ := l.Child(i)
		child, err := emptyColumn(m, childType)
		if err != nil {
			return nil, err
		}
		defer child.Release()
		data.Children = append(data.Children, child)
	}
	if d, ok := t.(*arrow.DictionaryType); ok {
		if data.Dictionary, err = emptyColumn(m, d.ValueType); err != nil {
			return nil, err
		}
		defer data.Dictionary.Release()
	}
	return column.New(data)
}
