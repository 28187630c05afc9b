package gpuframe_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// sales is a small table.
func sales(t *testing.T) arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "city", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "price", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "qty", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	b.Field(0).(*array.StringBuilder).AppendValues([]string{"Oslo", "Bern", "Oslo", "Rome", "Bern", "Oslo"}, nil)
	b.Field(1).(*array.Float64Builder).AppendValues([]float64{10, 60, 70, 80, 0, 90}, []bool{true, true, true, true, false, true})
	b.Field(2).(*array.Int32Builder).AppendValues([]int32{1, 2, 3, 4, 5, 6}, nil)
	record := b.NewRecord()
	t.Cleanup(record.Release)
	return record
}

// eachEngine runs a test on each device. The engine is closed without memory in use.
func eachEngine(t *testing.T, f func(t *testing.T, e *gpuframe.Engine)) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		f(t, engineOn(t, dev))
	})
}

func engineOn(t testing.TB, dev *device.Device) *gpuframe.Engine {
	e, err := gpuframe.Open(gpuframe.Device(dev.Name()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e
}

// collect returns the rows of a query as lines of text.
func collect(t *testing.T, q gpuframe.Query) []string {
	t.Helper()
	f, err := q.Collect(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Release()) }()
	record, err := f.Record(t.Context())
	require.NoError(t, err)
	defer record.Release()
	require.Equal(t, f.NumRows(), record.NumRows())
	lines := make([]string, record.NumRows())
	for i := range lines {
		values := make([]string, record.NumCols())
		for j, c := range record.Columns() {
			values[j] = c.ValueStr(i)
		}
		lines[i] = strings.Join(values, " ")
	}
	return lines
}

var (
	city  = gpuframe.Of[string]("city")
	price = gpuframe.Of[float64]("price")
	qty   = gpuframe.Of[int32]("qty")
)

func TestFilterGroupSort(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		record := sales(t)
		revenue := price.Mul(qty).As("revenue")
		for _, records := range [][]arrow.Record{{record}, {record, record}, {record, record.NewSlice(0, 0), record}} {
			q := e.Records(record.Schema(), records...).
				Filter(price.Gt(50)).
				GroupBy(city).Agg(revenue.Sum(), price.Mean().As("mean"), gpuframe.Count().As("n")).
				Sort(gpuframe.Col("revenue").Desc())
			want := []string{"Oslo 750 80 2", "Rome 320 80 1", "Bern 120 60 1"}
			if len(records) > 1 {
				want = []string{"Oslo 1500 80 4", "Rome 640 80 2", "Bern 240 60 2"}
			}
			require.Equal(t, want, collect(t, q))
			require.Equal(t, want[:2], collect(t, q.Head(2)))
			require.Equal(t, want[2:], collect(t, q.Tail(1)))
			require.Equal(t, want[1:2], collect(t, q.Slice(1, 1)))
		}
	})
}

// Partial results of many batches are combined as they come.
func TestManyBatches(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	record := sales(t)
	records := make([]arrow.Record, 200)
	for i := range records {
		records[i] = record
	}
	q := e.Records(nil, records...).GroupBy(city).Agg(qty.Sum(), price.Max().As("most"), price.First().As("first")).Sort(city)
	require.Equal(t, []string{"Bern 1400 60 60", "Oslo 2000 90 10", "Rome 800 80 80"}, collect(t, q))
}

