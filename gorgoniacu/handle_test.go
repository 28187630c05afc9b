//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gorgonia.org/cu"
)

// TestHandleLayout detects a version of the binding with handles other than one C
// pointer. Their size is checked when they are compiled.
func TestHandleLayout(t *testing.T) {
	for _, handle := range []any{cu.CUContext{}, cu.Stream{}, cu.Event{}, cu.Module{}, cu.Function{}} {
		layout := reflect.TypeOf(handle)
		require.Equal(t, 1, layout.NumField(), "%v", layout)
		field := layout.Field(0)
		assert.Equal(t, reflect.Pointer, field.Type.Kind(), "%v.%s", layout, field.Name)
		assert.Zero(t, field.Offset)
	}
	assert.Equal(t, reflect.Uintptr, reflect.TypeFor[cu.DevicePtr]().Kind())
}

// TestHandleWords compares words with the parts of handles that the binding exports.
func TestHandleWords(t *testing.T) {
	handle, err := cu.GetDevice(0)
	require.NoError(t, err)
	context, err := handle.RetainPrimaryCtx()
	require.NoError(t, err)
	defer handle.ReleasePrimaryCtx()
	assert.Equal(t, context.String(), fmt.Sprintf("%#x", word(context)))
	assert.Equal(t, context, fromWord[cu.CUContext](word(context)))
	assert.GreaterOrEqual(t, word(context), uintptr(leastPointer))

	for _, small := range []uintptr{0, legacy, perThread, leastPointer - 1} {
		assert.Equal(t, cu.NoStream, fromWord[cu.Stream](small), "%d is no pointer", small)
	}
	assert.Zero(t, word(cu.NoStream))
}
