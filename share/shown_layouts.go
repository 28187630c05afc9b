package share

import (
	"encoding/binary"
	"fmt"
	"sort"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
)

// elementCollector adds the buffers and children of some elements of a column to a description.
type elementCollector func(c *collector, d *column.Description, source *column.Column, spans []span) error

// collectOf returns how elements of a layout are collected.
func collectOf(l layout.Layout) elementCollector {
	switch l.Kind {
	case layout.Null:
		return collectNothing
	case layout.Bits:
		return collectBits
	case layout.Binary:
		return collectBinary(l.Width)
	case layout.View:
		return collectViews
	case layout.List:
		return collectLists(l.Width)
	case layout.ListView:
		return collectListViews(l.Width)
	case layout.FixedSizeList:
		return collectFixedSizeLists(l.ListSize())
	case layout.Struct:
		return collectChildren
	case layout.SparseUnion:
		return collectSparseUnion
	case layout.DenseUnion:
		return collectDenseUnion(l.Storage.(*arrow.DenseUnionType))
	case layout.Dictionary:
		return collectDictionary(l.Width)
	case layout.RunEnds:
		return collectRuns(l.Width)
	}
	return collectFixed(l.Width)
}

func collectNothing(_ *collector, d *column.Description, _ *column.Column, _ []span) error {
	d.NullCount = d.Length
	return nil
}

func collectFixed(width int) elementCollector {
	return func(c *collector, d *column.Description, source *column.Column, spans []span) (err error) {
		d.Buffers[1], err = c.raw(source.Buffer(1), scaled(spans, 0, width))
		return err
	}
}

func collectBits(c *collector, d *column.Description, source *column.Column, spans []span) (err error) {
	if d.Length > 0 {
		d.Buffers[1], _, err = c.bits(source.Buffer(1), spans)
	}
	return err
}

func collectBinary(width int) elementCollector {
	return func(c *collector, d *column.Description, source *column.Column, spans []span) (err error) {
		if d.Length == 0 {
			return nil
		}
		var embraced []span
		if d.Buffers[1], embraced, err = c.offsets(source.Buffer(1), width, spans, source.Buffer(2).Len()); err != nil {
			return err
		}
		d.Buffers[2], err = c.raw(source.Buffer(2), embraced)
		return err
	}
}

func collectLists(width int) elementCollector {
	return func(c *collector, d *column.Description, source *column.Column, spans []span) (err error) {
		var embraced []span
		if d.Length > 0 {
			if d.Buffers[1], embraced, err = c.offsets(source.Buffer(1), width, spans, source.Child(0).Len()); err != nil {
				return err
			}
		}
		return c.child(d, source.Child(0), embraced)
	}
}

func collectFixedSizeLists(size int) elementCollector {
	return func(c *collector, d *column.Description, source *column.Column, spans []span) error {
		return c.child(d, source.Child(0), scaled(spans, 0, size))
	}
}

// collectChildren collects the same elements of all children.
func collectChildren(c *collector, d *column.Description, source *column.Column, spans []span) error {
	for i := range source.NumChildren() {
		if err := c.child(d, source.Child(i), spans); err != nil {
			return fmt.Errorf("child %d: %w", i, err)
		}
	}
	return nil
}

func collectSparseUnion(c *collector, d *column.Description, source *column.Column, spans []span) (err error) {
	if d.Buffers[0], err = c.raw(source.Buffer(0), spans); err != nil {
		return err
	}
	return collectChildren(c, d, source, spans)
}

// collectDictionary collects the whole dictionary, also the values that no element uses.
func collectDictionary(width int) elementCollector {
	return func(c *collector, d *column.Description, source *column.Column, spans []span) (err error) {
		if d.Buffers[1], err = c.raw(source.Buffer(1), scaled(spans, 0, width)); err != nil {
			return err
		}
		values := source.Dictionary()
		rows, err := values.NumRows(c.ctx)
		if err != nil {
			return err
		}
		described, err := c.column(values, []span{{values.Offset(), rows}})
		d.Dictionary = &described
		return err
	}
}

