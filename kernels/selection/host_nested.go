package selection

import (
	"context"
	"encoding/binary"
	"fmt"
	"sort"

	"github.com/apache/arrow/go/v17/arrow/bitutil"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/parallel"
)

// wordAt reads integer number i of an array of integers of 2, 4 or 8 bytes.
func wordAt(bytes []byte, width int, i uint64) int64 {
	switch width {
	case 2:
		return int64(int16(binary.NativeEndian.Uint16(bytes[2*i:])))
	case 4:
		return int64(int32(binary.NativeEndian.Uint32(bytes[4*i:])))
	}
	return int64(binary.NativeEndian.Uint64(bytes[8*i:]))
}

func putWord(bytes []byte, width int, i uint64, value int64) {
	switch width {
	case 1:
		bytes[i] = byte(value)
	case 2:
		binary.NativeEndian.PutUint16(bytes[2*i:], uint16(value))
	case 4:
		binary.NativeEndian.PutUint32(bytes[4*i:], uint32(value))
	default:
		binary.NativeEndian.PutUint64(bytes[8*i:], uint64(value))
	}
}

func (s *source) takeRangesOnHost(r *ranges, outValid, offsets column.Bytes, valid bits) error {
	rows, err := s.onHost()
	if err != nil {
		return err
	}
	bytes, err := hostBytes(r.offsets, r.begins, outValid, offsets)
	if err != nil {
		return err
	}
	isValid, err := valid.onHost()
	if err != nil {
		return err
	}
	locate := r.locateAny
	if r.width == 4 && rows.plain(r.rows) && isValid.bytes == nil {
		locate = r.locatePlain
	}
	at, err := locate(rows, bytes, isValid)
	if err != nil {
		return err
	}
	if at > r.most && s.once {
		return r.tooLong(at)
	}
	putWord(bytes[0], r.width, uint64(r.rows), at)
	total, err := r.total.Host()
	if err == nil {
		total[0] = at
	}
	return err
}

// locatePlain is locateAny for offsets of 32 bits and rows that are not null.
func (r *ranges) locatePlain(rows *rows, bytes [][]byte, _ hostBits) (at int64, err error) {
	results, begins, offsets := op.Elements[int32](bytes[0]), op.Elements[int32](bytes[1]), op.Elements[int32](bytes[3])
	if bytes[2] != nil {
		bitutil.SetBitsTo(bytes[2], 0, int64(r.rows), true)
	}
	for i := range r.rows {
		index, ok := rows.row(uint64(i))
		results[i] = int32(at)
		if !ok { // out of bounds
			setBit(bytes[2], uint64(i), false)
			continue
		}
		begin, end := int64(offsets[index]), int64(offsets[index+1])
		if begin < 0 || end < begin || end > r.extent {
			return at, unsoundError(int64(index), begin, end, r.extent)
		}
		begins[i] = int32(begin)
		at += end - begin
	}
	return at, nil
}

// locateAny writes the positions of rows, in the result and in the input. It returns the sum of their lengths.
func (r *ranges) locateAny(rows *rows, bytes [][]byte, isValid hostBits) (at int64, err error) {
	for i := range uint64(r.rows) {
		putWord(bytes[0], r.width, i, at)
		index, ok := rows.row(i)
		ok = ok && isValid.set(index)
		setBit(bytes[2], i, ok)
		if !ok {
			continue
		}
		begin, end := wordAt(bytes[3], r.width, index), wordAt(bytes[3], r.width, index+1)
		if begin < 0 || end < begin || end > r.extent {
			return at, unsoundError(int64(index), begin, end, r.extent)
		}
		putWord(bytes[1], r.width, i, begin)
		at += end - begin
	}
	return at, nil
}

// tooLong returns the error for rows with more bytes or elements than the input has, although no row
// is taken twice.
func (r *ranges) tooLong(total int64) error {
	return fmt.Errorf("the rows have %d bytes or elements together, the input %d: its offsets are not in order, or a row is taken twice in spite of Distinct: %w", total, r.most, column.ErrInvalid)
}

