package host

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/backend/backendtest"
)

func TestConformance(t *testing.T) {
	before := system.allocations.Len() + system.registrations.Len()
	requireNoMappings(t)
	backendtest.Run(t, func(t testing.TB) backend.Device {
		d, err := Driver{}.Open(0)
		require.NoError(t, err)
		return d
	})
	require.Equal(t, before, system.allocations.Len()+system.registrations.Len(), "nothing is left in the inventory")
	requireNoMappings(t)
}