// valid copies the bitmap of the elements to the host. It returns nil for a column
// without bitmap.
func (c *collector) valid(source *column.Column, spans []span) ([]byte, error) {
	if source.Buffer(0).Len() == 0 {
		return nil, nil
	}
	bitmap := make([]byte, bytesOfBits(total(spans)))
	at := 0
	for _, s := range joined(spans) {
		first := s.from / 8
		bytes, err := c.download(source.Buffer(0), []span{{first, bytesOfBits(s.end()) - first}})
		if err != nil {
			return nil, err
		}
		appendBits(bitmap, at, bytes, s.from%8, s.length)
		at += s.length
	}
	return bitmap, nil
}

func isValid(bits []byte, i int) bool { return bits == nil || bits[i/8]>>(i%8)&1 == 1 }

// A view is the length of a string and, in the remaining twelve bytes, either the string
// or its first four bytes, the number of a data buffer and a position in it.
const (
	viewBytes       = arrow.ViewHeaderSizeBytes
	inlineViewBytes = 12
	viewBuffer      = 8
	viewPosition    = 12
)

// collectViews collects the strings that views refer to.
func collectViews(c *collector, d *column.Description, source *column.Column, spans []span) error {
	if d.Length == 0 {
		d.Buffers = d.Buffers[:2]
		return nil
	}
	views, err := c.fetch(source.Buffer(1), scaled(spans, 0, viewBytes))
	if err != nil {
		return err
	}
	valid, err := c.valid(source, spans)
	if err != nil {
		return err
	}
	data := make([][]span, source.NumBuffers()-2)
	for i := range d.Length {
		view := views[i*viewBytes:][:viewBytes]
		if !isValid(valid, i) {
			clear(view)
		}
		number, text, ok := longView(view)
		if !ok {
			continue
		}
		if number >= uint32(len(data)) {
			return fmt.Errorf("view %d refers to data buffer %d of %d: %w", i, number, len(data), column.ErrInvalid)
		}
		if err := text.within(source.Buffer(2 + int(number)).Len()); err != nil {
			return fmt.Errorf("view %d: %w", i, err)
		}
		data[number] = append(data[number], text)
	}
	placers, numbers := make([]placer, len(data)), make([]uint32, len(data))
	d.Buffers = d.Buffers[:2]
	for i := range data {
		data[i] = united(data[i])
		placers[i], numbers[i] = placerOf(data[i]), uint32(len(d.Buffers)-2)
		if len(data[i]) == 0 {
			continue
		}
		place, err := c.raw(source.Buffer(2+i), data[i])
		if err != nil {
			return err
		}
		d.Buffers = append(d.Buffers, place)
	}
	for i := range d.Length {
		view := views[i*viewBytes:][:viewBytes]
		if number, text, ok := longView(view); ok {
			binary.NativeEndian.PutUint32(view[viewBuffer:], numbers[number])
			binary.NativeEndian.PutUint32(view[viewPosition:], uint32(placers[number].place(text.from)))
		}
	}
	d.Buffers[1] = c.addHost(views)
	return nil
}

// longView returns the place of a string that is too long for its view.
func longView(view []byte) (buffer uint32, text span, ok bool) {
	length := int32(binary.NativeEndian.Uint32(view))
	if length >= 0 && length <= inlineViewBytes {
		return 0, span{}, false
	}
	position := int32(binary.NativeEndian.Uint32(view[viewPosition:]))
	return binary.NativeEndian.Uint32(view[viewBuffer:]), span{int(position), int(length)}, true
}