// copyOnHost copies the bytes of strings.
func (r ranges) copyOnHost(out, data column.Bytes) error {
	bytes, err := hostBytes(r.offsets, r.begins, out, data)
	if err != nil {
		return err
	}
	copyRows := func(from, rows int) {
		for i := uint64(from); i < uint64(rows); i++ {
			begin, end := wordAt(bytes[0], r.width, i), wordAt(bytes[0], r.width, i+1)
			if end > begin {
				copy(bytes[2][begin:end], bytes[3][wordAt(bytes[1], r.width, i):])
			}
		}
	}
	if r.width == 4 {
		ends, begins := op.Elements[int32](bytes[0]), op.Elements[int32](bytes[1])
		copyRows = func(from, rows int) {
			for i := from; i < rows; i++ {
				if begin, end := ends[i], ends[i+1]; end > begin {
					copy(bytes[2][begin:end], bytes[3][begins[i]:])
				}
			}
		}
	}
	return parallel.Run(context.Background(), r.rows, parallel.Parts(r.rows), func(_, begin, end int) { copyRows(begin, end) })
}

// expandOnHost writes the indices of the elements of lists.
func (r ranges) expandOnHost(elements *source) error {
	bytes, err := hostBytes(r.offsets, r.begins, elements.indices)
	if err != nil {
		return err
	}
	width := 4
	if elements.order == listed64 {
		width = 8
	}
	for i := range uint64(r.rows) {
		begin, end := wordAt(bytes[0], r.width, i), wordAt(bytes[0], r.width, i+1)
		for at := begin; at < min(end, int64(elements.capacity)); at++ {
			putWord(bytes[2], width, uint64(at), wordAt(bytes[1], r.width, i)+at-begin)
		}
	}
	return nil
}

// expandFixedOnHost writes the indices of the elements of fixed-size lists.
func (s *source) expandFixedOnHost(out column.Bytes, size uint64) error {
	return s.eachElementOnHost(out, size, func(to []byte, i, element uint64) { putWord(to, 8, i, int64(element)) })
}

// eachElementOnHost calls set for each element of the rows of fixed-size lists, with its
// position in the output and its number in the input, or noRow.
func (s *source) eachElementOnHost(out column.Bytes, size uint64, set func(to []byte, i, element uint64)) error {
	r, err := s.onHost()
	if err != nil {
		return err
	}
	to, err := out.Host()
	if err != nil {
		return err
	}
	for i := range uint64(s.capacity) {
		index, ok := r.row(i)
		for k := range size {
			element := noRow
			if ok {
				element = index*size + k
			}
			set(to, i*size+k, element)
		}
	}
	return nil
}

// takeElementBitsOnHost takes size bits per row.
func (s *source) takeElementBitsOnHost(out column.Bytes, from bits, size uint64) error {
	set, err := from.onHost()
	if err != nil {
		return err
	}
	return s.eachElementOnHost(out, size, func(to []byte, i, element uint64) {
		setBit(to, i, element != noRow && set.set(element))
	})
}

func (s *source) takeRunsOnHost(out, outEnds, ends column.Bytes, width, offset int) error {
	r, err := s.onHost()
	if err != nil {
		return err
	}
	bytes, err := hostBytes(out, outEnds, ends)
	if err != nil {
		return err
	}
	runs := len(bytes[2]) / width
	for i := range uint64(s.capacity) {
		putWord(bytes[1], width, i, int64(i)+1)
	}
	for i := range uint64(s.capacity) {
		index, ok := r.row(i)
		run := noRow
		if ok {
			run = uint64(sort.Search(runs, func(j int) bool { return wordAt(bytes[2], width, uint64(j)) > int64(index)+int64(offset) }))
		}
		putWord(bytes[0], 8, i, int64(run))
	}
	return nil
}
