package gpuframe_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// baskets is a table of lists, of structs, and of maps.
func baskets(t testing.TB) arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "prices", Type: arrow.ListOf(arrow.PrimitiveTypes.Float64), Nullable: true},
		{Name: "owner", Type: arrow.StructOf(arrow.Field{Name: "name", Type: arrow.BinaryTypes.String, Nullable: true}), Nullable: true},
		{Name: "tags", Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32), Nullable: true},
	}, nil)
	record, _, err := array.RecordFromJSON(arrowmemory.DefaultAllocator, schema, strings.NewReader(`[
		{"id": 1, "prices": [3, 1, null], "owner": {"name": "Ada"}, "tags": [{"key": "a", "value": 1}]},
		{"id": 2, "prices": null, "owner": null, "tags": null},
		{"id": 3, "prices": [7], "owner": {"name": null}, "tags": [{"key": "b", "value": 2}]},
		{"id": 4, "prices": [], "owner": {"name": "Max"}, "tags": []}
	]`))
	require.NoError(t, err)
	t.Cleanup(record.Release)
	return record
}

func TestExplode(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		record := baskets(t)
		id, prices := gpuframe.Col("id"), gpuframe.Col("prices")
		rows := e.Records(record.Schema(), record, record.NewSlice(0, 1)).Select(id, prices)
		for name, c := range map[string]struct {
			query gpuframe.Query
			want  []string
		}{
			"all":       {rows.Explode("prices"), []string{"1 3", "1 1", "1 (null)", "2 (null)", "3 7", "4 (null)", "1 3", "1 1", "1 (null)"}},
			"drop":      {rows.ExplodeWith(gpuframe.ExplodeOptions{DropEmpty: true, Position: "at"}, "prices"), []string{"1 3 0", "1 1 1", "1 (null) 2", "3 7 0", "1 3 0", "1 1 1", "1 (null) 2"}},
			"filter":    {rows.Explode("prices").Filter(prices.Gt(1).And(id.Lt(3))), []string{"1 3", "1 3"}},
			"head":      {rows.Explode("prices").Head(5), []string{"1 3", "1 1", "1 (null)", "2 (null)", "3 7"}},
			"dropped":   {rows.ExplodeWith(gpuframe.ExplodeOptions{DropEmpty: true}, "prices").Head(4), []string{"1 3", "1 1", "1 (null)", "3 7"}},
			"other":     {rows.Explode("prices").Select(id), []string{"1", "1", "1", "2", "3", "4", "1", "1", "1"}},
			"position":  {rows.ExplodeWith(gpuframe.ExplodeOptions{Position: "at"}, "prices").Filter(gpuframe.Col("at").Eq(1)), []string{"1 1 1", "1 1 1"}},
			"aggregate": {rows.Explode("prices").GroupBy(id).Agg(prices.Sum()).Sort(id), []string{"1 8", "2 (null)", "3 7", "4 (null)"}},
			"no rows":   {rows.Filter(id.Gt(9)).Explode("prices"), nil},
			"collected": {rows.Explode("prices").GroupBy(id).Agg(prices.List()).Explode("prices").Filter(prices.IsValid()).Sort(id), []string{"1 3", "1 1", "1 3", "1 1", "3 7"}},
		} {
			require.Equal(t, c.want, append([]string(nil), collect(t, c.query)...), name)
			plain, err := c.query.Without(t.Context(), plan.Passes()...)
			require.NoError(t, err)
			require.Equal(t, c.want, append([]string(nil), collect(t, plain)...), name)
		}
	})
}

// A condition on other columns is applied before the lists become rows, and a limit leaves
// out rows of the source.
func TestExplodePlan(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	record := baskets(t)
	q := e.Records(record.Schema(), record).Explode("prices").Filter(gpuframe.Col("id").Gt(1)).Select(gpuframe.Col("prices"))
	text, err := q.Explain(t.Context())
	require.NoError(t, err)
	_, optimized, _ := strings.Cut(text, "as run on host:")
	require.Less(t, strings.Index(optimized, "explode prices"), strings.Index(optimized, "filter"), text)
}

