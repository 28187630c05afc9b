//go:build !cgo || 386 || arm || mips || mipsle

package arrowdev_test

import (
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/device"
)

func TestSchemasWithoutCgo(t *testing.T) {
	var schema [9]uint64
	_, err := arrowdev.ImportSchema(unsafe.Pointer(&schema))
	require.ErrorIs(t, err, device.ErrNotAvailable)
	require.ErrorContains(t, err, "built without cgo")
	_, err = arrowdev.ImportField(unsafe.Pointer(&schema))
	require.ErrorIs(t, err, device.ErrNotAvailable)
	require.ErrorIs(t, arrowdev.ExportSchema(arrow.NewSchema(nil, nil), unsafe.Pointer(&schema)), device.ErrNotAvailable)
	require.ErrorIs(t, arrowdev.ExportField(arrow.Field{Type: arrow.Null}, unsafe.Pointer(&schema)), device.ErrNotAvailable)
	require.Zero(t, schema)
}
