package gpuframe_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// listKey is a type of keys that are lists, or have some, with texts of different values.
type listKey struct {
	dataType arrow.DataType
	values   []string
}

func listKeys() []listKey {
	pair := arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, arrow.Field{Name: "y", Type: arrow.BinaryTypes.String, Nullable: true})
	numbers := []string{"(null)", "[]", "[1]", "[1,2]", "[2,1]", "[1,2,null]", "[null]", "[null,null]", "[1,1,1,1,1,1,1,1,1,1]"}
	return []listKey{
		{arrow.ListOf(arrow.PrimitiveTypes.Int64), numbers},
		{arrow.LargeListOf(arrow.PrimitiveTypes.Uint8), numbers},
		{arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32), []string{"(null)", "[1,2]", "[2,1]", "[null,1]", "[1,null]", "[0.5,2]"}},
		{arrow.ListOf(arrow.BinaryTypes.String), []string{"(null)", "[]", `[""]`, `["",""]`, `["a"]`, `["a","b"]`, `["ab"]`, `["a",null]`, `["longer than eight bytes","x"]`, `["longer than eight bytes","y"]`}},
		{arrow.ListOf(arrow.ListOf(arrow.PrimitiveTypes.Int32)), []string{"(null)", "[]", "[[]]", "[null]", "[[1],[2]]", "[[1,2]]", "[[1,2],[]]", "[[null]]"}},
		{arrow.ListOf(pair), []string{"(null)", "[]", `[{"x":1,"y":"a"}]`, `[{"x":1,"y":null}]`, `[{"x":1,"y":"a"},{"x":1,"y":"a"}]`, "[null]"}},
		{arrow.StructOf(arrow.Field{Name: "l", Type: arrow.ListOf(arrow.PrimitiveTypes.Int16), Nullable: true}, arrow.Field{Name: "k", Type: arrow.PrimitiveTypes.Int64, Nullable: true}),
			[]string{"(null)", `{"l":[1,2],"k":1}`, `{"l":[1,2],"k":2}`, `{"l":null,"k":1}`, `{"l":[],"k":1}`, `{"l":[],"k":null}`}},
	}
}

// record returns rows with the key, the number of its value, and another key.
func (k listKey) record(t *testing.T, random *rand.Rand, rows int) arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "key", Type: k.dataType, Nullable: true}, {Name: "number", Type: arrow.PrimitiveTypes.Int64}, {Name: "other", Type: arrow.PrimitiveTypes.Int64},
	}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	for range rows {
		number := random.IntN(len(k.values))
		if k.values[number] == "(null)" {
			b.Field(0).AppendNull()
		} else {
			require.NoError(t, b.Field(0).AppendValueFromString(k.values[number]))
		}
		b.Field(1).(*array.Int64Builder).Append(int64(number))
		b.Field(2).(*array.Int64Builder).Append(random.Int64N(3))
	}
	return b.NewRecord()
}

