package column

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// UnknownNullCount is the null count of a column with an unknown number of nulls.
const UnknownNullCount = -1

// ErrInvalid is wrapped by errors about arrays and columns with inconsistent parts.
var ErrInvalid = errors.New("invalid column")

// Bytes is a buffer of a column.
type Bytes = memory.Slice[uint8]

// Column is one Arrow array in device memory.
type Column struct {
	references atomic.Int64
	data       Data
	known      known
}

// Data are the parts of a column, named as in the Arrow columnar format.
type Data struct {
	Type arrow.DataType
	// Length is the number of elements, Offset the number of elements before the
	// first one in every buffer. With Rows, Length is the capacity: the maximum
	// number of elements.
	Length, Offset int
	// Rows is the number of elements if only the device has it, or nil.
	Rows *RowCount
	// NullCount is the number of nulls, or UnknownNullCount.
	NullCount int
	// Buffers are the buffers of the type's layout, in its order. The first is the
	// validity bitmap for all types except null, union and run-end encoded. An
	// optional buffer that is absent is a zero Slice.
	Buffers []Bytes
	// Children are the columns of a nested type.
	Children []*Column
	// Dictionary holds the values of a dictionary type. The indices are in Buffers.
	Dictionary *Column
	// Manager is the manager of a column without memory: without elements, or of type
	// null. Other columns have the manager of their memory.
	Manager *memory.Manager
	// Known holds known properties of the values. New takes it; Data does not return
	// it, because it would not hold for changed parts.
	Known Known
}

// New makes a column of its parts. It checks the number of buffers and children
// against the type's layout, and the length of fixed-width buffers against offset and
// length.
//
// # Ownership
//
// The column retains the buffers, the children, the dictionary and the row count. The
// caller keeps its own references and releases the column.
//
// # Row counts
//
// The children of a struct, a sparse union or a fixed-size list with a row count get
// a count too, so that each child is valid by itself.
func New(data Data) (*Column, error) {
	if err := check(data); err != nil {
		return nil, fmt.Errorf("column: new: %w", err)
	}
	return counted(data)
}

// retained makes a column of checked parts.
func retained(data Data) (*Column, error) {
	c := &Column{data: data}
	c.references.Store(1)
	c.LearnUnique(data.Known.Unique)
	c.data.Known = Known{}
	c.data.Buffers = views(data.Buffers)
	for i, buffer := range data.Buffers {
		if buffer.Block() == nil {
			continue
		}
		if err := buffer.Block().Retain(); err != nil {
			return nil, errors.Join(fmt.Errorf("column: buffer %d: %w", i, err), releaseAll(data.Buffers[:i], nil))
		}
	}
	for i, child := range data.Children {
		if err := child.Retain(); err != nil {
			return nil, errors.Join(fmt.Errorf("column: child %d: %w", i, err), releaseAll(data.Buffers, data.Children[:i]))
		}
	}
	if data.Dictionary != nil {
		if err := data.Dictionary.Retain(); err != nil {
			return nil, errors.Join(fmt.Errorf("column: dictionary: %w", err), releaseAll(data.Buffers, data.Children))
		}
	}
	if data.Rows != nil {
		if err := data.Rows.Retain(); err != nil {
			return nil, errors.Join(err, releaseAll(data.Buffers, data.Children), data.Dictionary.Release())
		}
	}
	return c, nil
}

// views returns the buffers without references. A column holds references to the
// blocks, and its views borrow them.
func views(buffers []Bytes) []Bytes {
	if !slices.ContainsFunc(buffers, func(b Bytes) bool { return !b.IsView() }) {
		return buffers
	}
	lent := make([]Bytes, len(buffers))
	for i, b := range buffers {
		lent[i] = b.View()
	}
	return lent
}

// releaseAll releases the references to the buffers' blocks and the children.
func releaseAll(buffers []Bytes, children []*Column) error {
	var failures []error
	note := func(err error) {
		if err != nil {
			failures = append(failures, err)
		}
	}
	for _, buffer := range buffers {
		note(buffer.Block().Release())
	}
	for _, child := range children {
		note(child.Release())
	}
	return errors.Join(failures...)
}

// Type returns the Arrow type.
func (c *Column) Type() arrow.DataType { return c.data.Type }

// Len returns the number of elements. If only the device has that number, it returns
// the capacity. See [Column.NumRows].
func (c *Column) Len() int { return c.data.Length }

