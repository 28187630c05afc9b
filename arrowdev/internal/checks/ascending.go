package checks

import (
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/memory"
)

// Offsets adds a check of the offsets, 4 or 8 bytes wide, of Count slots: the Count + 1
// offsets are not negative, none is less than the one before it, and the last is at
// most limit. A negative limit means no limit; [Results.Last] then returns the required
// length.
func (b *Batch) Offsets(name string, width int, offsets Elements, limit int64) Check {
	e := entry{name: name, err: widthIn(width, 4, 8)}
	if e.err == nil {
		n := offsets.Count + 1
		if offsets.Count == 0 {
			n = 0 // an empty array may omit its one offset
		}
		e = ascendingEntry(name, width, offsets, n, limit, false)
	}
	return b.add(e)
}

// RunEnds adds a check of the ends of Count runs, 2, 4 or 8 bytes wide: each is above
// zero and above the one before it, and the last is at least atLeast. If atLeast is
// above zero, at least one run must exist.
func (b *Batch) RunEnds(name string, width int, ends Elements, atLeast int64) Check {
	e := entry{name: name, err: widthIn(width, 2, 4, 8)}
	if e.err == nil {
		e = ascendingEntry(name, width, ends, ends.Count, -1, true)
		e.conclude = func(o outcome) *ElementError {
			switch {
			case o.last >= atLeast:
				return nil
			case ends.Count == 0:
				return &ElementError{Index: -1, Reason: fmt.Sprintf("there are no runs, which have to reach %d", atLeast)}
			}
			return &ElementError{Index: int64(ends.First) + int64(ends.Count) - 1, Value: o.last,
				Reason: fmt.Sprintf("is %d, but the runs have to reach %d", o.last, atLeast)}
		}
	}
	return b.add(e)
}

func ascendingEntry(name string, width int, elements Elements, n int, limit int64, strict bool) entry {
	values, err := elements.bytes(width, n)
	e := entry{name: name, err: err, origin: elements.First}
	if n > 0 {
		most := int64(math.MaxInt64) >> (64 - 8*width)
		if limit < 0 || limit > most {
			limit = most
		}
		e.check = ascending{values, n, width, limit, strict}
	}
	return e
}

// ascending is a check that values ascend, the first from zero, up to a limit that fits
// their width.
type ascending struct {
	values   Buffer
	n, width int
	limit    int64
	strict   bool
}

func (c ascending) reads() []Buffer { return []Buffer{c.values} }

func (c ascending) table() []int64 { return nil }

func (c ascending) kernel(_, result memory.Slice[int64]) launch {
	apart := uint64(0)
	if c.strict {
		apart = 1
	}
	threads := loads(c.values.Bytes())
	if c.width == 8 {
		return launch{ascending64Module, threads, []any{c.values, uint64(c.n), apart, uint64(c.limit), result}}
	}
	return launch{ascending32Module, threads, []any{c.values, uint64(c.n), uint64(c.width), apart, uint64(c.limit), result}}
}

func (c ascending) onHost(read [][]byte) outcome {
	find := firstDisorder[int64]
	switch c.width {
	case 2:
		find = firstDisorder[int16]
	case 4:
		find = firstDisorder[int32]
	}
	return outcome{find(read[0], c.n, c.limit, c.strict), signed(read[0], 0, c.width), signed(read[0], c.n-1, c.width)}
}

func firstDisorder[T int16 | int32 | int64](values []byte, n int, limit int64, strict bool) int64 {
	before, most := T(0), T(limit)
	for i := range n {
		value := load[T](values, i)
		if value < before || value > most || strict && value == before {
			return int64(i)
		}
		before = value
	}
	return -1
}

func (c ascending) peek(bad int) []span { return []span{{max(bad-1, 0), bad + 1, c.width}} }

func (c ascending) explain(bad int, read [][]byte) (int64, string) {
	before, value := int64(0), signed(read[0], 0, c.width)
	if bad > 0 {
		before, value = value, signed(read[0], 1, c.width)
	}
	switch {
	case bad == 0 && value < 0:
		return value, fmt.Sprintf("is %d, below zero", value)
	case bad == 0 && c.strict && value == 0:
		return value, "is 0, a run without length"
	case value < before:
		return value, fmt.Sprintf("is %d, less than %d before it", value, before)
	case c.strict && value == before:
		return value, fmt.Sprintf("is %d, no more than what is before it", value)
	case value > c.limit:
		return value, fmt.Sprintf("is %d, more than the %d that there are", value, c.limit)
	}
	return value, changed(value)
}

// changed explains an element that was wrong when it was checked and is no longer.
func changed(value int64) string {
	return fmt.Sprintf("is %d now and was wrong a moment ago: somebody writes to the memory", value)
}
