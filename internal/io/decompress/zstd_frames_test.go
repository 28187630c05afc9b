package decompress

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// Frames that no writer makes, but the format allows, are decompressed.
func TestZstdRandomFrames(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		property.Check(t, func(r *rapid.T) {
			source := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 0))
			var inputs []packed
			var plain [][]byte
			for range 8 {
				// The library on the host refuses codes that writers do not use.
				w := zstdWriter{fewestHuffman: 6}
				if dev.Kind() == device.Host {
					w = zstdWriter{fewestHuffman: 64, shorter: true}
				}
				for range 1 + source.IntN(3) {
					w.frame(source)
				}
				inputs = append(inputs, packed{w.frames, len(w.plain)})
				plain = append(plain, append([]byte{}, w.plain...))
			}
			results, status := unpack(r, t, dev, Zstandard, inputs)
			for i := range inputs {
				require.NoError(r, status[i].Error(Zstandard), "%v", zstdModes(inputs[i].bytes))
				require.Equal(r, plain[i], results[i], "%v", zstdModes(inputs[i].bytes))
			}
		})
	})
}

// Pages are decompressed in rounds. Some need more memory than others of their round.
func TestZstdRounds(t *testing.T) {
	round := zstdRound
	defer func() { zstdRound = round }()
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		property.Check(t, func(r *rapid.T) {
			source := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 0))
			var inputs []packed
			var plain [][]byte
			length := uint64(0)
			for range 1 + source.IntN(20) {
				w := newZstdWriter(source, 6, 100<<source.IntN(10))
				inputs, plain = append(inputs, packed{w.frames, len(w.plain)}), append(plain, w.plain)
				length += uint64(len(w.plain))
			}
			zstdRound = 1 + source.Uint64N(length)
			results, status := unpack(r, t, dev, Zstandard, inputs)
			for i := range inputs {
				require.NoError(r, status[i].Error(Zstandard))
				require.Equal(r, plain[i], results[i])
			}
		})
	})
}

// Without memory for all blocks, a warp decompresses each page. Some pages are damaged.
func TestZstdWithoutMemory(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		property.Check(t, func(r *rapid.T) {
			source := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 0))
			w := newZstdWriter(source, 6, 1000)
			inputs := damage(source, w.frames, len(w.plain))
			var pages []Page
			var input []byte
			target := 0
			for _, p := range inputs {
				pages = append(pages, Page{Source: uint64(len(input)), Target: uint64(target), Compressed: uint32(len(p.bytes)), Length: uint32(p.length)})
				input, target = append(input, p.bytes...), target+p.length
			}
			output := make([]byte, target)
			scratch := Scratch(Zstandard, Measure(pages))
			mgr := devicetest.Manager(t, dev, memory.Options{Budget: uint64(len(input)+len(output)) + scratch})
			status := runIn(r, t, mgr, Zstandard, pages, input, output)
			require.NoError(r, status[0].Error(Zstandard))
			require.Equal(r, w.plain, output[:len(w.plain)])
			var results [][]byte
			for _, p := range pages {
				results = append(results, output[p.Target:p.Target+uint64(p.Length)])
			}
			compareWithHost(r, Zstandard, inputs, results, status)
		})
	})
}

// The number of sequences of a block may take three bytes.
func TestZstdManySequences(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		r := property.Random(t)
		w := zstdWriter{plain: random(r, 10), recent: [3]int{1, 4, 8}, fewestHuffman: 64}
		w.frames = append(w.frames, 0x28, 0xb5, 0x2f, 0xfd, 0, 0x88)
		w.block(0, len(w.plain), false)
		w.frames = append(w.frames, w.plain...)
		w.coders = [3]*zstdCoder{{symbol: 0}, {symbol: 1}, {symbol: 0}}
		content := w.compressed(r, 0x7f00+r.IntN(5000), [3]int{1, 1, 1})
		w.block(2, len(content), true)
		w.frames = append(w.frames, content...)
		require.Equal(t, 1, zstdModes(w.frames)["number of sequences in 3 bytes"])
		results, status := unpack(t, t, dev, Zstandard, []packed{{w.frames, len(w.plain)}})
		require.NoError(t, status[0].Error(Zstandard))
		require.Equal(t, w.plain, results[0])
	})
}

func TestZstdDictionary(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		needed := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x21, 7, 1, 9, 0, 0, 'x'}
		absent := append([]byte{}, needed...)
		absent[5] = 0
		_, status := unpack(t, t, dev, Zstandard, []packed{{needed, 1}, {absent, 1}})
		require.ErrorIs(t, status[0].Error(Zstandard), ErrDamaged)
		require.Equal(t, Dictionary, status[0])
	})
}