func TestVerbs(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		record := sales(t)
		q := e.Records(record.Schema(), record, record.NewSlice(0, 2))
		share := price.Div(price.Sum().Over(gpuframe.By(city))).As("share")
		for name, c := range map[string]struct {
			query gpuframe.Query
			want  []string
		}{
			"with":        {q.With(qty.Mul(2), gpuframe.Lit(1).Sub(qty).As("less")).Head(2), []string{"Oslo 10 2 0", "Bern 60 4 -1"}},
			"drop":        {q.Drop("price", "city").Head(1), []string{"1"}},
			"rename":      {q.Rename("qty", "n").Filter(gpuframe.Col("n").Ge(5)).Select(gpuframe.Col("n")), []string{"5", "6"}},
			"top":         {q.Top(2, price.Desc()), []string{"Oslo 90 6", "Rome 80 4"}},
			"nulls first": {q.Top(2, price.Asc().NullsFirst(), qty), []string{"Bern (null) 5", "Oslo 10 1"}},
			"distinct":    {q.Distinct("city"), []string{"Oslo 10 1", "Bern 60 2", "Rome 80 4"}},
			"all columns": {q.Distinct().Tail(2), []string{"Bern (null) 5", "Oslo 90 6"}},
			"union":       {q.Select(qty).Union(q.Select(qty).Head(1)).Tail(2), []string{"2", "1"}},
			"except":      {q.Except(q.Filter(qty.Lt(5))), []string{"Bern (null) 5", "Oslo 90 6"}},
			"intersect":   {q.Intersect(q.Filter(qty.Lt(3))), []string{"Oslo 10 1", "Bern 60 2"}},
			// The first two rows of q are there twice.
			"except all":    {q.ExceptAll(q.Head(3).Drop("city").With(gpuframe.Lit("Oslo").As("city"))), []string{"Bern 60 2", "Rome 80 4", "Bern (null) 5", "Oslo 90 6", "Oslo 10 1", "Bern 60 2"}},
			"intersect all": {q.IntersectAll(q.Tail(2).Union(q.Tail(2), q.Tail(1))), []string{"Oslo 10 1", "Bern 60 2", "Oslo 10 1", "Bern 60 2"}},
			"drop nulls":    {q.DropNulls().Filter(city.Eq("Bern")), []string{"Bern 60 2", "Bern 60 2"}},
			"fill null":     {q.FillNull(1.5, "price").Filter(price.Lt(2)), []string{"Bern 1.5 5"}},
			"over":          {q.With(share).Filter(qty.Eq(3)).Drop("city"), []string{"70 3 0.3888888888888889"}},
			"over all":      {q.With(qty.Sum().As("all")).Head(1), []string{"Oslo 10 1 24"}},
			"one row":       {q.Select(qty.Sum(), gpuframe.Count()), []string{"24 8"}},
			"of no rows":    {q.Filter(qty.Gt(99)).Select(qty.Sum(), gpuframe.Count(), qty.List().As("list")), []string{"(null) 0 []"}},
			"where":         {q.Select(qty.Sum().Where(price.Gt(60)), qty.Max().Sub(qty.Min()).As("range")), []string{"13 5"}},
			"shared":        {q.Select(qty.Sum().Add(qty.Sum()).As("twice")), []string{"48"}},
			"above mean":    {q.Filter(qty.Expr.Gt(qty.Mean())).Select(qty), []string{"4", "5", "6"}},
			"strings":       {q.Head(3).Select(city.JoinStrings("+"), city.JoinStrings("-").As("other")), []string{"Oslo+Bern+Oslo Oslo-Bern-Oslo"}},
			"no rows":       {q.Head(0), []string{}},
			"in":            {q.Filter(city.In("Rome", "Bern")).Select(qty), []string{"2", "4", "5", "2"}},
			"like":          {q.Filter(city.Like("_e%")).Select(qty).Head(2), []string{"2", "5"}},
			"text":          {q.Select(gpuframe.Concat(city.Upper().Substring(1, 2), "-", qty.Cast(arrow.BinaryTypes.String)).As("code")).Head(2), []string{"OS-1", "BE-2"}},
			"group text":    {q.GroupBy(city.Substring(1, 1).As("letter")).Agg(qty.Sum()).Sort(gpuframe.Col("letter")), []string{"B 9", "O 11", "R 4"}},
			"if":            {q.Select(gpuframe.If(price.Gt(60), qty, 0)).Head(3), []string{"0", "0", "3"}},
			"if or nil":     {q.Select(gpuframe.If(price.Gt(60), qty, nil)).Head(3), []string{"(null)", "(null)", "3"}},
			"text or nil":   {q.Select(gpuframe.If(price.Gt(60), nil, "low")).Head(3), []string{"low", "low", "(null)"}},
		} {
			t.Run(name, func(t *testing.T) { require.Equal(t, c.want, collect(t, c.query)) })
		}
	})
}

func TestAllProblemsAreReported(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	record := sales(t)
	q := e.Records(record.Schema(), record).
		Filter(gpuframe.Col("pric").Gt(3)).
		With(gpuframe.Col("citty").As("x"), price.Add("a").As("y"), qty.Where(price.Gt(1)).As("z")).
		Sort(gpuframe.Col("x"), gpuframe.Col("nowhere")).
		GroupBy(gpuframe.Col("y")).Agg(gpuframe.Col("gone").Sum())
	_, err := q.Collect(t.Context())
	var all *gpuframe.QueryError
	require.ErrorAs(t, err, &all)
	var texts []string
	for _, p := range all.Problems {
		require.Equal(t, "query_test.go", filepath.Base(p.File))
		texts = append(texts, p.Verb+": "+p.Err.Error())
	}
	require.Equal(t, []string{
		`Filter: expr: in pric > 3: pric: no column is called "pric": there are "price", "city", "qty": schema mismatch`,
		`With: Where, SkipNulls and Over apply to aggregates, and qty has none`,
		`With: expr: citty: no column is called "citty": there are "city", "qty", "price": schema mismatch`,
		`With: expr: price + "a": cannot add float64 and utf8: operation not defined for these types`,
		`Sort: expr: nowhere: no column is called "nowhere": there are "price", "city", "qty": schema mismatch`,
		`Agg: group: schema: aggregate 0, sum(gone): expr: gone: no column is called "gone": there are "city", "price", "qty": schema mismatch`,
	}, texts)
	require.ErrorIs(t, err, buffer.ErrSchema)
	require.ErrorIs(t, err, expr.ErrType)
	_, err = gpuframe.Query{}.Filter(price.Gt(1)).Collect(t.Context())
	require.ErrorContains(t, err, "the zero Query has no source")
}

