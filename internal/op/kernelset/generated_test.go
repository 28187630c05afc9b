package kernelset

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// TestGeneratedKeepsWhatIsUsed makes more values than are kept: one that is requested
// all the time stays, the oldest others are made again.
func TestGeneratedKeepsWhatIsUsed(t *testing.T) {
	dev := devicetest.Open(t, "host")
	var cache Generated[int]
	made := 0
	get := func(key int) int {
		value, err := cache.Get(t.Context(), dev, fmt.Append(nil, key), func() (int, error) { made++; return key, nil })
		require.NoError(t, err)
		require.Equal(t, key, value)
		return made
	}
	for key := range 3 * MostKept {
		get(key)
		require.Equal(t, key+1, get(key), "it is kept")
		require.Equal(t, key+1, get(0), "what is used is kept")
	}
	require.Equal(t, 3*MostKept, get(2*MostKept+2), "the last ones are kept")
	require.Equal(t, 3*MostKept+1, get(1), "this one was not used for long")

	all, err := cache.devices.Get(dev, nil)
	require.NoError(t, err)
	require.Len(t, all.entries, MostKept)
	_, err = cache.Get(t.Context(), dev, []byte("fault"), func() (int, error) { return 0, errors.New("fault") })
	require.Error(t, err)
	require.LessOrEqual(t, len(all.entries), MostKept)
}
