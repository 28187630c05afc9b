package substrait

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/substrait-io/substrait-protobuf/go/substraitpb"

	"github.com/gpuframe/gpuframe/sql/tree"
)

// literal translates a value of a plan.
func literal(path string, l *substraitpb.Expression_Literal) (tree.Expr, error) {
	typed := func(name, text string) (tree.Expr, error) {
		return &tree.TypedText{Type: &tree.Type{Name: name}, Text: text}, nil
	}
	switch v := l.GetLiteralType().(type) {
	case *substraitpb.Expression_Literal_Boolean:
		if v.Boolean {
			return &tree.Literal{Kind: tree.True}, nil
		}
		return &tree.Literal{Kind: tree.False}, nil
	case *substraitpb.Expression_Literal_I8:
		return integer(int64(v.I8)), nil
	case *substraitpb.Expression_Literal_I16:
		return integer(int64(v.I16)), nil
	case *substraitpb.Expression_Literal_I32:
		return integer(int64(v.I32)), nil
	case *substraitpb.Expression_Literal_I64:
		return integer(v.I64), nil
	case *substraitpb.Expression_Literal_Fp32:
		return float(float64(v.Fp32), 32), nil
	case *substraitpb.Expression_Literal_Fp64:
		return float(v.Fp64, 64), nil
	case *substraitpb.Expression_Literal_String_:
		return textLiteral(v.String_), nil
	case *substraitpb.Expression_Literal_FixedChar:
		return textLiteral(v.FixedChar), nil
	case *substraitpb.Expression_Literal_VarChar_:
		return textLiteral(v.VarChar.GetValue()), nil
	case *substraitpb.Expression_Literal_Date:
		return typed("date", time.Unix(int64(v.Date)*24*60*60, 0).UTC().Format("2006-01-02"))
	case *substraitpb.Expression_Literal_Time:
		return typed("time", time.UnixMicro(v.Time).UTC().Format("15:04:05.000000"))
	case *substraitpb.Expression_Literal_Timestamp:
		return typed("timestamp", moment(v.Timestamp, 6))
	case *substraitpb.Expression_Literal_TimestampTz:
		return typed("timestamp with time zone", moment(v.TimestampTz, 6)+"+00")
	case *substraitpb.Expression_Literal_PrecisionTimestamp_:
		p := v.PrecisionTimestamp.GetPrecision()
		if p < 0 || p > 9 {
			return nil, failed(path, "timestamps of precision %d are not supported: from 0 to 9", p)
		}
		name := "timestamp"
		if p > 6 {
			name = "timestamp_ns"
		}
		return typed(name, moment(v.PrecisionTimestamp.GetValue(), p))
	case *substraitpb.Expression_Literal_IntervalYearToMonth_:
		return interval(fmt.Sprintf("%d years %d months", v.IntervalYearToMonth.GetYears(), v.IntervalYearToMonth.GetMonths())), nil
	case *substraitpb.Expression_Literal_IntervalDayToSecond_:
		return daysAndSeconds(path, v.IntervalDayToSecond)
	case *substraitpb.Expression_Literal_Decimal_:
		return decimal(path, v.Decimal)
	case *substraitpb.Expression_Literal_Null:
		typ, err := typeOf(path, v.Null)
		return &tree.Cast{X: &tree.Literal{Kind: tree.Null}, Type: typ}, err
	case *substraitpb.Expression_Literal_List_:
		list := &tree.List{}
		for i, value := range v.List.GetValues() {
			e, err := literal(element(path, i), value)
			if err != nil {
				return nil, err
			}
			list.Items = append(list.Items, e)
		}
		return list, nil
	}
	return nil, failed(path, "literal %T is not supported", l.GetLiteralType())
}

// float is a literal of a double, or of a real for 32 bits.
func float(v float64, bits int) tree.Expr {
	name := "double"
	if bits == 32 {
		name = "real"
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		text := map[bool]string{true: "nan"}[math.IsNaN(v)]
		if text == "" {
			text = strings.TrimPrefix(fmt.Sprint(v), "+")
		}
		return &tree.Cast{X: textLiteral(text), Type: &tree.Type{Name: name}}
	}
	var e tree.Expr = &tree.Literal{Kind: tree.Float, Text: strconv.FormatFloat(math.Abs(v), 'e', -1, bits)}
	if math.Signbit(v) {
		e = &tree.Unary{Op: "-", X: e}
	}
	if bits == 32 {
		e = &tree.Cast{X: e, Type: &tree.Type{Name: name}}
	}
	return e
}

// moment is a time in units of a power of ten since 1970.
func moment(value int64, precision int32) string {
	per := int64(math.Pow10(int(precision)))
	seconds, rest := value/per, value%per
	if rest < 0 {
		seconds, rest = seconds-1, rest+per
	}
	return time.Unix(seconds, rest*int64(math.Pow10(9-int(precision)))).UTC().Format("2006-01-02 15:04:05.999999999")
}

func interval(text string) tree.Expr { return &tree.Interval{Value: textLiteral(text)} }

func daysAndSeconds(path string, v *substraitpb.Expression_Literal_IntervalDayToSecond) (tree.Expr, error) {
	precision := v.GetPrecision()
	fraction := v.GetSubseconds()
	if old := v.GetMicroseconds(); old != 0 {
		precision, fraction = 6, int64(old)
	}
	if precision < 0 || precision > 6 {
		return nil, failed(path, "intervals of precision %d are not supported: from 0 to 6", precision)
	}
	micros := fraction * int64(math.Pow10(6-int(precision)))
	return interval(fmt.Sprintf("%d days %d seconds %d microseconds", v.GetDays(), v.GetSeconds(), micros)), nil
}

// decimal reads 16 bytes of an integer, the least one first.
func decimal(path string, v *substraitpb.Expression_Literal_Decimal) (tree.Expr, error) {
	bytes := slices.Clone(v.GetValue())
	if len(bytes) == 0 || len(bytes) > 16 || v.GetScale() < 0 || v.GetScale() > 38 || v.GetPrecision() < 1 || v.GetPrecision() > 38 {
		return nil, failed(path, "a decimal of %d bytes, precision %d and scale %d: expected 16, 1 to 38, 0 to 38", len(bytes), v.GetPrecision(), v.GetScale())
	}
	slices.Reverse(bytes)
	n := new(big.Int).SetBytes(bytes)
	if bytes[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(bytes))))
	}
	negative := n.Sign() < 0
	text := new(big.Rat).SetFrac(n.Abs(n), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(v.GetScale())), nil)).FloatString(int(v.GetScale()))
	var e tree.Expr = &tree.Literal{Kind: tree.Decimal, Text: text}
	if v.GetScale() == 0 {
		e = &tree.Literal{Kind: tree.Integer, Text: text}
	}
	if negative {
		e = &tree.Unary{Op: "-", X: e}
	}
	if v.GetScale() == 0 { // else the digits have the type
		e = &tree.Cast{X: e, Type: &tree.Type{Name: "decimal", Params: []int64{int64(v.GetPrecision()), 0}}}
	}
	return e, nil
}
