package rows_test

import (
	"database/sql"
	"fmt"
	"iter"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/arrays/rows"
)

type city string

type place struct {
	Street string `gpuframe:"street"`
	Number *int16
}

type shared struct {
	ID   uint64
	When time.Time `gpuframe:"when"`
}

// everything has a field of every kind.
type everything struct {
	shared
	Yes    bool
	I      int
	I8     int8
	I16    int16
	I32    int32
	U      uint
	U8     uint8
	U16    uint16
	U32    uint32
	F32    float32
	F64    float64
	Text   string
	City   city `gpuframe:"the city"`
	Data   []byte
	Hash   [4]byte
	Took   time.Duration
	Day    arrow.Date32
	Milli  arrow.Date64
	Big    big.Int
	PBig   *big.Int
	PI     *int64
	PF     *float64
	PText  *city
	PYes   *bool
	PTime  *time.Time
	NText  sql.NullString
	NFloat sql.Null[float64]
	Home   place
	Work   *place
	List   []int32
	Texts  []string
	Places []place
	Nested [][]*int8
	Pair   [2]float64
	PPair  *[2]uint16
	Hidden chan int `gpuframe:"-"`
}

// random fills a value with random values.
func random(r *rand.Rand, v reflect.Value) {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(r.Int64N(1<<32)-1<<31, r.Int64N(1e9)).UTC()))
		return
	case big.Int:
		n := new(big.Int).Lsh(big.NewInt(r.Int64()-1<<62), uint(r.IntN(60)))
		v.Set(reflect.ValueOf(*n))
		return
	case everything:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				random(r, v.Field(i))
			}
		}
		s := v.Addr().Interface().(*everything)
		s.ID = r.Uint64()
		random(r, reflect.ValueOf(&s.When).Elem())
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(r.Int64() >> (64 - v.Type().Bits()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(r.Uint64() >> (64 - v.Type().Bits()))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(float32(r.NormFloat64())))
	case reflect.String:
		v.SetString(strings.Repeat("aé"[:1+2*r.IntN(2)], r.IntN(5)))
	case reflect.Pointer:
		if r.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			random(r, v.Elem())
		}
	case reflect.Slice:
		if r.IntN(4) > 0 {
			n := r.IntN(4)
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				random(r, v.Index(i))
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			random(r, v.Index(i))
		}
	case reflect.Struct:
		if _, ok := v.Type().FieldByName("Valid"); ok {
			if r.IntN(2) == 0 {
				v.Field(1).SetBool(true)
				random(r, v.Field(0))
			}
			return
		}
		for i := range v.NumField() {
			random(r, v.Field(i))
		}
	}
}

func collect[T any](t testing.TB, sequence iter.Seq2[T, error]) (values []T) {
	t.Helper()
	for value, err := range sequence {
		require.NoError(t, err)
		values = append(values, value)
	}
	return values
}

func TestStructsThereAndBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 2, 600} {
		values := make([]everything, n)
		for i := range values {
			random(r, reflect.ValueOf(&values[i]).Elem())
		}
		checked := arrowmemory.NewCheckedAllocator(arrowmemory.NewGoAllocator())
		record, err := rows.Record(checked, values)
		require.NoError(t, err)
		require.EqualValues(t, n, record.NumRows())
		back := collect(t, rows.Each[everything](record))
		require.Len(t, back, n)
		for i := range values {
			require.Equal(t, values[i], back[i], "row %d", i)
		}
		if n > 10 {
			part := record.NewSlice(3, 9)
			require.Equal(t, values[3:9], collect(t, rows.Each[everything](part)))
			part.Release()
		}
		record.Release()
		checked.AssertSize(t, 0)
	}
}

func TestSchema(t *testing.T) {
	type row struct {
		City  string
		Price *float64 `gpuframe:"unit price"`
		Parts []place
	}
	schema, err := rows.Schema[row]()
	require.NoError(t, err)
	want := arrow.NewSchema([]arrow.Field{
		{Name: "City", Type: arrow.BinaryTypes.String},
		{Name: "unit price", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "Parts", Nullable: true, Type: arrow.ListOfField(arrow.Field{Name: "item", Type: arrow.StructOf(
			arrow.Field{Name: "street", Type: arrow.BinaryTypes.String}, arrow.Field{Name: "Number", Type: arrow.PrimitiveTypes.Int16, Nullable: true})})},
	}, nil)
	assert.True(t, schema.Equal(want), "%v", schema)
}

