package exec

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/query/plan"
)

// Readers are measured while others begin: under the race detector this fails if the begin of the
// profile is read without its lock.
func TestMeasuringAtATime(t *testing.T) {
	var p Profile
	nodes := make([]plan.Node, 8)
	for i := range nodes {
		nodes[i] = &plan.Nothing{}
	}
	var all sync.WaitGroup
	for _, n := range nodes {
		all.Go(func() {
			p.Restart()
			p.Of(n)
		})
		all.Go(func() { require.False(t, p.measure(n, nil, nil).(*measured).origin.IsZero()) })
	}
	all.Wait()
}
