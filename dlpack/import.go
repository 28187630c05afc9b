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
	// Stream is the stream on which the producer has made the values ready: the one
	// that its __dlpack__ received. Work on the column waits for the work that is on
	// the stream now. Nil means the device's default stream: the first use waits for the
	// work that is on it, on the default streams of all threads, and on streams that are
	// not non-blocking. Values in pinned memory, and on the host device, are assumed to be
	// ready.
	Stream *device.Stream

	// NoSync states that the values are ready, or that the caller orders work on the
	// column. It corresponds to the protocol's stream=-1.
	NoSync bool

	// Context ends the wait for the conversion of booleans. Nil means no deadline.
	Context context.Context
}

// Import takes over a DLManagedTensorVersioned and makes a column of it without a
// copy of the values. The manager must be one for the tensor's device. The memory
// counts against no budget; the manager's statistics show it as external.
//
// The tensor has up to eight dimensions, or none for a single value. Its elements
// must be in row-major order without gaps, with matching strides if strides are set.
// The column has a row for each index of the first dimension. The others become
// fixed-size lists. The items are declared nullable but contain no nulls. The
// elements are integers or floats of a width that Arrow has, or of the
// [ExtensionTypes], which become the type of the column or of the lists' items.
// Booleans, which are bytes in DLPack and bits in Arrow, are copied into memory of
// the manager. The call waits for that copy, and the deleter has run when it returns.
//
// Every minor version of DLPack 1 is read. Strides may be absent in all of them,
// although DLPack 1.2 and later require strides. A tensor without elements may have
// any address.
//
// # Ownership
//
// Import consumes the tensor in every case. After a success its deleter runs once,
// when the column and everything that retains its memory is released and the work on
// it is done. After an error it has run once already. In both cases it runs later, and no
// call waits for it, if nothing has read the values and they may still be on their way: at
// the latest before the manager or the device is closed. Only a nil pointer, a tensor of
// [Export] that has ended, and a build without cgo leave nothing to run. A tensor
// without a deleter is accepted.
//
// If memory of gpuframe comes back, directly or in another library's tensor, Import
// recognises it: the column shares the same Block, and the deleter runs immediately.
// A read-only tensor is the exception: it gets a separate Block, which refuses
// writes.
//
// # Errors
//
// The error is an [*Error] that names the field at fault. It wraps [ErrVersion],
// [ErrUnsupported], [ErrInvalid] or [ErrDevice], or the driver's error about memory
// that does not match the tensor's claims.
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

// consume checks the tensor and makes a block of it. If the block does not take the
// tensor over, consume releases it.
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
		return faulty("manager", "nil, expected a manager of the tensor's device: %w", device.ErrInvalidValue)
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
		arrival := memory.Arrived
		if producer != nil && onDefault(producer) {
			arrival = memory.AfterDefaultStreams
		}
		if x.block, err = f.adopt(m, &x.claim, o, arrival); err != nil {
			return err
		}
		adopted = true
		if arrival == memory.AfterDefaultStreams {
			return nil
		}
	}
	if producer != nil {
		if err := recordForeignUse(x.block, producer); err != nil {
			return also(faulty("options.Stream", "%w", err), x.block.Release())
		}
		ordered = producer
	}
	return nil
}
