package format_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/arrays/format"
)

func TestTypeRefuses(t *testing.T) {
	number := arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int32}
	nullable := arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int32, Nullable: true}
	entries := func(nullable bool, fields ...arrow.Field) arrow.Field {
		return arrow.Field{Name: "entries", Type: arrow.StructOf(fields...), Nullable: nullable}
	}
	for _, c := range []struct {
		name, text string
		children   []arrow.Field
		values     *arrow.Field
		says       string
	}{
		{"child of a number", "i", []arrow.Field{number}, nil, "has 0 children, not 1"},
		{"list without element", "+l", nil, nil, "has 1 children, not 0"},
		{"list of two", "+vL", []arrow.Field{number, number}, nil, "has 1 children, not 2"},
		{"union with too few", "+ud:1,2", []arrow.Field{number}, nil, "has 2 children, not 1"},
		{"too many", "+s", make([]arrow.Field, format.MaximumChildren+1), nil, "children"},
		{"nil child", "+s", []arrow.Field{number, {Name: "x"}}, nil, "children[1]"},
		{"nil pointer child", "+s", []arrow.Field{{Type: (*arrow.ListType)(nil)}}, nil, "children[0]"},
		{"map of a number", "+m", []arrow.Field{number}, nil, "children[0]"},
		{"map of three", "+m", []arrow.Field{entries(false, number, number, number)}, nil, "children[0]"},
		{"map of nullable entries", "+m", []arrow.Field{entries(true, number, number)}, nil, "children[0]: the entries"},
		{"map of nullable keys", "+m", []arrow.Field{entries(false, nullable, number)}, nil, "children[0].children[0]"},
		{"run ends of one", "+r", []arrow.Field{number}, nil, "has 2 children, not 1"},
		{"run ends nullable", "+r", []arrow.Field{nullable, number}, nil, "children[0]"},
		{"run ends of text", "+r", []arrow.Field{{Type: arrow.BinaryTypes.String}, number}, nil, "children[0]"},
		{"dictionary of lists", "+l", []arrow.Field{number}, &number, "dictionary"},
		{"dictionary with text for indices", "u", nil, &number, "dictionary"},
		{"dictionary with floats for indices", "g", nil, &number, "dictionary"},
		{"dictionary of nothing", "i", nil, &arrow.Field{}, "dictionary"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := format.Parse(c.text)
			require.NoError(t, err)
			_, err = p.Type(c.children, 0, c.values)
			require.ErrorIs(t, err, format.ErrInvalid)
			require.ErrorContains(t, err, c.says)
		})
	}
}

// Types can be unknown to this package, or incomplete.
type stranger struct{ arrow.DataType }

type claims struct{ arrow.NullType }

func (*claims) ID() arrow.Type { return arrow.EXTENSION }

func TestDescribeRefuses(t *testing.T) {
	tooWide := 1 << 30
	tooWide *= 2 // negative if int has 32 bits
	for _, c := range []struct {
		name string
		t    arrow.DataType
		want error
	}{
		{"nil", nil, format.ErrInvalid},
		{"nil pointer", (*arrow.Int8Type)(nil), format.ErrInvalid},
		{"stranger", stranger{arrow.PrimitiveTypes.Int8}, format.ErrUnsupported},
		{"claims to be an extension", &claims{}, format.ErrInvalid},
		{"extension without storage", &parameters{}, format.ErrInvalid},
		{"extension of an extension", newParameters(newParameters(arrow.Null, "a"), "b"), format.ErrUnsupported},
		{"empty list", &arrow.ListType{}, format.ErrInvalid},
		{"empty fixed-size list", &arrow.FixedSizeListType{}, format.ErrInvalid},
		{"empty map", &arrow.MapType{KeysSorted: true}, format.ErrInvalid},
		{"empty run ends", &arrow.RunEndEncodedType{}, format.ErrInvalid},
		{"run ends without values", arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int16, nil), format.ErrInvalid},
		{"run ends of text", arrow.RunEndEncodedOf(arrow.BinaryTypes.String, arrow.Null), format.ErrInvalid},
		{"empty dictionary", &arrow.DictionaryType{}, format.ErrInvalid},
		{"dictionary without values", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8}, format.ErrInvalid},
		{"dictionary with text for indices", &arrow.DictionaryType{IndexType: arrow.BinaryTypes.String, ValueType: arrow.Null}, format.ErrInvalid},
		{"empty decimal", &arrow.Decimal128Type{}, format.ErrInvalid},
		{"wide decimal", &arrow.Decimal256Type{Precision: 77}, format.ErrInvalid},
		{"scale", &arrow.Decimal128Type{Precision: 1, Scale: -39}, format.ErrInvalid},
		{"negative width", &arrow.FixedSizeBinaryType{ByteWidth: -1}, format.ErrInvalid},
		{"too wide", &arrow.FixedSizeBinaryType{ByteWidth: tooWide}, format.ErrInvalid},
		{"zero in the time zone", &arrow.TimestampType{TimeZone: "a\x00"}, format.ErrInvalid},
		{"unit", &arrow.TimestampType{Unit: 9}, format.ErrInvalid},
		{"time of days", &arrow.Time32Type{Unit: arrow.Nanosecond}, format.ErrUnsupported},
		{"too many children", arrow.StructOf(manyFields(format.MaximumChildren + 1)...), format.ErrUnsupported},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := format.Describe(arrow.Field{Type: c.t})
			require.ErrorIs(t, err, c.want)
		})
	}
	_, err := format.Describe(arrow.Field{Name: "a\x00b", Type: arrow.Null})
	require.ErrorIs(t, err, format.ErrInvalid)
	require.ErrorContains(t, err, "name")
}

func manyFields(count int) []arrow.Field {
	fields := make([]arrow.Field, count)
	for i := range fields {
		fields[i].Type = arrow.Null
	}
	return fields
}
