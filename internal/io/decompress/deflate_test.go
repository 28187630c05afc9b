package decompress

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// deflate writes blocks of RFC 1951.
type deflate struct {
	stream
	buffer uint64
	count  int
}

func (d *deflate) bits(value, n int) {
	d.buffer |= uint64(value) << d.count
	for d.count += n; d.count >= 8; d.count -= 8 {
		d.tokens = append(d.tokens, byte(d.buffer))
		d.buffer >>= 8
	}
}

func (d *deflate) align() { d.bits(0, (8-d.count)%8) }

// gzip returns the blocks as a member of RFC 1952.
func (d *deflate) gzip() []byte {
	d.align()
	packed := append([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}, d.tokens...)
	packed = binary.LittleEndian.AppendUint32(packed, crc32.ChecksumIEEE(d.plain))
	return binary.LittleEndian.AppendUint32(packed, uint32(len(d.plain)))
}

// A code has the lengths of the codes of symbols.
type code []int

// put writes the code of a symbol.
func (c code) put(d *deflate, symbol int) {
	next := 0
	for length := 1; length <= c[symbol]; length++ {
		next *= 2
		for other, l := range c {
			if l == length && (l < c[symbol] || other < symbol) {
				next++
			}
		}
	}
	d.bits(int(bits.Reverse32(uint32(next))>>(32-c[symbol])), c[symbol])
}

// randomCode returns a complete code of up to n of some symbols, with lengths up to most. Symbols that
// are required have codes.
func randomCode(r *rand.Rand, symbols, n, most int, required ...int) code {
	leaves := []int{1, 1}
	for i := r.IntN(2); len(leaves) < min(n, symbols); {
		if leaves[i] < most {
			leaves[i]++
			leaves = append(leaves, leaves[i])
		}
		i = r.IntN(len(leaves)) * r.IntN(2) // often the first one, so that it becomes long
		if leaves[i] == most {
			i = r.IntN(len(leaves))
		}
	}
	c := make(code, symbols)
	order := append(required, r.Perm(symbols)...)
	for _, symbol := range order {
		if c[symbol] == 0 && len(leaves) > 0 {
			c[symbol], leaves = leaves[0], leaves[1:]
		}
	}
	return c
}

// lengthOrder is the order of the lengths of code lengths.
var lengthOrder = []int{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// codes writes the head of a block with its codes.
func (d *deflate) codes(r *rand.Rand, literals, distances code) {
	lengths := make(code, 19)
	for i := range lengths {
		lengths[i] = 5
		if i < 13 {
			lengths[i] = 4 // 13 codes of 4 bits and 6 of 5 are complete
		}
	}
	d.codesWith(r, lengths, literals, distances)
}

func (d *deflate) codesWith(r *rand.Rand, lengths, literals, distances code) {
	d.bits(len(literals)-257, 5)
	d.bits(len(distances)-1, 5)
	d.bits(15, 4)
	for _, symbol := range lengthOrder {
		d.bits(lengths[symbol], 3)
	}
	all := append(append(code{}, literals...), distances...)
	for i := 0; i < len(all); {
		same := 1
		for i+same < len(all) && all[i+same] == all[i] {
			same++
		}
		switch {
		case all[i] == 0 && same >= 11 && r.IntN(4) > 0:
			same = min(same, 138)
			lengths.put(d, 18)
			d.bits(same-11, 7)
		case all[i] == 0 && same >= 3 && r.IntN(4) > 0:
			same = min(same, 10)
			lengths.put(d, 17)
			d.bits(same-3, 3)
		case i > 0 && all[i] == all[i-1] && same >= 3 && r.IntN(4) > 0:
			same = min(same, 6)
			lengths.put(d, 16)
			d.bits(same-3, 2)
		default:
			same = 1
			lengths.put(d, all[i])
		}
		i += same
	}
}

func fixedCodes() (literals, distances code) {
	literals, distances = make(code, 288), make(code, 32)
	for i := range literals {
		literals[i] = []int{8, 9, 7, 8}[max(0, min(1, i-143))+max(0, min(1, i-255))+max(0, min(1, i-279))]
	}
	for i := range distances {
		distances[i] = 5
	}
	return literals, distances
}

// block writes random literals and matches by codes, and the end of the block.
func (d *deflate) block(r *rand.Rand, literals, distances code, tokens int) {
	for range tokens {
		symbol := r.IntN(len(literals))
		switch {
		case literals[symbol] == 0 || symbol == 256 || symbol > 285:
		case symbol < 256:
			literals.put(d, symbol)
			d.plain = append(d.plain, byte(symbol))
		default:
			far := r.IntN(min(len(distances), 30))
			base, extra := distanceOf(far)
			if distances[far] == 0 || base > len(d.plain) {
				continue
			}
			literals.put(d, symbol)
			length, bits := lengthOf(symbol)
			more := r.IntN(1 << bits)
			d.bits(more, bits)
			distances.put(d, far)
			distance := min(base+r.IntN(1<<extra), len(d.plain))
			d.bits(distance-base, extra)
			d.match(distance, length+more)
		}
	}
	literals.put(d, 256)
}

// lengthOf and distanceOf are the tables of RFC 1951, section 3.2.5.
func lengthOf(symbol int) (base, extra int) {
	table := []int{3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258}
	base = table[symbol-257]
	if symbol != 285 {
		extra = max(0, (symbol-261)/4)
	}
	return base, extra
}

func distanceOf(symbol int) (base, extra int) {
	table := []int{1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577}
	return table[symbol], max(0, symbol/2-1)
}

// randomGzip writes members of random blocks with random codes.
func randomGzip(r *rand.Rand, tokens int) (form, plain []byte) {
	for range 1 + r.IntN(2) {
		d := &deflate{}
		for block := range 3 {
			kind := r.IntN(3)
			d.bits(block/2, 1)
			d.bits(kind, 2)
			switch kind {
			case 0:
				n := length(r)
				d.align()
				d.tokens = binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(d.tokens, uint16(n)), ^uint16(n))
				d.literal(r, n)
			case 1:
				literals, distances := fixedCodes()
				d.block(r, literals, distances, tokens/2)
			case 2:
				literals := randomCode(r, 257+r.IntN(30), 20+r.IntN(200), 15, 256, 'a', 'b')
				distances := randomCode(r, 2+r.IntN(29), 2+r.IntN(10), 15, 0)
				if r.IntN(4) == 0 {
					distances = code{r.IntN(2)} // one code, or none
				}
				d.codes(r, literals, distances)
				d.block(r, literals, distances, tokens)
			}
		}
		form, plain = append(form, d.gzip()...), append(plain, d.plain...)
	}
	return form, plain
}