// TestListsWithNullElements writes lists with null elements in each format that has lists, and reads
// them back.
func TestListsWithNullElements(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		_, records := nullableRows(t, property.Random(t), 90, 4)
		key, text, id := gpuframe.Col("key"), gpuframe.Col("text"), gpuframe.Col("id")
		q := e.Records(nil, records...).GroupBy(key).Agg(text.List().As("texts"), gpuframe.If(id.Mod(3).Eq(0), id, nil).List().As("ids")).Sort(key)
		want := lines(t, q)
		folder := t.TempDir()
		for name, c := range map[string]struct {
			format gpuframe.Format
			read   func(paths ...string) gpuframe.Query
		}{
			"a.parquet": {gpuframe.Parquet(), e.Parquet}, "a.arrow": {gpuframe.IPC(), e.IPC}, "a.jsonl": {gpuframe.JSONLines(), e.JSONLines},
		} {
			path := filepath.Join(folder, name)
			_, err := q.WriteFile(t.Context(), path, c.format)
			require.NoError(t, err)
			require.Equal(t, want, lines(t, c.read(path)), name)
		}
		_, err := q.WriteFile(t.Context(), filepath.Join(folder, "a.csv"), gpuframe.CSV())
		require.ErrorContains(t, err, "texts")

		type group struct {
			Key   int32     `gpuframe:"key"`
			Texts []*string `gpuframe:"texts"`
		}
		for row, err := range gpuframe.Rows[group](t.Context(), q.Select(key, gpuframe.Col("texts"))) {
			require.NoError(t, err)
			nulls := 0
			for _, text := range row.Texts {
				if text == nil {
					nulls++
				}
			}
			require.Positive(t, nulls)
		}
		exploded := q.Explode("texts", "ids").GroupBy(key).Agg(gpuframe.Col("texts").List(), gpuframe.Col("ids").List())
		require.Equal(t, want, lines(t, exploded.Sort(key)))
	})
}

func TestListFunctions(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		record := baskets(t)
		q := e.Records(record.Schema(), record)
		prices := gpuframe.Col("prices")
		require.Equal(t, []string{
			"1 3 2 4 1 3 2 true", "2 (null) (null) (null) (null) (null) (null) (null)", "3 1 1 7 7 7 7 false", "4 0 0 (null) (null) (null) (null) false",
		}, collect(t, q.Select(gpuframe.Col("id"), prices.ListLength().As("n"), prices.ListCount().As("count"), prices.ListSum().As("sum"),
			prices.ListMin().As("min"), prices.ListMax().As("max"), prices.ListMean().As("mean"), prices.ListContains(1).As("one"))))
		require.Equal(t, []string{"[3] [1,3,null] [3,1,null] Ada 1", "(null) (null) (null) (null) (null)", "[7] [7] [7] (null) (null)", "[] [] [] Max (null)"},
			collect(t, q.Select(prices.ListSlice(0, 1).As("slice"), prices.ListSort().As("up"), prices.ListSortDescending().As("down"),
				gpuframe.Col("owner").Field("name"), gpuframe.Col("tags").MapGet("a"))))
		require.Equal(t, []string{`{"first":3,"id":1}`, `{"first":7,"id":3}`},
			collect(t, q.Filter(prices.ListGet(-1).IsNull().Or(prices.ListLength().Gt(0)), prices.ListLength().Gt(0)).
				Select(gpuframe.Struct(gpuframe.Col("id"), prices.ListGet(0).As("first")))))
		require.Equal(t, []string{"2 3"}, collect(t, q.Filter(prices.ListLength().Gt(0)).
			Select(prices.ListSum().Count().As("n"), prices.ListLength().Max().As("most"))))
		words := gpuframe.Lit("a b c").Split(" ")
		require.Equal(t, []string{"1 b", "3 b"}, collect(t, q.Filter(words.ListContains("c"), prices.ListLength().Gt(0)).Select(gpuframe.Col("id"), words.ListGet(1).As("word"))))
		truths := prices.List()
		require.Equal(t, []string{"4 3"}, collect(t, q.Select(truths.ListLength().As("n"), prices.List().SkipNulls().ListLength().As("values"))))
	})
}

