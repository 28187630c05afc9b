package host

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

func TestManagedMemoryIsFreedAsSuch(t *testing.T) {
	d := open(t)
	p, err := d.AllocManaged(100)
	require.NoError(t, err)
	assert.ErrorIs(t, d.FreeAsync(p, 0), backend.ErrInvalidValue)
	assert.ErrorIs(t, d.HostFree(address(p)), backend.ErrInvalidValue)
	assert.ErrorIs(t, d.Memset(p, 0, 1, 101), backend.ErrInvalidValue)
	require.NoError(t, d.Free(p))
	assert.ErrorIs(t, d.Free(p), backend.ErrInvalidValue)
	_, err = d.AllocManaged(0)
	assert.ErrorIs(t, err, backend.ErrInvalidValue)
}

func TestPrefetchChecksItsArguments(t *testing.T) {
	d := open(t)
	p, err := d.AllocManaged(100)
	require.NoError(t, err)
	own := alloc(t, d, 100)
	for name, err := range map[string]error{
		"of nothing":       d.PrefetchAsync(p, 0, false, 0),
		"past the end":     d.PrefetchAsync(p+50, 51, true, 0),
		"of own memory":    d.PrefetchAsync(own, 10, false, 0),
		"of no memory":     d.PrefetchAsync(0, 10, false, 0),
		"on no stream":     d.PrefetchAsync(p, 100, false, 99),
		"of other memory":  d.PrefetchAsync(at(make([]byte, 10)), 10, true, 0),
		"of a whole space": d.PrefetchAsync(p, 1<<63, true, 0),
	} {
		assert.ErrorIs(t, err, backend.ErrInvalidValue, name)
	}
	require.NoError(t, d.PrefetchAsync(p+50, 50, true, newTestStream(t, d)))
	require.NoError(t, d.Free(p))
	require.NoError(t, d.Free(own))
}

func TestNoPeerToShareAPoolWith(t *testing.T) {
	d := open(t)
	assert.ErrorIs(t, d.PoolAllowPeer(0, 0), backend.ErrNotSupported)
	assert.ErrorIs(t, d.PoolAllowPeer(0, 1), backend.ErrNoDevice)
}
