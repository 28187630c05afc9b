package pages

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
)

// values decode the values of one type into the memory of an array.
type values interface {
	// dictionary decodes a dictionary of n plain values.
	dictionary(plain []byte, n int64) error
	// begin begins an array of at most the given number of rows.
	begin(rows int, mem arrowmemory.Allocator)
	// extend makes room for more rows.
	extend(rows int)
	// plain decodes n plain values of a page, after those taken, to a place of the array.
	plain(page []byte, taken, at, n int) error
	// indexed decodes n indices of the dictionary to a place of the array.
	indexed(indices *hybrid, at, n int) error
	// spread moves the last valid values to their rows, which are set in the bitmap.
	spread(at, rows, valid int, validity []byte)
	// end returns the buffers of the array, of the given number of rows.
	end(rows int) []*arrowmemory.Buffer
	// drop frees the memory of an array that failed.
	drop()
}

// allValues returns the decoder of the values of a column chunk, or nil. It knows types that devices do not.
func allValues(f Flat) values {
	if t, ok := f.Type.(arrow.ExtensionType); ok {
		f.Type = t.StorageType()
	}
	if v := newValues(f); v != nil {
		return v
	}
	return rareValues(f)
}

// newValues returns the decoder of the values of a column chunk, or nil.
func newValues(f Flat) values {
	switch id := f.Type.ID(); f.Physical {
	case parquetformat.Boolean:
		if id == arrow.BOOL {
			return &fixed[uint8]{convert: bools, bools: true, about: []uint8{0, 1}}
		}
	case parquetformat.Int32:
		switch id {
		case arrow.INT8, arrow.UINT8:
			return &fixed[int8]{convert: narrowed[int8], width: 4}
		case arrow.INT16, arrow.UINT16:
			return &fixed[int16]{convert: narrowed[int16], width: 4}
		case arrow.INT32, arrow.UINT32, arrow.DATE32, arrow.TIME32:
			return &fixed[int32]{convert: copied[int32], width: 4}
		case arrow.DECIMAL128:
			return &fixed[decimal128.Num]{convert: decimals32, width: 4}
		}
	case parquetformat.Int64:
		switch id {
		case arrow.TIMESTAMP:
			if f.Type.(*arrow.TimestampType).Unit == arrow.Second {
				return nil
			}
			fallthrough
		case arrow.INT64, arrow.UINT64, arrow.TIME64, arrow.DURATION:
			return &fixed[int64]{convert: copied[int64], width: 8}
		case arrow.DECIMAL128:
			return &fixed[decimal128.Num]{convert: decimals64, width: 8}
		}
	case parquetformat.Int96:
		if id == arrow.TIMESTAMP {
			return newInstants(f.Type.(*arrow.TimestampType))
		}
	case parquetformat.Float:
		if id == arrow.FLOAT32 {
			return &fixed[int32]{convert: copied[int32], width: 4}
		}
	case parquetformat.Double:
		if id == arrow.FLOAT64 {
			return &fixed[int64]{convert: copied[int64], width: 8}
		}
	case parquetformat.FixedLenByteArray:
		switch {
		case id == arrow.DECIMAL128 && f.Width >= 1 && f.Width <= 16:
			return &fixed[decimal128.Num]{convert: decimalsOf(f.Width), width: f.Width}
		case id == arrow.FLOAT16 && f.Width == 2:
			return &fixed[int16]{convert: copied[int16], width: 2}
		case id == arrow.FIXED_SIZE_BINARY && f.Type.(*arrow.FixedSizeBinaryType).ByteWidth == f.Width:
			return newFixedBytes(f.Width)
		}
	case parquetformat.ByteArray:
		switch id {
		case arrow.STRING, arrow.BINARY:
			return &text{}
		case arrow.LARGE_STRING, arrow.LARGE_BINARY:
			return &text{large: true}
		}
		if t, ok := f.Type.(*arrow.DictionaryType); ok {
			return newEncoded(t)
		}
	}
	return nil
}

// newFixedBytes returns a decoder of values of some bytes, such as UUIDs, or nil.
func newFixedBytes(width int) values {
	switch width {
	case 2:
		return &fixed[int16]{convert: copied[int16], width: 2}
	case 4:
		return &fixed[int32]{convert: copied[int32], width: 4}
	case 8:
		return &fixed[int64]{convert: copied[int64], width: 8}
	case 16:
		return &fixed[decimal128.Num]{convert: copied[decimal128.Num], width: 16}
	}
	return nil
}

// fixed decodes values of a fixed width as values of type A.
type fixed[A arrow.FixedWidthType] struct {
	// convert decodes plain values of width bytes, those from the place taken on.
	convert func(to []A, page []byte, taken int)
	width   int
	// bools is set for booleans: bits in files, bytes here, and bits in arrays.
	bools bool
	// about is the dictionary.
	about []A

	mem     arrowmemory.Allocator
	memory  []byte
	decoded []A
}

