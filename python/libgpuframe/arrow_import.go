//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

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

// incoming is an imported array with its schema. drop releases it unless it was moved.
type incoming struct {
	array  *deviceArray
	schema unsafe.Pointer
}

// hostArray moves an ArrowArray in the host's memory into a device array.
func hostArray(array unsafe.Pointer) *deviceArray {
	moved := &deviceArray{deviceType: typeHost, deviceID: -1}
	source := (*[C.ARRAY_BYTES / 8]uintptr)(array)
	moved.array = *source
	source[C.ARRAY_RELEASE/8] = 0
	return moved
}

// there returns the manager that imports an array: preferred if the array is on its
// device, otherwise the manager of the array's device.
func (in incoming) there(preferred *memory.Manager) (*memory.Manager, error) {
	dev := preferred.Device()
	switch {
	case in.array.deviceType == typeHost && dev.Kind() == device.Host:
		return preferred, nil
	case in.array.deviceType == typeCUDA && dev.Kind() == device.CUDA && int64(dev.Info().Ordinal) == in.array.deviceID:
		return preferred, nil
	case in.array.deviceType != typeHost && in.array.deviceType != typeCUDA && dev.Kind() == device.CUDA:
		return preferred, nil
	}
	return managerOf(in.array.deviceType, int32(in.array.deviceID))
}

func (in incoming) drop() {
	C.gpuframe_release_array(unsafe.Pointer(in.array))
	C.gpuframe_release_schema(in.schema)
}

// onHost reports whether the array is in memory that only the processor reaches.
func (in incoming) onHost() bool { return in.array.deviceType == typeHost }

// table makes a table in a manager's memory. It copies the array unless it is on the
// manager's device.
func (in incoming) table(m *memory.Manager) (*buffer.Buffer, error) {
	if in.onHost() && m.Device().Kind() != device.Host {
		// One copy, from the producer's memory to the GPU.
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

// column is like table for an array of any type.
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

// take returns the array that C passed.
func take(array, schema unsafe.Pointer, onDevice C.int) incoming {
	if onDevice == 0 {
		return incoming{array: hostArray(array), schema: schema}
	}
	return incoming{array: (*deviceArray)(array), schema: schema}
}

// gpuframe_arrow_import makes a table from an ArrowDeviceArray of structs or, without
// on_device, from an ArrowArray in the host's memory. Data on the target's device is not
// copied. The call consumes array and schema, also after an error. targetOf describes the
// target.
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

// gpuframe_arrow_import_column is like gpuframe_arrow_import for an array of any type and
// makes a column.
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

// gpuframe_arrow_import_stream reads a stream to its end and makes one table: from an
// ArrowDeviceArrayStream or, without on_device, from an ArrowArrayStream. A single batch
// on the target's device is not copied. The call consumes the stream, also after an
// error.
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

// gpuframe_arrow_import_column_stream is like gpuframe_arrow_import_stream for arrays of
// any type and makes one column.
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
