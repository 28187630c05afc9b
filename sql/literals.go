package sql

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// number returns the value of digits: an integer, or a decimal.
func (t *translation) number(at tree.Node, digits string) value {
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
		return constant(n)
	}
	return t.decimalLiteral(at, digits)
}

// literal returns the value of a literal.
func (t *translation) literal(at *tree.Literal) value {
	switch at.Kind {
	case tree.True, tree.False:
		return constant(at.Kind == tree.True)
	case tree.Integer:
		if n, err := strconv.ParseInt(at.Text, 0, 64); err == nil && !(len(at.Text) > 1 && at.Text[0] == '0') {
			return constant(n)
		}
		if n, err := strconv.ParseInt(strings.TrimLeft(at.Text, "0"), 0, 64); err == nil {
			return constant(n)
		}
		if strings.Trim(at.Text, "0") == "" {
			return constant(int64(0))
		}
		return t.decimalLiteral(at, at.Text)
	case tree.Decimal:
		return t.decimalLiteral(at, at.Text)
	case tree.Float:
		return t.floatLiteral(at, at.Text)
	case tree.Text:
		return constant(at.Text)
	case tree.Blob:
		t.fail(at, "blobs are not supported as literals: write unhex('…')")
	}
	return value{null: true, uses: columnSet{}}
}

// constant returns the value of a Go value.
func constant(x any) value {
	v := value{constant: x, uses: columnSet{}}
	switch x := x.(type) {
	case bool:
		v.expr, v.dataType = gpuframe.Lit(x), boolType
	case int64:
		v.expr, v.dataType = gpuframe.Lit(int(x)), int64Type
	case float64:
		v.expr, v.dataType = gpuframe.LitOf(floatType, x), floatType
	case string:
		v.expr, v.dataType = gpuframe.Lit(x), textType
	case arrow.Date32:
		v.expr, v.dataType = gpuframe.LitOf(dateType, x), dateType
	case arrow.Timestamp:
		v.expr, v.dataType = gpuframe.LitOf(timestampType, x), timestampType
	}
	return v
}

// floatLiteral returns the value of a number with an exponent.
func (t *translation) floatLiteral(at tree.Node, digits string) value {
	x, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		t.fail(at, "%s is no number that a double holds", digits)
	}
	return constant(x)
}

// decimalLiteral returns the value of digits with a point, or of an integer of more than 64 bits. Digits that
// no decimal holds are a double.
func (t *translation) decimalLiteral(at tree.Node, digits string) value {
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(digits, "-"), ".")
	whole = strings.TrimLeft(whole, "0")
	precision := max(len(whole)+len(fraction), 1)
	if precision > 38 || strings.Trim(whole+fraction, "0123456789") != "" {
		return t.floatLiteral(at, digits)
	}
	normal := whole
	if whole == "" {
		normal = "0"
	}
	if fraction != "" {
		normal += "." + fraction
	}
	if strings.HasPrefix(digits, "-") {
		normal = "-" + normal
	}
	decimal := &arrow.Decimal128Type{Precision: int32(precision), Scale: int32(len(fraction))}
	return value{expr: gpuframe.LitOf(decimal, normal), dataType: decimal, constant: decimalText(normal), uses: columnSet{}}
}

// parameter returns the value of an argument of the statement.
func (t *translation) parameter(at *tree.Parameter) value {
	if at.Name != "" {
		t.fail(at, "parameters with names are not supported: number them, $1")
	}
	if at.Number < 1 || at.Number > len(t.arguments) {
		t.fail(at, "parameter %d has no argument: the call has %d", at.Number, len(t.arguments))
	}
	return t.argument(at, t.arguments[at.Number-1])
}

// argument returns the value of a Go value.
func (t *translation) argument(at tree.Node, x any) value {
	switch x := x.(type) {
	case nil:
		return value{null: true, uses: columnSet{}}
	case Null:
		return value{expr: gpuframe.LitOf(x.Type, nil), dataType: x.Type, uses: columnSet{}}
	case bool, int64, float64, string:
		return constant(x)
	case int:
		return constant(int64(x))
	case int8, int16, int32, uint8, uint16, uint32:
		n, _ := strconv.ParseInt(fmt.Sprint(x), 10, 64)
		return constant(n)
	case float32:
		return constant(float64(x))
	case uint, uint64:
		n, err := strconv.ParseInt(fmt.Sprint(x), 10, 64)
		if err != nil {
			t.fail(at, "the argument %d is larger than 64-bit integers are: pass it as a text and cast it", x)
		}
		return constant(n)
	case json.Number:
		return t.number(at, string(x))
	case arrow.Date32:
		return constant(x)
	case time.Time:
		return constant(arrow.Timestamp(x.UTC().UnixMicro()))
	case time.Duration:
		return value{interval: &interval{microseconds: constant(x.Microseconds())}, uses: columnSet{}}
	}
	t.fail(at, "an argument of type %T is not supported: pass a number, bool, string, json.Number, arrow.Date32, time.Time, time.Duration or nil", x)
	return value{}
}

