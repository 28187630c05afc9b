package decompress

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// contents are kinds of bytes, which compress in different ways.
var contents = map[string]func(r *rand.Rand, n int) []byte{
	"zeros": func(_ *rand.Rand, n int) []byte { return make([]byte, n) },
	"runs": func(r *rand.Rand, n int) (data []byte) {
		for len(data) < n {
			b := byte(r.Uint32())
			for range 1 + r.IntN(1<<r.IntN(10)) {
				data = append(data, b)
			}
		}
		return data[:n]
	},
	"periods": func(r *rand.Rand, n int) (data []byte) { // matches that overlap their output
		for len(data) < n {
			period := random(r, 1+r.IntN(1<<r.IntN(8)))
			for range 1 + r.IntN(20) {
				data = append(data, period...)
			}
		}
		return data[:n]
	},
	"text": func(r *rand.Rand, n int) (data []byte) {
		words := []string{"carefully ", "final ", "deposits ", "sleep ", "quickly ", "even ", "accounts ", "ironic ", "requests ", "the ", "about ", ". "}
		for len(data) < n {
			data = append(data, words[r.IntN(len(words))]...)
		}
		return data[:n]
	},
	"random": random,
	"keys": func(r *rand.Rand, n int) (data []byte) { // int64 keys of little entropy
		for len(data) < n {
			data = binary.LittleEndian.AppendUint64(data, uint64(r.IntN(1000)))
		}
		return data[:n]
	},
	"doubles": func(r *rand.Rand, n int) (data []byte) {
		for len(data) < n {
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(math.Round(r.Float64()*1e4)/100))
		}
		return data[:n]
	},
	"skewed": func(r *rand.Rand, n int) []byte { // long prefix codes
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(min(bits.TrailingZeros32(r.Uint32()), 13) * 19)
		}
		return data
	},
	"far": func(r *rand.Rand, n int) (data []byte) { // matches with long distances
		start := random(r, n/3+1)
		data = append(data, start...)
		for len(data) < n {
			from := r.IntN(len(start))
			data = append(data, start[from:min(len(start), from+4+r.IntN(200))]...)
			data = append(data, random(r, r.IntN(4))...)
		}
		return data[:n]
	},
}

func random(r *rand.Rand, n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	return data
}

// Pages of all contents and lengths are decompressed together.
func TestPages(t *testing.T) {
	eachCodec(t, func(t *testing.T, dev *device.Device, codec Codec) {
		r := property.Random(t)
		sizes := []int{0, 1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 255, 256, 257, 1000, 4095, 4097}
		if !devicetest.Emulated(dev) {
			sizes = append(sizes, 1<<16-1, 1<<16, 1<<16+1, 300_000)
		} else if !testing.Short() {
			sizes = append(sizes, 1<<16+1)
		}
		for name, content := range property.InOrder(contents) {
			var inputs []packed
			var plain [][]byte
			for _, size := range sizes {
				data := append([]byte{}, content(r, size)...)
				for _, form := range compress(t, codec, data) {
					inputs = append(inputs, packed{form, size})
					plain = append(plain, data)
				}
			}
			results, status := unpack(t, t, dev, codec, inputs)
			for i := range inputs {
				require.NoError(t, status[i].Error(codec), "%s of %d bytes", name, len(plain[i]))
				require.Equal(t, plain[i], results[i], "%s of %d bytes", name, len(plain[i]))
			}
		}
	})
}

// A page that is cut, has other bytes or claims another length is refused, or has its length;
// nothing else is written.
func TestDamagedPages(t *testing.T) {
	eachCodec(t, func(t *testing.T, dev *device.Device, codec Codec) {
		property.Check(t, func(r *rapid.T) {
			source := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 0))
			name := rapid.SampledFrom([]string{"runs", "periods", "text", "keys", "far"}).Draw(r, "contents")
			data := contents[name](source, rapid.IntRange(1, 300).Draw(r, "length"))
			form := rapid.SampledFrom(compress(r, codec, data)).Draw(r, "form")
			inputs := damage(source, form, len(data))
			// Another page is at the end of the input in each case.
			other, last := 1+source.IntN(len(inputs)-1), len(inputs)-1
			inputs[other], inputs[last] = inputs[last], inputs[other]
			results, status := unpack(r, t, dev, codec, inputs)
			require.NoError(r, status[0].Error(codec))
			require.Equal(r, data, results[0])
			for i := range inputs {
				if err := status[i].Error(codec); err != nil {
					require.ErrorIs(r, err, ErrDamaged)
					require.NotContains(r, err.Error(), "with status", "it has a text")
				}
			}
			compareWithHost(r, codec, inputs, results, status)
		})
	})
}

