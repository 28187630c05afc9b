package text

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

var (
	formatFunction = patternFunction("format", bracePattern)
	printfFunction = patternFunction("printf", percentPattern)
)

// Format is a text with values in place of {} and {:SPEC}, where SPEC is flags, a width, a precision and one of the
// letters of [Printf]; {{ and }} are braces. The host computes it.
func Format(pattern string, values ...expr.Expr) expr.Expr {
	return patternOf(formatFunction, pattern, values)
}

// Printf is a text with values in place of verbs, as C and Go have them: %d of integers, %x, %X, %o of integers,
// %f, %e, %g of numbers, %s of strings, numbers and booleans, with the flags -, +, space and 0, a width and a precision;
// %% is a percent sign. The host computes it.
func Printf(pattern string, values ...expr.Expr) expr.Expr {
	return patternOf(printfFunction, pattern, values)
}

func patternOf(f *hostFunction, pattern string, values []expr.Expr) expr.Expr {
	if len(values) == 0 {
		return expr.Apply(hosted{function: f, text: pattern}, expr.Lit(true))
	}
	return expr.Apply(hosted{function: f, text: pattern}, values...)
}

// piece is a literal, or the place of a value as Go's fmt has it.
type piece struct {
	literal string
	// spec is the verb without its letter: "%05.2".
	spec string
	verb byte
}

// specForm is flags, a width, a precision and a letter.
var specForm = regexp.MustCompile(`^([-+ 0]*)([0-9]{0,3})((?:\.[0-9]{0,3})?)([dsfeExXog]?)`)

// spec reads the description of a value at the beginning of a text.
func spec(text string, defaultVerb byte) (p piece, rest string, ok bool) {
	m := specForm.FindStringSubmatch(text)
	p = piece{spec: "%" + m[1] + m[2] + m[3], verb: defaultVerb}
	if m[4] != "" {
		p.verb = m[4][0]
	}
	return p, text[len(m[0]):], p.verb != 0
}

func percentPattern(text string) (pieces []piece, err error) {
	for text != "" {
		literal, rest, hasVerb := strings.Cut(text, "%")
		pieces = append(pieces, piece{literal: literal})
		if text = rest; !hasVerb {
			break
		}
		if strings.HasPrefix(text, "%") {
			pieces, text = append(pieces, piece{literal: "%"}), text[1:]
			continue
		}
		p, rest, ok := spec(text, 0)
		if !ok {
			return nil, fmt.Errorf("%%%s begins with no verb, expected d, s, f, e, g, x, X or o, or %%%%: %w", text, expr.ErrLiteral)
		}
		pieces, text = append(pieces, p), rest
	}
	return pieces, nil
}

func bracePattern(text string) (pieces []piece, err error) {
	for text != "" {
		at := strings.IndexAny(text, "{}")
		if at < 0 {
			return append(pieces, piece{literal: text}), nil
		}
		pieces = append(pieces, piece{literal: text[:at]})
		brace := text[at : at+1]
		if text = text[at+1:]; strings.HasPrefix(text, brace) {
			pieces, text = append(pieces, piece{literal: brace}), text[1:]
			continue
		}
		p, rest, ok := spec(strings.TrimPrefix(text, ":"), 's')
		if brace == "}" || !ok || !strings.HasPrefix(rest, "}") || p.spec != "%" && text[0] != ':' {
			return nil, fmt.Errorf("%q has a brace without its form, expected {}, {:.2f}, {{ or }}: %w", text, expr.ErrLiteral)
		}
		pieces, text = append(pieces, p), rest[1:]
	}
	return pieces, nil
}

func patternFunction(name string, parse func(pattern string) ([]piece, error)) *hostFunction {
	return &hostFunction{
		name: name,
		result: func(h hosted, operands []arrow.DataType) (arrow.DataType, error) {
			pieces, err := parse(h.text)
			if err != nil {
				return nil, err
			}
			return arrow.BinaryTypes.String, checkPieces(pieces, operands)
		},
		rows: func(_ context.Context, h hosted, operands []arrow.Array) (appendRow, error) {
			pieces, err := parse(h.text)
			if err != nil {
				return nil, err
			}
			var parts []func(to []byte, row int) []byte
			for _, p := range pieces {
				if p.verb == 0 {
					parts = append(parts, func(to []byte, _ int) []byte { return append(to, p.literal...) })
					continue
				}
				parts = append(parts, p.value(operands[0]))
				operands = operands[1:]
			}
			var text []byte
			return func(row int, to array.Builder) {
				text = text[:0]
				for _, part := range parts {
					text = part(text, row)
				}
				to.(*array.StringBuilder).Append(string(text))
			}, nil
		},
	}
}

