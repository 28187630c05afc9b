package arrowdev

import (
	"context"
	"sync"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// ImportRecord takes over a plain ArrowArray of struct type, of any Arrow
// implementation in the process, with its ArrowSchema, and makes a record of its
// children without a copy. The caller releases the record; buffer.FromRecord moves it
// to a GPU.
//
// # Ownership
//
// ImportRecord consumes both structs in every case, as [Import] does. The array's
// release callback runs when the last of the record's buffers is released.
//
// # Checks
//
// ImportRecord makes all the checks of Import; the processor checks offsets and other
// references. It cannot check whether an address is valid, or how much memory is
// there. UTF-8 is not checked.
//
// # Errors
//
// The errors are those of Import.
func ImportRecord(plainArray, schema unsafe.Pointer) (arrow.Record, error) {
	described, err := ImportSchema(schema)
	var record arrow.Record
	err = takenPlain(plainArray, err, func(in *cabi.Array) error {
		record, err = importHostRecord(in, described)
		return err
	})
	return record, during("import record", err)
}

// ImportArray is [ImportRecord] for an array of any type.
func ImportArray(plainArray, schema unsafe.Pointer) (arrow.Array, error) {
	field, err := ImportField(schema)
	var imported arrow.Array
	err = takenPlain(plainArray, err, func(in *cabi.Array) error {
		imported, err = importHostArray(in, field.Type)
		return err
	})
	return imported, during("import array", err)
}

// takenPlain is taken for an array without a device.
func takenPlain(plainArray unsafe.Pointer, err error, f func(in *cabi.Array) error) error {
	if !cabi.Available {
		return notInThisBuild()
	}
	if plainArray == nil {
		if err == nil {
			err = faulty(plainRoot, "the pointer is nil: %w", ErrInvalid)
		}
		return err
	}
	in := (*cabi.Array)(plainArray)
	if err != nil {
		return also(err, newLease(*in, in).drop())
	}
	return f(in)
}

// plainRoot is the name of an array without a device in errors.
const plainRoot = "ArrowArray"

// hostManager returns the manager that adopts foreign host memory. It allocates
// nothing.
var hostManager = sync.OnceValues(func() (*memory.Manager, error) {
	dev, err := device.Open("host")
	if err != nil {
		return nil, err
	}
	return memory.NewManager(dev, memory.Options{Name: tag})
})

// newHostImporter takes a plain array over.
func newHostImporter(in *cabi.Array) (*importer, error) {
	described := cabi.DeviceArray{Array: *in, DeviceType: cabi.DeviceCPU, DeviceID: cabi.NoDeviceID}
	in.Release = 0
	m, err := hostManager()
	i := newImporter(m, &described, ImportOptions{})
	i.parser.root = plainRoot
	if err != nil {
		return nil, also(faulty("", "%w", err), i.finish())
	}
	return i, nil
}

// importHostRecord takes over the array at in and makes a record of it.
func importHostRecord(in *cabi.Array, schema *arrow.Schema) (arrow.Record, error) {
	i, err := newHostImporter(in)
	if err != nil {
		return nil, err
	}
	table, err := i.table(schema)
	if err = also(err, i.finish()); err != nil {
		return nil, also(err, table.Release())
	}
	defer table.Release()
	arrays := make([]arrow.Array, table.NumColumns())
	defer func() {
		for _, each := range arrays {
			if each != nil {
				each.Release()
			}
		}
	}()
	for k := range arrays {
		if arrays[k], err = hostArray(table.Column(k)); err != nil {
			return nil, err
		}
	}
	return array.NewRecord(schema, arrays, table.Capacity()), nil
}

// importHostArray takes over the array at in and makes an array of it.
func importHostArray(in *cabi.Array, t arrow.DataType) (arrow.Array, error) {
	i, err := newHostImporter(in)
	if err != nil {
		return nil, err
	}
	c, err := i.column(t)
	if err = also(err, i.finish()); err != nil {
		return nil, also(err, c.Release())
	}
	defer c.Release()
	return hostArray(c)
}

// hostArray makes an array of arrow-go over a column's memory.
func hostArray(c *column.Column) (assembled arrow.Array, err error) {
	loans := &loans{}
	data, err := hostData(context.Background(), c, loans)
	if err != nil {
		return nil, faulty("", "%w", err)
	}
	defer data.Release()
	defer func() {
		// Extension types run foreign code, which may panic after arrays above have
		// retained buffers. No caller can release those arrays, so recall releases
		// their buffers.
		if problem := recover(); problem != nil {
			loans.recall()
			assembled, err = nil, faulty("", "make an array of %v: %v: %w", c.Type(), problem, ErrInvalid)
		}
	}()
	return array.MakeFromData(data), nil
}
