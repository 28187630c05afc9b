package column

import (
	"encoding/binary"
	"fmt"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"math"
	"sync/atomic"
)

// References to other positions are checked during the transfer: the part of the
// buffer that was just copied is in the processor's cache, and several goroutines
// copy at the same time. A separate pass before the transfer would read all buffers
// twice.

// contentCheck checks the elements of a buffer from number from up to number to.
type contentCheck func(from, to int) error

// watched is a buffer that is checked.
type watched struct {
	check contentCheck
	count int
	where *step
	// column and chunk are the numbers of the buffer's column and chunk. A negative
	// number is not shown.
	column, chunk int
}

// verdict is the first error of a check.
type verdict struct{ err atomic.Pointer[error] }

func (v *verdict) failed() bool { return v.err.Load() != nil }

func (w *watched) look(from, to int) error {
	err := w.check(from, min(to, w.count))
	if err == nil {
		return nil
	}
	if w.chunk >= 0 {
		err = fmt.Errorf("chunk %d: %w", w.chunk, err)
	}
	return w.where.wrap(err)
}

// step leads from a column to a child or to its dictionary.
type step struct {
	above *step
	child int // dictionaryNumber for a dictionary
	name  string
}

func (c *step) wrap(err error) error {
	for ; c != nil; c = c.above {
		if c.child == dictionaryNumber {
			err = fmt.Errorf("dictionary: %w", err)
		} else {
			err = inChild(c.child, c.name, err)
		}
	}
	return err
}

// elements plans a buffer of elements, unchanged or rewritten, that is checked during
// the transfer. If check is nil or the planner is unchecked, it plans no check.
func (p *planner) elements(source []byte, width int, rewritten rewriting, chunks []chunk, chunk int, check contentCheck) {
	if len(source) == 0 {
		return
	}
	if p.unchecked || check == nil {
		if rewritten == nil {
			p.data(source)
		} else {
			p.fill(len(source), rewrite(source, width, rewritten))
		}
		return
	}
	if len(chunks) == 1 {
		chunk = -1
	}
	w := &watched{check: check, count: len(source) / width, where: p.where, column: p.column, chunk: chunk}
	p.watched = append(p.watched, w)
	move := func(destination []byte, offset uint64) { copy(destination, source[offset:]) }
	if rewritten != nil {
		move = rewrite(source, width, rewritten)
	}
	if p.verdict == nil {
		p.verdict = new(verdict)
	}
	verdict, name := p.verdict, p.name
	p.fill(len(source), func(destination []byte, offset uint64) {
		move(destination, offset)
		if verdict.failed() {
			return
		}
		from, to := int(offset)/width, (int(offset)+len(destination)+width-1)/width
		if err := w.look(from, to); err != nil {
			err = inColumn(w.column, name, err)
			verdict.err.CompareAndSwap(nil, &err)
		}
	})
}

// contents returns the result of the checks after the transfer.
func (p *planner) contents() error {
	if p.verdict == nil || !p.verdict.failed() {
		return nil
	}
	return *p.verdict.err.Load()
}

// examineContents makes all checks immediately, without a transfer.
func (p *planner) examineContents() error {
	for _, w := range p.watched {
		if err := w.look(0, w.count); err != nil {
			return err
		}
	}
	return nil
}

// inColumn adds the column to an error.
func inColumn(i int, name func(i int) string, err error) error {
	if name != nil {
		return fmt.Errorf("column %d %q: %w", i, name(i), err)
	}
	return fmt.Errorf("column %d: %w", i, err)
}

// ascendingOffsets checks that offsets do not decrease. For the last element of a
// range it also compares the next offset.
func ascendingOffsets(offsets []byte, width int) contentCheck {
	count := len(offsets) / width
	return func(from, to int) error {
		from = max(from-1, 0)
		if bad := firstDescent(offsets[from*width:min(to+1, count)*width], width); bad >= 0 {
			bad += from
			return fmt.Errorf("buffer 1 (offsets): number %d is %d, less than the %d before it: %w",
				bad, signedAt(offsets[bad*width:], width), signedAt(offsets[(bad-1)*width:], width), ErrInvalid)
		}
		return nil
	}
}

