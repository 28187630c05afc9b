package column

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/memory"
)

// UploadOptions configure a copy of arrays to a device. The zero value is right for
// most programs.
type UploadOptions struct {
	// Stream is the stream that the columns' memory belongs to and that the transfer
	// is enqueued on. Work enqueued on it afterwards finds the data, and the call
	// returns as soon as the arrays may be released. Nil means the manager's stream;
	// the call then waits until the data is on the device, so that work on any stream
	// finds it.
	Stream *device.Stream
	// Tag is the tag of the memory in the manager's statistics.
	Tag string
	// Name returns the name of column i for errors. It may be nil.
	Name func(i int) string
	// FailAtOnce makes the call fail if memory is short because other requests wait
	// for it. Otherwise the call waits for its turn, or until the context is done.
	FailAtOnce bool
	// Spare makes the call fail at once if there is too little free memory, without calling a
	// [memory.Reclaimer]: see [memory.AllocateOptions].
	Spare bool
	// Unchecked skips the checks of contents: see [FromArrays]. Use it for arrays
	// that the program made itself.
	Unchecked bool
}

// FromArray copies one host array to the device. The caller keeps the array, which
// may be released as soon as FromArray returns, and releases the column. See
// [FromArrays].
func FromArray(ctx context.Context, m *memory.Manager, array arrow.Array, options UploadOptions) (*Column, error) {
	columns, err := FromArrays(ctx, m, [][]arrow.Array{{array}}, options)
	if err != nil {
		return nil, err
	}
	return columns[0], nil
}

// FromArrays copies host arrays to the device: columns[i] holds the chunks, of one
// type, that become column i. Chunks whose strings or lists have more bytes or elements
// together than 32-bit offsets reach to, 2³¹−1, become a column of the type with 64-bit
// offsets, and so do chunks that differ in the width of their offsets: utf8 becomes
// large_utf8. All buffers of all columns are copied into one block,
// by one allocation and one transfer. The host copies nothing except for staging.
// Elements outside a slice are not copied: see the package documentation.
//
// Chunks of a dictionary type with different dictionaries are merged on the host
// first. If that is impossible, as with dictionaries of structs, the dictionaries are
// concatenated, with repeated values.
//
// # Ownership
//
// The arrays must not change until FromArrays returns, and may be released then. The
// caller releases every column.
//
// # Checks
//
// An array with inconsistent parts gives an error that wraps [ErrInvalid] and names
// the buffer. So does one with references out of range: offsets that decrease, views
// and lists outside their buffer or child, type ids that the type lacks, indices
// beyond the dictionary, run ends that do not increase. File readers do not check
// these, and operators rely on them. The goroutines that copy the buffers check them,
// which costs little; [UploadOptions.Unchecked] skips these checks. UTF-8 is not
// checked.
//
// # Errors
//
// Chunks of maps or views whose offsets would overflow in one array give an error that wraps
// memory.ErrOverflow. After an error nothing stays allocated.
//
// # Waiting
//
// FromArrays waits for the transfer, and for its turn if other requests wait for
// memory of the same budget: see [memory.Manager.AllocateContext].
func FromArrays(ctx context.Context, m *memory.Manager, columns [][]arrow.Array, options UploadOptions) ([]*Column, error) {
	if m == nil {
		return nil, fmt.Errorf("column: upload: the manager is nil: %w", ErrInvalid)
	}
	p := planner{unchecked: options.Unchecked, name: options.Name, maximumOffset: strategy.MaximumOffset(ctx, 4)}
	defer p.release()
	nodes, total, err := p.planColumns(columns)
	if err != nil {
		return nil, fmt.Errorf("column: upload: %w", err)
	}
	if len(nodes) == 0 {
		return nil, nil
	}
	block, err := options.allocate(ctx, m, total)
	if err != nil {
		return nil, fmt.Errorf("column: upload: %w", err)
	}
	uploaded, err := p.transfer(ctx, block, nodes, options.Stream)
	if err = errors.Join(err, block.Release()); err != nil {
		return nil, errors.Join(fmt.Errorf("column: upload: %w", err), releaseAll(nil, uploaded))
	}
	return uploaded, nil
}

func (o UploadOptions) allocate(ctx context.Context, m *memory.Manager, bytes uint64) (*memory.Block, error) {
	options := memory.AllocateOptions{Stream: o.Stream, Tag: o.Tag, Retried: memory.IsRetrying(ctx), Spare: o.Spare}
	if o.FailAtOnce || o.Spare {
		return m.Allocate(bytes, options)
	}
	return m.AllocateContext(ctx, bytes, options)
}