// collectListViews collects the elements that list views refer to.
func collectListViews(width int) elementCollector {
	return func(c *collector, d *column.Description, source *column.Column, spans []span) error {
		if d.Length == 0 {
			return c.child(d, source.Child(0), nil)
		}
		offsets, err := c.fetch(source.Buffer(1), scaled(spans, 0, width))
		if err != nil {
			return err
		}
		sizes, err := c.fetch(source.Buffer(2), scaled(spans, 0, width))
		if err != nil {
			return err
		}
		valid, err := c.valid(source, spans)
		if err != nil {
			return err
		}
		lists := make([]span, d.Length)
		for i := range lists {
			if !isValid(valid, i) {
				continue
			}
			list := span{int(integerAt(offsets, width, i)), int(integerAt(sizes, width, i))}
			if err := list.within(source.Child(0).Len()); err != nil {
				return fmt.Errorf("list %d: %w", i, err)
			}
			lists[i] = list
		}
		shown := united(lists)
		places := placerOf(shown)
		offsets, sizes = offsets[:0], sizes[:0]
		for _, list := range lists {
			at := 0
			if list.length > 0 {
				at = places.place(list.from)
			}
			offsets = appendInteger(offsets, width, int64(at))
			sizes = appendInteger(sizes, width, int64(list.length))
		}
		d.Buffers[1], d.Buffers[2] = c.addHost(offsets), c.addHost(sizes)
		return c.child(d, source.Child(0), shown)
	}
}

// collectDenseUnion collects the elements of each child that the offsets refer to.
func collectDenseUnion(t *arrow.DenseUnionType) elementCollector {
	return func(c *collector, d *column.Description, source *column.Column, spans []span) error {
		const width = 4
		ids, err := c.fetch(source.Buffer(0), spans)
		if err != nil {
			return err
		}
		offsets, err := c.fetch(source.Buffer(1), scaled(spans, 0, width))
		if err != nil {
			return err
		}
		children := t.ChildIDs()
		shown := make([][]span, source.NumChildren())
		// pick returns the child of element i and the element's position in it.
		pick := func(i int) (child int, element span, err error) {
			id := int(int8(ids[i]))
			if id < 0 || id >= len(children) || children[id] < 0 || children[id] >= len(shown) {
				return 0, span{}, fmt.Errorf("element %d has type id %d: %w", i, id, column.ErrInvalid)
			}
			child = children[id]
			element = span{int(integerAt(offsets, width, i)), 1}
			return child, element, element.within(source.Child(child).Len())
		}
		for i := range d.Length {
			child, element, err := pick(i)
			if err != nil {
				return fmt.Errorf("element %d: %w", i, err)
			}
			shown[child] = append(shown[child], element)
		}
		places := make([]placer, len(shown))
		for i := range shown {
			shown[i] = united(shown[i])
			places[i] = placerOf(shown[i])
		}
		moved := make([]byte, 0, len(offsets))
		for i := range d.Length {
			child, element, _ := pick(i)
			moved = appendInteger(moved, width, int64(places[child].place(element.from)))
		}
		d.Buffers[0], d.Buffers[1] = c.addHost(ids), c.addHost(moved)
		for i := range shown {
			if err := c.child(d, source.Child(i), shown[i]); err != nil {
				return fmt.Errorf("child %d: %w", i, err)
			}
		}
		return nil
	}
}

// collectRuns collects the runs that contain elements.
func collectRuns(width int) elementCollector {
	return func(c *collector, d *column.Description, source *column.Column, spans []span) error {
		runs, values := source.Child(0), source.Child(1)
		var ends, newEnds []byte
		var kept []span
		if d.Length > 0 {
			var err error
			if ends, err = c.download(runs.Buffer(1), []span{span{runs.Offset(), runs.Len()}.scaled(width)}); err != nil {
				return err
			}
		}
		length := 0
		for _, s := range spans {
			first := sort.Search(runs.Len(), func(i int) bool { return integerAt(ends, width, i) > int64(s.from) })
			last := sort.Search(runs.Len(), func(i int) bool { return integerAt(ends, width, i) >= int64(s.end()) })
			if first > last || last >= runs.Len() {
				return fmt.Errorf("%d runs end before element %d: %w", runs.Len(), s.end(), column.ErrInvalid)
			}
			for i := first; i <= last; i++ {
				end := min(integerAt(ends, width, i), int64(s.end())) - int64(s.from)
				newEnds = appendInteger(newEnds, width, int64(length)+end)
			}
			length += s.length
			kept = append(kept, span{first, last + 1 - first})
		}
		c.see(runs.Buffer(1), scaled(kept, runs.Offset(), width))
		d.Children = append(d.Children, column.Description{
			Length: total(kept), Buffers: []column.Place{absent, c.addHost(newEnds)},
		})
		return c.child(d, values, kept)
	}
}