func TestGroupingProblems(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	record := sales(t)
	q := e.Records(record.Schema(), record)
	for want, query := range map[string]gpuframe.Query{
		`"qty" is no key and in no aggregate`:                 q.GroupBy(city).Agg(qty),
		`is an aggregate of an aggregate`:                     q.GroupBy(city).Agg(qty.Sum().Max()),
		`the key qty + ` + "`sum(qty)`" + ` has an aggregate`: q.GroupBy(qty.Add(qty.Sum())).Agg(gpuframe.Count()),
		`is a window, which has a value for each row`:         q.GroupBy(city).Agg(qty.Sum().Over(gpuframe.By(city))),
		`two expressions are named "qty"`:                     q.Select(qty, qty.Add(1)),
		`columns 0 and 1 are both named "city"`:               q.GroupBy(city).Agg(city.Min()),
		`expected bool`:                                       q.Filter(qty.Add(1)),
		`expected zero or more`:                               q.Head(-1),
		`no column is called "nowhere"`:                       q.Drop("nowhere"),
		`no key is given`:                                     q.Sort(),
	} {
		_, err := query.Collect(t.Context())
		require.ErrorContains(t, err, want)
	}
}

func TestExplain(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	record := sales(t)
	text, err := e.Records(record.Schema(), record).Filter(price.Gt(50)).GroupBy(city).Agg(qty.Sum().As("n")).Top(1, gpuframe.Col("n").Desc()).Explain(t.Context())
	require.NoError(t, err)
	require.Contains(t, text, `as written:
  top 1 by n descending  [about 1 rows, 32 B]
    select city, n = `+"`sum(qty)`"+`  [about 1 rows, 32 B]
      group by city: sum(qty)  [about 1 rows, 32 B]
        filter price > 50  [about 2 rows, 72 B]
          scan record  [6 rows, 216 B]

as run on host:
`)
}

func TestBatches(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		record := sales(t)
		q := e.Records(record.Schema(), record, record.NewSlice(4, 5), record).Filter(price.Gt(50))
		var rows []int64
		for f, err := range q.Batches(t.Context()) {
			require.NoError(t, err)
			rows = append(rows, f.NumRows())
			require.NoError(t, f.Release())
		}
		require.Equal(t, []int64{4, 4}, rows, "without batches that the filter leaves empty")
		for f, err := range q.Batches(t.Context()) {
			require.NoError(t, err)
			require.NoError(t, f.Release())
			break
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for _, err := range q.Batches(ctx) {
			require.ErrorIs(t, err, context.Canceled)
		}
	})
}

func TestFrame(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		record := sales(t)
		f, err := e.Records(record.Schema(), record).Collect(t.Context(), gpuframe.Tag("sales"))
		require.NoError(t, err)
		require.EqualValues(t, 6, f.NumRows())
		require.Contains(t, f.String(), "Oslo")
		require.Nil(t, f.Column("nowhere"))
		require.Equal(t, 6, f.Column("price").Len())
		require.Equal(t, []string{"Oslo 90 6"}, collect(t, f.Query().Filter(qty.Gt(5))))
		tenant, err := e.Tenant("small", 1<<10)
		require.NoError(t, err)
		_, err = tenant.Records(record.Schema(), record, record, record).Collect(t.Context())
		require.ErrorIs(t, err, memory.ErrBudget)
		require.NoError(t, tenant.Close())
		require.NoError(t, f.Release())
	})
}

// TestPlacesDoNotDecideAboutPlans has two verbs that another language shows by one name: each has a plan.
func TestPlacesDoNotDecideAboutPlans(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		record := sales(t)
		f, err := e.Records(record.Schema(), record).Collect(t.Context())
		require.NoError(t, err)
		place := gpuframe.Place{Verb: "except_"}
		cities := e.Table(f.Table()).Select(city)
		all := cities.Union(cities)
		require.Empty(t, collect(t, all.Except(cities).At(place)))
		require.Len(t, collect(t, all.ExceptAll(cities).At(place)), 6)
		require.NoError(t, f.Release())
	})
}
