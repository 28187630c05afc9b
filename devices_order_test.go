package gpuframe_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// keyTypes are the types of the columns k0, k1 and so on of [keyedRecords].
var keyTypes = []arrow.DataType{
	arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String, arrow.FixedWidthTypes.Boolean,
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
	arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int8, Nullable: true}, arrow.Field{Name: "b", Type: arrow.BinaryTypes.String, Nullable: true}),
	arrow.PrimitiveTypes.Uint64,
}

// floats are values of keys: zeros of both signs, NaNs with other bits, infinities.
var floats = []float64{0, math.Copysign(0, -1), math.NaN(), math.Float64frombits(0xfff8000000000001), math.Inf(-1), math.Inf(1), 1.5, -2.5}

// words are values of keys with common beginnings.
var words = []string{"", "a", "a\x00", "a common beginning", "a common beginning of words", "a common beginning of words that differ at the end: 1", "a common beginning of words that differ at the end: 2", "z"}

// appendKey appends a value of few different ones.
func appendKey(t *rapid.T, b array.Builder, values int) {
	if rapid.IntRange(0, 5).Draw(t, "null") == 0 {
		b.AppendNull()
		return
	}
	number := rapid.IntRange(0, values).Draw(t, "value")
	switch b := b.(type) {
	case *array.Int32Builder:
		b.Append(int32(number - 2))
	case *array.Int8Builder:
		b.Append(int8(number - 2))
	case *array.Uint64Builder:
		b.Append(uint64(number) * (math.MaxUint64 / 8))
	case *array.Float64Builder:
		b.Append(floats[number])
	case *array.StringBuilder:
		b.Append(words[number])
	case *array.BooleanBuilder:
		b.Append(number%2 == 0)
	case *array.BinaryDictionaryBuilder:
		if err := b.AppendString(words[number]); err != nil {
			t.Fatal(err)
		}
	case *array.StructBuilder:
		b.Append(true)
		for i := range b.NumField() {
			appendKey(t, b.FieldBuilder(i), values)
		}
	}
}

// keyedRecords draws batches of rows with a number and keys. Some batches are empty, some are
// slices of longer ones.
func keyedRecords(t *rapid.T) (list []arrow.Record) {
	fields := []arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}}
	for i, of := range keyTypes {
		fields = append(fields, arrow.Field{Name: fmt.Sprint("k", i), Type: of, Nullable: true})
	}
	schema := arrow.NewSchema(fields, nil)
	values := rapid.SampledFrom([]int{0, 1, 7}).Draw(t, "values")
	id := 0
	for range rapid.IntRange(0, 7).Draw(t, "batches") {
		b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
		for range rapid.IntRange(0, 9).Draw(t, "rows") {
			b.Field(0).(*array.Int64Builder).Append(int64(id))
			id++
			for i := range keyTypes {
				appendKey(t, b.Field(i+1), values)
			}
		}
		made := b.NewRecord()
		b.Release()
		if from := rapid.IntRange(0, 2).Draw(t, "offset"); int64(from) < made.NumRows() {
			whole := made
			made = whole.NewSlice(int64(from), whole.NumRows())
			whole.Release()
		}
		list = append(list, made)
	}
	if len(list) == 0 {
		b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
		list = append(list, b.NewRecord())
		b.Release()
	}
	return list
}

// drawKey draws a key of a sort or a window.
func drawKey(t *rapid.T) gpuframe.Expr {
	at := rapid.IntRange(-2, len(keyTypes)-1).Draw(t, "key")
	switch at {
	case -1:
		return gpuframe.Col("id").Mod(3)
	case -2:
		return gpuframe.Col("k0").Add(1).Mul(gpuframe.Col("id").Mod(2))
	}
	return gpuframe.Col(fmt.Sprint("k", at))
}

func drawOrder(t *rapid.T) (list []gpuframe.Ordering) {
	for range rapid.IntRange(1, 3).Draw(t, "keys") {
		made := drawKey(t).Asc()
		if rapid.Bool().Draw(t, "descending") {
			made = drawKey(t).Desc()
		}
		if rapid.Bool().Draw(t, "nulls first") {
			made = made.NullsFirst()
		}
		list = append(list, made)
	}
	return list
}

