package delta

import (
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
)

// arrow-go does not write all types that another library's checkpoint may have.
func TestMembers(t *testing.T) {
	large := arrow.LargeListOf(arrow.BinaryTypes.LargeString)
	texts := arrow.MapOf(arrow.BinaryTypes.LargeString, arrow.BinaryTypes.LargeString)
	structs := arrow.StructOf(arrow.Field{Name: "list", Type: large, Nullable: true}, arrow.Field{Name: "map", Type: texts, Nullable: true},
		arrow.Field{Name: "null", Type: arrow.Null, Nullable: true}, arrow.Field{Name: "float", Type: arrow.PrimitiveTypes.Float64, Nullable: true})
	values, _, err := array.FromJSON(memory.DefaultAllocator, structs, strings.NewReader(
		`[{"list": ["a", null, "b"], "map": [{"key": "k", "value": "v"}, {"key": "n", "value": null}], "float": 1}, {"float": null}]`))
	require.NoError(t, err)
	defer values.Release()
	var failure error
	first, second := members{values.(*array.Struct), 0, &failure}, members{values.(*array.Struct), 1, &failure}
	require.Equal(t, []string{"a", "b"}, first.list("list"))
	require.Equal(t, map[string]*string{"k": new("v"), "n": nil}, first.texts("map"))
	require.Empty(t, first.text("null"))
	require.Nil(t, second.list("list"))
	require.Nil(t, second.texts("map"))
	require.Zero(t, second.integer("float"))
	require.NoError(t, failure)
	for _, read := range []func(){
		func() { first.integer("float") }, func() { first.text("list") }, func() { first.list("float") }, func() { first.texts("list") }, func() { first.inner("map") },
	} {
		failure = nil
		read()
		require.ErrorIs(t, failure, ErrLog)
	}
}
