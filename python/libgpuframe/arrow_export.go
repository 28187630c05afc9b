//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

// #include "arrow_abi.h"
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/share"
)

// exported exports a table or column in place.
func exported(object holder) (*arrowdev.Array, error) {
	switch typed := object.(type) {
	case *buffer.Buffer:
		return arrowdev.Export(typed)
	case *series:
		return arrowdev.ExportColumn(typed.Column, typed.field)
	}
	return nil, fmt.Errorf("export of %T: %w", object, errType)
}

// heldObject returns a table or a column that the caller releases.
func heldObject(h handle) (holder, error) {
	if s, ok := objects.get(h).(*series); ok {
		return s, s.Retain()
	}
	return wholeTable(h)
}

// gpuframe_arrow_export_device exports a table or a column in place, as an
// ArrowDeviceArray and its ArrowSchema. The schema may be NULL.
//
//export gpuframe_arrow_export_device
func gpuframe_arrow_export_device(h C.uint64_t, deviceArray, schema unsafe.Pointer) *C.char {
	return guarded(func() error {
		object, err := heldObject(handle(h))
		if err != nil {
			return err
		}
		defer object.Release()
		array, err := exported(object)
		if err != nil {
			return err
		}
		if err := array.MoveTo(deviceArray, schema); err != nil {
			return err
		}
		return array.Release()
	})
}

// gpuframe_arrow_export exports a table or a column in the host's memory, as an
// ArrowArray and its ArrowSchema, which may be NULL. Data on a GPU is copied.
//
//export gpuframe_arrow_export
func gpuframe_arrow_export(h C.uint64_t, array, schema unsafe.Pointer) *C.char {
	return guarded(func() error {
		object, err := heldObject(handle(h))
		if err != nil {
			return err
		}
		defer object.Release()
		there, err := onHost(object)
		if err != nil {
			return err
		}
		defer there.Release()
		export, err := exported(there)
		if err != nil {
			return err
		}
		var whole [C.DEVICE_ARRAY_BYTES]byte
		if err := export.MoveTo(unsafe.Pointer(&whole), schema); err != nil {
			return err
		}
		// An ArrowDeviceArray begins with its ArrowArray.
		copy(unsafe.Slice((*byte)(array), C.ARRAY_BYTES), whole[:])
		return export.Release()
	})
}

// onHost returns an object, or a copy of it in the host's memory. The caller releases the
// result.
func onHost(object holder) (holder, error) {
	var dev *device.Device
	switch typed := object.(type) {
	case *buffer.Buffer:
		dev = typed.Device()
	case *series:
		dev = typed.Device()
	}
	if dev == nil || dev.Kind() == device.Host {
		return object, object.Retain()
	}
	m, err := manager("host")
	if err != nil {
		return nil, err
	}
	if s, ok := object.(*series); ok {
		moved, err := copyColumn(s.Column, m)
		if err != nil {
			return nil, err
		}
		return newSeries(moved, s.field), nil
	}
	return copyTable(object.(*buffer.Buffer), m)
}

// gpuframe_arrow_schema writes the ArrowSchema of a table or column.
//
//export gpuframe_arrow_schema
func gpuframe_arrow_schema(h C.uint64_t, schema unsafe.Pointer) *C.char {
	return guarded(func() error {
		switch typed := objects.get(handle(h)).(type) {
		case *buffer.Buffer:
			return arrowdev.ExportSchema(typed.Schema(), schema)
		case *series:
			return arrowdev.ExportField(typed.field, schema)
		case *share.Table:
			return arrowdev.ExportSchema(typed.Schema(), schema)
		}
		return fmt.Errorf("the object was released: %w", memory.ErrReleased)
	})
}

// gpuframe_arrow_export_stream exports a table as a stream of one batch: in place, as an
// ArrowDeviceArrayStream, or, without on_device, in the host's memory, as an
// ArrowArrayStream.
//
//export gpuframe_arrow_export_stream
func gpuframe_arrow_export_stream(h C.uint64_t, onDevice C.int, stream unsafe.Pointer) *C.char {
	return withTable(h, func(b *buffer.Buffer) error {
		var deviceType, id C.int32_t
		deviceOf(b, &deviceType, &id)
		if err := b.Retain(); err != nil {
			return err
		}
		kept := objects.add(b)
		if C.gpuframe_stream_of_table(C.uint64_t(kept), onDevice, deviceType, stream) != 0 {
			_ = release(kept)
			return fmt.Errorf("allocation of the stream's struct: %w", device.ErrOutOfMemory)
		}
		return nil
	})
}
