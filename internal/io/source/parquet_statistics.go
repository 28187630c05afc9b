package source

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/schema"

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
		ranges = make([]prune.Range, len(f.metadata.GetRowGroups()))
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
	column := f.metadata.Schema.Column(leaves[0])
	if column.MaxRepetitionLevel() > 0 || column.MaxDefinitionLevel() > 1 {
		return prune.Unknown
	}
	return f.chunkRange(rowGroup, leaves[0], column, field.Type)
}

func (f *footer) chunkRange(rowGroup, leaf int, column *schema.Column, t arrow.DataType) (r prune.Range) {
	r = prune.Unknown
	var err error
	defer func() {
		if err != nil {
			r = prune.Unknown
		}
	}()
	defer recovered(&err)
	chunk := f.metadata.GetRowGroups()[rowGroup].GetColumns()[leaf].GetMetaData()
	if !chunk.IsSetStatistics() {
		return r
	}
	statistics := chunk.GetStatistics()
	if statistics.IsSetNullCount() {
		if n := statistics.GetNullCount(); n >= 0 && n <= chunk.GetNumValues() {
			r.Nulls, r.Valid = n, chunk.GetNumValues()-n
		}
	}
	about, err := f.metadata.RowGroup(rowGroup).ColumnChunk(leaf)
	if err != nil {
		return r
	}
	if right, err := about.StatsSet(); err != nil || !right {
		return r
	}
	low, high := statistics.GetMinValue(), statistics.GetMaxValue()
	if !statistics.IsSetMinValue() || !statistics.IsSetMaxValue() || column.ColumnOrder() != parquet.ColumnOrders.TypeDefinedOrder {
		// Old writers compared these as signed values, also those of unsigned types, and decimals
		// byte by byte.
		if column.SortOrder() != schema.SortSIGNED || !isNumber(column.PhysicalType()) || !statistics.IsSetMin() || !statistics.IsSetMax() {
			return r
		}
		low, high = statistics.GetMin(), statistics.GetMax()
	}
	r.Low, r.High = f.decodeBounds(low, high, column, t)
	return r
}

// decodeBounds returns bounds as [prune.Range] describes them, or nil for both.
func (f *footer) decodeBounds(low, high []byte, column *schema.Column, t arrow.DataType) (lowValue, highValue any) {
	lowValue, highValue = decodeBound(low, column, t), decodeBound(high, column, t)
	arrowGo := strings.HasPrefix(f.metadata.GetCreatedBy(), "parquet-go ")
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
func isNumber(t parquet.Type) bool {
	switch t {
	case parquet.Types.Boolean, parquet.Types.Int32, parquet.Types.Int64, parquet.Types.Float, parquet.Types.Double:
		return true
	}
	return false
}

// decodeBound returns a bound as [prune.Range] describes it, or nil.
func decodeBound(data []byte, column *schema.Column, t arrow.DataType) any {
	if !sameUnit(column.LogicalType(), t) {
		return nil
	}
	switch column.PhysicalType() {
	case parquet.Types.Boolean:
		if len(data) == 1 && t.ID() == arrow.BOOL {
			return data[0] != 0
		}
	case parquet.Types.Int32:
		if len(data) == 4 {
			return integerBound(int64(int32(binary.LittleEndian.Uint32(data))), math.MaxUint32, t)
		}
	case parquet.Types.Int64:
		if len(data) == 8 {
			return integerBound(int64(binary.LittleEndian.Uint64(data)), math.MaxUint64, t)
		}
	case parquet.Types.Float:
		if len(data) == 4 && t.ID() == arrow.FLOAT32 {
			return floatBound(float64(math.Float32frombits(binary.LittleEndian.Uint32(data))))
		}
	case parquet.Types.Double:
		if len(data) == 8 && t.ID() == arrow.FLOAT64 {
			return floatBound(math.Float64frombits(binary.LittleEndian.Uint64(data)))
		}
	case parquet.Types.ByteArray, parquet.Types.FixedLenByteArray:
		if t.ID() == arrow.DECIMAL128 {
			return bigEndian(data)
		}
		if column.PhysicalType() == parquet.Types.ByteArray {
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
func sameUnit(logical schema.LogicalType, t arrow.DataType) bool {
	timed, _ := logical.(interface{ TimeUnit() schema.TimeUnitType })
	switch t := t.(type) {
	case *arrow.Date64Type:
		return false
	case *arrow.TimestampType:
		return timed != nil && unitOf(timed.TimeUnit()) == t.Unit
	case *arrow.Time32Type:
		return timed != nil && unitOf(timed.TimeUnit()) == t.Unit
	case *arrow.Time64Type:
		return timed != nil && unitOf(timed.TimeUnit()) == t.Unit
	case *arrow.Decimal128Type:
		scaled, ok := logical.(interface{ Scale() int32 })
		return ok && scaled.Scale() == t.Scale
	}
	return true
}

func unitOf(unit schema.TimeUnitType) arrow.TimeUnit {
	switch unit {
	case schema.TimeUnitMillis:
		return arrow.Millisecond
	case schema.TimeUnitMicros:
		return arrow.Microsecond
	case schema.TimeUnitNanos:
		return arrow.Nanosecond
	}
	return -1
}
