package group

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/parallel"
)

// interval is a range of rows or of groups.
type interval struct{ begin, end int }

// accumulateOnHost adds all rows to the states of readers.
func (g *grouping) accumulateOnHost(ctx context.Context, readers []reader) error {
	numbers, err := g.numbers.Host()
	if err != nil {
		return err
	}
	for i := range readers {
		h, err := readers[i].onHost()
		if err != nil {
			return err
		}
		clear(h.states)
		if !g.single {
			err = h.accumulate(ctx, numbers[:g.rows], g.rows, g.capacity())
		} else if h.countsAll() {
			h.states[0] = uint64(g.rows)
		} else {
			err = h.accumulate(ctx, nil, g.rows, 1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hostReader is a reader in memory that the processor reads.
type hostReader struct {
	accumulator
	in, other, condition hostSource
	states               []uint64
}

func (r *reader) onHost() (*hostReader, error) {
	h := &hostReader{accumulator: r.accumulator}
	var err error
	if h.in, err = r.in.host(); err != nil {
		return nil, err
	}
	if h.other, err = r.other.host(); err != nil {
		return nil, err
	}
	if h.condition, err = r.condition.host(); err != nil {
		return nil, err
	}
	bytes, err := r.states.Host()
	h.states = op.Elements[uint64](bytes)
	return h, err
}

// countsAll reports whether the state is the number of all rows.
func (h *hostReader) countsAll() bool {
	return h.kind == countRows && !h.merges && h.where < 0 && h.in.Valid == nil && h.other.Valid == nil
}

// accumulate adds n rows to the states of groups. Without numbers all are of one group. Each
// goroutine has part of the rows and its own states, or all rows and part of the groups if the states
// are large.
func (h *hostReader) accumulate(ctx context.Context, numbers []uint32, n, groups int) error {
	count := parallel.Parts(n)
	if count == 1 || len(h.states)*count > n {
		return parallel.Run(ctx, groups, count, func(_, begin, end int) {
			h.add(h.states, numbers, interval{0, n}, interval{begin, end})
		})
	}
	own := make([][]uint64, count)
	err := parallel.Run(ctx, n, count, func(i, begin, end int) {
		own[i] = h.states
		if i > 0 {
			own[i] = make([]uint64, len(h.states))
		}
		h.add(own[i], numbers, interval{begin, end}, interval{0, groups})
	})
	words := h.words()
	for _, states := range own[1:] {
		for at := 0; at < len(states); at += words {
			mergeStates(h.kind, h.states[at:at+words], states[at:at+words])
		}
	}
	return err
}

// block is some rows and their values.
type block struct {
	// taken are the rows that are not skipped, numbers the groups of all of them.
	taken   []uint16
	numbers []uint32
	// x and y are the values.
	x, y  []uint64
	space struct {
		taken [blockRows]uint16
		x, y  [blockRows]uint64
		// high and low are products and the rest of each that its float lacks.
		high, low [blockRows]uint64
	}
}

// add adds rows to the states of some groups.
func (h *hostReader) add(states []uint64, numbers []uint32, rows, groups interval) {
	var b block
	for begin := rows.begin; begin < rows.end; begin += blockRows {
		end := min(begin+blockRows, rows.end)
		if numbers == nil {
			h.addToOne(states, &b, interval{begin, end})
			continue
		}
		b.numbers = numbers[begin:end]
		h.take(&b, begin, groups)
		h.load(&b, begin)
		h.addBlock(states, &b, begin)
	}
}

// take finds the rows of a block that belong to the groups and are not skipped.
func (h *hostReader) take(b *block, begin int, groups interval) {
	n, first, count := 0, uint32(groups.begin), uint32(groups.end-groups.begin)
	for at := 0; at < len(b.numbers); at += 64 {
		word := h.takenWord(begin + at)
		for i, number := range b.numbers[at:min(at+64, len(b.numbers))] {
			b.space.taken[n] = uint16(at + i)
			if number-first < count {
				n += int(word >> i & 1)
			}
		}
	}
	b.taken = b.space.taken[:n]
}

// takenWord returns a word with a bit for each of the 64 rows from a row on that are not
// skipped. Bits behind the last row are undefined.
func (h *hostReader) takenWord(row int) uint64 {
	word := ^uint64(0)
	if h.where >= 0 {
		word = h.condition.trueWord(row)
	}
	if h.in.Valid != nil {
		word &= wordOf(h.in.Valid, h.in.Bit+row)
	}
	if h.other.Valid != nil {
		word &= wordOf(h.other.Valid, h.other.Bit+row)
	}
	return word
}

// trueWord returns the bits of 64 booleans that are true and not null.
func (s *hostSource) trueWord(row int) uint64 {
	word := wordOf(s.Values, s.Bit+row)
	if s.Valid != nil {
		word &= wordOf(s.Valid, s.Bit+row)
	}
	return word
}

// wordOf returns 64 bits from a bit on, which are zero behind the end.
func wordOf(bits []byte, at int) uint64 {
	rest := bits[at/8:]
	if len(rest) < 9 {
		rest = append(make([]byte, 0, 9), rest...)[:9]
	}
	return binary.LittleEndian.Uint64(rest)>>(at%8) | uint64(rest[8])<<(64-at%8)
}

// load loads the values of a block.
func (h *hostReader) load(b *block, begin int) {
	b.x, b.y = b.space.x[:len(b.numbers)], b.space.y[:len(b.numbers)]
	if h.merges || h.value < 0 {
		return
	}
	switch h.kind {
	case sumFloats:
		b.x = h.in.floatImages(b.x, begin)
		if h.term == crossed {
			b.y = h.other.floatImages(b.y, begin)
		}
	case sumIntegers, products, bitsOr, bitsXor:
		h.in.integers(b.x, begin)
	case greatest:
		if h.in.form.isFloat() {
			h.in.floats(b.x, begin)
		} else {
			h.in.integers(b.x, begin)
		}
	}
}

// addBlock adds the rows of a block.
func (h *hostReader) addBlock(states []uint64, b *block, begin int) {
	words := h.words()
	state := func(i uint16) []uint64 {
		at := int(b.numbers[i]) * words
		return states[at : at+words : at+words]
	}
	switch {
	case h.merges || h.kind == firstGreatest || h.value < 0 && h.kind == greatest:
		for _, i := range b.taken {
			h.addRow(state(i), begin+int(i))
		}
	case h.kind == countRows:
		for _, i := range b.taken {
			states[b.numbers[i]]++
		}
	case h.kind == sumIntegers:
		isSigned := h.in.form.isSigned()
		for _, i := range b.taken {
			addInteger(state(i), b.x[i], isSigned)
		}
	case h.kind == sumDecimals:
		values := op.Elements[[2]uint64](h.in.Values)[begin:]
		for _, i := range b.taken {
			addDecimal((*[3]uint64)(state(i)), &values[i])
		}
	case h.kind == products:
		for _, i := range b.taken {
			to := &states[b.numbers[i]]
			*to = (*to^1)*b.x[i] ^ 1
		}
	case h.kind == bitsOr:
		for _, i := range b.taken {
			states[b.numbers[i]] |= b.x[i]
		}
	case h.kind == bitsXor:
		for _, i := range b.taken {
			states[b.numbers[i]] ^= b.x[i]
		}
	case h.kind == greatest:
		for _, i := range b.taken {
			to := &states[b.numbers[i]]
			if h.in.form.isFloat() {
				*to = max(*to, floatImage(math.Float64frombits(b.x[i]), h.least))
			} else {
				*to = max(*to, integerImage(b.x[i], h.in.form.isSigned(), h.least))
			}
		}
	case h.term == linear:
		for _, i := range b.taken {
			addFloat(state(i), math.Float64frombits(b.x[i]))
		}
	default:
		for _, i := range b.taken {
			addTerm(state(i), h.term, math.Float64frombits(b.x[i]), math.Float64frombits(b.y[i]))
		}
	}
}

// addRow adds a row of the kinds that are not added by blocks.
func (h *hostReader) addRow(state []uint64, row int) {
	switch {
	case h.merges:
		mergeStates(h.kind, state, h.in.state(row))
	case h.kind == greatest:
		state[0] = max(state[0], h.image(row, false))
	default:
		foundFirst(state, h.image(row, true), ^rowImage(uint64(row)))
	}
}

// image returns the image of a row's value, or of its number.
func (h *hostReader) image(row int, zeros bool) uint64 {
	if h.value >= 0 {
		return h.in.image(row, h.least, zeros)
	}
	image := rowImage(uint64(row))
	if h.least {
		return ^image
	}
	return image
}
