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

// shapes returns options that affect the layout.
func shapes() map[string]peer.Options {
	return map[string]peer.Options{
		"whole":     {Length: 20},
		"sliced":    {Length: 17, Ahead: 11, Behind: 4},
		"deep":      {Length: 23, Ahead: 3, Behind: 9, ChildrenAhead: 7, ChildrenBehind: 5},
		"empty":     {},
		"empty at":  {Ahead: 5, Behind: 3, ChildrenAhead: 3},
		"valid":     {Length: 20, Ahead: 3, Nulls: peer.NoNulls},
		"null":      {Length: 20, Ahead: 3, Nulls: peer.AllNulls},
		"uncounted": {Length: 9, Ahead: 2, Quirks: peer.UnknownNulls},
		"bitmaps":   {Length: 20, Ahead: 9, Nulls: peer.NoNulls, Quirks: peer.Validity | peer.UnknownNulls},
		"garbage":   {Length: 33, Ahead: 2, Behind: 5, ChildrenAhead: 2, Quirks: peer.Garbage | peer.Odd},
		"padded":    {Length: 33, Quirks: peer.Padded | peer.Metadata},
		"no bytes":  {Quirks: peer.EmptyIsNull},
	}
}

// each runs f with every type in every shape, for some seeds.
func each(t *testing.T, types []string, f func(t *testing.T, kind string, options peer.Options)) {
	for _, kind := range types {
		t.Run(kind, func(t *testing.T) {
			for name, options := range shapes() {
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