// drawOrdered draws operations that depend on the order of the rows. The columns id and k0 and so
// on stay as they are.
func drawOrdered(t *rapid.T) func(gpuframe.Query) gpuframe.Query {
	type verb = func(gpuframe.Query) gpuframe.Query
	id := gpuframe.Col("id")
	var verbs []verb
	var text []string
	for step := range rapid.IntRange(1, 4).Draw(t, "verbs") {
		name := fmt.Sprint("n", step)
		choice := rapid.SampledFrom([]string{"sort", "sort", "top", "window", "over", "two windows", "all rows", "filter", "head", "slice", "tail", "union", "join", "distinct", "number", "sample", "some rows", "strata", "shuffle"}).Draw(t, "verb")
		text = append(text, choice)
		switch choice {
		case "sort":
			by := drawOrder(t)
			verbs = append(verbs, func(q gpuframe.Query) gpuframe.Query { return q.Sort(by...) })
		case "top":
			n, by := rapid.Int64Range(0, 20).Draw(t, "rows"), drawOrder(t)
			verbs = append(verbs, func(q gpuframe.Query) gpuframe.Query { return q.Top(n, by...) })
		case "window":
			by := drawKey(t)
			verbs = append(verbs, func(q gpuframe.Query) gpuframe.Query {
				return q.With(id.Sum().Over(gpuframe.By(by)).As(name), gpuframe.Col("k1").Sum().Over(gpuframe.By(by)).As(name+"f"), id.First().Over(gpuframe.By(by)).As(name+"g"))
			})
		case "over":
			by, and, in := drawKey(t), drawKey(t), drawOrder(t)
			verbs = append(verbs, func(q gpuframe.Query) gpuframe.Query {
				w := gpuframe.By(by, and).OrderBy(in...)
				return q.With(gpuframe.RowNumber().Over(w).As(name), id.Lag(1).Over(w).As(name+"l"), id.CumSum().Over(w).As(name+"c"),
					gpuframe.Col("k1").Sum().Over(w.Rows(-2, 1)).As(name+"s"))
			})
		case "two windows":
			by, in, or := drawKey(t), drawOrder(t), drawKey(t)
			verbs = append(verbs, func(q gpuframe.Query) gpuframe.Query {
				return q.With(gpuframe.Rank().Over(gpuframe.By(by).OrderBy(in...)).As(name), id.Max().Over(gpuframe.By(by)).As(name+"m"), id.Min().Over(gpuframe.By(or)).As(name+"o"))
			})
		case "all rows":
			in := drawOrder(t)
			verbs = append(verbs, func(q gpuframe.Query) gpuframe.Query {
				return q.With(gpuframe.RowNumber().Over(gpuframe.By().OrderBy(in...)).As(name), gpuframe.Col("k1").CumSum().Over(gpuframe.By(gpuframe.Col("k0")).OrderBy(in...)).As(name+"c"))
			})
		case "filter":
			n := rapid.IntRange(1, 4).Draw(t, "every")
			verbs = append(verbs, func(q gpuframe.Query) gpuframe.Query { return q.Filter(id.Mod(n).Eq(0)) })
		case "head":
			n := rapid.Int64Range(0, 30).Draw(t, "rows")
			verbs = append(verbs, func(q gpuframe.Query) gpuframe.Query { return q.Head(n) })
		case "slice":
			n, m := rapid.Int64Range(0, 20).Draw(t, "from"), rapid.Int64Range(0, 20).Draw(t, "rows")
			verbs = append(verbs, func(q gpuframe.Query) gpuframe.Query { return q.Slice(n, m) })
		case "tail":
			n := rapid.Int64Range(0, 30).Draw(t, "rows")
			verbs = append(verbs, func(q gpuframe.Query) gpuframe.Query { return q.Tail(n) })
		case "union":
			by := drawOrder(t)
			verbs = append(verbs, func(q gpuframe.Query) gpuframe.Query { return q.Sort(by...).Union(q.Filter(id.Ge(4))) })
		case "join":
			by, kind := drawOrder(t), rapid.SampledFrom([]gpuframe.JoinKind{gpuframe.Inner, gpuframe.Left, gpuframe.Full}).Draw(t, "kind")
			verbs = append(verbs, func(q gpuframe.Query) gpuframe.Query {
				return q.Join(q.Sort(by...).Select(id, id.Add(5).As(name)), kind, id)
			})
		case "distinct":
			verbs = append(verbs, func(q gpuframe.Query) gpuframe.Query { return q.Distinct("k0") })
		case "number":
			verbs = append(verbs, func(q gpuframe.Query) gpuframe.Query { return q.WithRowNumber(name).WithRandom(name+"r", 3) })
		case "sample":
			options := gpuframe.SampleOptions{Seed: rapid.Uint64().Draw(t, "seed"), Replace: rapid.Bool().Draw(t, "replace")}
			verbs = append(verbs, func(q gpuframe.Query) gpuframe.Query { return q.Sample(0.7, options) })
		case "some rows":
			n, options := rapid.Int64Range(0, 30).Draw(t, "rows"), gpuframe.SampleOptions{Seed: rapid.Uint64().Draw(t, "seed")}
			verbs = append(verbs, func(q gpuframe.Query) gpuframe.Query { return q.SampleRows(n, options) })
		case "strata":
			options := gpuframe.SampleOptions{Seed: rapid.Uint64().Draw(t, "seed"), By: []gpuframe.Expression{drawKey(t)}}
			verbs = append(verbs, func(q gpuframe.Query) gpuframe.Query { return q.Sample(0.7, options) })
		case "shuffle":
			seed := rapid.Uint64().Draw(t, "seed")
			verbs = append(verbs, func(q gpuframe.Query) gpuframe.Query { return q.Shuffle(seed) })
		}
	}
	t.Logf("verbs %s", strings.Join(text, ", "))
	return func(q gpuframe.Query) gpuframe.Query {
		for _, v := range verbs {
			q = v(q)
		}
		return q
	}
}

