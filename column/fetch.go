package column

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
)

// fetched is an array that is being downloaded.
type fetched struct {
	layout   layout.Layout
	dataType arrow.DataType
	length   int
	// parent and number locate the array, for messages: it is child number of parent,
	// or without a parent column number.
	parent *fetched
	number int

	buffers    []*arrowmemory.Buffer
	children   []*fetched
	dictionary *fetched
}

// dictionaryNumber is the number of a dictionary among its parent's children.
const dictionaryNumber = -1

// place names the array for messages.
func (f *fetched) place() string {
	if f.parent == nil {
		return fmt.Sprintf("column %d", f.number)
	}
	if f.number == dictionaryNumber {
		return f.parent.place() + ": dictionary"
	}
	_, name := f.parent.layout.Child(f.number)
	return fmt.Sprintf("%s: child %d (%s)", f.parent.place(), f.number, name)
}

func (f *fetched) fail(err error) error { return fmt.Errorf("%s: %w", f.place(), err) }

// fetch adds length elements from position offset of the column's buffers to the
// download.
func (d *downloader) fetch(parent *fetched, number int, c *Column, offset, length int) (*fetched, error) {
	f := &fetched{dataType: c.data.Type, length: length, parent: parent, number: number}
	var err error
	if f.layout, err = layoutOf(c.data.Type); err == nil {
		f.buffers = make([]*arrowmemory.Buffer, len(c.data.Buffers))
		err = d.fetchBuffers(f, c, offset)
	}
	if err != nil {
		return nil, f.fail(err)
	}
	return f, d.fetchNested(f, c, offset)
}

// fetchBuffers adds the buffers whose extent follows from offset and length.
func (d *downloader) fetchBuffers(f *fetched, c *Column, offset int) (err error) {
	l, source := f.layout, c.data.Buffers
	if l.HasValidity() && f.length > 0 && source[0].Len() > 0 && c.data.NullCount != 0 {
		if f.buffers[0], err = d.takeBits(source[0], offset, f.length); err != nil {
			return err
		}
	}
	switch l.Kind {
	case layout.Bits:
		f.buffers[1], err = d.takeBits(source[1], offset, f.length)
	case layout.Fixed, layout.View, layout.Dictionary:
		f.buffers[1], err = d.takeElements(source[1], offset, f.length, l.Width)
	case layout.ListView:
		f.buffers[1], err = d.takeElements(source[1], offset, f.length, l.Width)
		if err == nil {
			f.buffers[2], err = d.takeElements(source[2], offset, f.length, l.Width)
		}
	case layout.SparseUnion:
		f.buffers[0], err = d.takeElements(source[0], offset, f.length, 1)
	case layout.DenseUnion:
		f.buffers[0], err = d.takeElements(source[0], offset, f.length, 1)
		if err == nil {
			f.buffers[1], err = d.takeElements(source[1], offset, f.length, 4)
		}
	}
	return err
}

// fetchNested adds the parts that the buffers refer to: immediately if their extent
// is known, else after the offsets have arrived.
func (d *downloader) fetchNested(f *fetched, c *Column, offset int) (err error) {
	switch f.layout.Kind {
	case layout.Binary:
		return d.fetchBinary(f, c, offset)
	case layout.View:
		return d.fetchViews(f, c)
	case layout.List:
		child := c.data.Children[0]
		return d.fetchOffsets(f, c, offset, child.data.Length, func(first, last int) error {
			return d.fetchChild(f, c, 0, first, last-first)
		}, func(last int) { f.children[0].shorten(last) })
	case layout.FixedSizeList:
		size := f.layout.ListSize()
		return d.fetchChild(f, c, 0, offset*size, f.length*size)
	case layout.Struct, layout.SparseUnion:
		for i := range c.data.Children {
			if err := d.fetchChild(f, c, i, offset, f.length); err != nil {
				return err
			}
		}
		if f.layout.Kind == layout.SparseUnion {
			d.after(f, func() error { return checkUnion(f.layout, f.buffers[0].Bytes(), nil, nil, 0) })
		}
	case layout.ListView, layout.DenseUnion:
		return d.fetchPointedTo(f, c)
	case layout.Dictionary:
		dictionary := c.data.Dictionary
		f.dictionary, err = d.fetch(f, dictionaryNumber, dictionary, dictionary.data.Offset, dictionary.data.Length)
		d.after(f, func() error {
			return checkIndices(f.buffers[1].Bytes(), f.layout, dictionary.data.Length, f.valid(), 0, 0)
		})
	case layout.RunEnds:
		return d.fetchRuns(f, c, offset)
	}
	return err
}

