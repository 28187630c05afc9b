//go:build cgo && !(386 || arm || mips || mipsle)

package main

// #include "arrow_abi.h"
import "C"

import (
	"context"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/memory"
)

// deviceArray is an ArrowDeviceArray.
type deviceArray struct {
	array      [C.ARRAY_BYTES / 8]uintptr
	deviceID   int64
	deviceType int32
	_          int32
	event      uintptr
	_          [3]int64
}

// incoming is an array with its schema on the way in. What is not taken over is
// released.
type incoming struct {
	array  *deviceArray
	schema unsafe.Pointer
	stream *device.Stream
}

// hostArray moves an ArrowArray of the host's into a device array.
func hostArray(array unsafe.Pointer) *deviceArray {
	moved := &deviceArray{deviceType: typeHost, deviceID: -1}
	source := (*[C.ARRAY_BYTES / 8]uintptr)(array)
	moved.array = *source
	source[C.ARRAY_RELEASE/8] = 0
	return moved
}

// place returns the manager for an array: the wanted one where the array is on its
// device, else that of the device that the array is on.
func (in incoming) place(wanted *memory.Manager) (*memory.Manager, error) {
	dev := wanted.Device()
	switch {
	case in.array.deviceType == typeHost && dev.Kind() == device.Host:
		return wanted, nil
	case in.array.deviceType == typeCUDA && dev.Kind() == device.CUDA && int64(dev.Info().Ordinal) == in.array.deviceID:
		return wanted, nil
	case in.array.deviceType != typeHost && in.array.deviceType != typeCUDA && dev.Kind() == device.CUDA:
		return wanted, nil
	}
	return managerOf(in.array.deviceType, int32(in.array.deviceID))
}

func (in incoming) drop() {
	C.gpuframe_release_array(unsafe.Pointer(in.array))
	C.gpuframe_release_schema(in.schema)
}

// table makes a table in a manager's memory, without a copy where the array is on
// its device already.
func (in incoming) table(m *memory.Manager) (*buffer.Buffer, error) {
	if in.array.deviceType == typeHost && m.Device().Kind() != device.Host {
		// Straight from the producer's memory to the GPU.
		record, err := arrowdev.ImportRecord(unsafe.Pointer(in.array), in.schema)
		if err != nil {
			return nil, err
		}
		defer record.Release()
		return buffer.FromRecord(m, record)
	}
	there, err := in.place(m)
	if err != nil {
		in.drop()
		return nil, err
	}
	b, err := arrowdev.Import(there, unsafe.Pointer(in.array), in.schema, arrowdev.ImportOptions{Stream: in.stream})
	if err != nil || there.Device().Same(m.Device()) {
		return b, err
	}
	defer b.Release()
	return copyTable(b, m)
}

// column is table for an array of any type.
func (in incoming) column(m *memory.Manager) (*column.Column, arrow.Field, error) {
	there, err := in.place(m)
	if err != nil {
		in.drop()
		return nil, arrow.Field{}, err
	}
	c, field, err := arrowdev.ImportColumn(there, unsafe.Pointer(in.array), in.schema, arrowdev.ImportOptions{Stream: in.stream})
	if err != nil || there.Device().Same(m.Device()) {
		return c, field, err
	}
	defer c.Release()
	moved, err := copyColumn(c, m)
	return moved, field, err
}

// take returns the array that C gave, and the manager it goes to.
func take(into C.uint64_t, array, schema unsafe.Pointer, onDevice C.int, stream C.int64_t) (incoming, *memory.Manager, error) {
	in := incoming{array: (*deviceArray)(array), schema: schema}
	if onDevice == 0 {
		in.array = hostArray(array)
	}
	m, err := the[*memory.Manager](handle(into))
	if err != nil {
		in.drop()
		return in, nil, err
	}
	if stream > 0 {
		in.stream = m.Device().WrapStream(backend.Stream(stream))
	}
	return in, m, nil
}

// gpuframe_arrow_import makes a table of an ArrowDeviceArray of structs or, not
// on_device, of an ArrowArray in the host's memory. What is on the manager's
// device already is not copied. It consumes array and schema in every case. The
// memory belongs to the stream, or where that is zero to the manager's.
//
//export gpuframe_arrow_import
func gpuframe_arrow_import(into C.uint64_t, array, schema unsafe.Pointer, onDevice C.int, stream C.int64_t, out *C.uint64_t) *C.char {
	return guarded(func() error {
		in, m, err := take(into, array, schema, onDevice, stream)
		if err != nil {
			return err
		}
		b, err := in.table(m)
		return give(b, err, out)
	})
}

// gpuframe_arrow_import_column is gpuframe_arrow_import for an array of any type,
// which becomes a column.
//
//export gpuframe_arrow_import_column
func gpuframe_arrow_import_column(into C.uint64_t, array, schema unsafe.Pointer, onDevice C.int, stream C.int64_t, name *C.char, out *C.uint64_t) *C.char {
	return guarded(func() error {
		in, m, err := take(into, array, schema, onDevice, stream)
		if err != nil {
			return err
		}
		c, field, err := in.column(m)
		if err != nil {
			return err
		}
		if name != nil {
			field.Name = C.GoString(name)
		}
		*out = C.uint64_t(objects.add(newSeries(c, field)))
		return nil
	})
}

// gpuframe_arrow_import_stream reads a stream to its end, into one table: an
// ArrowDeviceArrayStream or, not on_device, an ArrowArrayStream. A single batch
// that is on the manager's device already is not copied. It consumes the stream in
// every case.
//
//export gpuframe_arrow_import_stream
func gpuframe_arrow_import_stream(into C.uint64_t, stream unsafe.Pointer, onDevice C.int, out *C.uint64_t) *C.char {
	return guarded(func() error {
		defer C.gpuframe_stream_release(stream, onDevice)
		m, err := the[*memory.Manager](handle(into))
		if err != nil {
			return err
		}
		s := source{stream: stream, onDevice: onDevice}
		b, err := s.read(context.Background(), m)
		return give(b, err, out)
	})
}
