//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

func openFake(t *testing.T, ordinal int) backend.Device {
	t.Helper()
	d, err := Driver{}.Open(ordinal)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, d.Close()) })
	return d
}

const fakeCode = ".version 7.0 .visible .entry other( .visible .entry add_scalar("

func joined(calls []string) string {
	text := ""
	for i, call := range calls {
		if i > 0 {
			text += " "
		}
		text += call
	}
	return text
}
