package adaptor_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/adaptor"
	"github.com/gpuframe/gpuframe/memory/resource"
)

func TestProfile(t *testing.T) {
	eachBase(t, func(t *testing.T, dev *device.Device, foot *ledger) {
		tracking := adaptor.NewTracking(foot, adaptor.TrackingOptions{Stacks: true})
		var blocks []resource.Allocation
		for range 3 {
			block, err := tracking.Allocate(100, dev.DefaultStream())
			require.NoError(t, err)
			blocks = append(blocks, block)
		}
		other, err := tracking.Allocate(1000, dev.DefaultStream())
		require.NoError(t, err)
		blocks = append(blocks, other)

		var file bytes.Buffer
		require.NoError(t, tracking.WriteProfile(&file))
		parsed, err := profile.Parse(&file)
		require.NoError(t, err)
		require.NoError(t, parsed.CheckValid())
		assert.Equal(t, "inuse_space", parsed.DefaultSampleType)
		require.Len(t, parsed.Sample, 2, "one for each place")
		assert.Equal(t, []int64{1, 1000}, parsed.Sample[0].Value)
		assert.Equal(t, []int64{3, 300}, parsed.Sample[1].Value)
		for _, sample := range parsed.Sample {
			innermost := sample.Location[0].Line[0]
			assert.True(t, strings.HasPrefix(innermost.Function.Name, "github.com/gpuframe/gpuframe/memory/adaptor_test.TestProfile"), innermost.Function.Name)
			assert.True(t, strings.HasSuffix(innermost.Function.Filename, "pprof_test.go"))
			assert.NotZero(t, innermost.Line)
		}
		for _, block := range blocks {
			require.NoError(t, tracking.Free(block, nil))
		}
		file.Reset()
		require.NoError(t, tracking.WriteProfile(&file))
		parsed, err = profile.Parse(&file)
		require.NoError(t, err)
		assert.Empty(t, parsed.Sample)
	})
}
