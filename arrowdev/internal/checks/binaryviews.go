package checks

import (
	"fmt"

	"github.com/gpuframe/gpuframe/memory"
)

const (
	viewBytes = 16
	// inline is the maximum number of bytes that a view itself holds.
	inline = 12
)

// BinaryViews adds a check of views of 16 bytes: the length is not negative, and values
// longer than 12 bytes are within one of the buffers with the given lengths in bytes.
// Null slots are skipped.
func (b *Batch) BinaryViews(name string, views Elements, validity Validity, bufferLengths []int64) Check {
	c := binaryViews{n: views.Count, lengths: bufferLengths}
	e := entry{name: name, origin: views.First}
	if c.views, e.err = views.bytes(viewBytes, c.n); e.err == nil {
		c.bits, c.offset, e.err = validity.bytes(c.n)
	}
	if c.n > 0 {
		e.check = c
	}
	return b.add(e)
}

type binaryViews struct {
	views, bits Buffer
	n, offset   int
	lengths     []int64
}

// view is a view that is not inline, or has a negative length.
type view struct{ length, buffer, offset int32 }

func viewAt(views []byte, i int) view {
	return view{load[int32](views, 4*i), load[int32](views, 4*i+2), load[int32](views, 4*i+3)}
}

// wrong reports whether a view is wrong, and returns the invalid number.
func (c binaryViews) wrong(v view) (value int32, wrong bool) {
	switch {
	case v.length < 0:
		return v.length, true
	case v.length <= inline:
		return 0, false
	case v.buffer < 0 || int(v.buffer) >= len(c.lengths):
		return v.buffer, true
	case v.offset < 0 || int64(v.offset)+int64(v.length) > c.lengths[v.buffer]:
		return v.offset, true
	}
	return 0, false
}

func (c binaryViews) reads() []Buffer { return []Buffer{c.views, c.bits} }

func (c binaryViews) table() []int64 { return c.lengths }

func (c binaryViews) kernel(table, result memory.Slice[int64]) launch {
	return launch{binaryViewsModule, c.n, []any{
		c.views, uint64(c.n), c.bits, uint64(c.offset), table, uint64(len(c.lengths)), result,
	}}
}

func (c binaryViews) onHost(read [][]byte) outcome {
	for i := range c.n {
		if _, wrong := c.wrong(viewAt(read[0], i)); wrong && valid(read[1], c.offset+i) {
			return outcome{bad: int64(i)}
		}
	}
	return noOutcome
}

func (c binaryViews) peek(bad int) []span { return []span{{bad, bad + 1, viewBytes}} }

func (c binaryViews) explain(_ int, read [][]byte) (int64, string) {
	v := viewAt(read[0], 0)
	value, wrong := c.wrong(v)
	switch {
	case !wrong:
		return int64(v.length), fmt.Sprintf("has a length that %s", changed(int64(v.length)))
	case v.length < 0:
		return int64(value), fmt.Sprintf("has the length %d, below zero", v.length)
	case v.buffer < 0 || int(v.buffer) >= len(c.lengths):
		return int64(value), fmt.Sprintf("lies in buffer %d of %d", v.buffer, len(c.lengths))
	}
	return int64(value), fmt.Sprintf("has the offset %d and the length %d, in a buffer of %d bytes", v.offset, v.length, c.lengths[v.buffer])
}
