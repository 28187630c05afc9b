package decompress

import (
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// Frames of all kinds of blocks are cut, have other bytes, or claim another length.
func TestZstdDamagedFrames(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		property.Check(t, func(r *rapid.T) {
			source := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 0))
			w := newZstdWriter(source, 6, 1000)
			inputs := damage(source, w.frames, len(w.plain))
			results, status := unpack(r, t, dev, Zstandard, inputs)
			compareWithHost(r, Zstandard, inputs, results, status)
		})
	})
}

// FuzzZstd decompresses bytes on the emulator. If the host accepts them too, it has the same result.
func FuzzZstd(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		w := newZstdWriter(r, 6, math.MaxUint16)
		f.Add(w.frames, uint16(len(w.plain)))
	}
	dev := devicetest.OpenKernels(f)
	f.Fuzz(func(t *testing.T, data []byte, length uint16) {
		inputs := []packed{{data, int(length)}}
		results, status := unpack(t, t, dev, Zstandard, inputs)
		compareWithHost(t, Zstandard, inputs, results, status)
	})
}

// Frames of the command zstd, at all kinds of levels, are decompressed. TestZstdFixtures has frames of the
// same library for machines without the command.
func TestZstdCommand(t *testing.T) {
	command, err := exec.LookPath("zstd")
	if err != nil {
		t.Skip("the command zstd is not installed")
	}
	folder := t.TempDir()
	r := property.Random(t)
	var inputs []packed
	var plain [][]byte
	for name, content := range property.InOrder(contents) {
		for _, level := range []string{"--fast=3", "-1", "-3", "-9", "-19"} {
			data := content(r, r.IntN(3000))
			path := filepath.Join(folder, name+level)
			require.NoError(t, os.WriteFile(path, data, 0o600))
			frame, err := exec.CommandContext(t.Context(), command, "-q", "-c", level, path).Output()
			require.NoError(t, err)
			inputs, plain = append(inputs, packed{frame, len(data)}), append(plain, data)
		}
	}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		results, status := unpack(t, t, dev, Zstandard, inputs)
		for i := range inputs {
			require.NoError(t, status[i].Error(Zstandard))
			require.Equal(t, plain[i], append([]byte{}, results[i]...))
		}
	})
}
