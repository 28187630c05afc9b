package sink

import (
	"context"
	"io"

	"github.com/gpuframe/gpuframe/objectstore"
)

// SetLeastDeviceRows sets the number of rows from which tables are encoded on their device, and returns a
// function that sets it back.
func SetLeastDeviceRows(rows int64) func() {
	before := leastDeviceRows
	leastDeviceRows = rows
	return func() { leastDeviceRows = before }
}

// SetMostGroupBytes sets the limit of the memory of a row group, and returns a function that sets it back.
func SetMostGroupBytes(bytes int64) func() {
	before := mostGroupBytes
	mostGroupBytes = bytes
	return func() { mostGroupBytes = before }
}

// WriteObject writes an object by a function.
func WriteObject(ctx context.Context, store objectstore.Store, name string, write func(io.Writer) error) error {
	return writeObject(ctx, store, name, write)
}

// SetPartBytes sets the length of parts of objects, and returns a function that sets what was before.
func SetPartBytes(length int) (reset func()) {
	before := partBytes
	partBytes = length
	return func() { partBytes = before }
}
