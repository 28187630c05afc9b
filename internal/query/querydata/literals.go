package querydata

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/gpuframe/gpuframe"
)

// literal returns the literal of an object with a value and perhaps a type.
func (o *object) literal() gpuframe.Expr {
	if !o.has("value") {
		o.reading.fail(o.place, "has no value, expected one, which may be null")
	}
	kind, v := o.member("type"), o.member("value")
	if kind.missing() {
		return gpuframe.Lit(v.plain())
	}
	switch kind.data {
	case "integer":
		return gpuframe.Lit(v.openInteger())
	case "float":
		return gpuframe.Lit(v.float())
	case "timestamp":
		return gpuframe.Lit(v.instant())
	case "duration":
		return gpuframe.Lit(time.Duration(v.integer()))
	}
	t := kind.dataType()
	if v.missing() {
		return gpuframe.LitOf(t, nil)
	}
	return gpuframe.LitOf(t, v.typed(t))
}

// scalar returns the Go value of a literal, for options that are no expressions.
func (v value) scalar() any {
	o := v.object()
	if name := o.member("function"); name.data != "literal" {
		name.expected(`"literal"`)
		return nil
	}
	kind, content := o.member("type"), o.member("value")
	defer o.end()
	switch kind.data {
	case nil:
		return content.plain()
	case "integer":
		return content.openInteger()
	case "float":
		return content.float()
	case "timestamp":
		return content.instant()
	case "duration":
		return time.Duration(content.integer())
	}
	t := kind.dataType()
	if content.missing() {
		return nil
	}
	return content.typed(t)
}

// argument returns the Go value of a literal as an argument of a statement: a decimal is a json.Number.
func (v value) argument() any {
	result := v.scalar()
	if _, isDecimal := result.(decimal128.Num); isDecimal {
		return json.Number(fmt.Sprint(v.data.(map[string]any)["value"]))
	}
	return result
}

// plain returns a value without a type.
func (v value) plain() any {
	switch data := v.data.(type) {
	case nil, bool, string:
		return data
	case json.Number:
		if strings.ContainsAny(data.String(), ".eE") {
			return v.number()
		}
		return v.openInteger()
	}
	v.expected("null, a bool, a number or a string: other literals have a type")
	return nil
}

// openInteger returns an int, which adapts to other operands, or a larger integer.
func (v value) openInteger() any {
	n := v.big(64)
	switch {
	case n.IsInt64() && n.Int64() == int64(int(n.Int64())):
		return int(n.Int64())
	case n.IsInt64():
		return n.Int64()
	case n.IsUint64():
		return n.Uint64()
	}
	v.expected("an integer of 64 bits; use a decimal for others")
	return 0
}

// big returns a whole number of at most some digits, from a number or a string of digits.
func (v value) big(digits int) *big.Int {
	var text string
	switch data := v.data.(type) {
	case json.Number:
		text = data.String()
	case string:
		text = data
	}
	if n, ok := new(big.Int).SetString(text, 10); ok && len(text) <= digits && text[0] != '+' {
		return n
	}
	v.expected("a whole number, or a string of its digits")
	return new(big.Int)
}

// float returns a number, or one that JSON lacks.
func (v value) float() float64 {
	switch v.data {
	case "NaN":
		return math.NaN()
	case "Infinity":
		return math.Inf(1)
	case "-Infinity":
		return math.Inf(-1)
	}
	if _, ok := v.data.(json.Number); !ok {
		v.expected(`a number, "NaN", "Infinity" or "-Infinity"`)
		return 0
	}
	return v.number()
}

// instant returns a point in time.
func (v value) instant() time.Time {
	text := v.text()
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t
		}
	}
	v.expected(`a time such as "2026-06-01T12:00:00.5Z"`)
	return time.Time{}
}

// isNumber reports whether the value is a number of JSON.
func (v value) isNumber() bool {
	_, ok := v.data.(json.Number)
	return ok
}

// typed returns a value that is not null as a Go value for a literal of a type.
func (v value) typed(t arrow.DataType) any {
	switch t := t.(type) {
	case *arrow.BooleanType:
		return v.flag()
	case *arrow.Decimal128Type:
		return v.decimal(t)
	case *arrow.Float16Type, *arrow.Float32Type, *arrow.Float64Type:
		return v.float()
	case *arrow.StringType, *arrow.LargeStringType:
		return v.text()
	case *arrow.BinaryType, *arrow.LargeBinaryType, *arrow.FixedSizeBinaryType:
		content, err := base64.StdEncoding.DecodeString(v.text())
		if err != nil {
			v.expected("bytes in base64")
		}
		return content
	}
	if arrow.IsInteger(t.ID()) {
		return v.openInteger()
	}
	return v.temporal(t)
}

// temporal returns a point in time, a time of the day, or a number of units.
func (v value) temporal(t arrow.DataType) any {
	switch t := t.(type) {
	case *arrow.Date32Type:
		if v.isNumber() {
			return arrow.Date32(v.count())
		}
		return v.instant()
	case *arrow.Date64Type:
		if v.isNumber() {
			return arrow.Date64(v.integer())
		}
		return v.instant()
	case *arrow.TimestampType:
		if v.isNumber() {
			return arrow.Timestamp(v.integer())
		}
		return v.instant()
	case *arrow.Time32Type:
		if v.isNumber() {
			return arrow.Time32(v.count())
		}
		return arrow.Time32(v.clock(t.Unit))
	case *arrow.Time64Type:
		if v.isNumber() {
			return arrow.Time64(v.integer())
		}
		return arrow.Time64(v.clock(t.Unit))
	case *arrow.DurationType:
		return arrow.Duration(v.integer())
	}
	v.expected("null: other literals of type " + t.String() + " do not exist")
	return nil
}

// clock returns a time of the day as a number of units.
func (v value) clock(unit arrow.TimeUnit) int64 {
	at, err := time.Parse("15:04:05", v.text())
	since := at.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC))
	if err != nil || since%unit.Multiplier() != 0 {
		v.expected(`a time of the day such as "12:00:00.5", with no more digits than the unit`)
		return 0
	}
	return int64(since / unit.Multiplier())
}

// decimal returns the unscaled value of a decimal.
func (v value) decimal(t *arrow.Decimal128Type) decimal128.Num {
	text, ok := v.data.(string)
	if v.isNumber() {
		text, ok = v.data.(json.Number).String(), true
	}
	whole, fraction, _ := strings.Cut(text, ".")
	fraction = strings.TrimRight(fraction, "0")
	if ok && len(fraction) <= int(t.Scale) {
		digits := value{v.reading, v.place, whole + fraction + strings.Repeat("0", int(t.Scale)-len(fraction))}
		const longest = 40 // digits and the sign
		if n := digits.big(longest); len(new(big.Int).Abs(n).String()) <= int(t.Precision) {
			return decimal128.FromBigInt(n)
		}
	}
	v.expected("the digits of a " + t.String())
	return decimal128.Num{}
}
