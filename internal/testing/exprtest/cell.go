package exprtest

import (
	"fmt"
	"math/big"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// Cell returns an array's value as [Model] does. For types without operations it
// reports whether the value is not null.
func Cell(values arrow.Array, i int) any {
	if values.IsNull(i) {
		return nil
	}
	switch values := values.(type) {
	case *array.Boolean:
		return values.Value(i)
	case *array.Int8:
		return int64(values.Value(i))
	case *array.Int16:
		return int64(values.Value(i))
	case *array.Int32:
		return int64(values.Value(i))
	case *array.Int64:
		return values.Value(i)
	case *array.Uint8:
		return uint64(values.Value(i))
	case *array.Uint16:
		return uint64(values.Value(i))
	case *array.Uint32:
		return uint64(values.Value(i))
	case *array.Uint64:
		return values.Value(i)
	case *array.Float32:
		return float64(values.Value(i))
	case *array.Float64:
		return values.Value(i)
	case *array.Date32:
		return int64(values.Value(i))
	case *array.Date64:
		return int64(values.Value(i))
	case *array.Time32:
		return int64(values.Value(i))
	case *array.Time64:
		return int64(values.Value(i))
	case *array.Timestamp:
		return int64(values.Value(i))
	case *array.Duration:
		return int64(values.Value(i))
	case *array.Decimal128:
		return decimalCell(values.Value(i))
	case *array.String:
		return values.Value(i)
	case *array.LargeString:
		return values.Value(i)
	case *array.Binary:
		return string(values.Value(i))
	case *array.LargeBinary:
		return string(values.Value(i))
	case *array.FixedSizeBinary:
		return string(values.Value(i))
	case *array.Dictionary:
		return Cell(values.Dictionary(), values.GetValueIndex(i))
	}
	return true
}

func decimalCell(value any) *big.Int { return value.(decimal128.Num).BigInt() }

// Show formats a value for messages.
func Show(cell any) string {
	if cell == nil {
		return "null"
	}
	return fmt.Sprintf("%v", cell)
}
