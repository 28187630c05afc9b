package dlpack

import (
	"context"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
	"github.com/gpuframe/gpuframe/memory"
)

// ExportOptions configure an export. The zero value corresponds to a call of
// __dlpack__() without arguments in DLPack's Python protocol.
type ExportOptions struct {
	// Stream is the stream that the consumer works on. For the number that __dlpack__
	// received, use device.Device.WrapStream. Work that is enqueued on it later finds
	// the values ready. The memory is reused only after the work that is on the
	// stream when the deleter runs. The stream is not used after the export, so the
	// consumer may destroy it before it runs the deleter. Nil means the device's
	// default stream. Memory that the processor can access has no stream by default:
	// the export waits until the values are ready.
	Stream *device.Stream

	// NoSync leaves the order of the consumer's work to the caller. It corresponds to
	// the protocol's stream=-1.
	NoSync bool

	// ReadOnly sets the tensor's read-only flag. The flag is always set for memory
	// that is read-only itself. PyTorch and CuPy ignore it.
	ReadOnly bool

	// Aligned gives the tensor an address that is a multiple of 256 bytes, as DLPack
	// recommends, and puts the rest into byte_offset. If the multiple below the first
	// element lies outside the column's memory, the offset stays zero: GPU memory
	// usually begins at such a multiple, host memory at a multiple of 64. Aligned is
	// not the default because PyTorch up to 2.9 and other consumers ignore the
	// offset.
	Aligned bool

	// Legacy makes a DLManagedTensor, for consumers older than DLPack 1.0. It cannot
	// carry the read-only flag.
	Legacy bool

	// Context ends the waits of the export: for memory that the processor can access,
	// and for row counts and null counts on the device. Nil means no deadline.
	Context context.Context
}

// Export hands a column's values to another library, without a copy, as a tensor with
// the column's rows. The tensor keeps the memory alive, not the column; the caller
// releases or detaches the [Tensor]. At most one set of options may be given.
//
// Columns of integers, unsigned integers, floats of every width and of the
// [ExtensionTypes] have one dimension. Each level of fixed-size lists adds one, up to
// eight. The tensor is in row-major order, without gaps.
//
// Booleans are expanded on their device into one byte for each element, because
// DLPack has no bits. Such a tensor is a copy, has the copy flag, and counts against
// the column's budget until its deleter runs.
//
// # Waiting
//
// On a GPU the call does not wait for the values. It waits if the row count is only
// on the device, and if the column has a validity bitmap with an unknown null count,
// which is then counted on the device. A column of numbers without a bitmap, from a
// file or a tensor, needs neither.
//
// # Errors
//
// The error is an [*Error]. It wraps [ErrNulls] if an element or a list item is null,
// [ErrUnsupported] for a type that DLPack lacks and for memory that is not aligned to
// its elements, and memory.ErrReleased for a released column.
func Export(c *column.Column, options ...ExportOptions) (*Tensor, error) {
	tensor, err := exportColumn(c, options, valuesOf)
	return tensor, during("export", err)
}

// contents describes the elements of a tensor.
type contents struct {
	// region holds the elements; it may be empty.
	region column.Bytes
	// length is the number of rows, inner the further dimensions.
	length   int
	inner    []int64
	dataType cabi.DataType
	// distance is zero for elements in row-major order. Otherwise the elements are in
	// column-major order, and columns begin distance elements apart.
	distance int
	// bitOffset is the offset of a validity bitmap in its first byte.
	bitOffset int
	// copied reports whether the region was made for the tensor.
	copied bool
	// home is the manager of a column without memory. It may be nil.
	home *memory.Manager
}

func exportColumn(c *column.Column, options []ExportOptions, choose func(context.Context, *column.Column) (contents, error)) (*Tensor, error) {
	if !cabi.Available {
		return nil, notInThisBuild()
	}
	o, err := only(options)
	if err != nil {
		return nil, err
	}
	if err := c.Check(); err != nil {
		return nil, faulty("column", "%w", err)
	}
	rows, err := c.WithHostRows(o.context())
	if err != nil {
		return nil, faulty("column", "%w", err)
	}
	shown, err := choose(o.context(), rows)
	if err != nil {
		return nil, also(err, rows.Release())
	}
	tensor, err := shown.handOver(&o)
	if releasing := rows.Release(); releasing != nil {
		return nil, also(also(err, releasing), tensor.Release())
	}
	return tensor, err
}