// planColumns plans all columns and returns the length of their block.
func (p *planner) planColumns(columns [][]arrow.Array) (nodes []*node, total uint64, err error) {
	chunks := 0
	for _, arrays := range columns {
		chunks += len(arrays)
	}
	nodes = make([]*node, 0, len(columns))
	p.nodes = make([]node, 0, len(columns))
	p.chunks = make([]chunk, 0, chunks)
	p.sources = make([]memory.Source, 0, 2*chunks)
	for i, arrays := range columns {
		p.column = i
		n, err := p.planColumn(arrays)
		if err != nil {
			return nil, 0, inColumn(i, p.name, err)
		}
		nodes = append(nodes, n)
	}
	total, err = p.total()
	return nodes, total, err
}

func (p *planner) planColumn(arrays []arrow.Array) (*node, error) {
	if len(arrays) == 0 {
		return nil, fmt.Errorf("no chunks, expected at least an empty one for the type: %w", ErrInvalid)
	}
	list := make([]arrow.ArrayData, len(arrays))
	for i, array := range arrays {
		if array == nil || isNil(array.Data()) {
			return nil, fmt.Errorf("chunk %d is nil: %w", i, ErrInvalid)
		}
		list[i] = array.Data()
	}
	var t arrow.DataType
	since := len(p.chunks)
	for i, data := range p.widened(list) {
		if i == 0 {
			t = data.DataType()
		} else if !arrow.TypeEqual(t, data.DataType()) {
			return nil, fmt.Errorf("chunk %d is of type %v, chunk 0 of %v: %w", i, data.DataType(), t, ErrInvalid)
		}
		c, err := newChunk(data, 0, data.Len())
		if err != nil {
			return nil, fmt.Errorf("chunk %d: %w", i, err)
		}
		p.chunks = append(p.chunks, c)
	}
	return p.plan(t, p.keep(since))
}

// transfer writes the sources to the block and makes the columns in it.
func (p *planner) transfer(ctx context.Context, block *memory.Block, nodes []*node, stream *device.Stream) ([]*Column, error) {
	whole, err := memory.View[uint8](block, 0, int(block.Bytes()))
	if err != nil {
		return nil, err
	}
	if err := memory.Upload(ctx, stream, whole, p.sources); err != nil {
		return nil, err
	}
	if err := p.contents(); err != nil {
		return nil, err
	}
	if stream == nil {
		if err := block.Synchronize(ctx); err != nil {
			return nil, err
		}
	}
	columns := make([]*Column, 0, len(nodes))
	for _, n := range nodes {
		c, err := n.column(block.Manager(), whole)
		if err != nil {
			return columns, err
		}
		columns = append(columns, c)
	}
	return columns, nil
}

// column makes the column of a node in the block.
func (n *node) column(m *memory.Manager, whole Bytes) (*Column, error) {
	data := Data{Type: n.dataType, Length: n.length, NullCount: n.nulls, Manager: m, Known: n.known}
	if len(n.extents) > 0 {
		data.Buffers = make([]Bytes, len(n.extents))
	}
	for i, e := range n.extents {
		if e.absent {
			continue
		}
		var err error
		if data.Buffers[i], err = whole.Slice(int(e.offset), int(e.offset+e.bytes)); err != nil {
			return nil, err
		}
	}
	return assemble(data, len(n.children),
		func(i int) (*Column, error) { return n.children[i].column(m, whole) },
		n.dictionary != nil, func() (*Column, error) { return n.dictionary.column(m, whole) })
}

// assemble makes a column of data, and the columns of its children and dictionary.
func assemble(data Data, children int, child func(i int) (*Column, error), hasDictionary bool, dictionary func() (*Column, error)) (*Column, error) {
	var err error
	for i := 0; i < children && err == nil; i++ {
		var c *Column
		if c, err = child(i); err == nil {
			data.Children = append(data.Children, c)
		}
	}
	if err == nil && hasDictionary {
		data.Dictionary, err = dictionary()
	}
	var c *Column
	if err == nil {
		c, err = counted(data)
	}
	// The column holds its own references.
	if err = errors.Join(err, releaseAll(nil, data.Children), data.Dictionary.Release()); err != nil {
		return nil, errors.Join(err, c.Release())
	}
	return c, nil
}