// Offset returns the number of elements before the first one in every buffer.
func (c *Column) Offset() int { return c.data.Offset }

// NullCount returns the number of nulls, or UnknownNullCount. If only the device has
// the row count, NullCount returns zero if no element is null, Len if all elements
// are null, and UnknownNullCount otherwise.
func (c *Column) NullCount() int { return c.data.NullCount }

// Data returns the column's parts, without the known properties of the values. They
// are borrowed; do not change them.
func (c *Column) Data() Data { return c.data }

// NumBuffers returns the number of buffers.
func (c *Column) NumBuffers() int { return len(c.data.Buffers) }

// Buffer returns buffer i of the type's layout, borrowed from the column.
func (c *Column) Buffer(i int) Bytes { return c.data.Buffers[i] }

// NumChildren returns the number of children.
func (c *Column) NumChildren() int { return len(c.data.Children) }

// Child returns child i, borrowed from the column.
func (c *Column) Child(i int) *Column { return c.data.Children[i] }

// Dictionary returns the dictionary, borrowed from the column, or nil.
func (c *Column) Dictionary() *Column { return c.data.Dictionary }

// String returns the type, the number of rows and the number of nulls on one line. It
// never waits; [Column.Preview] shows values.
func (c *Column) String() string {
	if c == nil {
		return "nil column"
	}
	nulls := "unknown"
	if c.data.NullCount != UnknownNullCount {
		nulls = fmt.Sprint(c.data.NullCount)
	}
	rows := fmt.Sprint(c.data.Length)
	if c.data.Rows != nil {
		rows = c.data.Rows.String()
	}
	return fmt.Sprintf("%v column of %s, %s nulls", c.data.Type, rows, nulls)
}

// Check returns an error that wraps memory.ErrReleased for a column that is nil
// or was released.
func (c *Column) Check() error {
	if c == nil || c.references.Load() <= 0 {
		return fmt.Errorf("column: %v: %w", c, memory.ErrReleased)
	}
	return nil
}

// Retain adds a reference.
func (c *Column) Retain() error {
	for c != nil {
		count := c.references.Load()
		if count <= 0 {
			break
		}
		if c.references.CompareAndSwap(count, count+1) {
			return nil
		}
	}
	return fmt.Errorf("column: retain %v: %w", c, memory.ErrReleased)
}

// Release drops a reference. The last one releases the buffers, the children and the
// dictionary. Release of a nil column does nothing. One release too many is an error
// that wraps memory.ErrReleased.
func (c *Column) Release() error {
	if c == nil {
		return nil
	}
	for {
		count := c.references.Load()
		if count <= 0 {
			return fmt.Errorf("column: release %v: %w", c, memory.ErrReleased)
		}
		if !c.references.CompareAndSwap(count, count-1) {
			continue
		}
		if count > 1 {
			return nil
		}
		err := releaseAll(c.data.Buffers, c.data.Children)
		return errors.Join(err, c.data.Dictionary.Release(), c.data.Rows.Release())
	}
}

// Blocks is an iterator over the blocks of the column's buffers, of its children and
// of its dictionary. It yields a block once for each buffer in it.
func (c *Column) Blocks(yield func(*memory.Block) bool) { c.blocks(yield) }

func (c *Column) blocks(yield func(*memory.Block) bool) bool {
	for _, buffer := range c.data.Buffers {
		if buffer.Block() != nil && !yield(buffer.Block()) {
			return false
		}
	}
	for _, child := range c.data.Children {
		if !child.blocks(yield) {
			return false
		}
	}
	return c.data.Dictionary == nil || c.data.Dictionary.blocks(yield)
}

// Manager returns the manager of the column's memory. Columns without memory know
// their manager too, unless [New] made them without [Data.Manager]; Manager then
// returns nil.
func (c *Column) Manager() *memory.Manager {
	for block := range c.Blocks {
		return block.Manager()
	}
	if c.data.Manager != nil {
		return c.data.Manager
	}
	for _, child := range c.data.Children {
		if m := child.Manager(); m != nil {
			return m
		}
	}
	if c.data.Dictionary != nil {
		if m := c.data.Dictionary.Manager(); m != nil {
			return m
		}
	}
	if c.data.Rows != nil {
		return c.data.Rows.Manager()
	}
	return nil
}

// Device returns the device of [Column.Manager], or nil if the manager is nil.
func (c *Column) Device() *device.Device {
	if m := c.Manager(); m != nil {
		return m.Device()
	}
	return nil
}
