package iceberg

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// text returns a transform as metadata have it.
func (t transform) text() string {
	if t.width > 0 {
		return fmt.Sprintf("%s[%d]", t.name, t.width)
	}
	return t.name
}

// termSuffixes end the names of fields, by their transforms.
var termSuffixes = map[string]string{"bucket": "_bucket", "truncate": "_trunc", "year": "_year", "month": "_month", "day": "_day", "hour": "_hour", "void": "_null"}

// parseTerm returns the column, the transform, and the end of the name of the field, of a text such as bucket(16, id). The column is
// empty if it is another text.
func parseTerm(term string) (column string, t transform, suffix string) {
	name, rest, _ := strings.Cut(term, "(")
	inner, ok := strings.CutSuffix(rest, ")")
	suffix, known := termSuffixes[name]
	if !ok || !known {
		return "", t, ""
	}
	t.name = name
	if name == "bucket" || name == "truncate" {
		width, column, _ := strings.Cut(inner, ",")
		t = parseTransform(name + "[" + strings.TrimSpace(width) + "]")
		inner = strings.TrimPrefix(column, " ")
		if t.width == 0 {
			return "", t, ""
		}
	}
	return inner, t, suffix
}

// avroTypes are the types of Avro of values of partitions, by the types of Iceberg.
var avroTypes = map[string]string{
	"boolean": `"boolean"`, "int": `"int"`, "long": `"long"`, "string": `"string"`, "binary": `"bytes"`, "date": `{"type": "int", "logicalType": "date"}`,
	"time": `{"type": "long", "logicalType": "time-micros"}`, "timestamp": `{"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": false}`,
	"timestamptz": `{"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": true}`,
}

// result returns the type of the values of a transform of columns of a type, and that of Avro for the field with an ID. It returns nil
// if this package does not write it.
func (t transform) result(source arrow.DataType, id int, uuid bool) (arrow.DataType, string) {
	valueType := source
	switch t.name {
	case "identity":
	case "bucket":
		if !hasHash(source) {
			return nil, ""
		}
		valueType = arrow.PrimitiveTypes.Int32
	case "truncate":
		if id := source.ID(); id != arrow.INT32 && id != arrow.INT64 && id != arrow.STRING && id != arrow.BINARY {
			return nil, ""
		}
	case "year", "month", "day", "hour":
		if source.ID() != arrow.TIMESTAMP && (source.ID() != arrow.DATE32 || t.name == "hour") {
			return nil, ""
		}
		if valueType = arrow.PrimitiveTypes.Int32; t.name == "day" {
			valueType = arrow.FixedWidthTypes.Date32
		}
	case "void":
		if avroTypes[primitiveName(source)] == "" { // all values are null
			valueType = arrow.PrimitiveTypes.Int32
		}
	default:
		return nil, ""
	}
	if fixed, ok := valueType.(*arrow.FixedSizeBinaryType); ok {
		logical := ""
		if uuid {
			logical = `, "logicalType": "uuid"`
		}
		return valueType, fmt.Sprintf(`{"type": "fixed", "name": "fixed_%d", "size": %d%s}`, id, fixed.ByteWidth, logical)
	}
	avro := avroTypes[primitiveName(valueType)]
	if avro == "" {
		return nil, ""
	}
	return valueType, avro
}

// hasHash reports whether values of a type have buckets.
func hasHash(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.INT32, arrow.INT64, arrow.DATE32, arrow.TIME64, arrow.TIMESTAMP, arrow.DECIMAL128, arrow.STRING, arrow.BINARY, arrow.FIXED_SIZE_BINARY:
		return true
	}
	return false
}

// apply returns the value of a partition, as an int64, a bool or bytes, of one of the column: see rowValues.
func (t transform) apply(value any, source arrow.DataType) any {
	switch t.name {
	case "bucket":
		return bucketOf(hashedBytes(value), t.width)
	case "truncate":
		return t.truncate(value, source)
	case "year", "month", "day", "hour":
		n, _ := value.(int64)
		if source.ID() == arrow.DATE32 {
			return t.ordinalOf(n * 86400)
		}
		return t.ordinalOf(floorDivide(n, 1e6))
	}
	return value
}

func (t transform) truncate(value any, source arrow.DataType) any {
	switch v := value.(type) {
	case int64:
		v = (floorDivide(v, t.width)) * t.width // wraps around for the least values
		if source.ID() == arrow.INT32 {
			v = int64(int32(v))
		}
		return v
	case []byte:
		if source.ID() == arrow.BINARY {
			return v[:min(int64(len(v)), t.width)]
		}
		length := 0
		for n := int64(0); n < t.width && length < len(v); n++ {
			_, size := utf8.DecodeRune(v[length:])
			length += size
		}
		return v[:length]
	}
	return value
}

// hashedBytes returns the bytes of a value by which it has a bucket.
func hashedBytes(value any) []byte {
	switch v := value.(type) {
	case int64:
		return binary.LittleEndian.AppendUint64(nil, uint64(v))
	case *big.Int:
		return twosComplement(v)
	case []byte:
		return v
	}
	return nil
}

// twosComplement returns the fewest bytes of a number of two's complement, from the highest one on.
func twosComplement(n *big.Int) []byte {
	length := 1
	if n.Sign() >= 0 {
		length += n.BitLen() / 8
	} else {
		length += new(big.Int).Not(n).BitLen() / 8
		n = new(big.Int).Add(n, new(big.Int).Lsh(big.NewInt(1), uint(8*length)))
	}
	return n.FillBytes(make([]byte, length))
}

// rowValues returns a function for the values of an array: int64 of integers, dates and times, bool, *big.Int of decimals, and bytes.
func rowValues(values arrow.Array) (func(row int) any, error) {
	switch a := values.(type) {
	case *array.Boolean:
		return func(row int) any { return a.Value(row) }, nil
	case *array.Int32:
		return func(row int) any { return int64(a.Value(row)) }, nil
	case *array.Int64:
		return func(row int) any { return a.Value(row) }, nil
	case *array.Date32:
		return func(row int) any { return int64(a.Value(row)) }, nil
	case *array.Time64:
		return func(row int) any { return int64(a.Value(row)) }, nil
	case *array.Timestamp:
		return func(row int) any { return int64(a.Value(row)) }, nil
	case *array.Decimal128:
		return func(row int) any { return a.Value(row).BigInt() }, nil
	case *array.String:
		return func(row int) any { return []byte(a.Value(row)) }, nil
	case *array.Binary:
		return func(row int) any { return a.Value(row) }, nil
	case *array.FixedSizeBinary:
		return func(row int) any { return a.Value(row) }, nil
	}
	return nil, fmt.Errorf("partitions of %v: %w", values.DataType(), ErrUnsupported)
}
