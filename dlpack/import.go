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
	// is on it now. Nil means the device's default stream; values in memory that
	// the processor can reach are taken to be there already.
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
// The tensor has one dimension, or none for a single value, and its elements lie
// one after the other. They are integers or floats of a width that Arrow has.
// Booleans, which are bytes in DLPack and bits in Arrow, are copied into memory
// of the manager's, which the call waits for; the deleter has run when it
// returns.
//
// Memory of gpuframe's own that comes back, directly or by way of another
// library's tensor, is recognised: the column then shares the very Block, and
// the deleter runs at once. A tensor that is marked as read-only is the
// exception: the mark is kept in a Block of its own.
//
// The error is an [*Error] that names the field at fault. It wraps [ErrVersion],
// [ErrUnsupported], [ErrInvalid] or [ErrDevice], or what the driver says of
// memory that is not what the tensor claims.
func Import(m *memory.Manager, tensor unsafe.Pointer, options ...ImportOptions) (*column.Column, error) {
	c, err := importTensor(m, foreign{versioned: (*cabi.ManagedTensorVersioned)(tensor)}, options)
	return c, during("import", err)
}

// ImportLegacy is [Import] for a DLManagedTensor, the struct of DLPack before
// 1.0.
func ImportLegacy(m *memory.Manager, tensor unsafe.Pointer, options ...ImportOptions) (*column.Column, error) {
	c, err := importTensor(m, foreign{legacy: (*cabi.ManagedTensor)(tensor)}, options)
	return c, during("import", err)
}

func importTensor(m *memory.Manager, f foreign, options []ImportOptions) (*column.Column, error) {
	if !cabi.Available {
		return nil, notInThisBuild()
	}
	if f == (foreign{}) {
		return nil, faulty("tensor", "the pointer is nil: %w", ErrInvalid)
	}
	o, err := only(options)
	if err != nil {
		f.release(nil)
		return nil, err
	}
	claimed, block, err := f.consume(m, o)
	if err != nil {
		return nil, err
	}
	c, err := claimed.column(m, block, o)
	if releasing := block.Release(); releasing != nil {
		return nil, also(also(err, releasing), c.Release())
	}
	return c, err
}

// consume checks the tensor and turns it into a block, which holds a reference.
// Unless the block has taken it over, the tensor is released.
func (f foreign) consume(m *memory.Manager, o ImportOptions) (c claim, block *memory.Block, err error) {
	adopted := false
	var ordered *device.Stream
	defer func() {
		if !adopted {
			f.release(ordered)
		}
	}()
	if m == nil {
		return c, nil, faulty("manager", "it is nil: %w", device.ErrInvalidValue)
	}
	if err := f.check(); err != nil {
		return c, nil, err
	}
	if c, err = inspect(m.Device(), f.tensor()); err != nil {
		return c, nil, err
	}
	producer, err := peerStream(m.Device(), c.kind, o.Stream, o.NoSync)
	if err != nil {
		return c, nil, err
	}
	if o.NoSync {
		producer = nil
	}
	if c.bytes == 0 {
		block, err = m.Allocate(0, memory.AllocateOptions{Tag: tag})
		return c, block, err
	}
	if block = f.recognise(m, c); block == nil {
		if block, err = f.adopt(m, c, o); err != nil {
			return c, nil, err
		}
		adopted = true
	}
	if producer != nil {
		if err := orderAfter(block, producer); err != nil {
			return c, nil, also(faulty("options.Stream", "%w", err), block.Release())
		}
		ordered = producer
	}
	return c, block, nil
}
