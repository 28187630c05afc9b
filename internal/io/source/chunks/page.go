package chunks

import (
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
)

// form is the conversion of values: Form of page.cuh.
type form uint32

const (
	copied4 form = iota
	copied8
	narrowed1
	narrowed2
	decimal32
	decimal64
	decimalBytes
	instant
	boolean
	code
	text
	copied2
	copied16
)

// encoding is Encoding of page.cuh.
type encoding uint32

const (
	plain encoding = iota
	indexed
	rle
	split
	delta
	deltaLengths
	deltaStrings
	deltaPrefixes
)

// none stands for no page and for no length.
const none = 1<<32 - 1

// page is Page of page.cuh. Its addresses are places until they are known.
type page struct {
	bytes, levels, to, bitmap, ranks, counts, dense, places, packed, marks, sums place
	row                                                                          uint64
	rows, length, levelBytes, optional                                           uint32
	form                                                                         form
	encoding                                                                     encoding
	width, dictionary, base, before                                              uint32
}

// outcome is Outcome of page.cuh.
type outcome struct {
	status, valid, absent uint32
	_                     [2]uint32 // begin and data, which only kernels read
	packed                uint32
	bytes                 uint64
}

const outcomeBytes = uint64(unsafe.Sizeof(outcome{}))

// tile is Tile of page.cuh.
type tile struct{ page, first uint32 }

// tileRows is the number of rows of a tile: see rows.cu.
const tileRows = 2048

// countedRows is the number of rows of a count of rows with a value: see tiles.cuh.
const countedRows = 32 * 32

// markValues is the number of values from one mark of a stream to the next one, and headBytes the length of what is
// before the marks of differences: see segments.cuh.
const (
	markValues = 256
	headBytes  = 24
)

// formOf returns the conversion of a column chunk's values.
func formOf(f pages.Flat) (conversion form, ok bool) {
	switch id := f.Type.ID(); f.Physical {
	case parquetformat.Boolean:
		return boolean, id == arrow.BOOL
	case parquetformat.Int32:
		switch id {
		case arrow.INT8, arrow.UINT8:
			return narrowed1, true
		case arrow.INT16, arrow.UINT16:
			return narrowed2, true
		case arrow.INT32, arrow.UINT32, arrow.DATE32, arrow.TIME32:
			return copied4, true
		case arrow.DECIMAL128:
			return decimal32, true
		}
	case parquetformat.Int64:
		if id == arrow.DECIMAL128 {
			return decimal64, true
		}
		return copied8, true
	case parquetformat.Int96:
		return instant, true
	case parquetformat.Float:
		return copied4, true
	case parquetformat.Double:
		return copied8, true
	case parquetformat.FixedLenByteArray:
		if id == arrow.DECIMAL128 {
			return decimalBytes, true
		}
		conversion, ok = map[int]form{2: copied2, 4: copied4, 8: copied8, 16: copied16}[f.Width]
		return conversion, ok
	case parquetformat.ByteArray:
		if id == arrow.DICTIONARY {
			return code, true
		}
		return text, true
	}
	return 0, false
}

// widthOf is the field width of a page.
func widthOf(f pages.Flat) uint32 {
	if t, ok := f.Type.(*arrow.TimestampType); ok {
		return uint32(exprtree.UnitOf(t))
	}
	return uint32(f.Width)
}

// fileBytes returns the length of a value in the file, or 0 if that differs.
func (c form) fileBytes(f pages.Flat) int64 {
	switch c {
	case copied8, decimal64:
		return 8
	case decimalBytes:
		return int64(f.Width)
	case copied2:
		return 2
	case copied16:
		return 16
	case instant:
		return 12
	case boolean, code, text:
		return 0
	}
	return 4
}

// columnBytes returns the length of a value in a column, or 0 of booleans and strings.
func (c form) columnBytes() uint64 {
	switch c {
	case narrowed1:
		return 1
	case narrowed2, copied2:
		return 2
	case copied4, code:
		return 4
	case copied8, instant:
		return 8
	case decimal32, decimal64, decimalBytes, copied16:
		return 16
	}
	return 0
}

// encodingOf returns the encoding of a page's values, if the kernels know it.
func encodingOf(p pages.Page, f pages.Flat, c form) (e encoding, ok bool) {
	switch p.Encoding {
	case pages.Plain:
		return plain, c != code
	case pages.PlainDictionary, pages.RLEDictionary:
		return indexed, c != boolean
	case pages.RLE:
		return rle, c == boolean
	case pages.DeltaBinaryPacked:
		return delta, f.Physical == parquetformat.Int32 || f.Physical == parquetformat.Int64
	case pages.DeltaLengthByteArray:
		return deltaLengths, c == text
	case pages.DeltaByteArray:
		return deltaStrings, c == text || f.Physical == parquetformat.FixedLenByteArray
	case pages.ByteStreamSplit:
		return split, c != text && c != code && c.fileBytes(f) > 0 && c != instant
	}
	return 0, false
}

// eachTile calls f with the first row of each tile of the page, which begin with words of the column's bitmap.
func (p *page) eachTile(f func(first uint32)) {
	for word := p.row / 32; word*32 < p.row+uint64(p.rows); word += tileRows / 32 {
		f(uint32((word - p.row/32) * 32))
	}
}
