package adaptor_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// contextual is a resource that records the context it was called with.
type contextual struct {
	memory.Resource
	seen context.Context
}

func (c *contextual) AllocateContext(ctx context.Context, bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	c.seen = ctx
	if err := ctx.Err(); err != nil {
		return resource.Allocation{}, err
	}
	return c.Allocate(bytes, stream)
}

func TestEveryAdaptorPassesTheContextOn(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		foot := &contextual{Resource: memory.NewDriverResource(dev)}
		aligned, err := adaptor.NewAligned(foot, adaptor.AlignedOptions{Alignment: 4096})
		require.NoError(t, err)
		for _, tested := range []memory.Resource{
			adaptor.NewBorrowed(foot), aligned,
			adaptor.NewFault(foot, adaptor.FaultOptions{}),
			adaptor.NewGuard(foot, adaptor.GuardOptions{RedZone: 256}),
			adaptor.NewLimit(foot, 1<<20, adaptor.LimitOptions{}),
			adaptor.NewLogging(foot, adaptor.LoggingOptions{}),
			adaptor.NewPoison(foot, adaptor.PoisonOptions{}),
			adaptor.NewPrefetch(foot),
			adaptor.NewRetry(foot, func(uint64, error) bool { return false }, adaptor.RetryOptions{}),
			adaptor.NewStatistics(foot),
			adaptor.NewTracking(foot, adaptor.TrackingOptions{}),
		} {
			type key struct{}
			ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, t))
			foot.seen = nil
			allocation, err := resource.AllocateFrom(ctx, tested, 1000, dev.DefaultStream())
			require.NoError(t, err, "%T", tested)
			require.NotNil(t, foot.seen, "%T", tested)
			assert.Equal(t, t, foot.seen.Value(key{}), "%T", tested)
			require.NoError(t, tested.Free(allocation, nil))

			cancel()
			_, err = resource.AllocateFrom(ctx, tested, 1000, dev.DefaultStream())
			require.ErrorIs(t, err, context.Canceled, "%T", tested)

			foot.seen = nil
			allocation, err = tested.Allocate(1000, dev.DefaultStream())
			require.NoError(t, err, "%T", tested)
			assert.Nil(t, foot.seen, "%T: without a context the resource's own Allocate serves", tested)
			require.NoError(t, tested.Free(allocation, nil))
		}
	})
}
