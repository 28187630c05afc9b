package gpuframe_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

func TestOpen(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		s, err := gpuframe.Open(gpuframe.Device(dev.Name()), gpuframe.Budget(1<<20))
		require.NoError(t, err)
		assert.Equal(t, dev.Name(), s.Device().Name())
		assert.True(t, s.Manager().Device().Same(dev))
		assert.Equal(t, uint64(1<<20), s.Manager().Stats().Budget)
		_, err = s.Manager().Allocate(1<<21, memory.AllocateOptions{})
		require.ErrorIs(t, err, memory.ErrBudget)
		require.NoError(t, s.Close())
		require.NoError(t, s.Close(), "a second time")
	})
}

// TestOpenDefault opens the first GPU, or the host.
func TestOpenDefault(t *testing.T) {
	s, err := gpuframe.Open()
	require.NoError(t, err)
	dev, err := device.Open("")
	require.NoError(t, err)
	assert.Equal(t, dev.Name(), s.Device().Name())
	require.NoError(t, dev.Close())
	require.NoError(t, s.Close())
}

func TestOpenRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		options []gpuframe.Option
		is      error
		message string
	}{
		"twice":          {[]gpuframe.Option{gpuframe.Budget(1), gpuframe.Budget(2)}, device.ErrInvalidValue, "gpuframe: open: option Budget is given twice"},
		"zero option":    {[]gpuframe.Option{gpuframe.Budget(1), {}}, device.ErrInvalidValue, "option 1 is the zero Option"},
		"no budget":      {[]gpuframe.Option{gpuframe.Budget(0)}, device.ErrInvalidValue, "leave the option out"},
		"unknown device": {[]gpuframe.Option{gpuframe.Device("abacus")}, nil, `gpuframe: open: `},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := gpuframe.Open(c.options...)
			require.Nil(t, s)
			require.ErrorContains(t, err, c.message)
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
			require.NoError(t, s.Close(), "a nil session")
		})
	}
}

func TestCloseReportsMemory(t *testing.T) {
	s, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	block, err := s.Manager().Allocate(100, memory.AllocateOptions{Tag: "forgotten"})
	require.NoError(t, err)
	err = s.Close()
	require.ErrorContains(t, err, "forgotten")
	require.Equal(t, err, s.Close(), "a second time")
	_ = block.Release()
}