// Long pages, of which a kernel has a part at a time, are right, and those with faults are refused or
// right.
func TestLongPages(t *testing.T) {
	eachCodec(t, func(t *testing.T, dev *device.Device, codec Codec) {
		r := property.Random(t)
		for name, content := range property.InOrder(contents) {
			data := content(r, 9000+r.IntN(3000))
			form := compress(t, codec, data)[0]
			inputs := []packed{{form, len(data)}, {form[:r.IntN(len(form)/2)], len(data)}, {form, len(data) - 1}}
			for range 3 {
				wrong := append([]byte(nil), form...)
				wrong[r.IntN(len(wrong))] ^= 1 << r.IntN(8)
				inputs = append(inputs, packed{wrong, len(data)})
			}
			results, status := unpack(t, t, dev, codec, inputs)
			require.NoError(t, status[0].Error(codec), name)
			require.True(t, bytes.Equal(data, results[0]), name)
			require.NotEqual(t, Complete, status[1], name)
			require.NotEqual(t, Complete, status[2], name)
			compareWithHost(t, codec, inputs, results, status)
		}
	})
}

// damage returns a page, all its beginnings, and others that are wrong.
func damage(r *rand.Rand, form []byte, length int) []packed {
	inputs := []packed{{form, length}}
	for n := range form {
		inputs = append(inputs, packed{form[:n], length})
	}
	for _, other := range []int{0, max(length-1, 0), length + 1, length / 2, length * 2} {
		inputs = append(inputs, packed{form, other})
	}
	for range 40 {
		wrong := append([]byte(nil), form...)
		for range 1 + r.IntN(3) {
			wrong[r.IntN(len(wrong))] ^= 1 << r.IntN(8)
		}
		inputs = append(inputs, packed{wrong, length})
	}
	return append(inputs, packed{random(r, length), length})
}

// compareWithHost checks that pages which both the host and a device decompress are equal.
func compareWithHost(t require.TestingT, codec Codec, inputs []packed, results [][]byte, status []Status) {
	for i, p := range inputs {
		want := make([]byte, p.length)
		if status[i] == Complete && decoders[codec].host != nil && pageOnHost(decoders[codec].host, Page{Compressed: uint32(len(p.bytes)), Length: uint32(p.length)}, p.bytes, want) == Complete {
			require.Equal(t, want, results[i])
		}
	}
}

func TestPagesOutsideOfTheirMemory(t *testing.T) {
	eachCodec(t, func(t *testing.T, dev *device.Device, codec Codec) {
		output := make([]byte, 100)
		pages := []Page{
			{Source: 1, Compressed: 100, Length: 100}, {Source: 101, Length: 1}, {Target: 1, Compressed: 1, Length: 100},
			{Target: math.MaxUint64, Compressed: 1, Length: 1}, {Source: math.MaxUint64 - 5, Compressed: 10, Length: 1},
			{Source: 50, Compressed: 50, Target: 101}, {Source: 100, Target: 100},
		}
		status := run(t, t, dev, codec, pages, make([]byte, 100), output)
		for i, s := range status[:6] {
			require.Equal(t, Outside, s, "page %d", i)
		}
		require.Equal(t, Complete, status[6])
		require.Equal(t, make([]byte, 100), output)
	})
}

// More pages than a GPU decompresses at a time, of different lengths.
func TestManyPages(t *testing.T) {
	eachCodec(t, func(t *testing.T, dev *device.Device, codec Codec) {
		n := 100
		if dev.Kind() == device.CUDA && !devicetest.Emulated(dev) {
			n = 10_000
		}
		r := property.Random(t)
		var inputs []packed
		var plain [][]byte
		for name, content := range property.InOrder(contents) {
			data := content(r, 1+r.IntN(3000))
			form := compress(t, codec, data)[0]
			require.NotEmpty(t, form, name)
			inputs, plain = append(inputs, packed{form, len(data)}), append(plain, data)
		}
		for len(inputs) < n {
			i := r.IntN(len(contents))
			inputs, plain = append(inputs, inputs[i]), append(plain, plain[i])
		}
		results, status := unpack(t, t, dev, codec, inputs)
		for i := range inputs {
			require.NoError(t, status[i].Error(codec))
			require.True(t, bytes.Equal(plain[i], results[i]), "page %d", i)
		}
	})
}
