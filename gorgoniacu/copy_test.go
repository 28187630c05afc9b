//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// TestCopyWithinObjectOfPointers copies to and from host memory that is part of a Go
// object with pointers. The binding's copies panic there.
func TestCopyWithinObjectOfPointers(t *testing.T) {
	driver := devicetest.Open(t, "gorgonia:0").Driver()
	object := &struct {
		next    *int
		content [16]byte
	}{next: new(int), content: [16]byte{1, 2, 3}}
	pointer, err := driver.Alloc(16)
	require.NoError(t, err)
	require.NoError(t, driver.CopyToDevice(pointer, unsafe.Pointer(&object.content), 16))
	object.content = [16]byte{}
	require.NoError(t, driver.CopyToHost(unsafe.Pointer(&object.content), pointer, 16))
	assert.Equal(t, [16]byte{1, 2, 3}, object.content)
	assert.NotNil(t, object.next)
	require.NoError(t, driver.Free(pointer))
}
