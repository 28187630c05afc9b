package sketch

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// hllOfNumbers returns the sketch of the integers from begin to end.
func hllOfNumbers(lgK, begin, end int) *hll {
	h := newHLL(lgK)
	for i := begin; i < end; i++ {
		h.add(couponOf(binary.LittleEndian.AppendUint64(nil, uint64(i))))
	}
	return h
}

// TestMurmur requires that strings of different lengths have different hashes. [TestRegisters] compares hashes.
func TestMurmur(t *testing.T) {
	seen := map[uint64]bool{}
	for n := range 40 {
		h1, _ := murmur(make([]byte, n))
		require.False(t, seen[h1], "%d zeros", n)
		seen[h1] = true
	}
}

// TestHLLOfOthers reads the sketches that the libraries in C++ and Java wrote of the integers from 0, with registers of 4, 6
// and 8 bits: the registers are those of the same integers here.
func TestHLLOfOthers(t *testing.T) {
	sketchesOfOthers(t, "hll*.sk", 36, func(file string, b []byte, n int) {
		h, err := parseHLL(b)
		require.NoError(t, err, file)
		own := hllOfNumbers(h.lgK, 0, n)
		own.spread()
		h.spread()
		require.Equal(t, own.registers, h.registers, file)
	})
}

// TestRegisters compares the checksum of the registers of the integers from 0 with that of the sketches that DataSketches wrote of
// them, for lgK = 12.
func TestRegisters(t *testing.T) {
	for n, want := range registersOfDataSketches {
		h := hllOfNumbers(12, 0, n)
		h.spread()
		require.Equal(t, want, crc32.ChecksumIEEE(h.registers), "%d integers", n)
	}
}

// TestEstimates requires that the error of estimates is within four standard errors.
func TestEstimates(t *testing.T) {
	for _, lgK := range []int{4, 8, 12, 16} {
		for _, n := range []int{0, 1, 5, 100, 383, 384, 3000, 100_000} {
			got := hllOfNumbers(lgK, 1_000_000, 1_000_000+n).estimate()
			most := 4 * 1.04 / math.Sqrt(math.Ldexp(1, lgK)) * float64(n)
			require.InDelta(t, n, got, most+1e-3, "lgK %d", lgK)
		}
	}
}

// TestFormat reads what is written, of all modes, and sketches with registers of 4 and 6 bits.
func TestFormat(t *testing.T) {
	for _, lgK := range []int{4, 7, 10} {
		for _, n := range []int{0, 1, 7, 8, 50, 1000, 1_000_000} {
			h := hllOfNumbers(lgK, 0, n)
			b := h.bytes()
			read, err := parseHLL(b)
			require.NoError(t, err)
			require.Equal(t, b, read.bytes())
			require.Equal(t, h.estimate(), read.estimate())
			h.spread()
			for _, form := range [][]byte{fourBits(h), packedSix(h)} {
				read, err := parseHLL(form)
				require.NoError(t, err)
				require.Equal(t, h.registers, read.registers)
			}
			if n > 0 {
				for cut := range len(b) {
					if _, err := parseHLL(b[:cut]); err == nil {
						require.Failf(t, "a part is a sketch", "%d of %d bytes", cut, len(b))
					}
				}
			}
		}
	}
}

// fourBits writes registers of 4 bits, with exceptions.
func fourBits(h *hll) []byte {
	least := slices.Min(h.registers)
	b := make([]byte, atRegisters+len(h.registers)/2)
	h.preamble(b, 10, flagCompact, modeHLL)
	b[atMode], b[atCount] = modeHLL|nibbles<<2, least
	n := 0
	for slot, rank := range h.registers {
		over := rank - least
		if over >= 15 {
			b = binary.LittleEndian.AppendUint32(b, uint32(rank)<<addressBits|uint32(slot))
			over, n = 15, n+1
		}
		b[atRegisters+slot/2] |= over << (4 * (slot % 2))
	}
	binary.LittleEndian.PutUint32(b[atExceptions:], uint32(n))
	return b
}

// packedSix writes registers of 6 bits, and one more byte, as DataSketches does.
func packedSix(h *hll) []byte {
	b := make([]byte, atRegisters+len(h.registers)/4*3+1)
	h.preamble(b, 10, flagCompact, modeHLL)
	b[atMode] = modeHLL | sixBits<<2
	for slot, rank := range h.registers {
		at, bit := atRegisters+6*slot/8, 6*slot%8
		b[at] |= rank << bit
		b[at+1] |= uint8(uint16(rank) << bit >> 8)
	}
	return b
}