// made builds an array of JSON values.
func made(t testing.TB, dataType arrow.DataType, json string) arrow.Array {
	t.Helper()
	values, _, err := array.FromJSON(arrowmemory.DefaultAllocator, dataType, strings.NewReader(json))
	require.NoError(t, err)
	return values
}

func TestColumnsOfOtherTypes(t *testing.T) {
	may := time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)
	oslo, err := time.LoadLocation("Europe/Oslo")
	require.NoError(t, err)
	check := func(name string, column arrow.Array, read func(arrow.Array) (any, error), want any) {
		t.Helper()
		got, err := read(column)
		require.NoError(t, err, name)
		assert.Equal(t, want, got, name)
	}
	check("widened", made(t, arrow.PrimitiveTypes.Int16, `[1, -2]`), as[int64], []int64{1, -2})
	check("unsigned", made(t, arrow.PrimitiveTypes.Uint16, `[1, 65535]`), as[int], []int{1, 65535})
	check("exact floats", made(t, arrow.PrimitiveTypes.Int32, `[7]`), as[float64], []float64{7})
	check("float32", made(t, arrow.PrimitiveTypes.Float32, `[0.5]`), as[float64], []float64{0.5})
	check("large text", made(t, arrow.BinaryTypes.LargeString, `["a", "", "cd"]`), as[string], []string{"a", "", "cd"})
	check("bytes of text", made(t, arrow.BinaryTypes.String, `["a", null]`), as[[]byte], [][]byte{[]byte("a"), nil})
	check("dictionary", made(t, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, `["x", "y", "x"]`),
		as[city], []city{"x", "y", "x"})
	check("date", made(t, arrow.FixedWidthTypes.Date32, `["2024-05-01"]`), as[time.Time], []time.Time{may})
	check("milliseconds", made(t, &arrow.TimestampType{Unit: arrow.Millisecond}, `["2024-05-01"]`), as[time.Time], []time.Time{may})
	check("zone", made(t, &arrow.TimestampType{Unit: arrow.Second, TimeZone: "Europe/Oslo"}, `["2024-05-01T00:00:00Z"]`), as[time.Time], []time.Time{may.In(oslo)})
	check("time of day", made(t, arrow.FixedWidthTypes.Time32ms, `["00:00:01.5"]`), as[time.Duration], []time.Duration{1500 * time.Millisecond})
	check("decimal", made(t, &arrow.Decimal128Type{Precision: 10, Scale: 3}, `["1.5", "-0.002", "12345.678", "0"]`), as[string], []string{"1.500", "-0.002", "12345.678", "0.000"})
	check("decimal256", made(t, &arrow.Decimal256Type{Precision: 50}, `["12"]`), as[*big.Int], []*big.Int{big.NewInt(12)})
	check("null", made(t, arrow.Null, `[null, null]`), as[*int], []*int{nil, nil})
	check("fixed list", made(t, arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int8), `[[1, 2], null]`), as[*[2]int], []*[2]int{{1, 2}, nil})
	check("fixed list as slice", made(t, arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int8), `[[1, 2]]`), as[[]int], [][]int{{1, 2}})
	check("map", made(t, arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int8), `[[{"key": "a", "value": 3}]]`), as[[]struct {
		Key   string
		Value *int
	}], [][]struct {
		Key   string
		Value *int
	}{{{"a", pointer(3)}}})
	check("extreme times", made(t, &arrow.TimestampType{Unit: arrow.Second}, fmt.Sprintf("[%d]", int64(1)<<40)), as[time.Time], []time.Time{time.Unix(1<<40, 0).UTC()})
}

func pointer[T any](v T) *T { return &v }

func as[T any](column arrow.Array) (any, error) { return rows.Append([]T(nil), column) }

