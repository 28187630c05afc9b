package backendtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

// poolMaximum is a multiple of 32 MiB, by which CUDA's pools grow.
const poolMaximum = 64 << 20

func poolAttribute(t *testing.T, d backend.Device, p backend.Pool, attribute backend.PoolAttribute) uint64 {
	t.Helper()
	value, err := d.PoolAttribute(p, attribute)
	require.NoError(t, err)
	return value
}

func testPoolUse(t *testing.T, d backend.Device) {
	const size = 1 << 20
	p, s := newPool(t, d, 0), newStream(t, d)
	defer func() { require.NoError(t, d.PoolDestroy(p)) }()
	require.Zero(t, poolAttribute(t, d, p, backend.PoolUsedCurrent))

	content := pattern(size, 1)
	first, err := d.AllocAsync(size, p, s)
	require.NoError(t, err)
	second, err := d.AllocAsync(size, p, s)
	require.NoError(t, err)
	require.NoError(t, d.StreamSynchronize(s))
	require.NoError(t, d.CopyToDevice(first, start(content), size))
	require.NoError(t, d.CopyOnDevice(second, first, size))
	requireBytes(t, content, download(t, d, second, size), "memory of a pool")

	used := poolAttribute(t, d, p, backend.PoolUsedCurrent)
	assert.GreaterOrEqual(t, used, uint64(2*size))
	assert.GreaterOrEqual(t, poolAttribute(t, d, p, backend.PoolReservedCurrent), used)

	require.NoError(t, d.FreeAsync(first, s))
	require.NoError(t, d.FreeAsync(second, s))
	require.NoError(t, d.StreamSynchronize(s))
	assert.Zero(t, poolAttribute(t, d, p, backend.PoolUsedCurrent))
	assert.Equal(t, used, poolAttribute(t, d, p, backend.PoolUsedHigh))
	assert.GreaterOrEqual(t, poolAttribute(t, d, p, backend.PoolReservedHigh), used)

	require.NoError(t, d.PoolTrim(p, 0))
	assert.Zero(t, poolAttribute(t, d, p, backend.PoolReservedCurrent))
}

func testPoolMaximum(t *testing.T, d backend.Device) {
	p, s := newPool(t, d, poolMaximum), newStream(t, d)
	defer func() { require.NoError(t, d.PoolDestroy(p)) }()

	_, err := d.AllocAsync(2*poolMaximum, p, s)
	require.ErrorIs(t, err, backend.ErrOutOfMemory, "one allocation above the maximum")
	first, err := d.AllocAsync(poolMaximum*3/4, p, s)
	require.NoError(t, err, "one that fits, after one that did not")
	_, err = d.AllocAsync(poolMaximum*3/4, p, s)
	require.ErrorIs(t, err, backend.ErrOutOfMemory, "the sum above the maximum")
	require.NoError(t, d.FreeAsync(first, s))
	require.NoError(t, d.StreamSynchronize(s))
	assert.Zero(t, poolAttribute(t, d, p, backend.PoolUsedCurrent))
}

// testPoolReuse frees and allocates on one stream without waiting: memory of a pending
// free counts as free for the stream that frees it.
func testPoolReuse(t *testing.T, d backend.Device) {
	const size = poolMaximum * 3 / 4
	p, s := newPool(t, d, poolMaximum), newStream(t, d)
	defer func() { require.NoError(t, d.PoolDestroy(p)) }()
	const rounds = 8
	results := pinned(t, d, rounds)
	for i := range rounds {
		block, err := d.AllocAsync(size, p, s)
		require.NoError(t, err, "round %d", i)
		require.NoError(t, d.MemsetAsync(block, uint32(i+1), 1, size, s))
		require.NoError(t, d.CopyToHostAsync(start(results[i:]), block.Add(size-1), 1, s))
		require.NoError(t, d.FreeAsync(block, s))
	}
	require.NoError(t, d.StreamSynchronize(s))
	for i, got := range results {
		assert.Equal(t, byte(i+1), got, "round %d", i)
	}
}

func testPoolAttributes(t *testing.T, d backend.Device) {
	const size = 1 << 20
	p, s := newPool(t, d, 0), newStream(t, d)
	defer func() { require.NoError(t, d.PoolDestroy(p)) }()

	require.NoError(t, d.PoolSetAttribute(p, backend.PoolReleaseThreshold, 8<<20))
	assert.Equal(t, uint64(8<<20), poolAttribute(t, d, p, backend.PoolReleaseThreshold))
	require.NoError(t, d.PoolSetAttribute(p, backend.PoolReuseAllowOpportunistic, 0))
	assert.Zero(t, poolAttribute(t, d, p, backend.PoolReuseAllowOpportunistic))

	block, err := d.AllocAsync(size, p, s)
	require.NoError(t, err)
	require.NoError(t, d.FreeAsync(block, s))
	require.NoError(t, d.StreamSynchronize(s))
	require.NotZero(t, poolAttribute(t, d, p, backend.PoolUsedHigh))
	require.NoError(t, d.PoolSetAttribute(p, backend.PoolUsedHigh, 0))
	assert.Zero(t, poolAttribute(t, d, p, backend.PoolUsedHigh), "set back to what is in use")

	_, err = d.PoolAttribute(p, 9999)
	require.Error(t, err, "there is no such attribute")
}

func testPoolDestroy(t *testing.T, d backend.Device) {
	const size = 1 << 20
	p, s := newPool(t, d, 0), newStream(t, d)
	block, err := d.AllocAsync(size, p, s)
	require.NoError(t, err)
	require.NoError(t, d.StreamSynchronize(s))
	require.NoError(t, d.PoolDestroy(p))

	content := pattern(size, 2)
	require.NoError(t, d.CopyToDevice(block, start(content), size))
	requireBytes(t, content, download(t, d, block, size), "memory of a pool that was destroyed")
	require.NoError(t, d.FreeAsync(block, s))
	require.NoError(t, d.StreamSynchronize(s))
}
