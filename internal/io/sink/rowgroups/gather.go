package rowgroups

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/decimal256"

	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
)

// ErrValue reports a value that the type of its column does not hold in a Parquet file.
var ErrValue = errors.New("the file cannot hold the value")

// rows are the rows of a column chunk.
type rows struct {
	// count is the number of entries: of rows, or those of levels. valid ones are values.
	count, valid int
	// validity is a bitmap, or nil if all are valid.
	validity []byte
	// levels are nil in flat columns.
	levels *levels
}

// number returns the number of rows.
func (r *rows) number() int {
	if r.levels == nil || r.levels.starts == nil {
		return r.count
	}
	return len(r.levels.starts) - 1
}

// entry returns the entry that a row begins with.
func (r *rows) entry(row int) int {
	if r.levels == nil || r.levels.starts == nil {
		return row
	}
	return r.levels.starts[row]
}

// validIn returns the number of valid entries in a range.
func (r *rows) validIn(from, end int) int {
	if r.levels != nil {
		return r.levels.valuesIn(from, end)
	}
	if r.validity == nil {
		return end - from
	}
	return bitutil.CountSetBits(r.validity, from, end-from)
}

// gatherRows returns the rows of the arrays of a column chunk.
func gatherRows(c *leaf, parts []arrow.Array) (r rows, err error) {
	nulls := 0
	for _, part := range parts {
		r.count += part.Len()
		nulls += nullsOf(part)
	}
	r.valid = r.count - nulls
	if nulls == 0 {
		return r, nil
	}
	if !c.optional {
		return r, fmt.Errorf("column %q has %d nulls, by its schema it has none: %w", c.name, nulls, ErrValue)
	}
	r.validity = make([]byte, (r.count+7)/8)
	at := 0
	for _, part := range parts {
		copyValidity(r.validity, at, part)
		at += part.Len()
	}
	return r, nil
}

// nullsOf returns the number of nulls, of which the dictionary of an array may have some.
func nullsOf(a arrow.Array) int {
	d, ok := a.(*array.Dictionary)
	if !ok || d.Dictionary().NullN() == 0 {
		return a.NullN()
	}
	nulls := 0
	for i := range d.Len() {
		if isNull(d, i) {
			nulls++
		}
	}
	return nulls
}

// isNull reports whether a row of an array with a dictionary is null.
func isNull(d *array.Dictionary, i int) bool {
	return d.IsNull(i) || d.Dictionary().IsNull(d.GetValueIndex(i))
}

func copyValidity(to []byte, at int, a arrow.Array) {
	if d, ok := a.(*array.Dictionary); ok && d.Dictionary().NullN() > 0 {
		for i := range d.Len() {
			bitutil.SetBitTo(to, at+i, !isNull(d, i))
		}
		return
	}
	if a.NullN() == 0 {
		bitutil.SetBitsTo(to, int64(at), int64(a.Len()), true)
		return
	}
	bitutil.CopyBitmap(a.NullBitmapBytes(), a.Data().Offset(), a.Len(), to, at)
}

// eachRun calls f for the runs of valid rows of an array.
func eachRun(a arrow.Array, f func(from, end int)) {
	if a.NullN() == 0 {
		if a.Len() > 0 {
			f(0, a.Len())
		}
		return
	}
	for from := 0; from < a.Len(); {
		if a.IsNull(from) {
			from++
			continue
		}
		end := from + 1
		for end < a.Len() && a.IsValid(end) {
			end++
		}
		f(from, end)
		from = end
	}
}

// scratch is memory of a worker, which each of its chunks uses.
type scratch struct {
	words32 []uint32
	words64 []uint64
	indices []uint32
	lengths []uint32
	table   []uint32
	offsets []int64
	data    []byte
	// Those of the leaves of nested columns.
	definitions, repetitions []uint8
	starts                   []int
	spans                    []span
	// body is a compressed page.
	body []byte
}

