package host

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

func TestPoolWaitsForFreesUnderWay(t *testing.T) {
	d := open(t)
	s := newTestStream(t, d)
	pool, err := d.PoolCreate(100)
	require.NoError(t, err)
	first, err := d.AllocAsync(80, pool, s)
	require.NoError(t, err)
	unblock := block(t, d, s)
	require.NoError(t, d.FreeAsync(first, s))

	used, err := d.PoolAttribute(pool, backend.PoolUsedCurrent)
	require.NoError(t, err)
	assert.Zero(t, used)
	reserved, err := d.PoolAttribute(pool, backend.PoolReservedCurrent)
	require.NoError(t, err)
	assert.Equal(t, uint64(80), reserved, "the free has not run")

	_, err = d.AllocAsync(101, 0, 99)
	require.ErrorIs(t, err, backend.ErrInvalidValue)
	second := make(chan backend.Pointer)
	go func() {
		p, err := d.AllocAsync(80, pool, s)
		assert.NoError(t, err)
		second <- p
	}()
	unblock()
	require.NoError(t, d.FreeAsync(<-second, s))
	require.NoError(t, d.StreamSynchronize(s))
	high, err := d.PoolAttribute(pool, backend.PoolReservedHigh)
	require.NoError(t, err)
	assert.Equal(t, uint64(80), high, "never above the maximum")
}

func TestPoolHandles(t *testing.T) {
	d := open(t)
	assert.ErrorIs(t, d.PoolDestroy(0), backend.ErrInvalidValue)
	assert.ErrorIs(t, d.PoolDestroy(5), backend.ErrInvalidValue)
	assert.ErrorIs(t, d.PoolTrim(5, 0), backend.ErrInvalidValue)
	assert.ErrorIs(t, d.PoolSetAttribute(5, backend.PoolReleaseThreshold, 0), backend.ErrInvalidValue)
	_, err := d.PoolAttribute(5, backend.PoolUsedCurrent)
	assert.ErrorIs(t, err, backend.ErrInvalidValue)
	_, err = d.AllocAsync(1, 5, 0)
	assert.ErrorIs(t, err, backend.ErrInvalidValue)
	for attribute, value := range map[backend.PoolAttribute]uint64{
		backend.PoolUsedCurrent:             0,
		backend.PoolReservedCurrent:         1,
		backend.PoolUsedHigh:                1,
		backend.PoolReservedHigh:            1,
		backend.PoolReuseAllowOpportunistic: 2,
		99:                                  0,
	} {
		assert.ErrorIs(t, d.PoolSetAttribute(0, attribute, value), backend.ErrInvalidValue, "attribute %d", attribute)
	}
}

// TestPoolCountsAgainstModel uses a pool from one stream and compares its
// figures with plain sums.
func TestPoolCountsAgainstModel(t *testing.T) {
	d := open(t)
	s := newTestStream(t, d)
	property.Check(t, func(t *rapid.T) {
		const maximum = 1000
		pool, err := d.PoolCreate(maximum)
		require.NoError(t, err)
		type live struct {
			p     backend.Pointer
			bytes uint64
		}
		var blocks []live
		var used, high uint64
		take := func(t *rapid.T) live {
			if len(blocks) == 0 {
				t.Skip("nothing to free")
			}
			i := rapid.IntRange(0, len(blocks)-1).Draw(t, "block")
			b := blocks[i]
			blocks = append(blocks[:i], blocks[i+1:]...)
			used -= b.bytes
			return b
		}
		t.Repeat(map[string]func(*rapid.T){
			"alloc": func(t *rapid.T) {
				bytes := rapid.Uint64Range(1, maximum+100).Draw(t, "bytes")
				p, err := d.AllocAsync(bytes, pool, s)
				if used+bytes > maximum {
					require.ErrorIs(t, err, backend.ErrOutOfMemory)
					return
				}
				require.NoError(t, err)
				blocks = append(blocks, live{p, bytes})
				used += bytes
				high = max(high, used)
			},
			"free":       func(t *rapid.T) { require.NoError(t, d.Free(take(t).p)) },
			"free async": func(t *rapid.T) { require.NoError(t, d.FreeAsync(take(t).p, s)) },
			"reset high": func(t *rapid.T) {
				require.NoError(t, d.PoolSetAttribute(pool, backend.PoolUsedHigh, 0))
				high = used
			},
			"": func(t *rapid.T) {
				current, err := d.PoolAttribute(pool, backend.PoolUsedCurrent)
				require.NoError(t, err)
				require.Equal(t, used, current)
				top, err := d.PoolAttribute(pool, backend.PoolUsedHigh)
				require.NoError(t, err)
				require.Equal(t, high, top)
			},
		})
		require.NoError(t, d.PoolDestroy(pool))
		for _, b := range blocks {
			require.NoError(t, d.FreeAsync(b.p, s))
		}
	})
}