// TestImpossibleSketches refuses ranks that no value has, and registers that are missing, before it allocates them.
func TestImpossibleSketches(t *testing.T) {
	for name, b := range impossibleSketches() {
		_, err := parseHLL(b)
		require.ErrorIs(t, err, errFormat, name)
	}
	short := []byte{10, version, family, MostLgK, 0, flagCompact, 0, modeHLL | wholeBytes<<2}
	require.LessOrEqual(t, testing.AllocsPerRun(10, func() { _, _ = parseHLL(short) }), 3.0)
}

// impossibleSketches have the form of sketches and impossible contents.
func impossibleSketches() map[string][]byte {
	registers := func(form byte, size int) []byte {
		b := make([]byte, atRegisters+size)
		newHLL(5).preamble(b, 10, flagCompact, modeHLL)
		b[atMode] = modeHLL | form<<2
		return b
	}
	least, sum, wrapped, missing, whole := registers(nibbles, 16), registers(nibbles, 16), registers(nibbles, 16), registers(nibbles, 16), registers(wholeBytes, 32)
	least[atCount] = 64
	sum[atCount], sum[atRegisters] = 60, 4
	wrapped[atCount], wrapped[atRegisters+15] = 250, 0xe0
	missing[atRegisters] = 15
	whole[atRegisters+3] = 64
	exception := binary.LittleEndian.AppendUint32(slices.Clone(missing), 1)
	exception[atExceptions] = 1
	h := newHLL(12)
	h.add(3)
	list := h.bytes()
	for slot := range coupon(9) {
		h.add(slot + 1)
	}
	return map[string][]byte{
		"least rank": least, "least rank and 4 bits": sum, "wrapped": wrapped, "without an exception": missing, "8 bits": whole,
		"exception of rank 0": exception, "list of rank 0": list, "set of rank 0": h.bytes(), "short": whole[:len(whole)-1], "form": registers(3, 32),
	}
}

// TestGreatestRank reads a sketch with the greatest rank in all registers, of which the estimate is a number.
func TestGreatestRank(t *testing.T) {
	h := newHLL(4)
	h.spread()
	for slot := range h.registers {
		h.registers[slot] = mostRank
	}
	for _, form := range [][]byte{h.bytes(), fourBits(h), packedSix(h)} {
		read, err := parseHLL(form)
		require.NoError(t, err)
		require.Equal(t, h.registers, read.registers)
		require.False(t, math.IsInf(read.estimate(), 0))
	}
}

// TestMerge compares a merged sketch with that of all values.
func TestMerge(t *testing.T) {
	for _, sizes := range [][]int{{0, 0}, {0, 5}, {5, 0, 3}, {100, 10_000}, {10_000, 100}, {300, 300}, {20_000, 20_000, 7}} {
		begin, merged := 0, newHLL(10)
		for _, n := range sizes {
			merged.merge(hllOfNumbers(12, begin, begin+n))
			begin += n
		}
		whole := hllOfNumbers(10, 0, begin)
		whole.spread()
		merged.spread()
		require.Equal(t, whole.registers, merged.registers, "%v", sizes)
	}
}

// FuzzParseHLL requires that bytes of any contents are a sketch or an error.
func FuzzParseHLL(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 3, 20, 500} {
		b := hllOfNumbers(4+r.IntN(4), 0, n).bytes()
		f.Add(b)
		f.Add(b[:len(b)/2])
	}
	h := hllOfNumbers(5, 0, 1000)
	f.Add(fourBits(h))
	f.Add(packedSix(h))
	for _, b := range impossibleSketches() {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := parseHLL(b)
		if err != nil {
			return
		}
		again, err := parseHLL(h.bytes())
		require.NoError(t, err)
		again.sort()
		require.Equal(t, h.coupons, again.coupons)
		require.Equal(t, h.registers, again.registers)
		require.False(t, math.IsInf(h.estimate(), 0) || math.IsNaN(h.estimate()))
		for _, rank := range h.registers {
			require.LessOrEqual(t, rank, uint8(mostRank))
		}
	})
}

// registersOfDataSketches are the checksums of the registers of the sketches of the integers from 0.
var registersOfDataSketches = map[int]uint32{
	0: 0xc71c0011, 1: 0x3e127c55, 10: 0xc88b0fba, 100: 0x9da2c77f, 1000: 0x9359622a, 10_000: 0x9c4e267e, 100_000: 0xfcdc4660, 1_000_000: 0x08d98743,
}