// after runs a check when the next round's bytes have arrived.
func (d *downloader) after(f *fetched, check func() error) {
	d.then = append(d.then, func() error {
		if err := check(); err != nil {
			return f.fail(err)
		}
		return nil
	})
}

// valid returns the validity bitmap, or nil.
func (f *fetched) valid() []byte {
	if !f.layout.HasValidity() || f.buffers[0] == nil {
		return nil
	}
	return f.buffers[0].Bytes()
}

// fetchChild adds length elements of child i from position from on.
func (d *downloader) fetchChild(f *fetched, c *Column, i, from, length int) error {
	child := c.data.Children[i]
	if length == 0 {
		from = 0
	}
	if from < 0 || length < 0 || from > child.data.Length || length > child.data.Length-from {
		_, name := f.layout.Child(i)
		return f.fail(inChild(i, name, fmt.Errorf("it has %d elements, %d from %d on are needed: %w",
			child.data.Length, length, from, ErrInvalid)))
	}
	fetched, err := d.fetch(f, i, child, child.data.Offset+from, length)
	f.children = append(f.children, fetched)
	return err
}

func (d *downloader) fetchBinary(f *fetched, c *Column, offset int) error {
	data := c.data.Buffers[2]
	part := func(first, last int) (err error) {
		if f.buffers[2], err = d.take(data, first, last); err != nil {
			return f.fail(err)
		}
		return nil
	}
	return d.fetchOffsets(f, c, offset, data.Len(), part, func(last int) { f.buffers[2].ResizeNoShrink(last) })
}

// fetchOffsets adds offsets and, with part, the elements between the first and the
// last offset. If the column has no further offsets than these, it adds all elements
// immediately; trim then receives the number of used ones, before they are checked.
func (d *downloader) fetchOffsets(f *fetched, c *Column, offset, limit int, part func(first, last int) error, trim func(last int)) error {
	width := f.layout.Width
	if f.length == 0 {
		f.buffers[1] = d.buffer(width)
		clear(f.buffers[1].Bytes())
		return part(0, 0)
	}
	var err error
	if f.buffers[1], err = d.takeElements(c.data.Buffers[1], offset, f.length+1, width); err != nil {
		return f.fail(err)
	}
	whole := offset == 0 && c.data.Buffers[1].Len() < f.buffers[1].Len()+bufferPadding
	d.then = append(d.then, func() error {
		offsets := f.buffers[1].Bytes()
		first, last, err := checkOffsets(offsets, width, limit)
		if err != nil {
			return f.fail(fmt.Errorf("buffer 1 (offsets): %w", err))
		}
		if whole {
			trim(last)
			return nil
		}
		if first > 0 {
			shifted(width, -uint64(first))(offsets, offsets, 0)
		}
		return part(first, last)
	})
	if whole {
		return part(0, limit)
	}
	return nil
}

// shorten leaves the elements from length on out, which no list refers to: they may
// be of any bytes. It is called before the elements are checked.
func (f *fetched) shorten(length int) {
	if length >= f.length {
		return
	}
	f.length = length
	keep := func(buffer, elements, width int) {
		if b := f.buffers[buffer]; b.Len() > elements*width {
			b.ResizeNoShrink(elements * width)
		}
	}
	width := f.layout.Width
	switch f.layout.Kind {
	case layout.Fixed, layout.View, layout.Dictionary:
		keep(1, length, width)
	case layout.Binary, layout.List:
		if keep(1, length+1, width); length == 0 {
			clear(f.buffers[1].Bytes())
		}
	case layout.ListView:
		keep(1, length, width)
		keep(2, length, width)
	case layout.DenseUnion:
		keep(0, length, 1)
		keep(1, length, 4)
	case layout.SparseUnion:
		keep(0, length, 1)
		f.shortenChildren(length)
	case layout.Struct:
		f.shortenChildren(length)
	case layout.FixedSizeList:
		f.shortenChildren(length * f.layout.ListSize())
	}
}

func (f *fetched) shortenChildren(length int) {
	for _, child := range f.children {
		child.shorten(length)
	}
}

// fetchViews adds the data that views refer to, which may be anywhere.
func (d *downloader) fetchViews(f *fetched, c *Column) (err error) {
	for i := 2; i < len(c.data.Buffers); i++ {
		if f.buffers[i], err = d.take(c.data.Buffers[i], 0, c.data.Buffers[i].Len()); err != nil {
			return f.fail(err)
		}
	}
	d.after(f, func() error {
		lengths := make([]int, len(f.buffers)-2)
		for i, buffer := range f.buffers[2:] {
			lengths[i] = buffer.Len()
		}
		return checkViews(f.buffers[1].Bytes(), lengths, f.valid(), 0, 0)
	})
	return nil
}

