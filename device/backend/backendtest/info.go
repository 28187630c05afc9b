package backendtest

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

func testInfo(t *testing.T, d backend.Device) {
	info := d.Info()
	assert.NotEmpty(t, info.Name)
	assert.GreaterOrEqual(t, info.Ordinal, 0)
	assert.NotZero(t, info.TotalMemory)
	assert.Positive(t, info.Multiprocessors)
	assert.Equal(t, info, d.Info(), "the same at every call")

	switch info.Kind {
	case backend.Host:
		assert.Zero(t, info.ComputeCapability)
		assert.Zero(t, info.DriverVersion)
	case backend.CUDA:
		assert.Positive(t, info.ComputeCapability.Major)
		assert.GreaterOrEqual(t, info.DriverVersion, 1000)
		assert.NotZero(t, info.UUID)
	default:
		assert.Failf(t, "unknown kind", "%v", info.Kind)
	}
}

func testMemoryInfo(t *testing.T, d backend.Device) {
	free, total, err := d.MemoryInfo()
	require.NoError(t, err)
	assert.NotZero(t, total)
	assert.LessOrEqual(t, free, total)
}

func testAttribute(t *testing.T, d backend.Device) {
	count, err := d.Attribute(backend.MultiprocessorCount)
	require.NoError(t, err)
	assert.Equal(t, d.Info().Multiprocessors, count)

	major, err := d.Attribute(backend.ComputeCapabilityMajor)
	require.NoError(t, err)
	assert.Equal(t, d.Info().ComputeCapability.Major, major)

	_, err = d.Attribute(1 << 30)
	require.Error(t, err, "there is no such attribute")
	assert.True(t, errors.Is(err, backend.ErrInvalidValue) || errors.Is(err, backend.ErrNotSupported), "%v", err)
}