// recordOf collects a query. The caller releases the record.
func recordOf(ctx context.Context, q gpuframe.Query) (arrow.Record, error) {
	f, err := q.Collect(ctx)
	if err != nil {
		return nil, err
	}
	record, err := f.Record(ctx)
	if err != nil {
		return nil, err
	}
	return record, f.Release()
}

// requireSameRecord compares records bit by bit.
func requireSameRecord(t *rapid.T, want, got arrow.Record, about func() string) {
	if want.NumRows() != got.NumRows() {
		t.Fatalf("%d rows, expected %d\n%s", got.NumRows(), want.NumRows(), about())
	}
	for c := range int(want.NumCols()) {
		if want.ColumnName(c) != got.ColumnName(c) || !arrow.TypeEqual(want.Column(c).DataType(), got.Column(c).DataType()) {
			t.Fatalf("column %d is %v, expected %v\n%s", c, got.Schema().Field(c), want.Schema().Field(c), about())
		}
		for i := range int(want.NumRows()) {
			if !arraytest.Same(want.Column(c), i, got.Column(c), i) {
				t.Fatalf("row %d of %s is %s, expected %s\n%s", i, want.ColumnName(c), got.Column(c).ValueStr(i), want.Column(c).ValueStr(i), about())
			}
		}
	}
}

// checkOrdered compares a random query on several devices with the same one on one device.
func checkOrdered(t *rapid.T, one, several *gpuframe.Engine) {
	records := keyedRecords(t)
	verbs := drawOrdered(t)
	want, err := recordOf(t.Context(), verbs(one.Records(nil, records...)))
	if err == nil {
		q := verbs(several.Records(nil, records...))
		var got arrow.Record
		got, err = recordOf(t.Context(), q)
		if err == nil {
			requireSameRecord(t, want, got, func() string {
				text, _ := q.Explain(t.Context())
				return fmt.Sprint(text, "\n", records)
			})
			got.Release()
		}
		want.Release()
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		r.Release()
	}
	requireNothing(t, several, "a query")
}

// TestOrderOnSeveralDevices compares random queries that depend on the order of the rows on two to
// eight devices with one device, bit by bit.
func TestOrderOnSeveralDevices(t *testing.T) {
	one := engineOn(t, devicetest.Open(t, "host"))
	turn := property.Turn(t)
	for i, devices := range [][]*device.Device{devicetest.Hosts(t, 2), devicetest.HostsApart(t, 3), devicetest.Hosts(t, 5), devicetest.Hosts(t, 8)} {
		if (i+turn)%2 != 0 { // each seed has two of them
			continue
		}
		e := openDevices(t, devices)
		t.Run(fmt.Sprint(len(devices), " ", devices[0]), property.Of(func(t *rapid.T) { checkOrdered(t, one, e) }))
	}
}

// TestOrderOnEmulatedDevices runs a few such queries by kernels on two devices.
func TestOrderOnEmulatedDevices(t *testing.T) {
	one := engineOn(t, devicetest.Open(t, "host"))
	e := openDevices(t, devicetest.Emulators(t, 2))
	number := 0
	property.Check(t, func(t *rapid.T) {
		if number++; number <= 12 {
			checkOrdered(t, one, e)
		}
	})
	require.Positive(t, number)
}

