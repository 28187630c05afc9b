package decompress

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// Frames of libzstd are decompressed; testdata/zstd/generate.sh writes them.
func TestZstdFixtures(t *testing.T) {
	paths, err := filepath.Glob("testdata/zstd/*.zst")
	require.NoError(t, err)
	reader, err := zstd.NewReader(nil) // compares the checksums
	require.NoError(t, err)
	defer reader.Close()
	modes := make(map[string]int)
	var inputs []packed
	var plain [][]byte
	for _, path := range paths {
		frame, err := os.ReadFile(path)
		require.NoError(t, err)
		data, err := reader.DecodeAll(frame, nil)
		require.NoError(t, err, path)
		inputs = append(inputs, packed{frame, len(data)})
		plain = append(plain, data)
		for mode, n := range zstdModes(frame) {
			modes[mode] += n
		}
	}
	for _, mode := range []string{
		"block repeated", "literals treeless, 1 streams, header of 3", "literals treeless, 4 streams, header of 4",
		"literals compressed, 4 streams, header of 5", "literals raw, header of 3", "weights coded: true", "weights coded: false",
		"literal lengths counted", "literal lengths as before", "match lengths predefined", "offsets as before",
	} {
		require.NotZero(t, modes[mode], "%s is not among %v", mode, modes)
	}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		for i := range inputs {
			if testing.Short() && devicetest.Emulated(dev) && (i+property.Turn(t))%4 != 0 {
				continue
			}
			results, status := unpack(t, t, dev, Zstandard, inputs[i:i+1])
			require.NoError(t, status[0].Error(Zstandard), paths[i])
			require.Equal(t, plain[i], results[0], paths[i])
		}
	})
}
