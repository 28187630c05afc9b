//go:build !cgo || 386 || arm || mips || mipsle

package dlpack_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/dlpack"
)

func TestWithoutCgo(t *testing.T) {
	_, err := dlpack.Export(nil)
	require.ErrorIs(t, err, device.ErrNotAvailable)
	require.ErrorContains(t, err, "built without cgo")
	_, err = dlpack.ExportValidity(nil)
	require.ErrorIs(t, err, device.ErrNotAvailable)
	_, err = dlpack.ExportMatrix(nil)
	require.ErrorIs(t, err, device.ErrNotAvailable)

	var tensor [10]uint64
	_, err = dlpack.Import(nil, unsafe.Pointer(&tensor))
	require.ErrorIs(t, err, device.ErrNotAvailable)
	_, err = dlpack.ImportMatrix(nil, unsafe.Pointer(&tensor))
	require.ErrorIs(t, err, device.ErrNotAvailable)
	_, err = dlpack.ImportMatrixLegacy(nil, unsafe.Pointer(&tensor))
	require.ErrorIs(t, err, device.ErrNotAvailable)
	_, err = dlpack.ImportLegacy(nil, unsafe.Pointer(&tensor))
	require.ErrorIs(t, err, device.ErrNotAvailable)
}
