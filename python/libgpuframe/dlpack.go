//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

// #include "native.h"
import "C"

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/memory"
)

// gpuframePythonExport makes a tensor of a column or a table for native.c. With a flag
// that forbids waiting it answers EXPORT_WOULD_WAIT if it had to wait.
//
//export gpuframePythonExport
func gpuframePythonExport(h C.uint64_t, stream C.int64_t, flags C.uint32_t, tensor *unsafe.Pointer, failed **C.char) C.int {
	status := C.int(C.EXPORT_FAILED)
	*failed = guarded(func() (err error) {
		s, isColumn := objects.get(handle(h)).(*series)
		switch {
		case flags&C.EXPORT_MAY_WAIT == 0 && (!isColumn || mayWait(s, flags)):
			status = C.EXPORT_WOULD_WAIT
			return nil
		case isColumn:
			*tensor, err = export(s, int64(stream), flags)
		default:
			*tensor, err = exportTable(handle(h), int64(stream), flags)
		}
		if err == nil {
			status = C.EXPORT_DONE
		}
		return err
	})
	return status
}

// mayWait reports whether an export may take too long to hold the interpreter's lock: if
// it allocates memory, fetches the row count or counts nulls, or if the processor reaches
// the memory and work on it is pending.
func mayWait(s *series, flags C.uint32_t) bool {
	if flags&(C.EXPORT_COPY|C.EXPORT_TO_HOST) != 0 || s.Type().ID() == arrow.BOOL {
		return true
	}
	if _, known := s.HostRows(); !known || mayCountNulls(s.Column) {
		return true
	}
	if s.home == nil || s.home.Kind() == device.MemoryDevice {
		return false
	}
	idle, err := s.home.Idle()
	return !idle || err != nil
}

// mayCountNulls reports whether dlpack.Export may have to count the nulls of a column. A
// list may show only a part of its child, and the nulls of that part are not counted yet.
func mayCountNulls(c *column.Column) bool {
	if c.NullCount() == column.UnknownNullCount && hasBitmap(c) {
		return true
	}
	for i := range c.NumChildren() {
		if child := c.Child(i); child.NullCount() != 0 && hasBitmap(child) || mayCountNulls(child) {
			return true
		}
	}
	return false
}

func hasBitmap(c *column.Column) bool { return c.NumBuffers() > 0 && c.Buffer(0).Len() > 0 }

// optionsOf reads the arguments of a Python call. dev is nil for an object without
// memory.
func optionsOf(dev *device.Device, stream int64, flags C.uint32_t) (o dlpack.ExportOptions, err error) {
	o.Legacy = flags&C.EXPORT_LEGACY != 0
	if dev == nil { // no memory to wait for
		host, err := manager("host")
		if err != nil {
			return o, err
		}
		dev = host.Device()
	}
	if flags&(C.EXPORT_TO_HOST|C.EXPORT_NO_COPY) == C.EXPORT_TO_HOST|C.EXPORT_NO_COPY {
		return o, fmt.Errorf("copy=False: the data is on %s, but dl_device=(1, 0) requests a copy on the host; leave one of the two out: %w", dev.Name(), dlpack.ErrDevice)
	}
	o.Stream, o.NoSync, err = dlpack.ConsumerStream(dev, stream, flags&C.EXPORT_STREAM_GIVEN != 0)
	if flags&C.EXPORT_TO_HOST != 0 {
		o.Stream, o.NoSync = nil, false // the copy is complete on return
	}
	return o, err
}

func export(s *series, stream int64, flags C.uint32_t) (unsafe.Pointer, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	options, err := optionsOf(s.device, stream, flags)
	if err != nil {
		return nil, err
	}
	shown := s.Column
	if flags&(C.EXPORT_COPY|C.EXPORT_NO_COPY|C.EXPORT_TO_HOST) != 0 {
		if shown, err = copyFor(s.Column, flags); err != nil {
			return nil, err
		}
		defer shown.Release()
	}
	tensor, err := dlpack.Export(shown, options)
	if err != nil {
		return nil, err
	}
	pointer := tensor.Detach()
	if shown != s.Column && !options.Legacy {
		C.gpuframe_mark_copied(pointer)
	}
	return pointer, nil
}

// copyFor returns the column with a new reference, or the copy that the flags require.
func copyFor(c *column.Column, flags C.uint32_t) (*column.Column, error) {
	isBool := c.Type().ID() == arrow.BOOL
	switch {
	case flags&C.EXPORT_TO_HOST != 0:
		host, err := manager("host")
		if err != nil {
			return nil, err
		}
		return copyColumn(c, host)
	case flags&C.EXPORT_NO_COPY != 0 && isBool:
		return nil, fmt.Errorf("copy=False: a boolean column is bits in Arrow and bytes in DLPack and must be copied: %w", dlpack.ErrUnsupported)
	case flags&C.EXPORT_COPY != 0 && !isBool:
		return copyOf(c)
	}
	return c, c.Retain()
}

// copyOf copies the values of a column within its device.
func copyOf(c *column.Column) (*column.Column, error) {
	values, err := c.ValuesRegion()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", dlpack.ErrUnsupported, err)
	}
	nulls, err := nullsOf(context.Background(), c)
	if err != nil {
		return nil, err
	}
	if nulls != 0 {
		return nil, fmt.Errorf("%d of %d elements are null: %w", nulls, c.Len(), dlpack.ErrNulls)
	}
	if values.Len() == 0 {
		return c, c.Retain()
	}
	block := values.Block()
	stream := block.Manager().Stream()
	copied, err := memory.NewSlice[uint8](block.Manager(), values.Len(), memory.AllocateOptions{Stream: stream, Tag: "copy"})
	if err != nil {
		return nil, err
	}
	defer copied.Release()
	if err := block.OrderBefore(stream); err != nil {
		return nil, err
	}
	if err := copied.CopyFrom(stream, values); err != nil {
		return nil, err
	}
	return column.New(column.Data{Type: c.Type(), Length: c.Len(), Buffers: []column.Bytes{{}, copied}})
}

// gpuframe_dlpack_import takes ownership of a tensor, a DLManagedTensorVersioned or, with
// legacy, a DLManagedTensor, and makes a column of it without copying. The stream is the
// one for which the producer was called. It belongs to the manager's device and is
// numbered as in the protocol: 1 or 2 for a default stream, -1 if no work was ordered, a
// handle, or zero for no stream.
//
//export gpuframe_dlpack_import
func gpuframe_dlpack_import(into C.uint64_t, tensor unsafe.Pointer, legacy C.int, stream C.int64_t, name *C.char, out *C.uint64_t) *C.char {
	return guarded(func() error {
		take := dlpack.Import
		if legacy != 0 {
			take = dlpack.ImportLegacy
		}
		m, err := the[*memory.Manager](handle(into))
		if err != nil {
			_, _ = take(nil, tensor) // runs the deleter
			return err
		}
		options := dlpack.ImportOptions{Context: context.Background()}
		switch {
		case stream > 2 && backend.Stream(stream) == m.Stream().Handle():
			options.Stream = m.Stream()
		case stream != 0:
			if options.Stream, options.NoSync, err = dlpack.ProducerStream(m.Device(), int64(stream), true); err != nil {
				_, _ = take(nil, tensor) // runs the deleter
				return err
			}
		}
		c, err := take(m, tensor, options)
		if err != nil {
			return err
		}
		*out = C.uint64_t(objects.add(newSeries(c, arrow.Field{Name: C.GoString(name)})))
		return nil
	})
}
