package host

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/await"
)

func TestDevicesListsTheMachine(t *testing.T) {
	// A number that is set here does not change when that of the machine does.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	infos, err := Driver{}.Devices()
	require.NoError(t, err)
	require.Len(t, infos, 1)
	info := infos[0]
	assert.Equal(t, backend.Host, info.Kind)
	assert.Zero(t, info.Ordinal)
	assert.Contains(t, info.Name, fmt.Sprintf("(%s, 3 processors)", runtime.GOARCH))
	assert.Equal(t, 3, info.Multiprocessors)
	assert.NotZero(t, info.TotalMemory)
	assert.Equal(t, info, open(t).Info())
}

func TestOpenAcceptsOneOrdinal(t *testing.T) {
	for _, ordinal := range []int{-1, 1, 7} {
		d, err := Driver{}.Open(ordinal)
		require.ErrorIs(t, err, backend.ErrNoDevice)
		require.Nil(t, d)
	}
}

func TestErrorNamesOperationAndDetail(t *testing.T) {
	err := open(t).Free(0x10)
	require.EqualError(t, err, "host: Free: pointer 0x10 does not begin a live allocation of host memory: invalid value")
	var typed *Error
	require.ErrorAs(t, err, &typed)
	assert.Equal(t, "Free", typed.Operation)
	assert.Equal(t, "host: Free: invalid value", (&Error{Operation: "Free", Err: backend.ErrInvalidValue}).Error())
}

func TestCloseWaitsAndLeavesMemory(t *testing.T) {
	d := open(t)
	p := alloc(t, d, 64)
	s := newTestStream(t, d)
	unblock := block(t, d, s)
	require.NoError(t, d.MemsetAsync(p, 7, 1, 64, s))

	closed := make(chan error)
	go func() { closed <- d.Close() }()
	// Once the flag is set, Close only waits for the stream.
	await.Until(t, d.closed.Load, "the device is being closed")
	select {
	case err := <-closed:
		require.Failf(t, "closed with work under way", "%v", err)
	default:
	}
	unblock()
	require.NoError(t, <-closed)

	later := open(t)
	content := make([]byte, 64)
	require.NoError(t, later.CopyToHost(start(content), p, 64))
	assert.Equal(t, byte(7), content[63])
	require.NoError(t, later.Free(p))
}
