package selection

import (
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/memory"
)

// plan is how a filter handles the columns of a table. The filter's kernels keep the
// rows of buffers. Columns with rows of varying length are gathered by the numbers of
// the kept rows.
type plan struct {
	capacity int
	manager  *memory.Manager
	results  []*planned
	buffers  []planBuffer
	gathered []*column.Column
	// held is released when the filter is done.
	held []*column.Column
}

// planned is a column of the result.
type planned struct {
	data column.Data
	// buffers are indices of the plan's buffers, one per buffer of the type's layout;
	// an absent buffer has a negative index.
	buffers  [2]int
	children []*planned
	// gathered is the index of one of the plan's gathered columns, or negative.
	gathered int
}

// planBuffer is an input buffer and its output.
type planBuffer struct {
	source column.Bytes
	// at is the number of the first bit, for bitmaps.
	at uint64
	// unit is the number of bytes that move together, or 0 for bits. units is the
	// number of units per row.
	unit, units int
	// input is the number of the table's column that has these values, or negative.
	input int
	// out receives the kept rows.
	out column.Bytes
	// fused reports that a kernel that evaluates a predicate also keeps this buffer's
	// rows.
	fused bool
}

const absent = -1

// newPlan returns a plan. The caller releases it, also after an error.
func newPlan(m *memory.Manager, columns []*column.Column, capacity int) (*plan, error) {
	p := &plan{capacity: capacity, manager: m, results: make([]*planned, 0, len(columns)), buffers: make([]planBuffer, 0, 2*len(columns))}
	for i, c := range columns {
		result, err := p.column(c, i)
		if err != nil {
			return p, fmt.Errorf("column %d: %w", i, err)
		}
		p.results = append(p.results, result)
	}
	return p, nil
}

func (p *plan) release() error { return release.All(p.held) }

// column plans for a column, which is column number input of the table. A negative
// number means a child of a column.
func (p *plan) column(c *column.Column, input int) (*planned, error) {
	part := whole(c)
	l, err := layoutOf(part.data.Type)
	if err != nil {
		return nil, err
	}
	result := &planned{buffers: [2]int{absent, absent}, gathered: absent}
	result.data = column.Data{Type: part.data.Type, Length: p.capacity, Manager: p.manager}
	switch l.Kind {
	case layout.Null:
		result.data.NullCount = p.capacity
		return result, nil
	case layout.Fixed, layout.Dictionary:
		result.data.Dictionary = part.data.Dictionary
		values, err := part.values(1, l.Width, part.length)
		if err != nil {
			return nil, err
		}
		result.buffers[1] = p.values(values, l.Width, input)
	case layout.Bits:
		bits := part.bits(1)
		result.buffers[1] = p.bits(bits)
	case layout.Struct:
		if err := p.structure(result, c); err != nil {
			return nil, err
		}
	default:
		result.gathered = len(p.gathered)
		p.gathered = append(p.gathered, c)
		return result, nil
	}
	if valid := part.valid(l); !valid.absent() {
		result.data.NullCount = column.UnknownNullCount
		result.buffers[0] = p.bits(valid)
	}
	return result, nil
}

// structure plans for the children of a struct.
func (p *plan) structure(result *planned, c *column.Column) error {
	for i := range c.NumChildren() {
		child := c.Child(i)
		if child.Len() != c.Len() || c.Offset() != 0 {
			sliced, err := child.SliceCapacity(c.Offset(), c.Len())
			if err != nil {
				return fmt.Errorf("child %d: %w", i, err)
			}
			p.held = append(p.held, sliced)
			child = sliced
		}
		planned, err := p.column(child, absent)
		if err != nil {
			return fmt.Errorf("child %d: %w", i, err)
		}
		result.children = append(result.children, planned)
	}
	return nil
}

func (p *plan) bits(b bits) int {
	p.buffers = append(p.buffers, planBuffer{source: b.bytes, at: b.at, input: absent})
	return len(p.buffers) - 1
}

// values plans for values of a width, which move in the largest units that divide both
// width and address.
func (p *plan) values(source column.Bytes, width, input int) int {
	unit := 16
	for unit > 1 && (width|int(source.Pointer()))%unit != 0 {
		unit /= 2
	}
	p.buffers = append(p.buffers, planBuffer{source: source, unit: unit, units: width / unit, input: input})
	return len(p.buffers) - 1
}

// outBytes returns the size of the output of a buffer. Bitmaps take whole words.
func (b *planBuffer) outBytes(capacity int) (uint64, error) {
	if b.unit == 0 {
		return (uint64(capacity) + 31) / 32 * 4, nil
	}
	width := uint64(b.unit) * uint64(b.units)
	if width > math.MaxInt64/uint64(max(capacity, 1)) {
		return 0, fmt.Errorf("%d values of %d bytes: %w", capacity, width, memory.ErrOverflow)
	}
	return width * uint64(capacity), nil
}

// rowBytes returns the approximate size of a row in all of the plan's buffers.
func (p *plan) rowBytes() (bytes uint64) {
	for i := range p.buffers {
		bytes += uint64(p.buffers[i].unit*p.buffers[i].units) + 1
	}
	return bytes
}

// columns makes the columns of the result. gathered are the columns that were gathered
// by row number. The caller releases them.
func (p *plan) columns(gathered []*column.Column) ([]*column.Column, error) {
	finished := make([]*column.Column, 0, len(p.results))
	for _, result := range p.results {
		c, err := p.make(result, gathered)
		if err != nil {
			return nil, errors.Join(err, release.All(finished))
		}
		finished = append(finished, c)
	}
	return finished, nil
}

func (p *plan) make(result *planned, gathered []*column.Column) (*column.Column, error) {
	if result.gathered >= 0 {
		c := gathered[result.gathered]
		return c, c.Retain()
	}
	data := result.data
	l, err := layoutOf(data.Type)
	if err != nil {
		return nil, err
	}
	switch l.Kind {
	case layout.Null:
	case layout.Struct:
		data.Buffers = []column.Bytes{p.out(result.buffers[0])}
	default:
		data.Buffers = []column.Bytes{p.out(result.buffers[0]), p.out(result.buffers[1])}
	}
	for _, child := range result.children {
		c, err := p.make(child, gathered)
		if err != nil {
			return nil, errors.Join(err, release.All(data.Children))
		}
		data.Children = append(data.Children, c)
	}
	finished, err := column.New(data)
	// The column holds references to its children.
	if err = errors.Join(err, release.All(data.Children)); err != nil {
		return nil, errors.Join(err, finished.Release())
	}
	return finished, nil
}

func (p *plan) out(buffer int) column.Bytes {
	if buffer < 0 {
		return column.Bytes{}
	}
	return p.buffers[buffer].out
}

// isBool reports whether a type is bool or an extension of it.
func isBool(t arrow.DataType) bool {
	l, err := layoutOf(t)
	return err == nil && l.Kind == layout.Bits
}