func (v *fixed[A]) fits(bytes int, n int64) bool {
	if v.bools {
		return n <= int64(bytes)*8
	}
	return n <= int64(bytes)/int64(v.width)
}

func (v *fixed[A]) dictionary(plain []byte, n int64) error {
	if !v.fits(len(plain), n) {
		return fmt.Errorf("a dictionary of %d values in %d bytes: %w", n, len(plain), ErrDamaged)
	}
	v.about = make([]A, n)
	v.convert(v.about, plain, 0)
	return nil
}

func (v *fixed[A]) begin(rows int, mem arrowmemory.Allocator) {
	var element [1]A
	v.mem = mem
	v.memory = allocate(mem, rows*len(arrow.GetBytes(element[:])))
	v.decoded = arrow.GetData[A](v.memory)
}

func (v *fixed[A]) extend(rows int) {
	var element [1]A
	v.memory = reallocate(v.mem, v.memory, rows*len(arrow.GetBytes(element[:])))
	v.decoded = arrow.GetData[A](v.memory)
}

func (v *fixed[A]) plain(page []byte, taken, at, n int) error {
	if !v.fits(len(page), int64(taken+n)) {
		return fmt.Errorf("%d values or more in %d bytes: %w", taken+n, len(page), ErrDamaged)
	}
	v.convert(v.decoded[at:at+n], page, taken)
	return nil
}

// indexBlock is the number of indices that are decoded at a time.
const indexBlock = 1024

func (v *fixed[A]) indexed(indices *hybrid, at, n int) error {
	var block [indexBlock]uint32
	dictionary := v.about
	for n > 0 {
		data, from, taken, err := indices.part(min(n, indexBlock))
		if err != nil {
			return err
		}
		to := v.decoded[at : at+taken]
		at, n = at+taken, n-taken
		if data == nil {
			if int(indices.value) >= len(dictionary) {
				return errIndex(indices.value, len(dictionary))
			}
			value := dictionary[indices.value]
			for i := range to {
				to[i] = value
			}
			continue
		}
		numbers := block[:taken]
		unpack(numbers, data, from, indices.width)
		for i, index := range numbers {
			if int(index) >= len(dictionary) {
				return errIndex(index, len(dictionary))
			}
			to[i] = dictionary[index]
		}
	}
	return nil
}

func errIndex(index uint32, length int) error {
	return fmt.Errorf("index %d of a dictionary of %d values: %w", index, length, ErrDamaged)
}

func (v *fixed[A]) spread(at, rows, valid int, validity []byte) {
	values := v.decoded[at : at+rows]
	var null A
	for i := rows - 1; i >= 0; i-- {
		if bitutil.BitIsSet(validity, at+i) {
			valid--
			values[i] = values[valid]
		} else {
			values[i] = null
		}
	}
}

func (v *fixed[A]) end(rows int) []*arrowmemory.Buffer {
	var element [1]A
	memory := v.memory
	v.memory, v.decoded = nil, nil
	if !v.bools {
		return []*arrowmemory.Buffer{buffer(memory, rows*len(arrow.GetBytes(element[:])), v.mem)}
	}
	bits := allocate(v.mem, (rows+7)/8)
	clear(bits)
	for i, each := range memory[:rows] {
		bits[i>>3] |= each & 1 << (i & 7)
	}
	v.mem.Free(memory)
	return []*arrowmemory.Buffer{buffer(bits, len(bits), v.mem)}
}

func (v *fixed[A]) drop() {
	v.mem.Free(v.memory)
	v.memory, v.decoded = nil, nil
}

// copied decodes values that a file has like the memory.
func copied[A int16 | int32 | int64 | decimal128.Num](to []A, page []byte, taken int) {
	bytes := arrow.GetBytes(to)
	if len(to) > 0 {
		copy(bytes, page[taken*len(bytes)/len(to):])
	}
}

func narrowed[A int8 | int16](to []A, page []byte, taken int) {
	page = page[taken*4:]
	for i := range to {
		to[i] = A(binary.LittleEndian.Uint32(page[i*4:]))
	}
}

func bools(to []uint8, page []byte, taken int) {
	for i := range to {
		to[i] = page[(taken+i)>>3] >> ((taken + i) & 7) & 1
	}
}

func decimals32(to []decimal128.Num, page []byte, taken int) {
	page = page[taken*4:]
	for i := range to {
		to[i] = decimal128.FromI64(int64(int32(binary.LittleEndian.Uint32(page[i*4:]))))
	}
}

func decimals64(to []decimal128.Num, page []byte, taken int) {
	page = page[taken*8:]
	for i := range to {
		v := int64(binary.LittleEndian.Uint64(page[i*8:]))
		to[i] = decimal128.New(v>>63, uint64(v))
	}
}
