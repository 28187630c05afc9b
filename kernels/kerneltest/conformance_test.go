package kerneltest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/backend/backendtest"
)

// TestConformance runs the tests that every backend must pass.
func TestConformance(t *testing.T) {
	emulated := newDriver(t, withDefaults(t, []Options{{Tolerant: true}}))
	backendtest.Run(t, func(t testing.TB) backend.Device {
		d, err := emulated.Open(0)
		require.NoError(t, err)
		return d
	})
}