// Blocks that are wrong in one way are refused, as compress/flate refuses them. Those that are right
// have the same length.
func TestWrongBlocks(t *testing.T) {
	literals, distances := make(code, 257), code{0}
	literals['a'], literals[256] = 1, 1
	with := func(symbol, length int) code {
		c := append(make(code, 0, 286), literals...)
		c = append(c, make(code, max(0, symbol+1-len(c)))...)
		c[symbol] = length
		return c
	}
	dynamic := func(literals, distances code, symbols ...int) func(d *deflate) {
		return func(d *deflate) {
			d.bits(1+2<<1, 3)
			d.codes(rand.New(rand.NewPCG(0, 0)), literals, distances)
			for _, symbol := range symbols {
				literals.put(d, symbol)
			}
		}
	}
	fixed := func(symbols ...int) func(d *deflate) {
		return func(d *deflate) {
			codes, _ := fixedCodes()
			d.bits(1+1<<1, 3)
			for _, symbol := range symbols {
				codes.put(d, symbol)
			}
		}
	}
	wrong := map[string]struct {
		write  func(d *deflate)
		status Status
	}{
		"right":                  {dynamic(literals, distances, 'a', 'a', 256), Complete},
		"right, fixed":           {fixed('a', 'a', 256), Complete},
		"type 3":                 {func(d *deflate) { d.bits(7, 3) }, Block},
		"length of stored bytes": {func(d *deflate) { d.bits(1, 3); d.align(); d.tokens = append(d.tokens, 2, 0, 0xfe, 0xff, 'a', 'a') }, Block},
		"over-subscribed":        {dynamic(with('b', 1), distances, 'a', 'a', 256), Tree},
		"incomplete":             {dynamic(with(256, 2), distances, 'a', 'a', 256), Tree},
		"no end":                 {dynamic(with(256, 0), distances, 'a', 'a'), Tree},
		"distances incomplete":   {dynamic(literals, code{2, 2}, 'a', 'a', 256), Tree},
		"too many distances":     {dynamic(literals, make(code, 31), 'a', 'a', 256), Tree},
		"too many literals":      {dynamic(append(with(285, 0), 0), distances, 'a', 'a', 256), Tree},
		"distances over":         {dynamic(literals, code{1, 1, 1}, 'a', 'a', 256), Tree},
		"length symbol 286":      {fixed('a', 'a', 286, 256), Tree},
		"distance symbol 30":     {func(d *deflate) { fixed('a', 'a', 257)(d); _, far := fixedCodes(); far.put(d, 30) }, Tree},
		"match at the begin":     {func(d *deflate) { fixed(257)(d); _, far := fixedCodes(); far.put(d, 0) }, Distance},
		"repeats nothing": {func(d *deflate) {
			d.bits(1+2<<1, 3)
			d.bits(0, 5+5)
			d.bits(15, 4)
			for _, symbol := range lengthOrder {
				d.bits(map[int]int{16: 1, 1: 1}[symbol], 3)
			}
			d.bits(1, 1) // 16 has the second code
			d.bits(0, 2)
		}, Tree},
		"repeats too often": {func(d *deflate) {
			d.bits(1+2<<1, 3)
			d.bits(0, 5+5)
			d.bits(15, 4)
			for _, symbol := range lengthOrder {
				d.bits(map[int]int{18: 1, 1: 1}[symbol], 3)
			}
			d.bits(0xffff, 16) // 138 zeros, and again
		}, Tree},
	}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		for name, c := range property.InOrder(wrong) {
			d := &deflate{stream: stream{plain: []byte("aa")}}
			c.write(d)
			if c.status != Complete {
				d.bits(0, 40) // so that the input does not end early
			}
			form := d.gzip()
			results, status := unpack(t, t, dev, Gzip, []packed{{form, 2}})
			_, err := io.ReadAll(flate.NewReader(bytes.NewReader(form[10:])))
			require.Equal(t, c.status == Complete, err == nil, "%s: compress/flate: %v", name, err)
			if dev.Kind() == device.Host {
				require.Equal(t, c.status == Complete, status[0] == Complete, name)
			} else {
				require.Equal(t, c.status, status[0], name)
			}
			if c.status == Complete {
				require.Equal(t, "aa", string(results[0]), name)
			}
		}
	})
}