func TestTypesThatDoNotFit(t *testing.T) {
	for _, test := range []struct {
		column    arrow.Array
		read      func(arrow.Array) (any, error)
		condition error
		row       int64
	}{
		{made(t, arrow.PrimitiveTypes.Int64, `[1]`), as[int32], rows.ErrType, -1},
		{made(t, arrow.PrimitiveTypes.Int64, `[1]`), as[float64], rows.ErrType, -1},
		{made(t, arrow.PrimitiveTypes.Int8, `[1]`), as[uint64], rows.ErrType, -1},
		{made(t, arrow.PrimitiveTypes.Float64, `[1]`), as[float32], rows.ErrType, -1},
		{made(t, arrow.PrimitiveTypes.Int8, `[1]`), as[string], rows.ErrType, -1},
		{made(t, arrow.BinaryTypes.String, `["1"]`), as[int], rows.ErrType, -1},
		{made(t, arrow.BinaryTypes.String, `["1"]`), as[bool], rows.ErrType, -1},
		{made(t, arrow.BinaryTypes.String, `["1"]`), as[time.Time], rows.ErrType, -1},
		{made(t, arrow.BinaryTypes.String, `["1"]`), as[time.Duration], rows.ErrType, -1},
		{made(t, arrow.BinaryTypes.String, `["1"]`), as[map[string]int], rows.ErrType, -1},
		{made(t, arrow.BinaryTypes.String, `["1"]`), as[place], rows.ErrType, -1},
		{made(t, arrow.BinaryTypes.String, `["1"]`), as[[]string], rows.ErrType, -1},
		{made(t, arrow.BinaryTypes.String, `["1"]`), as[arrow.Date32], rows.ErrType, -1},
		{made(t, &arrow.Decimal128Type{Precision: 5, Scale: 1}, `["1"]`), as[big.Int], rows.ErrType, -1},
		{made(t, arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int8), `[[1, 2]]`), as[[3]int8], rows.ErrType, -1},
		{made(t, arrow.PrimitiveTypes.Int64, `[1, null]`), as[int64], rows.ErrNull, 1},
		{made(t, arrow.ListOf(arrow.PrimitiveTypes.Int64), `[[1], [2, null]]`), as[[]int64], rows.ErrNull, 1},
		{made(t, arrow.ListOf(arrow.PrimitiveTypes.Int64), `[[1], [2]]`), as[[2]int64], rows.ErrRange, 0},
		{made(t, arrow.FixedWidthTypes.Duration_s, fmt.Sprintf("[%d]", int64(math.MaxInt64))), as[time.Duration], rows.ErrRange, 0},
		{made(t, arrow.BinaryTypes.Binary, `["YWI="]`), as[[3]byte], rows.ErrRange, 0},
	} {
		_, err := test.read(test.column)
		var typed *rows.Error
		require.ErrorAs(t, err, &typed, "%v", test.column)
		assert.ErrorIs(t, err, test.condition)
		assert.Equal(t, test.row, typed.Row, "%v", err)
	}
}

func TestNamesOfColumns(t *testing.T) {
	record, err := rows.Record(nil, []struct {
		City  string `gpuframe:"city"`
		Price int    `gpuframe:"PRICE"`
		Other bool
	}{{"Oslo", 3, true}})
	require.NoError(t, err)
	type sale struct {
		Price int
		City  city
	}
	assert.Equal(t, []sale{{3, "Oslo"}}, collect(t, rows.Each[sale](record)))
	require.NoError(t, rows.Check[sale](record.Schema()))

	err = rows.Check[struct{ Prize int }](record.Schema())
	require.ErrorIs(t, err, rows.ErrColumn)
	assert.ErrorContains(t, err, `no column is called "Prize": there are "PRICE", `)
	err = rows.Check[struct {
		Sale struct {
			Price string
		} `gpuframe:"city"`
	}](record.Schema())
	require.ErrorIs(t, err, rows.ErrType)

	doubled := arrow.NewSchema([]arrow.Field{{Name: "price", Type: arrow.PrimitiveTypes.Int64}, {Name: "PRICE", Type: arrow.PrimitiveTypes.Int64}}, nil)
	require.ErrorContains(t, rows.Check[sale](doubled), "2 columns differ")
	require.ErrorIs(t, rows.Check[int](doubled), rows.ErrColumn)
}

