package format

import (
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
)

// Parsed is a parsed format string. The zero value is empty.
type Parsed struct {
	id arrow.Type
	// whole is the type if it has no children.
	whole arrow.DataType
	// size is the length of each list of a fixed-size list.
	size int32
	// codes are the type ids of a union.
	codes []arrow.UnionTypeCode
}

// Parse reads a format string.
//
// # Errors
//
// The error wraps [ErrUnsupported] for an unknown type and [ErrInvalid] for malformed
// text.
func Parse(text string) (Parsed, error) {
	p, err := parse(text)
	if err != nil {
		return Parsed{}, fmt.Errorf("format %.64q: %w", text, err)
	}
	return p, nil
}

func parse(text string) (Parsed, error) {
	if err := CheckText(text, MaximumText); err != nil {
		return Parsed{}, err
	}
	for i := range plain {
		if plain[i].text == text {
			return Parsed{id: plain[i].t.ID(), whole: plain[i].t}, nil
		}
	}
	for i := range nested {
		if nested[i].text == text {
			return Parsed{id: nested[i].id}, nil
		}
	}
	for i := range timestamps {
		if zone, ok := strings.CutPrefix(text, timestamps[i].text); ok {
			if err := CheckText(zone, MaximumTimeZone); err != nil {
				return Parsed{}, fmt.Errorf("time zone: %w", err)
			}
			return whole(&arrow.TimestampType{Unit: timestamps[i].unit, TimeZone: zone})
		}
	}
	head, rest, _ := strings.Cut(text, ":")
	if len(head) == len(text) {
		return Parsed{}, unknown(text)
	}
	switch head {
	case "w":
		width, err := number(rest, 0, maximumWidth)
		if err != nil {
			return Parsed{}, fmt.Errorf("width: %w", err)
		}
		return whole(&arrow.FixedSizeBinaryType{ByteWidth: int(width)})
	case "d":
		return parseDecimal(rest)
	case "+w":
		return parseFixedSizeList(rest)
	case "+ud":
		return parseUnion(arrow.DENSE_UNION, rest)
	case "+us":
		return parseUnion(arrow.SPARSE_UNION, rest)
	}
	return Parsed{}, unknown(text)
}

func whole(t arrow.DataType) (Parsed, error) { return Parsed{id: t.ID(), whole: t}, nil }

// unknown distinguishes a misspelled type from one that a later version of the standard
// may define.
func unknown(text string) error {
	if text == "" {
		return fmt.Errorf("it is empty: %w", ErrInvalid)
	}
	for _, head := range [...]string{"w", "d", "+w", "+ud", "+us", "tss", "tsm", "tsu", "tsn"} {
		if text == head {
			return fmt.Errorf("the colon and the text after it are missing: %w", ErrInvalid)
		}
	}
	for i := range plain {
		if known := plain[i].text; strings.HasPrefix(text, known) {
			return fmt.Errorf("%.64q follows %q: %w", text[len(known):], known, ErrInvalid)
		}
	}
	for i := range nested {
		if known := nested[i].text; strings.HasPrefix(text, known) {
			return fmt.Errorf("%.64q follows %q: %w", text[len(known):], known, ErrInvalid)
		}
	}
	return fmt.Errorf("unknown type: %w", ErrUnsupported)
}

func parseDecimal(rest string) (Parsed, error) {
	parts := strings.SplitN(rest, ",", 4)
	if len(parts) < 2 || len(parts) > 3 {
		return Parsed{}, fmt.Errorf("expected a precision, a scale and optionally a width: %w", ErrInvalid)
	}
	width := int64(128)
	if len(parts) == 3 {
		var err error
		if width, err = number(parts[2], 0, maximumWidth); err != nil {
			return Parsed{}, fmt.Errorf("width: %w", err)
		}
	}
	if width != 128 && width != 256 {
		return Parsed{}, fmt.Errorf("width: decimals of %d bits are unknown: %w", width, ErrUnsupported)
	}
	most := int64(decimalDigits(int(width)))
	precision, err := number(parts[0], 1, most)
	if err != nil {
		return Parsed{}, fmt.Errorf("precision: %w", err)
	}
	scale, err := number(parts[1], -most, most)
	if err != nil {
		return Parsed{}, fmt.Errorf("scale: %w", err)
	}
	if width == 256 {
		return whole(&arrow.Decimal256Type{Precision: int32(precision), Scale: int32(scale)})
	}
	return whole(&arrow.Decimal128Type{Precision: int32(precision), Scale: int32(scale)})
}

func parseFixedSizeList(rest string) (Parsed, error) {
	size, err := number(rest, 0, maximumWidth)
	if err != nil {
		return Parsed{}, fmt.Errorf("list size: %w", err)
	}
	if size == 0 {
		return Parsed{}, fmt.Errorf("list size: arrow-go has no lists of zero elements: %w", ErrUnsupported)
	}
	return Parsed{id: arrow.FIXED_SIZE_LIST, size: int32(size)}, nil
}

func parseUnion(id arrow.Type, rest string) (Parsed, error) {
	p := Parsed{id: id}
	if rest == "" {
		return p, nil
	}
	var seen [int(arrow.MaxUnionTypeCode) + 1]bool
	for rest, more := rest, true; more; {
		var text string
		text, rest, more = strings.Cut(rest, ",")
		code, err := number(text, 0, int64(arrow.MaxUnionTypeCode))
		if err != nil {
			return Parsed{}, fmt.Errorf("type id %d: %w", len(p.codes), err)
		}
		if seen[code] {
			return Parsed{}, fmt.Errorf("type id %d: %d is repeated: %w", len(p.codes), code, ErrInvalid)
		}
		seen[code] = true
		p.codes = append(p.codes, arrow.UnionTypeCode(code))
	}
	return p, nil
}
