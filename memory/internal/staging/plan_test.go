package staging

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
)

func TestPlanSplits(t *testing.T) {
	const large, wide, base = smallestDirect, smallestBlank, 1 << 20
	pinned, ordinary := make([]byte, large), make([]byte, large)
	isPinned := func(data []byte) bool { return &data[0] == &pinned[0] }
	at := func(offset uint64, data []byte) Piece {
		return Piece{Offset: offset, Bytes: uint64(len(data)), Data: data}
	}
	type extent [2]uint64
	for name, c := range map[string]struct {
		bytes                 uint64
		pieces                []Piece
		staged, direct, blank []extent
	}{
		"nothing":              {},
		"only padding":         {bytes: 10, blank: []extent{{0, 10}}},
		"narrow gaps travel":   {bytes: 100, pieces: []Piece{at(10, ordinary[:20]), at(40, ordinary[:20])}, staged: []extent{{0, 100}}},
		"wide gaps do not":     {bytes: 3*wide + 30, pieces: []Piece{at(wide, ordinary[:10]), at(2*wide+10, ordinary[:20])}, staged: []extent{{wide, wide + 10}, {2*wide + 10, 2*wide + 30}}, blank: []extent{{0, wide}, {wide + 10, 2*wide + 10}, {2*wide + 30, 3*wide + 30}}},
		"pinned":               {bytes: large, pieces: []Piece{at(0, pinned)}, direct: []extent{{0, large}}},
		"pinned, but small":    {bytes: 100, pieces: []Piece{at(0, pinned[:100])}, staged: []extent{{0, 100}}},
		"pinned in the middle": {bytes: large + 30, pieces: []Piece{at(0, ordinary[:10]), at(15, pinned), at(large+20, ordinary[:10])}, staged: []extent{{0, 15}, {large + 15, large + 30}}, direct: []extent{{15, large + 15}}},
		"pinned and padding":   {bytes: large + 20, pieces: []Piece{at(10, pinned)}, direct: []extent{{10, large + 10}}, blank: []extent{{0, 10}, {large + 10, large + 20}}},
	} {
		t.Run(name, func(t *testing.T) {
			p := makePlan([]Span{{Base: base, Bytes: c.bytes, Pieces: c.pieces}}, isPinned)
			var staged, direct, blank []extent
			for _, r := range p.staged.sections {
				staged = append(staged, extent{r.from, r.to})
			}
			for _, d := range p.direct {
				from := uint64(d.at) - base
				direct = append(direct, extent{from, from + d.bytes()})
			}
			for _, b := range p.blank {
				from := uint64(b.at) - base
				blank = append(blank, extent{from, from + b.bytes})
			}
			assert.Equal(t, c.staged, staged, "staged")
			assert.Equal(t, c.direct, direct, "direct")
			assert.Equal(t, c.blank, blank, "blank")
			assert.Zero(t, p.inPlace.bytes)
		})
	}
}

// FuzzPlan executes plans of arbitrary spans in ordinary memory. It checks that an
// upload writes every byte of every span once with the expected value, and that a
// download fills the pieces.
func FuzzPlan(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, uint8(3), uint8(2))
	f.Add([]byte{0xff, 0x80, 0x40, 0x20, 0x10, 8, 4, 2, 1, 0, 0xff, 0xfe, 0xfd, 0xc3, 0x77}, uint8(0), uint8(1))
	f.Add(bytes.Repeat([]byte{0x31, 0x9c, 0xe5}, 20), uint8(200), uint8(7))
	f.Fuzz(func(t *testing.T, shape []byte, chunk, workers uint8) {
		c := newPlanCase(shape)
		chunkBytes := 1000 * (1 + uint64(chunk))
		size := 1 + int(workers)%12
		pinned := func(data []byte) bool { return len(data)%2 == 0 }
		c.upload(t, makePlan(c.spans, pinned), chunkBytes, size)
		c.download(t, makePlan(c.spans, pinned), chunkBytes, size)
	})
}

// planCase is a list of spans in a device's memory, with gaps between them.
type planCase struct {
	spans []Span
	// want is the expected device memory after an upload. of marks the bytes that the
	// spans cover.
	want []byte
	of   []bool
}

const (
	planBase   = 4096 // the address at which the device's memory begins
	planFiller = 0xee // fills the gaps between spans
)

