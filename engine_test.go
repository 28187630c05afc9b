package gpuframe_test

import (
	"fmt"
	"runtime"
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

func TestClosedEngine(t *testing.T) {
	e, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	tenant, err := e.Tenant("tenant", 0)
	require.NoError(t, err)
	record := sales(t)
	q, below := e.Records(nil, record).Sort(qty), tenant.Records(nil, record)
	require.Len(t, collect(t, q), 6)
	frames := 0
	for f, err := range below.Batches(t.Context()) {
		if frames++; frames > 1 {
			require.ErrorIs(t, err, gpuframe.ErrClosed)
			break
		}
		require.NoError(t, err)
		require.NoError(t, f.Release())
		require.NoError(t, tenant.Close(), "between two frames")
	}
	require.Equal(t, 2, frames)
	_, err = below.Collect(t.Context())
	require.ErrorIs(t, err, gpuframe.ErrClosed)
	require.Len(t, collect(t, q), 6)
	require.NoError(t, e.Close())
	_, err = q.Collect(t.Context())
	require.ErrorIs(t, err, gpuframe.ErrClosed)
	require.ErrorContains(t, err, `gpuframe: query "Sort (engine_test.go:`)
}

// TestLeakNamesTheQuery forgets a frame.
func TestLeakNamesTheQuery(t *testing.T) {
	e, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	q := e.Records(nil, sales(t)).Head(3) // the line that the report names
	_, _, line, _ := runtime.Caller(0)
	f, err := q.Collect(t.Context())
	require.NoError(t, err)
	require.ErrorContains(t, e.Close(), fmt.Sprintf("Head (engine_test.go:%d)", line-1))
	_ = f.Release()
}