// TestExplainOrder compares the exchanges of plans that depend on the order of the rows.
func TestExplainOrder(t *testing.T) {
	records := drawn(t, 1, 3, 100)
	e := openDevices(t, devicetest.Hosts(t, 2))
	from, id, few, text := e.Records(nil, records...), gpuframe.Col("id"), gpuframe.Col("few"), gpuframe.Col("text")
	ordered := gpuframe.By(few).OrderBy(text)
	for name, c := range map[string]struct {
		q    gpuframe.Query
		want string
	}{
		"sort":       {from.Sort(few.Desc(), text).Filter(id.Gt(3)), "gather/sort by few descending, text/shuffle by ranges of few descending, text/filter/scan"},
		"top":        {from.Top(5, few), "select/top 5 by few, `position`/gather/partial top 5 by few/scan"},
		"top of all": {from.Top(400, few), "head 400/gather/partial head 400/sort by few/shuffle by ranges of few/scan"},
		"slice":      {from.Filter(id.Gt(3)).Slice(2, 7), "slice/gather/partial head 9/filter/scan"},
		"window": {from.With(id.Sum().Over(gpuframe.By(few)).As("s")),
			"gather/select/sort by `position`/shuffle by ranges of `position`/select/over few/shuffle by a hash of few/add positions/scan"},
		"windows sorted": {from.With(id.Sum().Over(gpuframe.By(few)).As("s"), id.CumSum().Over(ordered).As("c")).Filter(id.Gt(4)).Sort(text),
			"gather/select/sort by text, `position`/shuffle by ranges of text, `position`/select/filter/over few order by text/over few/shuffle by a hash of few/add positions/scan"},
		"order is not read": {from.With(gpuframe.RowNumber().Over(ordered).As("n")).GroupBy(few).Agg(gpuframe.Col("n").Sum()),
			"gather/select/merge/shuffle by a hash of few/partial group by few/over few order by text/shuffle by a hash of few/scan"},
		"tail":              {from.Filter(id.Gt(3)).Tail(9), "tail 9/gather/partial tail 9/filter/scan"},
		"row numbers":       {from.With(id.Add(1).As("more")).WithRowNumber("n"), "gather/number rows, on 2 devices/select/scan"},
		"numbers, counted":  {from.Filter(id.Gt(3)).WithRowNumber("n"), "gather/number rows, counted on 2 devices/filter/scan"},
		"numbers in order":  {from.Sort(few).WithRowNumber("n"), "gather/number rows, on 2 devices/sort by few/shuffle by ranges of few/scan"},
		"sample":            {from.Sample(0.5, gpuframe.SampleOptions{Seed: 1}), "gather/filter/number rows, random numbers of seed 1, on 2 devices/scan"},
		"drawn with others": {from.Sample(2, gpuframe.SampleOptions{Seed: 1, Replace: true}), "draw 2 of the rows with replacement/gather to draw rows with replacement/scan"},
		"all rows":          {from.With(gpuframe.RowNumber().Over(gpuframe.By().OrderBy(text)).As("n")), "select/over all rows order by text/gather for windows over all rows/scan"},
		"decimals": {from.With(id.Cast(&arrow.Decimal128Type{Precision: 20, Scale: 2}).Mean().Over(ordered.Rows(gpuframe.FirstRow, 0)).As("n")),
			"gather/select/sort by `position`/shuffle by ranges of `position`/select/over few order by text/shuffle by a hash of few/add positions/scan"},
		"floats": {from.With(id.Mean().Over(ordered.Rows(gpuframe.FirstRow, 0)).As("n")),
			"select/over few order by text/gather for windows with values that depend on all rows/scan"},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := c.q.Explain(t.Context())
			require.NoError(t, err)
			_, run, _ := strings.Cut(all, "as run on hosts, hosts:1:\n")
			run, _, _ = strings.Cut(run, "\n\n")
			var list []string
			for line := range strings.Lines(run) {
				list = append(list, operationOf(strings.TrimSpace(line)))
			}
			require.Equal(t, c.want, strings.Join(list, "/"))
		})
	}
}

// operationOf shortens a line of Explain.
func operationOf(line string) string {
	line, _, _ = strings.Cut(line, "  [")
	line = strings.ReplaceAll(line, " from 2 devices by peer copies,", "")
	line = strings.ReplaceAll(strings.ReplaceAll(line, " from 2 devices by peer copies", ""), " among 2 devices", "")
	line = strings.TrimSuffix(line, ", peer copies")
	if before, _, ok := strings.Cut(line, ": "); ok {
		line = before
	}
	for _, name := range []string{"select", "scan", "filter", "slice", "merge"} {
		if strings.HasPrefix(line, name+" ") {
			return name
		}
	}
	return line
}

// TestSortOfManyBatches sorts many small batches within the least budget: the samples of the keys
// do not grow with the batches.
func TestSortOfManyBatches(t *testing.T) {
	batches := 200
	if testing.Short() {
		batches = 40
	}
	records := drawn(t, 1, batches, 150)
	few, text := gpuframe.Col("few"), gpuframe.Col("text")
	sorted := func(e *gpuframe.Engine) gpuframe.Query {
		return e.Records(nil, records...).Sort(few.Desc(), text.Substring(0, 13))
	}
	want := lines(t, sorted(engineOn(t, devicetest.Open(t, "host"))))
	needs, err := sorted(openDevices(t, devicetest.Hosts(t, 3))).Needs(t.Context())
	require.NoError(t, err)
	e := openDevices(t, devicetest.Hosts(t, 3), gpuframe.Budget(3*needs.Smallest))
	require.Equal(t, want, lines(t, sorted(e)))
	for _, m := range e.Managers() {
		require.LessOrEqual(t, m.Stats().Peak, needs.Smallest)
	}
}