// gather returns the values of the arrays of a column chunk, in their memory or that of s.
func gather(c *leaf, parts []part, r rows, s *scratch) (values, error) {
	switch c.physical {
	case parquetformat.Boolean:
		return gatherFlags(parts, r), nil
	case parquetformat.Int32, parquetformat.Float:
		all, err := gatherNumbers(c, parts, r, &s.words32)
		return numbers[uint32]{all, c.order}, err
	case parquetformat.Int64, parquetformat.Double:
		all, err := gatherNumbers(c, parts, r, &s.words64)
		return numbers[uint64]{all, c.order}, err
	case parquetformat.FixedLenByteArray:
		return gatherFixed(c, parts, r, s)
	}
	return gatherTexts(c, parts, r, s), nil
}

func gatherFlags(parts []part, r rows) values {
	v := flags{make([]byte, (r.valid+7)/8), r.valid}
	at := 0
	for _, part := range parts {
		if part.Len() == 0 {
			continue
		}
		bits, offset := part.Data().Buffers()[1].Bytes(), part.Data().Offset()
		part.eachRun(func(from, end int) {
			bitutil.CopyBitmap(bits, offset+from, end-from, v.bits, at)
			at += end - from
		})
	}
	return v
}

// elements returns the elements of an array of fixed width.
func elements[T arrow.FixedWidthType](a arrow.Array) []T {
	if a.Len() == 0 {
		return nil
	}
	offset := a.Data().Offset()
	return arrow.GetData[T](a.Data().Buffers()[1].Bytes())[offset : offset+a.Len()]
}

// gatherNumbers returns the numbers of arrays.
func gatherNumbers[T word](c *leaf, parts []part, r rows, to *[]T) ([]T, error) {
	if len(parts) == 1 && parts[0].isWhole() && sameWords(c, parts[0].Array) {
		return elements[T](parts[0].Array), nil
	}
	all := resized(*to, r.valid)[:0]
	*to = all
	var err error
	for _, part := range parts {
		convert := converter[T](c, part.Array)
		part.eachRun(func(from, end int) {
			if err == nil {
				all, err = convert(all, from, end)
			}
		})
	}
	return all, err
}

// sameWords reports whether the numbers of a file are those of the array.
func sameWords(c *leaf, a arrow.Array) bool {
	fixed, ok := a.DataType().(arrow.FixedWidthDataType)
	return ok && fixed.BitWidth() == 8*c.width && !hasSeconds(a.DataType())
}

// hasSeconds reports whether a type has seconds, which become milliseconds.
func hasSeconds(t arrow.DataType) bool {
	timed, ok := t.(arrow.TemporalWithUnit)
	return ok && timed.TimeUnit() == arrow.Second
}

// converter returns a function that appends the numbers of rows of an array.
func converter[T word](c *leaf, a arrow.Array) func(to []T, from, end int) ([]T, error) {
	if sameWords(c, a) {
		return sameNumbers[T](elements[T](a))
	}
	switch a.DataType().ID() {
	case arrow.INT8:
		return widened[T](elements[int8](a))
	case arrow.INT16:
		return widened[T](elements[int16](a))
	case arrow.UINT8:
		return widened[T](elements[uint8](a))
	case arrow.UINT16:
		return widened[T](elements[uint16](a))
	case arrow.TIME32:
		return milliseconds[T](c, elements[int32](a))
	case arrow.TIMESTAMP:
		return milliseconds[T](c, elements[int64](a))
	case arrow.DATE64:
		return days[T](c, elements[int64](a))
	case arrow.DECIMAL128:
		return decimals[T](c, elements[decimal128.Num](a))
	}
	return func([]T, int, int) ([]T, error) {
		return nil, fmt.Errorf("column %q: values of %v as numbers of %d bytes: %w", c.name, a.DataType(), c.width, ErrValue)
	}
}

func sameNumbers[T word](v []T) func(to []T, from, end int) ([]T, error) {
	return func(to []T, from, end int) ([]T, error) { return append(to, v[from:end]...), nil }
}

func widened[T word, F int8 | int16 | uint8 | uint16](v []F) func(to []T, from, end int) ([]T, error) {
	return func(to []T, from, end int) ([]T, error) {
		for _, number := range v[from:end] {
			to = append(to, T(int64(number)))
		}
		return to, nil
	}
}