// typedText returns the value of a type before a text, such as date '2020-02-29'.
func (t *translation) typedText(at *tree.TypedText) value {
	return t.convert(at, constant(at.Text), t.dataType(at.Type))
}

// parsed returns a text as a value of a type. ok is false if the type has no such literals.
func (t *translation) parsed(at tree.Node, written string, to arrow.DataType) (v value, ok bool) {
	v, ok, wrong := t.readLiteral(at, written, to)
	if wrong != "" {
		t.fail(at, wrong, written)
	}
	return v, ok
}

// readLiteral is parsed for texts that may be no literal of the type: then it returns the form of an error.
func (t *translation) readLiteral(at tree.Node, written string, to arrow.DataType) (v value, ok bool, wrong string) {
	trimmed := strings.TrimSpace(written)
	switch {
	case isDate(to):
		if end := strings.IndexFunc(trimmed, func(r rune) bool { return !strings.ContainsRune("0123456789-/", r) }); end >= 0 {
			trimmed = trimmed[:end] // as in DuckDB, which leaves out a time of day, whatever it is
		}
		day, err := parseTime(trimmed)
		if err != nil {
			return v, true, "%q is no date: write '2006-01-02'"
		}
		return constant(arrow.Date32FromTime(day)), true, ""
	case isTimestamp(to):
		instant, err := parseTime(trimmed)
		if err != nil {
			return v, true, "%q is no timestamp: write '2006-01-02 15:04:05'"
		}
		return inZone(constant(arrow.Timestamp(instant.UnixMicro())), to), true, ""
	case isBool(to):
		switch strings.ToLower(trimmed) {
		case "true", "t", "yes", "y", "1":
			return constant(true), true, ""
		case "false", "f", "no", "n", "0":
			return constant(false), true, ""
		}
		return v, true, "%q is no boolean: write 'true' or 'false'"
	case isNumber(to):
		return t.readNumber(at, trimmed, to)
	}
	return v, false, ""
}

// readNumber is readLiteral of numbers.
func (t *translation) readNumber(at tree.Node, trimmed string, to arrow.DataType) (v value, ok bool, wrong string) {
	if n, err := strconv.ParseInt(trimmed, 10, 64); err == nil && isInteger(to) {
		return constant(n), true, ""
	}
	if isInteger(to) && len(trimmed) > 2 && trimmed[0] == '0' && strings.ContainsAny(trimmed[1:2], "xXbB") {
		n, err := strconv.ParseInt(trimmed, 0, 64)
		if err != nil {
			return v, true, "%q is no integer"
		}
		return constant(n), true, ""
	}
	x, err := strconv.ParseFloat(trimmed, 64)
	isBeyond := errors.Is(err, strconv.ErrRange) && isFloat(to) // infinite, as in DuckDB
	switch {
	case err != nil && !isBeyond || strings.ContainsAny(trimmed, "xX") || isDecimal(to) && (math.IsInf(x, 0) || math.IsNaN(x)):
		return v, true, "%q is no number of the type"
	case isDecimal(to):
		return t.decimalLiteral(at, trimmed), true, ""
	case isFloat(to):
		return constant(x), true, ""
	}
	n, isWhole := rounded(strings.ReplaceAll(trimmed, "_", ""), x)
	if !isWhole || arrow.IsUnsignedInteger(to.ID()) && strings.HasPrefix(trimmed, "-") {
		return v, true, "%q is no integer"
	}
	return constant(n), true, ""
}

// rounded returns the integer nearest to a number that is written with a point or an exponent: of a half, the one
// further from zero. x is the number as a float.
func rounded(written string, x float64) (n int64, ok bool) {
	switch {
	case math.IsNaN(x) || math.Abs(x) > 1e19:
		return 0, false
	case math.Abs(x) < 0.25: // exponents may be too long for a fraction
		return 0, true
	}
	exact, ok := new(big.Rat).SetString(written)
	if !ok {
		return 0, false
	}
	half := big.NewRat(int64(exact.Sign()), 2)
	exact.Add(exact, half)
	whole := new(big.Int).Quo(exact.Num(), exact.Denom())
	return whole.Int64(), whole.IsInt64()
}

// parseTime reads a date, or a date with a time of day.
func parseTime(written string) (instant time.Time, err error) {
	if !strings.Contains(written, "-") {
		written = strings.ReplaceAll(written, "/", "-")
	}
	for _, layout := range []string{"2006-1-2", "2006-1-2 15:04:05.999999999", "2006-1-2T15:04:05.999999999", "2006-1-2 15:04", "2006-1-2T15:04:05Z", "2006-1-2 15:04:05Z07:00"} {
		if instant, err = time.Parse(layout, written); err == nil {
			return instant.UTC(), nil
		}
	}
	return instant, err
}
