package nested_test

import (
	"encoding/base64"
	"regexp"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/nested"
	"github.com/gpuframe/gpuframe/memory"
)

// TestConcat compares concatenated and unique lists with loops over them.
func TestConcat(t *testing.T) {
	list, v := expr.Col("list"), nested.DefaultVariables
	valid := nested.Filter(list, expr.Col(v.Element).IsValid(), v)
	eachSample(t, append(elementTypes, arrow.PrimitiveTypes.Int64), func(t *testing.T, mgr *memory.Manager, s sample, c *column.Column) {
		table := tableOf(t, mgr, c)
		defer func() { require.NoError(t, table.Release()) }()
		for _, each := range []struct {
			e    expr.Expr
			want func(row int, list []any) []any
		}{
			{nested.Concat(list), func(_ int, list []any) []any { return list }},
			{nested.Concat(list, valid, nested.Get(list, 0)), func(_ int, list []any) []any {
				first := any(nil)
				if len(list) > 0 {
					first = list[0]
				}
				both := append([]any{}, list...)
				for _, v := range list {
					if v != nil {
						both = append(both, v)
					}
				}
				return append(both, first)
			}},
			{nested.ConcatSkipNulls(expr.Col("id"), list, valid), func(row int, list []any) []any {
				both := append([]any{row}, list...)
				for _, v := range list {
					if v != nil {
						both = append(both, v)
					}
				}
				return both
			}},
			{nested.ConcatSkipNulls(list, nested.Slice(list, 0, 1)), func(_ int, list []any) []any {
				if list == nil {
					return nil
				}
				return append(append([]any{}, list...), list[:min(1, len(list))]...)
			}},
			{nested.Concat(expr.Col("id"), expr.Col("id").Neg()), func(row int, _ []any) []any { return []any{row, -row} }},
			{nested.Unique(nested.Concat(list, list)), func(_ int, list []any) []any {
				seen, kept := map[string]bool{}, []any{}
				for _, v := range list {
					if !seen[text(v)] {
						kept = append(kept, v)
					}
					seen[text(v)] = true
				}
				return kept
			}},
		} {
			if _, _, err := each.e.Type(table.Schema()); err != nil {
				continue // the elements are no int64, as the numbers of the rows are
			}
			values := evaluate(t, s.name, table, each.e)
			got := listsOf(values)
			values.Release()
			require.Len(t, got, len(s.lists), s.name)
			for i, list := range s.lists {
				want := each.want(i, list)
				if list == nil && each.e.Columns()[0] == "list" {
					want = nil
				}
				require.Equal(t, texts(want), texts(got[i]), "%s, row %d of %v: %v", s.name, i, each.e, texts(list))
			}
		}
	})
}

func TestJoin(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, of := range []arrow.DataType{arrow.ListOf(arrow.BinaryTypes.String), arrow.LargeListOf(arrow.BinaryTypes.LargeString), arrow.ListOf(arrow.BinaryTypes.Binary), arrow.ListOf(arrow.BinaryTypes.LargeBinary)} {
			written := func(texts string) string { return texts }
			if element := of.(arrow.ListLikeType).Elem().ID(); element == arrow.BINARY || element == arrow.LARGE_BINARY {
				written = base64Texts
			}
			c := uploadJSON(t, mgr, of, written(`[["a", "", "ö"], null, [], [null], [null, "bc", null, "d"], [""]]`))
			for name, part := range map[string]struct {
				first, end int
				want       map[string]string
			}{
				"all":   {0, 6, map[string]string{"": `["aö",null,"","","bcd",""]`, "-": `["a--ö",null,"","","bc-d",""]`, ", ": `["a, , ö",null,"","","bc, d",""]`}},
				"part":  {3, 5, map[string]string{"-": `["","bc-d"]`}},
				"empty": {2, 4, map[string]string{"-": `["",""]`}},
				"none":  {2, 2, map[string]string{"-": `[]`}},
			} {
				rows, err := c.Slice(part.first, part.end-part.first)
				require.NoError(t, err)
				table := tableOf(t, mgr, rows)
				for separator, want := range part.want {
					values := evaluate(t, name, table, nested.Join(expr.Col("list"), separator))
					texts := asTexts(values)
					text, err := texts.MarshalJSON()
					require.NoError(t, err)
					require.Equal(t, want, string(text), "%v, %s, %q", of, name, separator)
					texts.Release()
					values.Release()
				}
				require.NoError(t, table.Release())
				require.NoError(t, rows.Release())
			}
		}
	})
}

// asTexts returns binary values as texts, and other values as they are.
func asTexts(values arrow.Array) arrow.Array {
	texts, isBinary := map[arrow.Type]arrow.DataType{arrow.BINARY: arrow.BinaryTypes.String, arrow.LARGE_BINARY: arrow.BinaryTypes.LargeString}[values.DataType().ID()]
	if !isBinary {
		texts = values.DataType()
	}
	data := values.Data()
	view := array.NewData(texts, data.Len(), data.Buffers(), nil, data.NullN(), data.Offset())
	defer view.Release()
	return array.MakeFromData(view)
}

// base64Texts returns JSON with its texts as those of binary values.
func base64Texts(texts string) string {
	return regexp.MustCompile(`"[^"]*"`).ReplaceAllStringFunc(texts, func(text string) string {
		return `"` + base64.StdEncoding.EncodeToString([]byte(text[1:len(text)-1])) + `"`
	})
}

// TestUniqueLists has lists of lists.
func TestUniqueLists(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		c := uploadJSON(t, mgr, arrow.ListOf(arrow.ListOf(arrow.PrimitiveTypes.Int64)), `[[[1, 2], [], [1, 2], null, [1], null, []], null]`)
		table := tableOf(t, mgr, c)
		defer func() { require.NoError(t, table.Release()) }()
		got := listsOf(evaluate(t, "", table, nested.Unique(expr.Col("list"))))
		require.Equal(t, "[[1,2] [] <nil> [1]]", texts(got[0]))
		require.Equal(t, "null", texts(got[1]))
	})
}

func TestConcatErrors(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "list", Type: arrow.ListOf(arrow.PrimitiveTypes.Int64)}, {Name: "text", Type: arrow.BinaryTypes.String},
	}, nil)
	for _, c := range []struct {
		e    expr.Expr
		want string
	}{
		{nested.Concat(expr.Col("list"), expr.Col("text")), "the elements are int64 and utf8, expected one type"},
		{nested.Join(expr.Col("list"), "-"), "int64"},
		{nested.Join(expr.Col("text"), "-"), "utf8 is no list"},
		{nested.Unique(expr.Col("text")), "utf8 is no list"},
	} {
		_, _, err := c.e.Type(schema)
		require.ErrorContains(t, err, c.want, c.e)
	}
}
