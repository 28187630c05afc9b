//go:build cgo && unix && !(386 || arm || mips || mipsle)

package peer_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/peer"
)

// balanced requires at the end of the test that no object is alive and no mistake was
// recorded.
func balanced(t *testing.T) {
	t.Helper()
	require.Equal(t, peer.Books{}, peer.Counts())
	t.Cleanup(func() {
		require.Empty(t, peer.Mistakes())
		require.Equal(t, peer.Books{}, peer.Counts())
		peer.Sweep()
	})
}

// produce makes an array until the end of the test.
func produce(t *testing.T, kind string, options peer.Options) *peer.Made {
	t.Helper()
	made, err := peer.Produce(kind, options)
	require.NoError(t, err)
	t.Cleanup(made.Free)
	return made
}

// each runs f with every type in every shape, for some seeds.
func each(t *testing.T, types []string, f func(t *testing.T, kind string, options peer.Options)) {
	for _, kind := range types {
		t.Run(kind, func(t *testing.T) {
			for name, options := range peer.Shapes() {
				for seed := range uint64(3) {
					t.Run(fmt.Sprint(name, seed), func(t *testing.T) {
						options := options
						options.Seed = seed
						f(t, kind, options)
					})
				}
			}
		})
	}
}
