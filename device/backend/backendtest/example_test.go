package backendtest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/backend/backendtest"
	"github.com/gpuframe/gpuframe/device/host"
)

// In a _test.go file this function would be TestConformance.
func ExampleRun() {
	_ = func(t *testing.T) {
		backendtest.Run(t, func(t testing.TB) backend.Device {
			d, err := host.Driver{}.Open(0)
			require.NoError(t, err)
			return d
		})
	}
}