// TestElements has expressions on the elements of lists, with other columns, aggregates and windows in
// them.
func TestElements(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		record := baskets(t)
		q := e.Records(record.Schema(), record)
		id, prices, element := gpuframe.Col("id"), gpuframe.Col("prices"), gpuframe.Element()
		for name, c := range map[string]struct {
			query gpuframe.Query
			want  []string
		}{
			"eval":     {q.Select(prices.ListEval(element.Mul(id))), []string{"[3,1,null]", "(null)", "[21]", "[]"}},
			"index":    {q.Select(prices.ListEval(gpuframe.ElementIndex().Sub(id))), []string{"[-1,0,1]", "(null)", "[-3]", "[]"}},
			"filter":   {q.Select(prices.ListFilter(element.Gt(id))), []string{"[3]", "(null)", "[7]", "[]"}},
			"both":     {q.Filter(prices.ListFilter(element.Gt(2)).ListEval(element.Neg()).ListSum().Lt(-3)).Select(id), []string{"3"}},
			"renamed":  {q.Rename("id", "n").Select(prices.ListEval(element.Add(gpuframe.Col("n"))).As("a")).Filter(gpuframe.Col("a").ListLength().Gt(0)), []string{"[4,2,null]", "[10]"}},
			"window":   {q.Select(prices.ListEval(element.Sub(id.Sum()))), []string{"[-7,-9,null]", "(null)", "[-3]", "[]"}},
			"groups":   {q.GroupBy(id.Mod(2).As("odd")).Agg(id.List().ListEval(gpuframe.Element().Mul(id.Max())).As("l")).Sort(gpuframe.Col("odd")), []string{"0 [8,16]", "1 [3,9]"}},
			"names":    {q.Select(prices.ListEvalWith(gpuframe.ElementNames{Element: "x", Index: "i"}, gpuframe.Col("x").Mul(gpuframe.Col("i")))), []string{"[0,1,null]", "(null)", "[0]", "[]"}},
			"take":     {q.Select(prices.ListTake(id.Sequence().ListEval(element.Neg()))), []string{"[3]", "[null,null]", "[7,7,null]", "[null,null,null,null]"}},
			"unique":   {q.Select(gpuframe.ConcatList(prices, prices, id.Cast(arrow.PrimitiveTypes.Float64)).ListUnique()), []string{"[3,1,null]", "(null)", "[7,3]", "[4]"}},
			"join":     {q.Select(gpuframe.ConcatList(gpuframe.Col("owner").Field("name"), gpuframe.Col("owner").Field("name")).ListJoin("/")), []string{"Ada/Ada", "", "", "Max/Max"}},
			"no rows":  {q.Filter(id.Gt(9)).Select(prices.ListFilter(element.Gt(id)).ListEval(element.Mul(id)).ListUnique()), nil},
			"exploded": {q.Select(prices.ListFilter(element.IsValid())).Explode("prices"), []string{"3", "1", "(null)", "7", "(null)"}},
		} {
			require.Equal(t, c.want, append([]string(nil), collect(t, c.query)...), name)
			plain, err := c.query.Without(t.Context(), plan.Passes()...)
			require.NoError(t, err)
			require.Equal(t, c.want, append([]string(nil), collect(t, plain)...), name)
		}
		for want, query := range map[string]gpuframe.Query{
			"element()":                            q.Select(element),
			"int64 is no list":                     q.Select(id.ListEval(element)),
			"an aggregate or a window of elements": q.Select(prices.ListEval(element.Sum())),
			"the condition on elements is float64": q.Select(prices.ListFilter(element)),
		} {
			_, err := query.Schema(t.Context())
			require.ErrorContains(t, err, want)
		}
	})
}

// A batch with more elements than the budget holds is exploded in parts.
func TestExplodeMoreThanTheBudget(t *testing.T) {
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "text", Type: arrow.BinaryTypes.String}, {Name: "list", Type: arrow.ListOf(arrow.PrimitiveTypes.Int64)},
	}, nil))
	defer b.Release()
	const rows, elements = 2048, 20
	for range rows {
		b.Field(0).(*array.StringBuilder).Append(strings.Repeat("x", 100))
		list := b.Field(1).(*array.ListBuilder)
		list.Append(true)
		for i := range elements {
			list.ValueBuilder().(*array.Int64Builder).Append(int64(i))
		}
	}
	record := b.NewRecord()
	defer record.Release()
	e, err := gpuframe.Open(gpuframe.Device(devicetest.Open(t, "host").Name()), gpuframe.Budget(2<<20))
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	got := lines(t, e.Records(nil, record).Explode("list"))
	require.Len(t, got, rows*elements)
	require.False(t, slices.ContainsFunc(got, func(line string) bool { return !strings.HasPrefix(line, "xxx") }))
	require.True(t, strings.HasSuffix(got[len(got)-1], "|19|"))
}
