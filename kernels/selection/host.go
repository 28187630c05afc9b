package selection

import (
	"context"
	"encoding/binary"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/bitutil"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/driver/hostword"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/parallel"
	"github.com/gpuframe/gpuframe/memory"
)

// The functions of this file do on the host what the kernels do on a GPU, with the same
// results, in plain loops.

// noRow means that no row was recorded, where the smallest bad row is recorded.
const noRow = ^uint64(0)

// rows is a source that the host reads.
type rows struct {
	order       order
	indices     []byte
	valid       []byte
	validAt     int
	n, limit    uint64
	first, step uint64
	bad         *hostword.Word
}

// onHost reads the counts of a source. Their memory has to be ready.
func (s *source) onHost() (*rows, error) {
	r := &rows{order: s.order, validAt: int(s.valid.at)}
	var err error
	if r.indices, err = s.indices.Host(); err != nil {
		return nil, err
	}
	if r.valid, err = s.valid.bytes.Host(); err != nil {
		return nil, err
	}
	r.bad = s.bad
	if r.n, err = countOnHost(s.rows, uint64(s.capacity)); err != nil {
		return nil, err
	}
	if r.limit, err = countOnHost(s.limitRows, s.limit); err != nil {
		return nil, err
	}
	r.first, r.step = r.limit-1, noRow
	if s.last != 0 {
		r.first, r.step = r.limit-min(s.last, r.limit), 1
	}
	return r, nil
}

// countOnHost returns a row count, clamped to [0, most].
func countOnHost(count memory.Slice[int64], most uint64) (uint64, error) {
	values, err := count.Host()
	if err != nil || len(values) == 0 {
		return most, err
	}
	return min(uint64(max(values[0], 0)), most), nil
}

// row returns the index of row i, and whether row i has an index in bounds.
func (r *rows) row(i uint64) (index uint64, ok bool) {
	if i >= r.n {
		return 0, false
	}
	switch r.order {
	case ruled:
		index = r.first + i*r.step
		return index, index < r.limit
	case listed32:
		index = uint64(binary.NativeEndian.Uint32(r.indices[4*i:]))
	default:
		index = binary.NativeEndian.Uint64(r.indices[8*i:])
	}
	if r.valid != nil && !bitutil.BitIsSet(r.valid, r.validAt+int(i)) {
		return 0, false
	}
	if index < r.limit {
		return index, true
	}
	if r.bad != nil {
		r.bad.Lower(i)
	}
	return 0, false
}

// plain reports whether all rows of a capacity have indices that are not null.
func (r *rows) plain(capacity int) bool {
	return r.order != ruled && r.valid == nil && r.n >= uint64(capacity)
}

// takePlain takes values by indices in bounds that are not null. It returns false if an index is out of bounds, or
// the width is none of the most frequent ones.
func takePlain(r *rows, to, from []byte, width, capacity int) bool {
	var take func(begin, end int) bool
	switch width {
	case 4:
		take = takeElements[uint32](r, to, from)
	case 8:
		take = takeElements[uint64](r, to, from)
	case 16:
		take = takeElements[[2]uint64](r, to, from)
	default:
		return false
	}
	var failed atomic.Bool
	_ = parallel.Run(context.Background(), capacity, parallel.Parts(capacity), func(_, begin, end int) {
		if !take(begin, end) {
			failed.Store(true)
		}
	})
	return !failed.Load()
}

func takeElements[T any](r *rows, to, from []byte) func(begin, end int) bool {
	results, values := op.Elements[T](to), op.Elements[T](from)
	if r.order == listed32 {
		return takeListed(results, values, op.Elements[uint32](r.indices), r.limit)
	}
	return takeListed(results, values, op.Elements[uint64](r.indices), r.limit)
}

func takeListed[T any, I uint32 | uint64](results, values []T, indices []I, limit uint64) func(begin, end int) bool {
	values = values[:min(uint64(len(values)), limit)]
	return func(begin, end int) bool {
		for i, index := range indices[begin:end] {
			if uint64(index) >= uint64(len(values)) {
				return false
			}
			results[begin+i] = values[index]
		}
		return true
	}
}

