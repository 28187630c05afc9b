package nested

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/window"
	"github.com/gpuframe/gpuframe/memory"
)

// spans is the place of the first element of each list, or none, and the number of elements.
type spans struct {
	rows   int
	begins memory.Slice[uint32]
	counts memory.Slice[int64]
	block  *memory.Block
	// ends is the cumulative sum of the counts, made by sum. total is its last value.
	ends  *column.Column
	total int
}

// Release releases the memory.
func (s *spans) Release() error {
	if s == nil {
		return nil
	}
	return errors.Join(s.block.Release(), s.ends.Release())
}

// allocateSpans allocates the memory of spans, which the caller fills.
func allocateSpans(call *op.Call, rows int) (*spans, error) {
	block, buffers, err := call.Scratch(4*uint64(rows), 8*uint64(rows))
	if err != nil {
		return nil, err
	}
	s := &spans{rows: rows, block: block}
	var beginsErr, countsErr error
	s.begins, beginsErr = memory.Reinterpret[uint32](buffers[0])
	s.counts, countsErr = memory.Reinterpret[int64](buffers[1])
	return release.OnError(s, beginsErr, countsErr)
}

// newSpans finds the elements of lists. A part begins at element from, which counts from the
// end if it is negative, and has at most most elements. The caller releases the spans.
func newSpans(call *op.Call, l *lists, f form, from, most int64) (*spans, error) {
	rows := l.column.Len()
	s, err := allocateSpans(call, rows)
	if err != nil {
		return nil, err
	}
	if rows > 0 {
		if call.OnHost() {
			err = l.spansOnHost(s, f, from, most)
		} else {
			argument := listsLayout{
				offsets: l.offsets, sizes: l.sizes, valid: l.valid, bit: uint64(l.bit), counted: l.counted, rows: int64(l.rows), capacity: uint64(rows),
				extent: uint64(l.elements.Len()), first: uint64(l.first), size: uint64(l.size), width: uint32(l.width), form: uint32(f), from: from, most: most,
			}
			err = launch(call, "list_spans", rows, s.begins, s.counts, argument.asArgument())
		}
	}
	return release.OnError(s, err)
}

func (l *lists) spansOnHost(s *spans, f form, from, most int64) error {
	begins, beginsErr := s.begins.Host()
	counts, countsErr := s.counts.Host()
	offsets, offsetsErr := l.offsets.Host()
	sizes, sizesErr := l.sizes.Host()
	valid, validErr := l.valid.Host()
	if err := errors.Join(beginsErr, countsErr, offsetsErr, sizesErr, validErr); err != nil {
		return err
	}
	rows, err := l.hostRows()
	if err != nil {
		return err
	}
	for i := range s.rows {
		begin, count := int64(0), int64(0)
		isValid := i < rows && (len(valid) == 0 || valid[(l.bit+i)/8]>>((l.bit+i)%8)&1 != 0)
		switch {
		case !isValid:
		case l.width == 0:
			begin, count = int64(l.first+i)*int64(l.size), int64(l.size)
		case len(sizes) > 0:
			begin, count = word(offsets, l.width, i), word(sizes, l.width, i)
		default:
			begin = word(offsets, l.width, i)
			count = word(offsets, l.width, i+1) - begin
		}
		if extent := int64(l.elements.Len()); begin < 0 || count < 0 || begin > extent || count > extent-begin {
			begin, count = 0, 0
		}
		exists := isValid
		switch f {
		case everyOrNone:
			if exists = count > 0; !exists && i < rows {
				count = 1
			}
		case part:
			start, end := bounds(count, from, most)
			begin, count = begin+start, end-start
		case single:
			at := from
			if at < 0 {
				at += count
			}
			exists = at >= 0 && at < count
			begin, count = begin+at, 0
			if exists {
				count = 1
			}
		}
		if counts[i] = count; exists {
			begins[i] = uint32(begin)
		} else {
			begins[i] = none
		}
	}
	return nil
}

// bounds returns the part of a list of n elements that begins at element from, counted from
// the end if it is negative, and has at most most elements.
func bounds(n, from, most int64) (start, end int64) {
	low := from
	if from < 0 {
		low += n
	}
	high := low + most
	if low > 0 && most > math.MaxInt64-low {
		high = n
	}
	start = min(max(low, 0), n)
	return start, min(max(high, start), n)
}

// word returns a number of 4 or 8 bytes.
func word(words []byte, width, i int) int64 {
	if width == 4 {
		return int64(int32(binary.NativeEndian.Uint32(words[4*i:])))
	}
	return int64(binary.NativeEndian.Uint64(words[8*i:]))
}

// hostRows returns the number of rows on the host.
func (l *lists) hostRows() (int, error) {
	counted, err := l.counted.Host()
	if err != nil || len(counted) == 0 {
		return l.rows, err
	}
	return int(min(max(counted[0], 0), int64(l.rows))), nil
}

// sum adds up the counts. It waits for the total.
func (s *spans) sum(call *op.Call) error {
	if s.rows == 0 {
		return nil
	}
	counts, err := column.New(column.Data{Type: arrow.PrimitiveTypes.Int64, Length: s.rows, Buffers: []column.Bytes{{}, s.counts.AsBytes()}})
	if err != nil {
		return err
	}
	s.ends, err = window.CumulativeSum(call.Context(), counts, window.Options{Options: scratch(call)})
	if err = errors.Join(err, counts.Release()); err != nil {
		return err
	}
	ends, err := column.Elements[int64](s.ends)
	if err != nil {
		return err
	}
	var total [1]int64
	if err := ends.DownloadRange(call.Context(), call.Stream, s.rows-1, total[:]); err != nil {
		return err
	}
	if total[0] < 0 || total[0] > math.MaxInt {
		return memory.ErrOverflow
	}
	s.total = int(total[0])
	return nil
}

// scratch are options for operators that make intermediate results of a call.
func scratch(call *op.Call) kernels.Options {
	return kernels.Options{Stream: call.Stream, Manager: call.Manager, Tag: op.ScratchTag}
}

// resultOptions are options for operators that make results of a call.
func resultOptions(call *op.Call) kernels.Options {
	return kernels.Options{Stream: call.Stream, Manager: call.Manager, Tag: call.Tag}
}
