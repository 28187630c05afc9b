//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/backend/backendtest"
	"github.com/gpuframe/gpuframe/gorgoniacu"
)

// A test binary of this package does not start without a driver, so the tests do not
// check for one. "make gorgonia" runs them on the stand-in for the driver.

func TestConformance(t *testing.T) {
	backendtest.Run(t, func(t testing.TB) backend.Device {
		d, err := gorgoniacu.Driver{}.Open(0)
		require.NoError(t, err)
		return d
	})
}
