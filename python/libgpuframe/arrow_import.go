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
}

// hostArray moves an ArrowArray of the host's into a device array.
func hostArray(array unsafe.Pointer) *deviceArray {
	moved := &deviceArray{deviceType: typeHost, deviceID: -1}
	source := (*[C.ARRAY_BYTES / 8]uintptr)(array)
	moved.array = *source
	source[C.ARRAY_RELEASE/8] = 0
	return moved
}

// there returns the manager to import an array with: the wanted one if the array is
// on its device, else that of the device that the array is on.
func (in incoming) there(wanted *memory.Manager) (*memory.Manager, error) {
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

// onHost reports whether the array is in memory that only the processor reaches.
func (in incoming) onHost() bool { return in.array.deviceType == typeHost }

// table makes a table in a manager's memory, without a copy if the array is on its
// device already.
func (in incoming) table(m *memory.Manager) (*buffer.Buffer, error) {
	if in.onHost() && m.Device().Kind() != device.Host {
		// Straight from the producer's memory to the GPU.
		record, err := arrowdev.ImportRecord(unsafe.Pointer(in.array), in.schema)
		if err != nil {
			return nil, err
		}
		defer record.Release()
		return buffer.FromRecord(m, record)
	}
	there, err := in.there(m)
	if err != nil {
		in.drop()
		return nil, err
	}
	b, err := arrowdev.Import(there, unsafe.Pointer(in.array), in.schema)
	if err != nil || there.Device().Same(m.Device()) {
		return b, err
	}
	defer b.Release()
	return copyTable(b, m)
}

// column is table for an array of any type.
func (in incoming) column(m *memory.Manager) (*column.Column, arrow.Field, error) {
	there, err := in.there(m)
	if err != nil {
		in.drop()
		return nil, arrow.Field{}, err
	}
	c, field, err := arrowdev.ImportColumn(there, unsafe.Pointer(in.array), in.schema)
	if err != nil || there.Device().Same(m.Device()) {
		return c, field, err
	}
	defer c.Release()
	moved, err := copyColumn(c, m)
	return moved, field, err
}

// take returns the array that C gave.
func take(array, schema unsafe.Pointer, onDevice C.int) incoming {
	if onDevice == 0 {
		return incoming{array: hostArray(array), schema: schema}
	}
	return incoming{array: (*deviceArray)(array), schema: schema}
}

// gpuframe_arrow_import makes a table of an ArrowDeviceArray of structs or, not
// on_device, of an ArrowArray in the host's memory. What is on the target's device
// already is not copied. It consumes array and schema in every case. The target is
// described at targetOf.
//
//export gpuframe_arrow_import
func gpuframe_arrow_import(into C.uint64_t, budgets *C.uint64_t, count C.int64_t, array, schema unsafe.Pointer, onDevice C.int, out *C.uint64_t) *C.char {
	return guarded(func() error {
		in := take(array, schema, onDevice)
		m, err := destination(into, budgets, count, in)
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
func gpuframe_arrow_import_column(into C.uint64_t, budgets *C.uint64_t, count C.int64_t, array, schema unsafe.Pointer, onDevice C.int, name *C.char, out *C.uint64_t) *C.char {
	return guarded(func() error {
		in := take(array, schema, onDevice)
		m, err := destination(into, budgets, count, in)
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
// that is on the target's device already is not copied. It consumes the stream in
// every case.
//
//export gpuframe_arrow_import_stream
func gpuframe_arrow_import_stream(into C.uint64_t, budgets *C.uint64_t, count C.int64_t, stream unsafe.Pointer, onDevice C.int, out *C.uint64_t) *C.char {
	return guarded(func() error {
		defer C.gpuframe_stream_release(stream, onDevice)
		t, err := targetOf(into, budgets, count)
		if err != nil {
			return err
		}
		s := source{stream: stream, onDevice: onDevice}
		b, err := s.read(context.Background(), t)
		return give(b, err, out)
	})
}

// gpuframe_arrow_import_column_stream is gpuframe_arrow_import_stream for a stream
// of arrays of any type, which become one column.
//
//export gpuframe_arrow_import_column_stream
func gpuframe_arrow_import_column_stream(into C.uint64_t, budgets *C.uint64_t, count C.int64_t, stream unsafe.Pointer, onDevice C.int, name *C.char, out *C.uint64_t) *C.char {
	return guarded(func() error {
		defer C.gpuframe_stream_release(stream, onDevice)
		t, err := targetOf(into, budgets, count)
		if err != nil {
			return err
		}
		s := source{stream: stream, onDevice: onDevice}
		c, field, err := s.readColumn(context.Background(), t)
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
