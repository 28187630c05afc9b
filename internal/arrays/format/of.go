package format

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
)

// Of returns the format string of a type: for an extension type that of its storage,
// for a dictionary type that of its indices. It does not check children.
//
// # Errors
//
// The error wraps [ErrInvalid] or [ErrUnsupported].
func Of(t arrow.DataType) (string, error) {
	t, err := Storage(t)
	if err != nil {
		return "", err
	}
	for i := range plain {
		if arrow.TypeEqual(plain[i].t, t) {
			return plain[i].text, nil
		}
	}
	switch t := t.(type) {
	case *arrow.FixedSizeBinaryType:
		if t.ByteWidth < 0 || int64(t.ByteWidth) > maximumWidth {
			return "", fmt.Errorf("type %v is %d bytes wide: %w", t, t.ByteWidth, ErrInvalid)
		}
		return "w:" + strconv.Itoa(t.ByteWidth), nil
	case *arrow.Decimal128Type:
		return decimalFormat(t, 128)
	case *arrow.Decimal256Type:
		return decimalFormat(t, 256)
	case *arrow.TimestampType:
		return timestampFormat(t)
	case *arrow.DictionaryType:
		if t.IndexType == nil || isNil(t.IndexType) || !arrow.IsInteger(t.IndexType.ID()) {
			return "", fmt.Errorf("the indices of a dictionary type are not integers: %w", ErrInvalid)
		}
		return Of(t.IndexType)
	}
	return nestedFormat(t)
}

func nestedFormat(t arrow.DataType) (string, error) {
	text := ""
	switch t := t.(type) {
	case *arrow.ListType:
		text = "+l"
	case *arrow.LargeListType:
		text = "+L"
	case *arrow.ListViewType:
		text = "+vl"
	case *arrow.LargeListViewType:
		text = "+vL"
	case *arrow.FixedSizeListType:
		if t.Len() < 1 {
			return "", fmt.Errorf("a fixed-size list of %d elements: %w", t.Len(), ErrInvalid)
		}
		text = "+w:" + strconv.Itoa(int(t.Len()))
	case *arrow.StructType:
		text = "+s"
	case *arrow.MapType:
		text = "+m"
	case *arrow.RunEndEncodedType:
		text = "+r"
	case *arrow.DenseUnionType:
		text = "+ud:" + codesText(t.TypeCodes())
	case *arrow.SparseUnionType:
		text = "+us:" + codesText(t.TypeCodes())
	default:
		return "", fmt.Errorf("no format string is known for type %s: %w", t.ID(), ErrUnsupported)
	}
	return text, nil
}

func codesText(codes []arrow.UnionTypeCode) string {
	texts := make([]string, len(codes))
	for i, code := range codes {
		texts[i] = strconv.Itoa(int(code))
	}
	return strings.Join(texts, ",")
}

// decimalFormat omits the width if it is the default.
func decimalFormat(t arrow.DecimalType, width int) (string, error) {
	precision, scale := t.GetPrecision(), t.GetScale()
	most := decimalDigits(width)
	if precision < 1 || precision > most || scale < -most || scale > most {
		return "", fmt.Errorf("%v: precision must be 1 to %d and scale -%d to %d: %w", t, most, most, most, ErrInvalid)
	}
	text := fmt.Sprintf("d:%d,%d", precision, scale)
	if width != 128 {
		text += "," + strconv.Itoa(width)
	}
	return text, nil
}

func timestampFormat(t *arrow.TimestampType) (string, error) {
	if err := CheckText(t.TimeZone, MaximumTimeZone); err != nil {
		return "", fmt.Errorf("time zone: %w", err)
	}
	for i := range timestamps {
		if timestamps[i].unit == t.Unit {
			return timestamps[i].text + t.TimeZone, nil
		}
	}
	return "", fmt.Errorf("timestamps have no unit %d: %w", t.Unit, ErrInvalid)
}

// Storage returns the storage type of an extension type, and any other type itself. It
// never returns a nil pointer.
func Storage(t arrow.DataType) (arrow.DataType, error) {
	for range MaximumDepth {
		if t == nil || isNil(t) {
			return nil, fmt.Errorf("the type is nil: %w", ErrInvalid)
		}
		if t.ID() != arrow.EXTENSION {
			return t, nil
		}
		extension, ok := t.(arrow.ExtensionType)
		if !ok {
			return nil, fmt.Errorf("type %T has the id of an extension type but does not implement arrow.ExtensionType: %w", t, ErrInvalid)
		}
		t = extension.StorageType()
	}
	return nil, fmt.Errorf("the storage of the extension type is an endless chain of extension types: %w", ErrInvalid)
}

// isNil reports whether the interface holds a nil pointer.
func isNil(t arrow.DataType) bool {
	value := reflect.ValueOf(t)
	return value.Kind() == reflect.Pointer && value.IsNil()
}