func (o *ExportOptions) context() context.Context {
	if o.Context == nil {
		return context.Background()
	}
	return o.Context
}

// handOver exports the contents. A copied region belongs to the tensor alone.
func (s *contents) handOver(o *ExportOptions) (*Tensor, error) {
	tensor, err := s.export(o)
	if s.copied {
		// The tensor holds its own reference now.
		if releasing := s.region.Release(); releasing != nil {
			return nil, also(also(err, releasing), tensor.Release())
		}
	}
	return tensor, err
}

// only returns the options, or the zero value if none were given.
func only[Options any](given []Options) (o Options, err error) {
	switch len(given) {
	case 0:
		return o, nil
	case 1:
		return given[0], nil
	}
	return o, faulty("options", "%d sets of options, expected at most one: %w", len(given), device.ErrInvalidValue)
}

// valuesOf returns the values of a column without nulls.
func valuesOf(ctx context.Context, c *column.Column) (contents, error) {
	if id := c.Type().ID(); id == arrow.FIXED_SIZE_LIST || id == arrow.EXTENSION || id == arrow.BOOL {
		e, err := elementsOf(ctx, c)
		if err != nil {
			return contents{}, err
		}
		return e.show(c.Len())
	}
	dataType, err := toDLPack(c.Type())
	if err != nil {
		return contents{}, err
	}
	if c.NullCount() != 0 {
		all := elements{column: c, first: c.Offset(), count: c.Len()}
		if err := all.refuseNulls(ctx, "column"); err != nil {
			return contents{}, err
		}
	}
	values, err := c.ValuesRegion()
	if err != nil {
		return contents{}, faulty("column", "%w", err)
	}
	return contents{region: values, length: c.Len(), dataType: dataType, home: c.Manager()}, nil
}

func (s *contents) export(o *ExportOptions) (*Tensor, error) {
	tensor := &Tensor{
		legacy: o.Legacy, copied: s.copied, bitOffset: s.bitOffset,
		device: s.device(), dataType: s.dataType, rows: s.length, inner: s.inner,
	}
	flags, err := s.flags(o)
	if err != nil {
		return nil, err
	}
	block := s.region.Block()
	described := cabi.Tensor{Device: tensor.device, DataType: s.dataType}
	if s.length > 0 {
		described.Data = uintptr(s.region.Pointer())
		if err := checkAligned(described); err != nil {
			return nil, err
		}
	}
	if block != nil && s.length > 0 {
		// A tensor without elements holds no memory. Some consumers never run its
		// deleter.
		if err := tensor.export.begin(block, o); err != nil {
			return nil, err
		}
	}
	handle, record, ok := cabi.Begin(&tensor.export)
	if !ok {
		return nil, also(faulty("", "allocate the tensor's struct: %w", device.ErrOutOfMemory), tensor.export.end(nil))
	}
	tensor.export.handle = handle
	if o.Aligned && s.length > 0 {
		alignTo(block, &described)
	}
	dimensions := cabi.Dimensions{Rows: int64(s.length), Inner: s.inner, Distance: int64(s.distance)}
	if o.Legacy {
		tensor.pointer = unsafe.Pointer(record.DescribeLegacy(handle, described, dimensions))
	} else {
		tensor.pointer = unsafe.Pointer(record.Describe(handle, described, dimensions, flags))
	}
	return tensor, nil
}

func (s *contents) flags(o *ExportOptions) (flags uint64, err error) {
	if s.copied {
		flags |= cabi.FlagIsCopied
	}
	if block := s.region.Block(); o.ReadOnly || block != nil && block.ReadOnly() {
		flags |= cabi.FlagReadOnly
		if o.Legacy {
			return 0, faulty("options.Legacy", "the legacy struct has no read-only flag: export the versioned one: %w", memory.ErrReadOnly)
		}
	}
	return flags, nil
}

// begin retains the block for the consumer and makes it ready.
func (e *export) begin(block *memory.Block, o *ExportOptions) error {
	consumer, err := consumerStream(block.Device(), block.Kind(), o.Stream, o.NoSync)
	if err != nil {
		return err
	}
	if err := block.BeginExport(); err != nil {
		return faulty("column", "%w", err)
	}
	if !o.NoSync {
		if err := makeReady(o.Context, block, consumer); err != nil {
			return also(faulty("", "make the values ready: %w", err), block.EndExport())
		}
	}
	e.block, e.consumer = block, consumer
	return nil
}
