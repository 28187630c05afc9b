package decompress

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// fragmented returns a page of fragments of a number of bytes, each by itself. The last one may be shorter.
func fragmented(r *rand.Rand, fragments, bytes int) packed {
	var tokens []byte
	length := 0
	for i := range fragments {
		most := bytes
		if i == fragments-1 {
			most = 1 + r.IntN(bytes)
		}
		s := stream{}
		for left := most; left > 0; left = most - len(s.plain) {
			if n := min(left, 1+r.IntN(60)); len(s.plain) == 0 || r.IntN(3) == 0 {
				s.tokens = append(s.tokens, byte(n-1)<<2)
				s.literal(r, n)
			} else if n := min(left, 300+r.IntN(1000)); r.IntN(20) == 0 { // a long one
				s.tokens = binary.LittleEndian.AppendUint16(append(s.tokens, 61<<2), uint16(n-1))
				s.literal(r, n)
			} else {
				n, distance := min(left, 1+r.IntN(64)), s.distance(r, 1<<16-1)
				s.tokens = binary.LittleEndian.AppendUint16(append(s.tokens, byte((n-1)<<2|2)), uint16(distance))
				s.match(distance, n)
			}
		}
		tokens, length = append(tokens, s.tokens...), length+most
	}
	return packed{append(binary.AppendUvarint(nil, uint64(length)), tokens...), length}
}

// Pages of fragments are divided, and others, or with damage, are not.
func TestFragments(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		r := property.Random(t)
		const bytes = 512
		defer forceFragments(bytes)()
		var inputs []packed
		var divides []bool
		for _, n := range []int{1, 2, 3, 17, 40} {
			whole := fragmented(r, n, bytes)
			inputs, divides = append(inputs, whole), append(divides, true)
			cut := packed{whole.bytes[:len(whole.bytes)-1], whole.length}
			inputs, divides = append(inputs, cut), append(divides, false)
		}
		// A literal in two fragments, a match from the fragment before, and a wrong length.
		across := append([]byte{0x84, 0x08, 61 << 2, 0x03, 0x04}, random(r, 1028)...)
		inputs, divides = append(inputs, packed{across, 1028}), append(divides, false)
		before := append([]byte{0x81, 0x04, 61 << 2, 0xff, 0x01}, random(r, 512)...)
		inputs, divides = append(inputs, packed{append(before, 0x02, 0x01, 0x00), 513}), append(divides, false)
		inputs, divides = append(inputs, packed{inputs[0].bytes, inputs[0].length + 1}), append(divides, false)

		// Literals alone, which are longer than the pieces.
		literals := binary.AppendUvarint(nil, 4*bytes)
		for range 4 {
			literals = append(append(literals, 61<<2, 0xff, 0x01), random(r, bytes)...)
		}
		inputs, divides = append(inputs, packed{literals, 4 * bytes}), append(divides, true)

		for name, blocks := range property.InOrder(map[string]bool{"warps": false, "blocks": true}) {
			t.Run(name, func(t *testing.T) {
				defer forceBlocks(blocks)()
				results, status := unpackBy(t, t, dev, inputs, withoutRest)
				for i, p := range inputs {
					want := make([]byte, p.length)
					if divides[i] {
						require.Equal(t, Complete, status[i], "page %d", i)
						require.Equal(t, Complete, snappyOnHost(want, p.bytes))
						require.Equal(t, want, results[i], "page %d", i)
					}
				}
				results, status = unpack(t, t, dev, Snappy, inputs)
				for i, each := range status {
					require.Equal(t, divides[i] || i == len(inputs)-3 || i == len(inputs)-4, each == Complete, "page %d has status %d", i, each)
				}
				compareWithHost(t, Snappy, inputs, results, status)
			})
		}
	})
}

// withoutRest is [Launch] without the pages that are not divided.
func withoutRest(call *op.Call, batch Batch) error {
	d := divisionOf(batch.Size)
	lists, err := d.allocate(call, batch.Size)
	if err != nil {
		return err
	}
	return errors.Join(d.launchFragments(call, batch), lists.Release())
}

// Lists of fragments need memory, and pages are decompressed without them.
func TestPagesWithoutFragments(t *testing.T) {
	require.Zero(t, Scratch(Snappy, Size{}))
	require.Zero(t, Scratch(Snappy, Size{Pages: 1, Compressed: 1000, Length: 1000}))
	require.GreaterOrEqual(t, Scratch(Snappy, Size{Pages: 4, Compressed: 4 << 20, Length: 16 << 20}), uint64(4<<20>>16*24+16<<20>>16*8))
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		defer forceFragments(64)()
		page := fragmented(property.Random(t), 200, 64)
		pages := []Page{{Compressed: uint32(len(page.bytes)), Length: uint32(page.length)}}
		output := make([]byte, page.length)
		bytes, err := op.Bytes(PageWords*8, uint64(len(page.bytes)), uint64(len(output)), 4)
		require.NoError(t, err)
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: bytes + 3<<10})
		status := runBy(t, t, mgr, pages, page.bytes, output, func(call *op.Call, batch Batch) error {
			d := divisionOf(batch.Size)
			_, err := d.allocate(call, batch.Size) // more than 6 KiB
			require.ErrorIs(t, err, memory.ErrBudget)
			return Launch(call, Snappy, batch)
		})
		require.Equal(t, []Status{Complete}, status)
	})
}
