package cuda

import (
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/backend/backendtest"
)

// TestConformance needs a GPU. With GPUFRAME_REQUIRE_CUDA=1 it fails without one.
func TestConformance(t *testing.T) {
	devices, err := Driver{}.Devices()
	if errors.Is(err, backend.ErrNotAvailable) && os.Getenv("GPUFRAME_REQUIRE_CUDA") != "1" {
		t.Skip(err)
	}
	require.NoError(t, err)
	require.NotEmpty(t, devices)
	backendtest.Run(t, func(t testing.TB) backend.Device {
		d, err := Driver{}.Open(0)
		require.NoError(t, err)
		return d
	})
}