// days returns the days of dates in milliseconds.
func days[T word](c *leaf, v []int64) func(to []T, from, end int) ([]T, error) {
	return func(to []T, from, end int) ([]T, error) {
		const millisecondsOfDay = 86_400_000
		for _, date := range v[from:end] {
			day := date / millisecondsOfDay
			if day*millisecondsOfDay != date || int64(int32(day)) != day {
				return nil, fmt.Errorf("column %q: %d milliseconds are no date of a file, which has whole days of 32 bits: %w", c.name, date, ErrValue)
			}
			to = append(to, T(day))
		}
		return to, nil
	}
}

func milliseconds[T word, F int32 | int64](c *leaf, v []F) func(to []T, from, end int) ([]T, error) {
	return func(to []T, from, end int) ([]T, error) {
		for _, seconds := range v[from:end] {
			product := seconds * 1000
			if product/1000 != seconds {
				return nil, fmt.Errorf("column %q: %d seconds are too many milliseconds: %w", c.name, seconds, ErrValue)
			}
			to = append(to, T(product))
		}
		return to, nil
	}
}

// decimals converts decimals of up to 9 or 18 digits.
func decimals[T word](c *leaf, v []decimal128.Num) func(to []T, from, end int) ([]T, error) {
	return func(to []T, from, end int) ([]T, error) {
		for _, d := range v[from:end] {
			low := int64(d.LowBits())
			if d.HighBits() != low>>63 || wordBytes[T]() == 4 && (low < math.MinInt32 || low > math.MaxInt32) {
				return nil, errDigits(c, d.BigInt().String())
			}
			to = append(to, T(low))
		}
		return to, nil
	}
}

func errDigits(c *leaf, text string) error {
	return fmt.Errorf("column %q of %v has %s, which has more digits: %w", c.name, c.dataType, text, ErrValue)
}

// gatherFixed returns values of FIXED_LEN_BYTE_ARRAY.
func gatherFixed(c *leaf, parts []part, r rows, s *scratch) (values, error) {
	v := &texts{width: c.width, count: r.valid, order: c.order}
	if len(parts) == 1 && parts[0].isWhole() && sameWords(c, parts[0].Array) && c.dataType.ID() == arrow.FIXED_SIZE_BINARY {
		a := parts[0]
		v.data = a.Data().Buffers()[1].Bytes()[a.Data().Offset()*c.width:][:a.Len()*c.width]
		return v, nil
	}
	v.data = s.data[:0]
	var err error
	for _, part := range parts {
		part.eachRun(func(from, end int) {
			if err == nil {
				v.data, err = appendFixed(v.data, c, part.Array, from, end)
			}
		})
	}
	s.data = v.data
	return v, err
}

// appendFixed appends rows of an array: decimals as big-endian numbers.
func appendFixed(to []byte, c *leaf, a arrow.Array, from, end int) ([]byte, error) {
	switch c.dataType.ID() {
	case arrow.DECIMAL128:
		for _, d := range elements[decimal128.Num](a)[from:end] {
			whole := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(d.HighBits())), d.LowBits())
			if !fits(whole, c.width) {
				return nil, errDigits(c, d.BigInt().String())
			}
			to = append(to, whole[len(whole)-c.width:]...)
		}
	case arrow.DECIMAL256:
		for _, d := range elements[decimal256.Num](a)[from:end] {
			var whole []byte
			words := d.Array()
			for i := range words {
				whole = binary.BigEndian.AppendUint64(whole, words[len(words)-1-i])
			}
			if !fits(whole, c.width) {
				return nil, errDigits(c, d.BigInt().String())
			}
			to = append(to, whole[len(whole)-c.width:]...)
		}
	default:
		offset := a.Data().Offset()
		to = append(to, a.Data().Buffers()[1].Bytes()[(offset+from)*c.width:(offset+end)*c.width]...)
	}
	return to, nil
}

// fits reports whether the last bytes of a big-endian number have its value.
func fits(number []byte, width int) bool {
	at := len(number) - width
	sign := byte(int8(number[at]) >> 7)
	for _, b := range number[:at] {
		if b != sign {
			return false
		}
	}
	return true
}
