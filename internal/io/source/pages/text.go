package pages

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/io/thrift"
)

// errLong reports strings that do not fit into one array.
var errLong = errors.New("the strings are longer than an array may be")

const (
	// word is the number of bytes that short strings are copied by. The memory of strings
	// is longer by as many.
	word = 32
	// mostText is the length of the strings of an array at most.
	mostText = math.MaxInt32 - word
)

// text decodes strings.
type text struct {
	// large is set if the offsets of arrays have 64 bits.
	large bool
	// about has the strings of the dictionary, each from an offset to the next.
	about   []byte
	offsets []uint32

	mem    arrowmemory.Allocator
	rows   int
	memory []byte // of the offsets
	ends   []int32
	bytes  []byte
	used   int
	// at is the place in the current page after the strings that were taken.
	at int
}

func (v *text) dictionary(plain []byte, n int64) error {
	if n > int64(len(plain))/4 {
		return fmt.Errorf("a dictionary of %d strings in %d bytes: %w", n, len(plain), ErrDamaged)
	}
	v.offsets = make([]uint32, 1, n+1)
	v.about = make([]byte, 0, len(plain)-4*int(n)+word)
	for i := range n {
		if len(plain) < 4 {
			return fmt.Errorf("string %d of a dictionary of %d: %w", i, n, thrift.ErrCut)
		}
		length := uint64(binary.LittleEndian.Uint32(plain))
		if length > uint64(len(plain)-4) || length > uint64(cap(v.about)-len(v.about)) {
			return fmt.Errorf("string %d of a dictionary of %d: %w", i, n, thrift.ErrCut)
		}
		v.about = append(v.about, plain[4:4+length]...)
		v.offsets = append(v.offsets, uint32(len(v.about)))
		plain = plain[4+length:]
	}
	v.about = v.about[:cap(v.about)]
	return nil
}

func (v *text) begin(rows int, mem arrowmemory.Allocator) {
	v.mem, v.rows, v.used, v.bytes = mem, rows, 0, nil
	v.memory = allocate(mem, (rows+1)*4)
	v.ends = arrow.GetData[int32](v.memory)
	v.ends[0] = 0
}

func (v *text) extend(rows int) {
	v.rows = rows
	v.memory = reallocate(v.mem, v.memory, (rows+1)*4)
	v.ends = arrow.GetData[int32](v.memory)
}

// grow makes room for the next strings, of n bytes, which follow those of the given number of
// rows. It expects as many bytes for the other rows in proportion.
func (v *text) grow(n, rows int) error {
	need := v.used + n + word
	if need <= len(v.bytes) {
		return nil
	}
	if need > mostText {
		return errLong
	}
	expected := need + need/16
	if rows > 0 {
		expected = int(float64(expected) * float64(v.rows) / float64(rows))
	}
	grown := allocate(v.mem, max(need, min(expected, 8*need+1<<16, mostText)))
	copy(grown, v.bytes[:v.used])
	v.mem.Free(v.bytes)
	v.bytes = grown
	return nil
}

func (v *text) plain(page []byte, taken, at, n int) error {
	begin, rest := v.at, len(page)
	if taken == 0 {
		begin = 0
	}
	if rest -= begin; n > rest/4 {
		return fmt.Errorf("%d strings in %d bytes: %w", n, rest, ErrDamaged)
	}
	length, end := 0, begin
	for range n {
		if len(page)-end < 4 {
			return thrift.ErrCut
		}
		size := int(binary.LittleEndian.Uint32(page[end:]))
		if size > len(page)-end-4 {
			return fmt.Errorf("a string of %d bytes in a page of %d: %w", size, len(page), ErrDamaged)
		}
		length, end = length+size, end+4+size
	}
	if err := v.grow(length, at+n); err != nil {
		return err
	}
	ends, bytes, used := v.ends[at+1:at+n+1], v.bytes, v.used
	for i := range ends {
		size := int(binary.LittleEndian.Uint32(page[begin:]))
		begin += 4
		if size <= word && len(page)-begin >= word {
			copyWord(bytes[used:], page[begin:])
		} else {
			copy(bytes[used:], page[begin:begin+size])
		}
		begin, used = begin+size, used+size
		ends[i] = int32(used)
	}
	v.used, v.at = used, end
	return nil
}

// copyWord copies word bytes, which is faster than a call for the bytes of a short string.
func copyWord(to, from []byte) { *(*[word]byte)(to) = [word]byte(from) }

func (v *text) indexed(indices *hybrid, at, n int) error {
	var block [indexBlock]uint32
	used := v.used // those of a call that fails are not counted
	defer func() { v.used = used }()
	for n > 0 {
		data, from, taken, err := indices.part(min(n, indexBlock))
		if err != nil {
			return err
		}
		numbers := block[:taken]
		if data != nil {
			unpack(numbers, data, from, indices.width)
		} else {
			for i := range numbers {
				numbers[i] = indices.value
			}
		}
		if err := v.append(numbers, at); err != nil {
			return err
		}
		at, n = at+taken, n-taken
	}
	used = v.used
	return nil
}

// append appends strings of the dictionary.
func (v *text) append(indices []uint32, at int) error {
	offsets, length := v.offsets, 0
	for _, index := range indices {
		if uint64(index)+1 >= uint64(len(offsets)) {
			return errIndex(index, max(0, len(offsets)-1))
		}
		length += int(offsets[index+1] - offsets[index])
	}
	if err := v.grow(length, at+len(indices)); err != nil {
		return err
	}
	ends, bytes, used := v.ends[at+1:][:len(indices)], v.bytes, v.used
	for i, index := range indices {
		begin, end := offsets[index], offsets[index+1]
		if end-begin <= word {
			copyWord(bytes[used:], v.about[begin:])
		} else {
			copy(bytes[used:], v.about[begin:end])
		}
		used += int(end - begin)
		ends[i] = int32(used)
	}
	v.used = used
	return nil
}

func (v *text) spread(at, rows, valid int, validity []byte) {
	ends := v.ends[at : at+rows+1]
	for i := rows; i > 0; i-- {
		ends[i] = ends[valid]
		if bitutil.BitIsSet(validity, at+i-1) {
			valid--
		}
	}
}

func (v *text) end(rows int) []*arrowmemory.Buffer {
	offsets, bytes := v.offsetsOf(rows), buffer(v.bytes, v.used, v.mem)
	v.memory, v.ends, v.bytes = nil, nil, nil
	return []*arrowmemory.Buffer{offsets, bytes}
}

// offsetsOf returns the offsets of an array.
func (v *text) offsetsOf(rows int) *arrowmemory.Buffer {
	if !v.large {
		return buffer(v.memory, (rows+1)*4, v.mem)
	}
	wide := allocate(v.mem, (rows+1)*8)
	to := arrow.GetData[int64](wide)
	for i, end := range v.ends[:rows+1] {
		to[i] = int64(end)
	}
	v.mem.Free(v.memory)
	return buffer(wide, len(wide), v.mem)
}

func (v *text) drop() {
	v.mem.Free(v.memory)
	v.mem.Free(v.bytes)
	v.memory, v.ends, v.bytes = nil, nil, nil
}