// fetchPointedTo adds the whole children of list views and dense unions, because
// their offsets may point anywhere.
func (d *downloader) fetchPointedTo(f *fetched, c *Column) error {
	lengths := make([]int, len(c.data.Children))
	for i, child := range c.data.Children {
		if f.length > 0 {
			lengths[i] = child.data.Length
		}
		if err := d.fetchChild(f, c, i, 0, lengths[i]); err != nil {
			return err
		}
	}
	d.after(f, func() error {
		if f.layout.Kind == layout.DenseUnion {
			return checkUnion(f.layout, f.buffers[0].Bytes(), f.buffers[1].Bytes(), lengths, 0)
		}
		offsets, sizes := f.buffers[1].Bytes(), f.buffers[2].Bytes()
		clearNullLists(offsets, sizes, f.layout.Width, lengths[0], f.valid())
		return checkListViews(offsets, sizes, f.layout.Width, lengths[0], 0)
	})
	return nil
}

// fetchRuns adds run ends and values. If there are more runs than elements, the
// column was sliced, and the values are added after the run ends have arrived.
func (d *downloader) fetchRuns(f *fetched, c *Column, offset int) error {
	runs := c.data.Children[0].data.Length
	if f.length == 0 {
		runs = 0
	}
	if err := d.fetchChild(f, c, 0, 0, runs); err != nil {
		return err
	}
	if f.length == 0 {
		return d.fetchChild(f, c, 1, 0, 0)
	}
	whole, length := offset == 0 && runs <= f.length, f.length
	d.then = append(d.then, func() error {
		ends, width := f.children[0].buffers[1], f.layout.Width
		if f.length < length || f.parent != nil { // a list may refer to elements before others
			used := runsWithin(ends.Bytes(), width, offset, f.length)
			for _, child := range f.children {
				child.shorten(used)
			}
			if f.length == 0 && !whole {
				return d.fetchChild(f, c, 1, 0, 0)
			}
		}
		if err := checkRunEnds(ends.Bytes(), width, offset+f.length); err != nil && f.length > 0 {
			return f.children[0].fail(err)
		}
		if whole {
			return nil
		}
		first, last := findRuns(ends.Bytes(), width, offset, f.length)
		count := last - first
		kept := ends.Bytes()[:count*width]
		copy(kept, ends.Bytes()[first*width:last*width])
		runEndsWithin(width, offset, f.length, 0)(kept, kept, 0)
		ends.ResizeNoShrink(len(kept))
		f.children[0].length = count
		return d.fetchChild(f, c, 1, first, count)
	})
	if whole {
		return d.fetchChild(f, c, 1, 0, runs)
	}
	return nil
}

// runsWithin returns the number of runs up to the end of length elements, or all if the ends do not reach it.
func runsWithin(ends []byte, width, offset, length int) int {
	if length == 0 {
		return 0
	}
	for i := range len(ends) / width {
		if signedAt(ends[i*width:], width) >= int64(offset+length) {
			return i + 1
		}
	}
	return len(ends) / width
}

// array makes the array after all transfers.
func (f *fetched) array() (assembled arrow.Array, err error) {
	defer func() {
		// Extension types run foreign code, which may panic.
		if problem := recover(); problem != nil {
			assembled, err = nil, f.fail(fmt.Errorf("make an array of %v: %v: %w", f.dataType, problem, ErrInvalid))
		}
	}()
	data := f.data()
	defer data.Release()
	return array.MakeFromData(data), nil
}

func (f *fetched) data() *array.Data {
	buffers := f.buffers
	if !f.layout.HasValidity() {
		buffers = append([]*arrowmemory.Buffer{nil}, buffers...)
	}
	nulls := 0
	switch valid := f.valid(); {
	case f.layout.Kind == layout.Null:
		nulls = f.length
	case valid != nil:
		if nulls = f.length - bitutil.CountSetBits(valid, 0, f.length); nulls == 0 {
			buffers[0] = nil
		}
	}
	if f.dictionary != nil {
		dictionary := f.dictionary.data()
		defer dictionary.Release()
		return array.NewDataWithDictionary(f.dataType, f.length, buffers, nulls, 0, dictionary)
	}
	children := make([]arrow.ArrayData, len(f.children))
	for i, child := range f.children {
		children[i] = child.data()
		defer children[i].Release()
	}
	return array.NewData(f.dataType, f.length, buffers, children, nulls, 0)
}
