package dlpack

import (
	"context"
	"unsafe"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
	"github.com/gpuframe/gpuframe/memory"
)

// ImportOptions configure an import. The zero value is right for a tensor that
// __dlpack__() returned without arguments.
type ImportOptions struct {
	// Stream is the stream on which the producer has made the values ready: the
	// one that its __dlpack__ was called with. Work on the column waits for what
	// is on it now. Nil means the device's default stream; values in pinned memory,
	// and on the host device, are taken to be there already.
	Stream *device.Stream

	// NoSync says that the values are there already, or that the caller orders
	// work on the column himself. It stands for the protocol's stream=-1.
	NoSync bool

	// Context ends the wait that importing booleans takes. Nil means no end but
	// the work's.
	Context context.Context
}

// Import takes a DLManagedTensorVersioned over and makes a column of it without
// copying the values. The manager is one for the tensor's device; the memory is
// in no budget, and shows in the manager's figures as external.
//
// Import consumes the tensor in every case. On success its deleter runs once,
// when the column and everything that retains its memory is released and the
// work on it is done. On an error it has run once already. Only a nil pointer,
// a tensor of [Export] that has ended, and a build without cgo leave nothing to
// run. A tensor without a deleter is taken as it is.
//
// The tensor has up to eight dimensions, or none for a single value, and its
// elements lie row by row without gaps: strides, where there are any, say so. The
// column has a row for each of the first dimension; the others become fixed-size
// lists, whose items are nullable by name and none of which is null. The elements
// are integers or floats of a width that Arrow has, or of the [ExtensionTypes],
// which then are the column's type or its lists'. Booleans, which are bytes in
// DLPack and bits in Arrow, are copied into memory of the manager's, which the
// call waits for; the deleter has run when it returns.
//
// Every minor version of DLPack 1 is read. Strides may be absent in each, though
// from 1.2 on they should not be. A tensor without elements may point anywhere.
//
// Memory of gpuframe's own that comes back, directly or by way of another
// library's tensor, is recognised: the column then shares the very Block, and
// the deleter runs at once. A tensor that is marked as read-only is the
// exception: the mark is kept in a Block of its own, which refuses to be written.
//
// The error is an [*Error] that names the field at fault. It wraps [ErrVersion],
// [ErrUnsupported], [ErrInvalid] or [ErrDevice], or what the driver says of
// memory that is not what the tensor claims.
func Import(m *memory.Manager, tensor unsafe.Pointer, options ...ImportOptions) (*column.Column, error) {
	c, err := importColumn(m, foreign{versioned: (*cabi.ManagedTensorVersioned)(tensor)}, options)
	return c, during("import", err)
}

// ImportLegacy is [Import] for a DLManagedTensor, the struct of DLPack before
// 1.0.
func ImportLegacy(m *memory.Manager, tensor unsafe.Pointer, options ...ImportOptions) (*column.Column, error) {
	c, err := importColumn(m, foreign{legacy: (*cabi.ManagedTensor)(tensor)}, options)
	return c, during("import", err)
}

func importColumn(m *memory.Manager, f foreign, options []ImportOptions) (*column.Column, error) {
	var x taken
	if err := x.take(m, f, options, oneColumn); err != nil {
		return nil, err
	}
	c, err := x.column()
	if releasing := x.block.Release(); releasing != nil {
		return nil, also(also(err, releasing), c.Release())
	}
	return c, err
}

// taken is a tensor that was taken over. The block holds a reference.
type taken struct {
	claim
	manager *memory.Manager
	block   *memory.Block
	options ImportOptions
}

func (x *taken) take(m *memory.Manager, f foreign, options []ImportOptions, as form) (err error) {
	if !cabi.Available {
		return notInThisBuild()
	}
	if f == (foreign{}) {
		return faulty("tensor", "the pointer is nil: %w", ErrInvalid)
	}
	if x.options, err = only(options); err != nil {
		f.release(nil)
		return err
	}
	x.manager = m
	return x.consume(f, as)
}

// consume checks the tensor and turns it into a block. Unless the block has taken
// it over, the tensor is released.
func (x *taken) consume(f foreign, as form) (err error) {
	adopted := false
	var ordered *device.Stream
	defer func() {
		if !adopted {
			f.release(ordered)
		}
	}()
	m, o := x.manager, &x.options
	if m == nil {
		return faulty("manager", "it is nil: %w", device.ErrInvalidValue)
	}
	if err := f.check(); err != nil {
		return err
	}
	if err = x.inspect(m.Device(), f.tensor(), as); err != nil {
		return err
	}
	producer, err := producerStream(m.Device(), x.kind, o.Stream, o.NoSync)
	if err != nil {
		return err
	}
	if o.NoSync {
		producer = nil
	}
	if x.bytes == 0 {
		x.block, err = m.Allocate(0, memory.AllocateOptions{Tag: tag})
		return err
	}
	if x.block = f.recognise(m, &x.claim); x.block == nil {
		if x.block, err = f.adopt(m, &x.claim, o); err != nil {
			return err
		}
		adopted = true
	}
	if producer != nil {
		if err := usedBy(x.block, producer); err != nil {
			return also(faulty("options.Stream", "%w", err), x.block.Release())
		}
		ordered = producer
	}
	return nil
}
