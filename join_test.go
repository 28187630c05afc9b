package gpuframe_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// cities is a table that joins with sales. Rome is missing, Bonn has no sales.
func cities(t *testing.T) arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "city", Type: arrow.BinaryTypes.String},
		{Name: "qty", Type: arrow.PrimitiveTypes.Int64},
	}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	b.Field(0).(*array.StringBuilder).AppendValues([]string{"Oslo", "Bonn", "Bern"}, nil)
	b.Field(1).(*array.Int64Builder).AppendValues([]int64{3, 4, 5}, nil)
	record := b.NewRecord()
	t.Cleanup(record.Release)
	return record
}

func TestJoin(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		record, other := sales(t), cities(t)
		left := e.Records(record.Schema(), record.NewSlice(0, 2), record.NewSlice(2, 6)).Drop("price")
		right := e.Records(other.Schema(), other)
		above := gpuframe.Matching(gpuframe.Col("qty").Ge(gpuframe.Col("qty_right")))
		limit := gpuframe.Matching(gpuframe.Col("qty").Lt(gpuframe.Col("qty_right")))
		for name, c := range map[string]struct {
			query gpuframe.Query
			want  []string
		}{
			"inner":    {left.Join(right, gpuframe.Inner, city), []string{"Oslo 1 3", "Bern 2 5", "Oslo 3 3", "Bern 5 5", "Oslo 6 3"}},
			"left":     {left.Join(right, gpuframe.Left, city), []string{"Oslo 1 3", "Bern 2 5", "Oslo 3 3", "Rome 4 (null)", "Bern 5 5", "Oslo 6 3"}},
			"right":    {left.Join(right, gpuframe.Right, city).Tail(2), []string{"Oslo 6 3", "Bonn (null) 4"}},
			"full":     {left.Join(right, gpuframe.Full, city).Tail(3), []string{"Bern 5 5", "Oslo 6 3", "Bonn (null) 4"}},
			"semi":     {left.Join(right, gpuframe.Semi, city), []string{"Oslo 1", "Bern 2", "Oslo 3", "Bern 5", "Oslo 6"}},
			"anti":     {left.Join(right, gpuframe.Anti, city), []string{"Rome 4"}},
			"cross":    {left.Join(right, gpuframe.Cross).Select(gpuframe.Count()), []string{"18"}},
			"matching": {left.Join(right, gpuframe.Left, city, limit).Head(3), []string{"Oslo 1 3", "Bern 2 5", "Oslo 3 (null)"}},
			"no key":   {left.Join(right, gpuframe.Inner, above).Head(3), []string{"Oslo 3 Oslo 3", "Rome 4 Oslo 3", "Rome 4 Bonn 4"}},
			"no match": {left.Join(right, gpuframe.Anti, above), []string{"Oslo 1", "Bern 2"}},
			"pair":     {left.Join(right, gpuframe.Inner, gpuframe.On(qty, gpuframe.Col("qty")), gpuframe.Suffix("2")), []string{"Oslo 3 Oslo", "Rome 4 Bonn", "Bern 5 Bern"}},
			"computed": {left.Join(right, gpuframe.Semi, gpuframe.On(qty.Add(2), gpuframe.Col("qty").Sub(0))), []string{"Oslo 1", "Bern 2", "Oslo 3"}},
			"grouped":  {left.Join(right, gpuframe.Inner, city).GroupBy(city).Agg(qty.Sum()).Sort(city), []string{"Bern 7", "Oslo 10"}},
			"itself":   {left.Join(left, gpuframe.Inner, city, qty).Select(gpuframe.Count()), []string{"6"}},
		} {
			t.Run(name, func(t *testing.T) { require.Equal(t, c.want, collect(t, c.query)) })
		}
	})
}

func TestJoinProblems(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	record, other := sales(t), cities(t)
	left, right := e.Records(record.Schema(), record), e.Records(other.Schema(), other)
	for want, q := range map[string]gpuframe.Query{
		`no key is given`:                            left.Join(right, gpuframe.Inner),
		`a cross join has no keys`:                   left.Join(right, gpuframe.Cross, city),
		`no column is called "price"`:                left.Join(right, gpuframe.Inner, price),
		`utf8 on the left, int64 on the right`:       left.Join(right, gpuframe.Inner, gpuframe.On(city, qty)),
		`term 0 of the join is nil`:                  left.Join(right, gpuframe.Inner, nil),
		`expected bool`:                              left.Join(right, gpuframe.Inner, city, gpuframe.Matching(price)),
		`unknown kind of join`:                       left.Join(right, 9, city),
		`the zero Query`:                             left.Join(gpuframe.Query{}, gpuframe.Inner, city),
		`the condition ` + "`sum(qty)` > 1" + ` has`: left.Join(right, gpuframe.Inner, city, gpuframe.Matching(qty.Sum().Gt(1))),
	} {
		_, err := q.Collect(t.Context())
		require.ErrorContains(t, err, want)
	}
	elsewhere := engineOn(t, devicetest.Open(t, "host"))
	_, err := left.Join(elsewhere.Records(other.Schema(), other), gpuframe.Semi, city).Collect(t.Context())
	require.ErrorContains(t, err, "different engines")
}
