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

// ImportRecord takes a plain ArrowArray of struct type over, from any Arrow
// implementation in the process, with the ArrowSchema that describes it, and makes
// a record of its children without copying them. The caller releases the record;
// buffer.FromRecord moves it to a GPU.
//
// Both structs are consumed in every case, as by [Import], and believed as little:
// all that Import checks is checked here too, offsets and the like by the
// processor. What cannot be checked in the memory of a process is whether an
// address is one, and how much lies there. UTF-8 is not checked.
//
// The array's release callback runs when the last of the record's buffers is
// released. The error is that of Import.
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
	var made arrow.Array
	err = takenPlain(plainArray, err, func(in *cabi.Array) error {
		made, err = importHostArray(in, field.Type)
		return err
	})
	return made, during("import array", err)
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

// plainRoot is what errors call an array without a device.
const plainRoot = "ArrowArray"

// hostManager is what foreign host memory is adopted by. It has no memory of its
// own.
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

// importHostRecord takes an array over from in and makes a record of it.
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

// importHostArray takes an array over from in.
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
func hostArray(c *column.Column) (made arrow.Array, err error) {
	loans := &loans{}
	data, err := hostData(context.Background(), c, loans)
	if err != nil {
		return nil, faulty("", "%w", err)
	}
	defer data.Release()
	defer func() {
		// Extension types bring code of their own. What arrays above it have retained
		// by then nobody will release, for nobody has these arrays.
		if problem := recover(); problem != nil {
			loans.recall()
			made, err = nil, faulty("", "make an array of %v: %v: %w", c.Type(), problem, ErrInvalid)
		}
	}()
	return array.MakeFromData(data), nil
}