// TestListsAsKeys compares lists as keys with the numbers of their values as keys.
func TestListsAsKeys(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		e, random := engineOn(t, dev), property.Random(t)
		key, number, other, n := gpuframe.Col("key"), gpuframe.Col("number"), gpuframe.Col("other"), gpuframe.Count().As("n")
		for _, k := range listKeys() {
			record := k.record(t, random, 50+random.IntN(100))
			q := e.Records(record.Schema(), record)
			few := q.Head(20)
			least, total := number.Min().As("least"), number.Sum().As("total")
			same := func(name string, lists, numbers gpuframe.Query) {
				require.ElementsMatch(t, lines(t, numbers), lines(t, lists), "%s of %v", name, k.dataType)
			}
			same("groups", q.GroupBy(key).Agg(n, least, total).Drop("key"), q.GroupBy(number.As("key")).Agg(n, least, total).Drop("key"))
			same("groups of two keys", q.GroupBy(other, key).Agg(n, least, total).Drop("key"), q.GroupBy(other, number.As("key")).Agg(n, least, total).Drop("key"))
			same("groups without nulls", q.GroupBy(key).DropNulls().Agg(n).Drop("key"), q.Filter(key.IsValid()).GroupBy(number).Agg(n).Drop("number"))
			same("first rows", q.Distinct("key").Drop("key"), q.Distinct("number").Drop("key"))
			same("distinct rows", q.Select(key, other).Distinct().GroupBy(other).Agg(n), q.Select(number, other).Distinct().GroupBy(other).Agg(n))
			same("rollup", q.Rollup(other, key).Agg(n, gpuframe.GroupingID()).Drop("key"), q.Rollup(other, number).Agg(n, gpuframe.GroupingID()).Drop("number"))
			same("except", q.Select(key).Except(few.Select(key)).Select(n), q.Select(number).Except(few.Select(number)).Select(n))
			same("intersect all", q.Select(key).IntersectAll(few.Select(key)).Select(n), q.Select(number).IntersectAll(few.Select(number)).Select(n))
			same("windows", q.With(total.Over(gpuframe.By(key)), gpuframe.RowNumber().Over(gpuframe.By(key, other).OrderBy(number)).As("place")).Drop("key"),
				q.With(total.Over(gpuframe.By(number)), gpuframe.RowNumber().Over(gpuframe.By(number, other).OrderBy(number)).As("place")).Drop("key"))
			same("numbers of values", q.GroupBy(other).Agg(key.CountDistinct().As("n"), key.CountDistinct(other).As("m")),
				q.Filter(key.IsValid()).GroupBy(other).Agg(number.CountDistinct().As("n"), number.CountDistinct(other).As("m")))
			mode := q.GroupBy(other).Agg(key.Mode().As("key"))
			frequent := q.GroupBy(other, number).Agg(n, key.First().As("key")).Filter(key.IsValid()).Filter(gpuframe.Col("n").Eq(gpuframe.Col("n").Max().Over(gpuframe.By(other))))
			same("modes", mode.Join(frequent, gpuframe.Semi, "other", "key").Select("other"), mode.Select("other"))
			joined := few.Rename("number", "left").Join(q, gpuframe.Inner, gpuframe.On(other, other), gpuframe.On(key, key), gpuframe.NullsMatch())
			same("joins", joined.GroupBy("left").Agg(n), few.With(number.As("left")).Join(q, gpuframe.Inner, "other", "number").GroupBy("left").Agg(n))
			record.Release()
		}
	})
}

// TestListsOfFloatsAsKeys has zeros with and without a sign, which are equal, and NaN, which equals itself.
func TestListsOfFloatsAsKeys(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		type row struct{ L []float64 }
		nan := math.NaN()
		other := math.Float64frombits(math.Float64bits(nan) ^ 1<<63)
		q := gpuframe.From(e, []row{{[]float64{0, nan}}, {[]float64{math.Copysign(0, -1), other}}, {[]float64{nan, 0}}, {nil}})
		l := gpuframe.Col("L")
		require.ElementsMatch(t, []string{"2|", "1|", "1|"}, lines(t, q.GroupBy(l).Agg(gpuframe.Count().As("n")).Select("n")))
		require.Equal(t, []string{"5|"}, lines(t, q.Join(q, gpuframe.Inner, "L").Select(gpuframe.Count().As("n"))))
	})
}

// TestMapsAreNoKeys names the types that keys have.
func TestMapsAreNoKeys(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	record := sales(t)
	_, err := e.Records(record.Schema(), record).GroupBy(qty.Histogram().Over(gpuframe.By(city)).As("m")).Agg(gpuframe.Count()).Schema(t.Context())
	require.ErrorContains(t, err, "has an aggregate")
	_, err = e.Records(record.Schema(), record).With(qty.Histogram().As("m")).GroupBy("m").Agg(gpuframe.Count()).Schema(t.Context())
	require.ErrorContains(t, err, "expected numbers, booleans, decimals, dates, times, strings, binaries, dictionaries, and structs and lists of these")
	require.ErrorIs(t, err, device.ErrNotSupported)
}