// hostBits is a bitmap that the host reads.
type hostBits struct {
	bytes []byte
	at    int
}

func (b bits) onHost() (hostBits, error) {
	bytes, err := b.bytes.Host()
	return hostBits{bytes, int(b.at)}, err
}

func (b hostBits) set(i uint64) bool { return b.bytes == nil || bitutil.BitIsSet(b.bytes, b.at+int(i)) }

// word returns the bits of 64 rows from a row on. Those of rows from an end on are 0.
func (b hostBits) word(row, end int) uint64 {
	within := ^uint64(0)
	if rest := end - row; rest < 64 {
		within = 1<<max(rest, 0) - 1
	}
	if b.bytes == nil {
		return within
	}
	at := b.at + row
	rest := b.bytes[at/8:]
	if len(rest) < 9 {
		rest = append(make([]byte, 0, 9), rest...)[:9]
	}
	return (binary.LittleEndian.Uint64(rest)>>(at%8) | uint64(rest[8])<<(64-at%8)) & within
}

// hostBytes returns the host memory of several buffers.
func hostBytes(buffers ...column.Bytes) ([][]byte, error) {
	bytes := make([][]byte, len(buffers))
	for i, b := range buffers {
		var err error
		if bytes[i], err = b.Host(); err != nil {
			return nil, err
		}
	}
	return bytes, nil
}

func setBit(bitmap []byte, i uint64, value bool) {
	if bitmap != nil {
		bitutil.SetBitTo(bitmap, int(i), value)
	}
}

func (s *source) takeFixedOnHost(out, outValid, values column.Bytes, valid bits, width int, filling uint64) error {
	r, err := s.onHost()
	if err != nil {
		return err
	}
	bytes, err := hostBytes(out, outValid, values)
	if err != nil {
		return err
	}
	isValid, err := valid.onHost()
	if err != nil {
		return err
	}
	if r.plain(s.capacity) && isValid.bytes == nil && takePlain(r, bytes[0], bytes[2], width, s.capacity) {
		if bytes[1] != nil {
			bitutil.SetBitsTo(bytes[1], 0, int64(s.capacity), true)
		}
		return nil
	}
	var filled [8]byte
	binary.LittleEndian.PutUint64(filled[:], filling)
	for i := range uint64(s.capacity) {
		index, ok := r.row(i)
		ok = ok && isValid.set(index)
		setBit(bytes[1], i, ok)
		to := bytes[0][i*uint64(width):][:width]
		if ok {
			copy(to, bytes[2][index*uint64(width):][:width])
		} else {
			clear(to[copy(to, filled[:]):])
		}
	}
	return nil
}

func (s *source) takeBitsOnHost(out, outValid column.Bytes, values, valid bits) error {
	r, err := s.onHost()
	if err != nil {
		return err
	}
	bytes, err := hostBytes(out, outValid)
	if err != nil {
		return err
	}
	isSet, err := values.onHost()
	if err != nil {
		return err
	}
	isValid, err := valid.onHost()
	if err != nil {
		return err
	}
	for i := range uint64(s.capacity) {
		index, ok := r.row(i)
		ok = ok && isValid.set(index)
		setBit(bytes[1], i, ok)
		setBit(bytes[0], i, ok && bytes[0] != nil && isSet.set(index))
	}
	return nil
}

func widenOnHost(out, narrow column.Bytes, t arrow.Type) error {
	bytes, err := hostBytes(out, narrow)
	if err != nil {
		return err
	}
	to, from := bytes[0], bytes[1]
	for i := range len(to) / 4 {
		var wide uint32
		switch t {
		case arrow.INT8:
			wide = uint32(int32(int8(from[i])))
		case arrow.UINT8:
			wide = uint32(from[i])
		case arrow.INT16:
			wide = uint32(int32(int16(binary.NativeEndian.Uint16(from[2*i:]))))
		default:
			wide = uint32(binary.NativeEndian.Uint16(from[2*i:]))
		}
		binary.NativeEndian.PutUint32(to[4*i:], wide)
	}
	return nil
}