func TestTypesThatAreNoRows(t *testing.T) {
	type recursive struct{ Next *[]map[string]int }
	type self struct{ Next []*self }
	fails := func(err error, text string) {
		t.Helper()
		var typed *rows.Error
		require.ErrorAs(t, err, &typed)
		assert.ErrorContains(t, err, text)
	}
	_, err := rows.Schema[int]()
	fails(err, "not a struct")
	_, err = rows.Schema[time.Time]()
	fails(err, "not a struct")
	_, err = rows.Schema[recursive]()
	fails(err, "rows_test.recursive.Next of *[]map[string]int")
	_, err = rows.Schema[self]()
	fails(err, "contains itself")
	_, err = rows.Schema[struct{ *place }]()
	fails(err, "embedded pointer")
	_, err = rows.Schema[struct {
		A int `gpuframe:"b"`
		B int `gpuframe:"b"`
	}]()
	fails(err, "same column")
	_, err = rows.Schema[struct {
		A int `gpuframe:"a,omitempty"`
	}]()
	fails(err, "omitempty")
	_, err = rows.Schema[struct {
		a int `gpuframe:"a"`
	}]()
	fails(err, "not exported")
}

func TestValuesOutOfRange(t *testing.T) {
	_, err := rows.Record(nil, []struct{ At []time.Time }{{}, {[]time.Time{time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)}}})
	var typed *rows.Error
	require.ErrorAs(t, err, &typed)
	require.ErrorIs(t, err, rows.ErrRange)
	assert.EqualValues(t, 1, typed.Row)
	_, err = rows.Record(nil, []struct{ N *big.Int }{{new(big.Int).Lsh(big.NewInt(1), 130)}})
	require.ErrorIs(t, err, rows.ErrRange)
}

func TestNestedErrorsNameTheField(t *testing.T) {
	type outer struct{ Homes []place }
	schema := arrow.NewSchema([]arrow.Field{{Name: "Homes", Type: arrow.ListOf(arrow.StructOf(
		arrow.Field{Name: "street", Type: arrow.BinaryTypes.String, Nullable: true}, arrow.Field{Name: "Number", Type: arrow.PrimitiveTypes.Int16}))}}, nil)
	record, _, err := array.RecordFromJSON(arrowmemory.DefaultAllocator, schema, strings.NewReader(`[{"Homes": []}, {"Homes": [{"street": null, "Number": 3}]}]`))
	require.NoError(t, err)
	n := 0
	for _, err = range rows.Each[outer](record) {
		n++
	}
	assert.Equal(t, 2, n)
	assert.ErrorContains(t, err, `rows: field rows_test.place.Street of string, column "Homes"`)
	assert.ErrorContains(t, err, "row 1: null")
}

func TestAllReadsEveryRecord(t *testing.T) {
	one, err := rows.Record(nil, []place{{Street: "a"}, {Street: "b"}})
	require.NoError(t, err)
	two, err := rows.Record(nil, []place{{Street: "c"}})
	require.NoError(t, err)
	broken := fmt.Errorf("broken")
	sequence := func(yield func(arrow.Record, error) bool) {
		_ = yield(one, nil) && yield(two, nil) && yield(nil, broken)
	}
	var streets []string
	var failed error
	for p, err := range rows.All[place](sequence) {
		if err != nil {
			failed = err
			continue
		}
		streets = append(streets, p.Street)
	}
	assert.Equal(t, []string{"a", "b", "c"}, streets)
	assert.ErrorIs(t, failed, broken)
	for range rows.All[place](sequence) {
		break
	}
}

func BenchmarkRead(b *testing.B) {
	type row struct {
		N    int64
		F    float64
		Text string
	}
	values := make([]row, 100_000)
	for i := range values {
		values[i] = row{int64(i), float64(i), fmt.Sprint("text ", i)}
	}
	record, err := rows.Record(nil, values)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range rows.Each[row](record) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
