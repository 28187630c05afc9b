package decompress

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// A stream is tokens of a format, and the bytes that they stand for. Encoders do not write all
// tokens that the formats have.
type stream struct {
	tokens, plain []byte
}

// literal appends n random bytes to the output, behind the token for them.
func (s *stream) literal(r *rand.Rand, n int) {
	s.plain = append(s.plain, random(r, n)...)
	s.tokens = append(s.tokens, s.plain[len(s.plain)-n:]...)
}

// match repeats n bytes of the output.
func (s *stream) match(distance, n int) {
	for range n {
		s.plain = append(s.plain, s.plain[len(s.plain)-distance])
	}
}

// distance returns a distance within the output, often a small one.
func (s *stream) distance(r *rand.Rand, most int) int {
	most = min(most, len(s.plain))
	return 1 + r.IntN(min(most, 1<<r.IntN(17)))
}

// length returns a small number, or one at the limits of the forms of lengths.
func length(r *rand.Rand) int {
	switch r.IntN(8) {
	case 0:
		return []int{14, 15, 16, 60, 61, 64, 65, 127, 128, 129, 255, 256, 257, 269, 270, 271, 511, 525, 1000}[r.IntN(19)]
	case 1:
		return 1 + r.IntN(300)
	}
	return 1 + r.IntN(12)
}

func randomSnappy(r *rand.Rand, tokens int) (form, plain []byte) {
	s := stream{}
	for range tokens {
		if len(s.plain) == 0 || r.IntN(2) == 0 {
			n := length(r)
			if r.IntN(2) == 0 && n <= 60 {
				s.tokens = append(s.tokens, byte(n-1)<<2)
			} else {
				bytes := r.IntN(3) + 2 // of the length, also more than it needs
				if n <= 256 {
					bytes = 1 + r.IntN(4)
				}
				s.tokens = append(s.tokens, byte(59+bytes)<<2)
				s.tokens = append(s.tokens, binary.LittleEndian.AppendUint32(nil, uint32(n-1))[:bytes]...)
			}
			s.literal(r, n)
			continue
		}
		switch n := 1 + r.IntN(64); r.IntN(3) {
		case 0:
			distance, n := s.distance(r, 1<<11-1), 4+n%8
			s.tokens = append(s.tokens, byte(distance>>8<<5|(n-4)<<2|1), byte(distance))
			s.match(distance, n)
		case 1:
			distance := s.distance(r, 1<<16-1)
			s.tokens = binary.LittleEndian.AppendUint16(append(s.tokens, byte((n-1)<<2|2)), uint16(distance))
			s.match(distance, n)
		case 2:
			distance := s.distance(r, len(s.plain))
			s.tokens = binary.LittleEndian.AppendUint32(append(s.tokens, byte((n-1)<<2|3)), uint32(distance))
			s.match(distance, n)
		}
	}
	return append(binary.AppendUvarint(nil, uint64(len(s.plain))), s.tokens...), s.plain
}

func randomLZ4(r *rand.Rand, tokens int) (form, plain []byte) {
	s := stream{}
	run := func(n int) {
		for n -= 15; n >= 255; n -= 255 {
			s.tokens = append(s.tokens, 255)
		}
		if n >= 0 {
			s.tokens = append(s.tokens, byte(n))
		}
	}
	for i := range tokens {
		literals, match, last := length(r)*r.IntN(2), 3+length(r), i == tokens-1
		if len(s.plain) == 0 {
			literals = max(literals, 1)
		}
		token := min(literals, 15) << 4
		if !last {
			token |= min(match-4, 15)
		}
		s.tokens = append(s.tokens, byte(token))
		run(literals)
		s.literal(r, literals)
		if !last {
			distance := s.distance(r, 1<<16-1)
			s.tokens = binary.LittleEndian.AppendUint16(s.tokens, uint16(distance))
			run(match - 4)
			s.match(distance, match)
		}
	}
	return s.tokens, s.plain
}

// generators write random streams of tokens.
var generators = map[Codec]func(r *rand.Rand, tokens int) (form, plain []byte){Snappy: randomSnappy, LZ4Raw: randomLZ4, Gzip: randomGzip}

// Random tokens are decompressed. TestZstdRandomFrames has those of Zstandard.
func TestTokens(t *testing.T) {
	eachOf(t, func(c Codec) bool { return generators[c] != nil }, func(t *testing.T, dev *device.Device, codec Codec) {
		property.Check(t, func(r *rapid.T) {
			source := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 0))
			var inputs []packed
			var plain [][]byte
			for range 6 {
				form, data := generators[codec](source, 1+source.IntN(1<<source.IntN(11)))
				inputs, plain = append(inputs, packed{form, len(data)}), append(plain, data)
			}
			results, status := unpack(r, t, dev, codec, inputs)
			for i := range inputs {
				require.NoError(r, status[i].Error(codec))
				require.True(r, bytes.Equal(plain[i], results[i]), "%x, got %x", plain[i], results[i])
			}
		})
	})
}

// Arbitrary bytes do not make a device read or write elsewhere, and the host decompresses to the
// same bytes.
func FuzzPage(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for codec := range Codec(len(decoders)) {
		for _, content := range property.InOrder(contents) {
			plain := content(r, 200)
			for _, form := range compress(f, codec, plain) {
				f.Add(uint8(codec), form, uint16(len(plain)))
			}
		}
		if generator, ok := generators[codec]; ok {
			form, plain := generator(r, 30)
			f.Add(uint8(codec), form, uint16(len(plain)))
		}
	}
	f.Fuzz(func(t *testing.T, number uint8, data []byte, length uint16) {
		codec := Codec(number % uint8(len(decoders)))
		dev := devicetest.OpenKernels(t)
		inputs := []packed{{data, int(length)}}
		eachForm(t, dev, codec, func(t *testing.T) {
			results, status := unpack(t, t, dev, codec, inputs)
			compareWithHost(t, codec, inputs, results, status)
		})
	})
}
