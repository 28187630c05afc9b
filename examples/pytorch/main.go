// This program is a shared library for Python: Go builds tables on a device, and Python
// libraries use their columns without a copy. handover.py demonstrates it.
//
//	go build -buildmode=c-shared -o build/libhandover.so ./examples/pytorch
//	python3 examples/pytorch/handover.py build/libhandover.so
//
// Every function returns zero, or null, on an error; handover_error returns its text.
package main

import "C"

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"unsafe"

	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/examples/internal/flights"
	"github.com/gpuframe/gpuframe/memory"
)

// session is the state of the library: one device, one manager, one table.
var session struct {
	sync.Mutex
	dev   *device.Device
	mgr   *memory.Manager
	table *buffer.Buffer
	err   error
}

// succeeded records the error for handover_error.
func succeeded(err error) C.int {
	session.err = err
	if err != nil {
		return 0
	}
	return 1
}

// handover_error returns the text of the last error. The caller frees it.
//
//export handover_error
func handover_error() *C.char {
	session.Lock()
	defer session.Unlock()
	if session.err == nil {
		return C.CString("")
	}
	return C.CString(session.err.Error())
}

// handover_open opens a device by name and makes a manager with a budget.
//
//export handover_open
func handover_open(name *C.char, budget C.ulonglong) C.int {
	session.Lock()
	defer session.Unlock()
	dev, err := device.Open(C.GoString(name))
	if err != nil {
		return succeeded(err)
	}
	mgr, err := memory.NewManager(dev, memory.Options{Budget: uint64(budget), TrackAllocations: true})
	if err != nil {
		return succeeded(errors.Join(err, dev.Close()))
	}
	session.dev, session.mgr = dev, mgr
	return succeeded(nil)
}

// handover_device_type returns the device's code in DLPack: 1 for the host, 2
// for CUDA.
//
//export handover_device_type
func handover_device_type() C.int {
	session.Lock()
	defer session.Unlock()
	if session.dev != nil && session.dev.Kind() == device.CUDA {
		return 2
	}
	return 1
}

// handover_load loads the flights as a table on the device.
//
//export handover_load
func handover_load() C.int {
	session.Lock()
	defer session.Unlock()
	return succeeded(load())
}

func load() error {
	path, err := flights.Find(flights.Small)
	if err != nil {
		return err
	}
	ctx := context.Background()
	reader, err := flights.Open(path, arrowmemory.DefaultAllocator)
	if err != nil {
		return err
	}
	defer reader.Close()
	session.table, err = buffer.FromReader(ctx, session.mgr, reader, buffer.LoadOptions{Tag: "flights"})
	return err
}

// handover_export returns a DLManagedTensorVersioned*, or if legacy is set a
// DLManagedTensor*, of a column. The consumer calls its deleter. The stream is the
// consumer's, numbered as in Python's DLPack protocol.
//
//export handover_export
func handover_export(name *C.char, stream C.longlong, legacy C.int) unsafe.Pointer {
	session.Lock()
	defer session.Unlock()
	values, err := find(C.GoString(name))
	if succeeded(err) == 0 {
		return nil
	}
	defer values.Release()
	options := dlpack.ExportOptions{Legacy: legacy != 0, NoSync: stream == -1}
	if stream > 2 {
		options.Stream = session.dev.WrapStream(backend.Stream(stream))
	}
	tensor, err := dlpack.Export(values, options)
	if succeeded(err) == 0 {
		return nil
	}
	return tensor.Detach()
}

// find returns the values of a column, without its validity. The caller releases them.
func find(name string) (*column.Column, error) {
	if session.table == nil {
		return nil, errors.New("no table is loaded")
	}
	c, err := session.table.ColumnByName(name)
	if err != nil {
		return nil, err
	}
	return c.Values()
}

// handover_address returns the device address of a column's values.
//
//export handover_address
func handover_address(name *C.char) C.ulonglong {
	session.Lock()
	defer session.Unlock()
	values, err := find(C.GoString(name))
	if succeeded(err) == 0 {
		return 0
	}
	defer values.Release()
	return C.ulonglong(values.Pointer())
}

// handover_first reads the first value of an int16 column in Go, after pending work on
// the device's default stream.
//
//export handover_first
func handover_first(name *C.char) C.int {
	session.Lock()
	defer session.Unlock()
	value, err := first(C.GoString(name))
	succeeded(err)
	return C.int(value)
}

func first(name string) (int16, error) {
	values, err := elements(name)
	if err != nil {
		return 0, err
	}
	var got [1]int16
	err = values.Download(context.Background(), session.dev.DefaultStream(), got[:])
	return got[0], err
}

// handover_set_first writes the first value of an int16 column from Go.
//
//export handover_set_first
func handover_set_first(name *C.char, value C.short) C.int {
	session.Lock()
	defer session.Unlock()
	values, err := elements(C.GoString(name))
	if err == nil {
		err = values.Upload(context.Background(), session.dev.DefaultStream(), []int16{int16(value)})
	}
	if err == nil {
		err = session.dev.Synchronize(context.Background())
	}
	return succeeded(err)
}

// elements returns the first element of an int16 column, borrowed from the table.
func elements(name string) (memory.Slice[int16], error) {
	if session.table == nil {
		return memory.Slice[int16]{}, errors.New("no table is loaded")
	}
	c, err := session.table.ColumnByName(name)
	if err != nil {
		return memory.Slice[int16]{}, err
	}
	values, err := column.Elements[int16](c)
	if err != nil {
		return memory.Slice[int16]{}, err
	}
	return values.Slice(0, 1)
}

// handover_release releases Go's table. Exported columns stay valid.
//
//export handover_release
func handover_release() C.int {
	session.Lock()
	defer session.Unlock()
	err := session.table.Release()
	session.table = nil
	return succeeded(err)
}

// handover_in_use returns the number of bytes in use.
//
//export handover_in_use
func handover_in_use() C.ulonglong {
	session.Lock()
	defer session.Unlock()
	if session.mgr == nil {
		return 0
	}
	return C.ulonglong(session.mgr.Stats().InUse)
}

// handover_stats returns the manager's statistics as text. The caller frees it.
//
//export handover_stats
func handover_stats() *C.char {
	session.Lock()
	defer session.Unlock()
	if session.mgr == nil {
		return C.CString("")
	}
	return C.CString(fmt.Sprint(session.mgr.Stats()))
}

// handover_close closes manager and device. It fails if memory is still held.
//
//export handover_close
func handover_close() C.int {
	session.Lock()
	defer session.Unlock()
	if session.mgr == nil {
		return succeeded(nil)
	}
	err := errors.Join(session.mgr.Close(), session.dev.Close())
	session.mgr, session.dev = nil, nil
	return succeeded(err)
}

func main() {}
