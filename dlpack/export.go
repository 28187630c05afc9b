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

// ExportOptions configure an export. The zero value is what DLPack's Python
// protocol means by __dlpack__() without arguments.
type ExportOptions struct {
	// Stream is the stream that the consumer works on; device.Device.WrapStream
	// makes one of the number that __dlpack__ was called with. Work that is
	// enqueued on it later finds the values ready, and the memory is not used
	// anew before the work that is on it when the deleter runs is done. The stream is
	// not touched after the export: the consumer may destroy it before it runs the
	// deleter. Nil means the device's default stream; memory that
	// the processor can reach has no stream by default, and the export waits
	// until the values are there.
	Stream *device.Stream

	// NoSync leaves it to the caller to order the consumer's work after that on
	// the column. It stands for the protocol's stream=-1.
	NoSync bool

	// ReadOnly marks the tensor as not to be written to. Memory that is
	// read-only itself is always marked. PyTorch and CuPy ignore the mark.
	ReadOnly bool

	// Aligned gives the tensor an address that is a multiple of 256 bytes, as DLPack
	// recommends, with the rest in byte_offset. Where the multiple below the first
	// element is not in the column's memory any more, the offset stays zero: memory
	// of a GPU begins at such a multiple as a rule, the host's at one of 64. PyTorch
	// up to 2.9 and others overlook the offset, which is why it is not the default.
	Aligned bool

	// Legacy makes a DLManagedTensor, for consumers of before DLPack 1.0. It
	// cannot be marked as read-only.
	Legacy bool

	// Context ends the waits: for memory that the processor reaches, for a row count
	// that only the device knows, and for nulls that nobody has counted. Nil means no
	// end but the work's.
	Context context.Context
}

// Export hands a column's values to another library, without copying them, as a
// tensor with as many rows as the column. The tensor keeps the memory alive, not
// the column; the caller releases the [Tensor] or detaches it. At most one set of
// options may be given.
//
// Columns of integers, unsigned integers, floats of every width and of the
// [ExtensionTypes] have one dimension. A fixed-size list adds one for each level,
// eight in all at most, and is compact: row by row, without gaps.
//
// Booleans are expanded on their device into one byte an element, for DLPack
// knows no bits: that tensor is a copy, is marked as one, and counts in the
// column's budget until its deleter runs.
//
// # Waiting
//
// On a GPU the call does not wait for the values. It waits if only the device knows the
// number of rows, which is fetched then, and if the column has a validity bitmap whose
// nulls nobody has counted, which are counted then on the device. A column of numbers
// without a bitmap, from a file or of a tensor, needs neither.
//
// # Errors
//
// The error is an [*Error]. It wraps [ErrNulls] if an element, or one that the lists
// hold, is null, [ErrUnsupported] for a type that DLPack does not have and for memory
// that is not aligned to its elements, and memory.ErrReleased for a released column.
func Export(c *column.Column, options ...ExportOptions) (*Tensor, error) {
	tensor, err := exportColumn(c, options, valuesOf)
	return tensor, during("export", err)
}

// contents are what a tensor shows.
type contents struct {
	// region holds the elements; it may be empty.
	region column.Bytes
	// length is the number of rows, inner the further dimensions.
	length   int
	inner    []int64
	dataType cabi.DataType
	// distance is zero for elements that lie row by row. Else they lie column by
	// column, each of which begins so many elements after the one before it.
	distance int
	// bitOffset is that of a validity bitmap in its first byte.
	bitOffset int
	// copied says that the region was made for the tensor.
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

// handOver exports the contents, which are the tensor's alone if they were copied.
func (s *contents) handOver(o *ExportOptions) (*Tensor, error) {
	tensor, err := s.export(o)
	if s.copied {
		// The tensor holds its own reference by now.
		if releasing := s.region.Release(); releasing != nil {
			return nil, also(also(err, releasing), tensor.Release())
		}
	}
	return tensor, err
}

// only returns the options, or their zero value where none were given.
func only[Options any](given []Options) (o Options, err error) {
	switch len(given) {
	case 0:
		return o, nil
	case 1:
		return given[0], nil
	}
	return o, faulty("options", "%d sets of options were given, at most one is used: %w", len(given), device.ErrInvalidValue)
}

// valuesOf chooses the values of a column without nulls.
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
		// Of no elements nothing need be held. Some consumers never run the
		// deleter of such a tensor.
		if err := tensor.export.begin(block, o); err != nil {
			return nil, err
		}
	}
	handle, record, ok := cabi.Begin(&tensor.export)
	if !ok {
		return nil, also(faulty("", "the tensor's struct: %w", device.ErrOutOfMemory), tensor.export.end(nil))
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
			return 0, faulty("options.Legacy", "the legacy struct cannot forbid writing: export the versioned one: %w", memory.ErrReadOnly)
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
		if err := settle(o.Context, block, consumer); err != nil {
			return also(faulty("", "make the values ready: %w", err), block.EndExport())
		}
	}
	e.block, e.consumer = block, consumer
	return nil
}
