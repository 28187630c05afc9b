//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCallsEndWithinACall(t *testing.T) {
	c := calls{none: sync.NewCond(new(sync.Mutex))}
	require.NoError(t, c.begin())
	require.NoError(t, c.begin())
	c.end()
	closed := make(chan struct{})
	go func() {
		c.close()
		close(closed)
	}()
	for c.begin() == nil { // until close has begun
		c.end()
	}
	require.ErrorIs(t, c.begin(), errCall)
	select {
	case <-closed:
		t.Fatal("a call runs")
	default:
	}
	c.end()
	<-closed
	c.close()
}