// firstDescent returns the number of the first integer, of 4 or 8 bytes, that is less
// than its predecessor, or -1.
func firstDescent(values []byte, width int) int {
	if width == 4 {
		if aligned, ok := typed[int32](values); ok && !descends(aligned) {
			return -1
		}
		_, decreases := lastOf32(values)
		return decreases
	}
	if aligned, ok := typed[int64](values); ok && !descends(aligned) {
		return -1
	}
	_, decreases := lastOf64(values)
	return decreases
}

// checkedIndices checks that the indices of valid elements lie in the dictionary.
func (c *chunk) checkedIndices(l layout.Layout, indices []byte) contentCheck {
	values := c.data.Dictionary().Len()
	valid, err := c.validity(l)
	return func(from, to int) error {
		if err != nil {
			return err
		}
		return checkIndices(indices[from*l.Width:to*l.Width], l, values, valid, c.offset+from, from)
	}
}

// checkedViews checks that the views of valid elements lie in the data buffers.
func (c *chunk) checkedViews(l layout.Layout, views []byte) contentCheck {
	lengths := make([]int, max(len(c.data.Buffers())-2, 0))
	for i := range lengths {
		lengths[i] = len(c.buffer(l, i+2))
	}
	valid, err := c.validity(l)
	return func(from, to int) error {
		if err != nil {
			return err
		}
		return checkViews(views[from*viewBytes:to*viewBytes], lengths, valid, c.offset+from, from)
	}
}

// checkedListViews checks that all lists lie in the child, including null ones.
func (c *chunk) checkedListViews(l layout.Layout, offsets, sizes []byte) contentCheck {
	return func(from, to int) error {
		return checkListViews(offsets[from*l.Width:to*l.Width], sizes[from*l.Width:to*l.Width], l.Width, c.childLen(0), from)
	}
}

// checkedTypeIDs checks the type ids of a union and, for a dense one, its offsets.
func (c *chunk) checkedTypeIDs(l layout.Layout, ids, offsets []byte) contentCheck {
	lengths := make([]int, l.Children())
	for i := range lengths {
		lengths[i] = c.childLen(i)
	}
	return func(from, to int) error {
		if offsets == nil {
			return checkUnion(l, ids[from:to], nil, nil, from)
		}
		return checkUnion(l, ids[from:to], offsets[4*from:4*to], lengths, from)
	}
}

// ascendingRuns checks that run ends, which are child 0, increase.
func ascendingRuns(ends []byte, width int, name string) contentCheck {
	return func(from, to int) error {
		before := int64(math.MinInt64)
		if from > 0 {
			before = signedAt(ends[(from-1)*width:], width)
		}
		for i := from; i < to; i++ {
			end := signedAt(ends[i*width:], width)
			if end <= before {
				return inChild(0, name, fmt.Errorf("number %d is %d, after %d: %w", i, end, before, ErrInvalid))
			}
			before = end
		}
		return nil
	}
}

// lastOf32 returns the last offset, or the number of the first offset that is less
// than its predecessor.
func lastOf32(offsets []byte) (last int64, decreases int) {
	at := int32(math.MinInt32)
	for rest := offsets; len(rest) >= 4; rest = rest[4:] {
		next := int32(binary.NativeEndian.Uint32(rest))
		if next < at {
			return 0, (len(offsets) - len(rest)) / 4
		}
		at = next
	}
	return int64(at), -1
}

// lastOf64 is lastOf32 for offsets of 64 bits.
func lastOf64(offsets []byte) (last int64, decreases int) {
	at := int64(math.MinInt64)
	for rest := offsets; len(rest) >= 8; rest = rest[8:] {
		next := int64(binary.NativeEndian.Uint64(rest))
		if next < at {
			return 0, (len(offsets) - len(rest)) / 8
		}
		at = next
	}
	return at, -1
}
