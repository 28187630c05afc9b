package source

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/source/prune"
)

// statistics returns the range of a column in a row group. It is unknown for nested
// columns, for columns that cannot be read, for types that the file stores in another unit than the column has, and
// without statistics that are known to be right.
func (f *footer) statistics(rowGroup int, name string) prune.Range {
	f.mu.Lock()
	defer f.mu.Unlock()
	ranges, ok := f.ranges[name]
	if !ok {
		ranges = make([]prune.Range, len(f.metadata.Groups))
		for i := range ranges {
			ranges[i] = f.readStatistics(i, name)
		}
		if f.ranges == nil {
			f.ranges = map[string][]prune.Range{}
		}
		f.ranges[name] = ranges
	}
	return ranges[rowGroup]
}

// readStatistics is statistics, which keeps its result.
func (f *footer) readStatistics(rowGroup int, name string) prune.Range {
	indices := f.schema.FieldIndices(name)
	if len(indices) == 0 || f.refused[indices[0]] != nil {
		return prune.Unknown
	}
	field := f.schema.Field(indices[0])
	leaves := f.leaves[indices[0]]
	if len(leaves) != 1 || !prune.Comparable(field.Type) {
		return prune.Unknown
	}
	column := f.column(leaves[0])
	if column.MaxRepetition > 0 || column.MaxDefinition > 1 {
		return prune.Unknown
	}
	return f.chunkRange(rowGroup, leaves[0], column, field.Type)
}

func (f *footer) chunkRange(rowGroup, leaf int, column *parquetformat.Column, t arrow.DataType) prune.Range {
	r := prune.Unknown
	chunk := f.about(rowGroup, leaf)
	statistics := chunk.Statistics
	if statistics == nil {
		return r
	}
	if n := statistics.Nulls; n >= 0 && n <= chunk.Values {
		r.Nulls, r.Valid = n, chunk.Values-n
	}
	if !column.Correct(statistics, f.metadata.CreatedBy) {
		return r
	}
	low, high := statistics.MinValue, statistics.MaxValue
	if low == nil || high == nil || !column.Ordered {
		// Old writers compared these as signed values, also those of unsigned types, and decimals
		// byte by byte.
		if column.Order() != parquetformat.Signed || !isNumber(column.Physical) || statistics.Min == nil || statistics.Max == nil {
			return r
		}
		low, high = statistics.Min, statistics.Max
	}
	r.Low, r.High = f.decodeBounds(low, high, column, t)
	return r
}

// decodeBounds returns bounds as [prune.Range] describes them, or nil for both.
func (f *footer) decodeBounds(low, high []byte, column *parquetformat.Column, t arrow.DataType) (lowValue, highValue any) {
	lowValue, highValue = decodeBound(low, column, t), decodeBound(high, column, t)
	arrowGo := strings.HasPrefix(f.metadata.CreatedBy, "parquet-go ")
	if _, unsigned := lowValue.(uint64); unsigned && arrowGo {
		return nil, nil // arrow-go writes 4294967295 to 0 for columns with nulls
	}
	if lowValue == nil || highValue == nil {
		return nil, nil
	}
	if _, text := lowValue.([]byte); text && arrowGo {
		lowValue = []byte{} // arrow-go leaves out empty texts of dictionaries
	}
	return lowValue, highValue
}

// isNumber reports whether values of a type are numbers and not bytes.
func isNumber(t parquetformat.Type) bool {
	switch t {
	case parquetformat.Boolean, parquetformat.Int32, parquetformat.Int64, parquetformat.Float, parquetformat.Double:
		return true
	}
	return false
}

// decodeBound returns a bound as [prune.Range] describes it, or nil.
func decodeBound(data []byte, column *parquetformat.Column, t arrow.DataType) any {
	if !sameUnit(column.Logical, t) {
		return nil
	}
	switch column.Physical {
	case parquetformat.Boolean:
		if len(data) == 1 && t.ID() == arrow.BOOL {
			return data[0] != 0
		}
	case parquetformat.Int32:
		if len(data) == 4 {
			return integerBound(int64(int32(binary.LittleEndian.Uint32(data))), math.MaxUint32, t)
		}
	case parquetformat.Int64:
		if len(data) == 8 {
			return integerBound(int64(binary.LittleEndian.Uint64(data)), math.MaxUint64, t)
		}
	case parquetformat.Float:
		if len(data) == 4 && t.ID() == arrow.FLOAT32 {
			return floatBound(float64(math.Float32frombits(binary.LittleEndian.Uint32(data))))
		}
	case parquetformat.Double:
		if len(data) == 8 && t.ID() == arrow.FLOAT64 {
			return floatBound(math.Float64frombits(binary.LittleEndian.Uint64(data)))
		}
	case parquetformat.ByteArray, parquetformat.FixedLenByteArray:
		if t.ID() == arrow.DECIMAL128 {
			return bigEndian(data)
		}
		if column.Physical == parquetformat.ByteArray {
			return slices.Clone(data)
		}
	}
	return nil
}

// integerBound returns an integer by the type of its column; mask has the bits of the
// file's integers.
func integerBound(v int64, mask uint64, t arrow.DataType) any {
	switch t.ID() {
	case arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64:
		return uint64(v) & mask
	case arrow.DECIMAL128:
		return big.NewInt(v)
	case arrow.FLOAT32, arrow.FLOAT64, arrow.BOOL:
		return nil
	}
	return v
}

func floatBound(v float64) any {
	if math.IsNaN(v) {
		return nil
	}
	return v
}

// bigEndian decodes an integer in two's complement.
func bigEndian(data []byte) any {
	if len(data) == 0 || len(data) > 16 {
		return nil
	}
	v := new(big.Int).SetBytes(data)
	if data[0] >= 0x80 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(data))))
	}
	return v
}

// sameUnit reports whether a file stores the values of an Arrow type in the unit of the
// type. arrow-go multiplies or divides others when it reads them.
func sameUnit(logical parquetformat.Logical, t arrow.DataType) bool {
	switch t := t.(type) {
	case *arrow.Date64Type:
		return false
	case *arrow.TimestampType:
		return unitOf(logical.Unit) == t.Unit
	case *arrow.Time32Type:
		return unitOf(logical.Unit) == t.Unit
	case *arrow.Time64Type:
		return unitOf(logical.Unit) == t.Unit
	case *arrow.Decimal128Type:
		return logical.Kind == parquetformat.Decimal && logical.Scale == t.Scale
	}
	return true
}

func unitOf(unit parquetformat.Unit) arrow.TimeUnit {
	switch unit {
	case parquetformat.Millis:
		return arrow.Millisecond
	case parquetformat.Micros:
		return arrow.Microsecond
	case parquetformat.Nanos:
		return arrow.Nanosecond
	}
	return -1
}
