package answer

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
)

func TestOf(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "d", Type: &arrow.Decimal128Type{Precision: 15, Scale: 2}, Nullable: true},
		{Name: "on", Type: arrow.FixedWidthTypes.Date32},
		{Name: "x", Type: arrow.PrimitiveTypes.Float64},
	}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	b.Field(0).(*array.Decimal128Builder).Append(decimal128.FromI64(-1250))
	b.Field(0).AppendNull()
	b.Field(1).(*array.Date32Builder).AppendValues([]arrow.Date32{0, 8035}, nil)
	b.Field(2).(*array.Float64Builder).AppendValues([]float64{0.1, 3}, nil)
	record := b.NewRecord()
	defer record.Release()
	a := Of(record)
	want := Answer{[]string{"d", "on", "x"}, [][]string{{"-12.5", "1970-01-01", "0.1"}, {Null, "1992-01-01", "3"}}}
	require.Empty(t, a.Difference(want, nil))
	require.Equal(t, a, Parse(a.String()))
}

func TestDifference(t *testing.T) {
	of := func(rows ...[]string) Answer { return Answer{[]string{"k", "v"}, rows} }
	a := of([]string{"1", "5.50"}, []string{"1", "6"}, []string{"2", "0.3333333333333333"})
	for name, c := range map[string]struct {
		other Answer
		equal bool
	}{
		"same":             {a, true},
		"tied rows":        {of([]string{"1", "6"}, []string{"1", "5.5"}, []string{"2", "0.3333333333333333"}), true},
		"rounded float":    {of([]string{"1", "5.5"}, []string{"1", "6"}, []string{"2", "0.33333333333"}), true},
		"other float":      {of([]string{"1", "5.5"}, []string{"1", "6"}, []string{"2", "0.33333333"}), false},
		"other decimal":    {of([]string{"1", "5.50"}, []string{"1", "6.000001"}, []string{"2", "0.3333333333333333"}), false},
		"null":             {of([]string{"1", "5.50"}, []string{"1", Null}, []string{"2", "0.3333333333333333"}), false},
		"other order":      {of([]string{"2", "0.3333333333333333"}, []string{"1", "5.50"}, []string{"1", "6"}), false},
		"fewer rows":       {of([]string{"1", "5.50"}), false},
		"other columns":    {Answer{[]string{"k", "w"}, a.Rows}, false},
		"text for number":  {of([]string{"1", "5.50"}, []string{"1", "six"}, []string{"2", "0.3333333333333333"}), false},
		"large and close":  {of([]string{"1", "5.50"}, []string{"1", "6"}, []string{"2", "0.33333333333333331"}), true},
		"trailing decimal": {of([]string{"1", "5.500000"}, []string{"1", "6.0"}, []string{"2", "0.3333333333333333"}), true},
	} {
		require.Equal(t, c.equal, a.Difference(c.other, []string{"k"}) == "", name)
	}
}