// checkPieces compares the places of a pattern with the types of values.
func checkPieces(pieces []piece, operands []arrow.DataType) error {
	places := 0
	for _, p := range pieces {
		if p.verb == 0 {
			continue
		}
		if places++; places > len(operands) {
			continue
		}
		t := layout.Storage(operands[places-1])
		_, notText := plain(t)
		isWhole := arrow.IsInteger(t.ID())
		isNumber := isWhole || arrow.IsFloating(t.ID()) && t.ID() != arrow.FLOAT16 || t.ID() == arrow.DECIMAL128
		switch p.verb {
		case 's':
			if notText != nil && !isNumber && t.ID() != arrow.BOOL {
				return fmt.Errorf("value %d is %v, expected a string, number or boolean: cast it to utf8: %w", places, t, expr.ErrType)
			}
		case 'f', 'e', 'E', 'g':
			if !isNumber {
				return fmt.Errorf("value %d is %v, expected a number for %%%c: %w", places, t, p.verb, expr.ErrType)
			}
		default:
			if !isWhole {
				return fmt.Errorf("value %d is %v, expected an integer for %%%c: %w", places, t, p.verb, expr.ErrType)
			}
		}
	}
	if none := places == 0 && len(operands) == 1 && operands[0].ID() == arrow.BOOL; places != len(operands) && !none {
		return fmt.Errorf("the pattern has %d places for %d values: %w", places, len(operands), expr.ErrLiteral)
	}
	return nil
}

// value returns the function that appends the text of a row.
func (p piece) value(a arrow.Array) func(to []byte, row int) []byte {
	form := p.spec + string(p.verb)
	switch p.verb {
	case 's':
		if p.spec == "%" {
			text := plainValue(a)
			return func(to []byte, row int) []byte { return append(to, text(row)...) }
		}
		text := plainValue(a)
		return func(to []byte, row int) []byte { return fmt.Appendf(to, form, text(row)) }
	case 'f', 'e', 'E', 'g':
		number := floatOf(a)
		return func(to []byte, row int) []byte { return fmt.Appendf(to, form, number(row)) }
	}
	whole := wholeOf(a)
	return func(to []byte, row int) []byte { return fmt.Appendf(to, form, whole(row)) }
}

// plainValue returns the text of a value: the shortest one of floats.
func plainValue(a arrow.Array) func(row int) string {
	switch a := a.(type) {
	case *array.Float32:
		return func(row int) string { return string(appendFloat32(nil, a.Value(row))) }
	case *array.Float64:
		return func(row int) string { return strconv.FormatFloat(a.Value(row), 'g', -1, 64) }
	case *array.String, *array.LargeString, *array.Binary, *array.LargeBinary, *array.Dictionary:
		return stringsOf(a)
	case *array.Decimal128:
		scale := a.DataType().(*arrow.Decimal128Type).Scale
		return func(row int) string { return a.Value(row).ToString(scale) }
	}
	return a.ValueStr
}

func floatOf(a arrow.Array) func(row int) float64 {
	switch a := a.(type) {
	case *array.Float32:
		return func(row int) float64 { return float64(a.Value(row)) }
	case *array.Float64:
		return a.Value
	case *array.Decimal128:
		scale := a.DataType().(*arrow.Decimal128Type).Scale
		return func(row int) float64 { return a.Value(row).ToFloat64(scale) }
	}
	whole := wholeOf(a)
	return func(row int) float64 {
		if n, ok := whole(row).(uint64); ok {
			return float64(n)
		}
		return float64(whole(row).(int64))
	}
}

// wholeOf returns an integer as int64 or uint64.
func wholeOf(a arrow.Array) func(row int) any {
	switch a := a.(type) {
	case *array.Int8:
		return func(row int) any { return int64(a.Value(row)) }
	case *array.Int16:
		return func(row int) any { return int64(a.Value(row)) }
	case *array.Int32:
		return func(row int) any { return int64(a.Value(row)) }
	case *array.Uint8:
		return func(row int) any { return uint64(a.Value(row)) }
	case *array.Uint16:
		return func(row int) any { return uint64(a.Value(row)) }
	case *array.Uint32:
		return func(row int) any { return uint64(a.Value(row)) }
	case *array.Uint64:
		return func(row int) any { return a.Value(row) }
	}
	return func(row int) any { return a.(*array.Int64).Value(row) }
}