// newPlanCase returns spans derived from a shape. Lengths grow fast with the byte's
// value, so that they cross all thresholds.
func newPlanCase(shape []byte) *planCase {
	c := new(planCase)
	next := func() byte {
		if len(shape) == 0 {
			return 0
		}
		value := shape[0]
		shape = shape[1:]
		return value
	}
	length := func() int {
		value := int(next())
		return value * (1 + (value&7)*(value&7)*(value&7)*4)
	}
	for total := 0; len(shape) > 0 && total < 1<<20; total = len(c.want) {
		c.put(bytes.Repeat([]byte{planFiller}, length()), false)
		head := next()
		s := Span{Base: device.Pointer(planBase + len(c.want)), InPlace: head&8 != 0, Pad: head}
		begin := len(c.want)
		for range head & 3 {
			c.put(bytes.Repeat([]byte{s.Pad}, length()), true)
			data := make([]byte, length())
			for i := range data {
				data[i] = byte(i*31) + head
			}
			p := Piece{Offset: uint64(len(c.want) - begin), Bytes: uint64(len(data)), Data: data}
			if len(data) == 0 {
				continue
			}
			c.put(data, true)
			s.Pieces = append(s.Pieces, p)
		}
		c.put(bytes.Repeat([]byte{s.Pad}, length()), true)
		s.Bytes = uint64(len(c.want) - begin)
		c.spans = append(c.spans, s)
	}
	return c
}

func (c *planCase) put(data []byte, covered bool) {
	c.want = append(c.want, data...)
	c.of = append(c.of, slices.Repeat([]bool{covered}, len(data))...)
}

// memory is a device's memory that detects bytes written twice.
type memory struct {
	t       *testing.T
	bytes   []byte
	written []bool
}

func (m *memory) write(at device.Pointer, data []byte) {
	for i, value := range data {
		offset := int(at) - planBase + i
		if m.written[offset] {
			m.t.Fatalf("byte %d is written twice", offset)
		}
		m.bytes[offset], m.written[offset] = value, true
	}
}

func (c *planCase) upload(t *testing.T, p *plan, chunkBytes uint64, size int) {
	m := &memory{t: t, bytes: bytes.Repeat([]byte{planFiller}, len(c.want)), written: make([]bool, len(c.want))}
	for _, b := range p.blank {
		m.write(b.at, bytes.Repeat([]byte{b.value}, int(b.bytes)))
	}
	for _, d := range p.direct {
		m.write(d.at, d.data)
	}
	for _, s := range []*sequence{&p.inPlace, &p.staged} {
		workers := (&crew{size: size}).enough(s.bytes)
		lots := cut(s.bytes, uploadLot(s.bytes, chunkBytes))
		portions := divide(lots, s.bytes, portionBytes(s.bytes, workers))
		next := 0
		for i := range lots {
			l := &lots[i]
			require.LessOrEqual(t, l.bytes, chunkBytes)
			chunk := bytes.Repeat([]byte{planFiller}, int(l.bytes))
			for ; next < int(l.end); next++ {
				portion := portions[next]
				require.Same(t, l, portion.lot)
				s.gather(chunk[portion.offset:portion.offset+portion.bytes], l.position+portion.offset, through)
				l.left.Add(-1)
			}
			require.Zero(t, l.left.Load())
			for each := range s.within(l.position, l.bytes) {
				m.write(each.base.Add(each.offset), chunk[each.at:each.at+each.bytes])
			}
		}
		require.Len(t, portions, next)
	}
	require.True(t, slices.Equal(c.of, m.written), "every byte of a span is written, and nothing else")
	require.True(t, bytes.Equal(c.want, m.bytes))
}

func (c *planCase) download(t *testing.T, p *plan, chunkBytes uint64, size int) {
	var pieces [][]byte
	for _, s := range c.spans {
		for _, piece := range s.Pieces {
			pieces = append(pieces, bytes.Clone(piece.Data))
			clear(piece.Data)
		}
	}
	read := func(at device.Pointer, bytes uint64) []byte {
		from := uint64(at) - planBase
		return c.want[from : from+bytes]
	}
	for _, d := range p.direct {
		copy(d.data, read(d.at, d.bytes()))
	}
	for _, s := range []*sequence{&p.inPlace, &p.staged} {
		step := downloadLot(s.bytes, chunkBytes, size)
		for i := range count(s.bytes, step) {
			position := uint64(i) * step
			chunk := make([]byte, min(step, s.bytes-position))
			for each := range s.within(position, uint64(len(chunk))) {
				copy(chunk[each.at:], read(each.base.Add(each.offset), each.bytes))
			}
			s.scatter(chunk, position)
		}
	}
	i := 0
	for _, s := range c.spans {
		for _, piece := range s.Pieces {
			require.True(t, bytes.Equal(pieces[i], piece.Data), "piece %d", i)
			i++
		}
	}
}
