package gpuframe_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/querytest"
)

// TestRandomQueriesBeyondOffsets runs random queries on tables with more text than offsets reach to.
// The result has the rows of the model. Its parts have the types of the plan, and one table of all
// has text with larger offsets if it needs them.
func TestRandomQueriesBeyondOffsets(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		e := engineOn(t, dev)
		cases := 400
		if testing.Short() {
			cases = 100
		}
		options := querytest.Options{Verbs: 6, Rows: 80, Least: 40, Texts: true}
		if dev.Name() != "host" {
			options, cases = querytest.Options{Verbs: 3, Rows: 70, Least: 60, Texts: true}, cases/4
		}
		require.Positive(t, randomBeyondOffsets(t, e, options, cases))
	})
}

// TestRandomQueriesBeyondOffsetsOnSeveralDevices moves long texts between devices.
func TestRandomQueriesBeyondOffsetsOnSeveralDevices(t *testing.T) {
	e := openDevices(t, devicetest.HostsApart(t, 3))
	cases := 400
	if testing.Short() {
		cases = 60
	}
	randomBeyondOffsets(t, e, querytest.Options{Verbs: 6, Rows: 80, Least: 40, Texts: true}, cases)
}

// TestLongTextsOfSeveralDevices runs operators that make longer texts on each device than offsets reach to.
func TestLongTextsOfSeveralDevices(t *testing.T) {
	e := openDevices(t, devicetest.HostsApart(t, 3))
	records := numberedTexts(t, 5, 20)
	wide := gpuframe.Col("wide")
	id, text, long := gpuframe.Col("id"), gpuframe.Col("text"), gpuframe.Concat(gpuframe.Col("text"), " and more")
	q := e.Records(records[0].Schema(), records...)
	for name, query := range map[string]gpuframe.Query{
		"first rows by a long key":      q.Top(7, long.Desc()),
		"rows sorted by a long key":     q.Sort(long, id),
		"numbers of distinct texts":     q.GroupBy(id.Mod(gpuframe.Lit(3)).As("key")).Agg(long.CountDistinct().As("texts")).Sort(gpuframe.Col("key")),
		"distinct texts of all rows":    q.Select(long.CountDistinct().As("texts")),
		"states of two widths":          q.Select(wide.Last().As("last"), text.First().As("first"), text.Last().As("short")),
		"states with texts and numbers": q.Select(text.First().As("first"), id.Max().As("last id"), long.Last().As("last"), text.Max().As("most")),
	} {
		want := collect(t, query)
		for _, most := range []int64{24, 64, 100, 300} {
			f, err := query.Collect(strategy.WithMaximumOffset(t.Context(), most))
			require.NoError(t, err, "%s, offsets to %d", name, most)
			require.Equal(t, want, collect(t, f.Query()), "%s, offsets to %d", name, most)
			require.NoError(t, f.Release())
		}
	}
}

// randomBeyondOffsets returns the number of results with text of 64-bit offsets.
func randomBeyondOffsets(t *testing.T, e *gpuframe.Engine, options querytest.Options, cases int) (wide int) {
	for seed := range cases {
		c := rapid.Custom(func(t *rapid.T) *querytest.Case { return querytest.Draw(t, e, options) }).Example(seed)
		ctx := strategy.WithMaximumOffset(t.Context(), []int64{48, 64, 100}[seed%3])
		for _, without := range [][]string{nil, plan.Passes()} {
			if beyondOffsets(ctx, t, c, without) {
				wide++
			}
			require.NoError(t, c.Query.Evict())
		}
		requireNothing(t, e, c.Text)
		c.Release()
	}
	return wide
}

// TestLongTextsInFiles writes sorted rows with more text than offsets reach to, and reads them.
func TestLongTextsInFiles(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		e := engineOn(t, dev)
		ctx := strategy.WithMaximumOffset(t.Context(), 100)
		records := numberedTexts(t, 3, 50)
		q := e.Records(records[0].Schema(), records...).Sort(gpuframe.Col("text").Desc())
		want, err := q.Collect(t.Context())
		require.NoError(t, err)
		defer want.Release()
		wide, err := q.Collect(ctx)
		require.NoError(t, err)
		require.Equal(t, arrow.LARGE_STRING, wide.Schema().Field(1).Type.ID())
		require.Equal(t, texts(t, want), texts(t, wide))
		require.NoError(t, wide.Release())

		for name, format := range map[string]gpuframe.Format{"a.parquet": gpuframe.Parquet(), "a.arrow": gpuframe.IPC(), "a.csv": gpuframe.CSV()} {
			path := filepath.Join(t.TempDir(), name)
			rows, err := q.WriteFile(ctx, path, format)
			require.NoError(t, err, name)
			require.EqualValues(t, 150, rows)
			from := map[string]func(string) gpuframe.Query{"a.parquet": func(p string) gpuframe.Query { return e.Parquet(p) },
				"a.arrow": func(p string) gpuframe.Query { return e.IPC(p) }, "a.csv": func(p string) gpuframe.Query { return e.CSV(p) }}[name](path)
			read, err := from.Collect(t.Context())
			require.NoError(t, err, name)
			require.Equal(t, arrow.STRING, read.Schema().Field(1).Type.ID(), name)
			require.Equal(t, texts(t, want), texts(t, read), name)
			require.NoError(t, read.Release())
		}
	})
}

// TestTextBeyondTwoGibibytes collects, groups and sorts 2.5 GiB of text, which 32-bit offsets do not
// reach to.
func TestTextBeyondTwoGibibytes(t *testing.T) {
	devicetest.EachGPU(t, func(t *testing.T, dev *device.Device) {
		const rows, copies = 1_000_000, 9
		b := array.NewStringBuilder(arrowmemory.DefaultAllocator)
		long := strings.Repeat("x", 290)
		for i := range rows {
			b.Append(fmt.Sprintf("%06d %s", i, long))
		}
		values := b.NewArray()
		b.Release()
		defer values.Release()
		schema := arrow.NewSchema([]arrow.Field{{Name: "text", Type: arrow.BinaryTypes.String}}, nil)
		record := array.NewRecord(schema, []arrow.Array{values}, rows)
		defer record.Release()

		e, text := engineOn(t, dev), gpuframe.Col("text")
		q := e.Records(schema, slices.Repeat([]arrow.Record{record}, copies)...)
		all, err := q.Collect(t.Context())
		require.NoError(t, err)
		defer func() { require.NoError(t, all.Release()) }()
		require.EqualValues(t, rows*copies, all.NumRows())
		require.Equal(t, arrow.LARGE_STRING, all.Schema().Field(0).Type.ID())

		n := gpuframe.Col("n")
		groups := all.Query().GroupBy(text).Agg(gpuframe.Count().As("n")).Select(n.Min().As("least"), n.Max().As("most"), gpuframe.Count().As("groups"))
		require.Equal(t, []string{"9 9 1000000"}, collect(t, groups))

		sorted, err := q.Sort(text.Desc()).Collect(t.Context())
		require.NoError(t, err)
		defer func() { require.NoError(t, sorted.Release()) }()
		require.Equal(t, []string{"999998 " + long}, collect(t, sorted.Query().Slice(copies, 1)))
		require.Equal(t, []string{"000000 " + long}, collect(t, sorted.Query().Tail(1)))
	})
}

// numberedTexts returns records with a number and a text, in two types, in each row.
func numberedTexts(t *testing.T, records, rows int) (list []arrow.Record) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "text", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "wide", Type: arrow.BinaryTypes.LargeString, Nullable: true}}, nil)
	for r := range records {
		b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
		for i := range rows {
			b.Field(0).(*array.Int64Builder).Append(int64(r*rows + i))
			text := fmt.Sprint("text ", (r*rows+i)*7919%1000)
			b.Field(1).(*array.StringBuilder).Append(text)
			b.Field(2).(*array.LargeStringBuilder).Append(text)
		}
		list = append(list, b.NewRecord())
		b.Release()
		t.Cleanup(list[r].Release)
	}
	return list
}

// texts returns the values of the second column.
func texts(t *testing.T, f *gpuframe.Frame) (list []string) {
	t.Helper()
	record, err := f.Record(t.Context())
	require.NoError(t, err)
	defer record.Release()
	for i := range int(record.NumRows()) {
		list = append(list, record.Column(1).ValueStr(i))
	}
	return list
}

// beyondOffsets checks the result of a query as one table and in parts, and reports whether the table
// has text with 64-bit offsets.
func beyondOffsets(ctx context.Context, t *testing.T, c *querytest.Case, without []string) (wide bool) {
	q, err := c.Query.Without(ctx, without...)
	require.NoError(t, err)
	f, err := q.Collect(ctx)
	if err != nil {
		t.Fatalf("%v\n%s\nwithout %v, plan\n%s", err, c.Text, without, q.ExplainPlan())
	}
	record, err := f.Record(ctx)
	require.NoError(t, err)
	require.NoError(t, f.Release())
	defer record.Release()
	if err := c.Want.Check(record); err != nil {
		t.Fatalf("%v\n%s\nwithout %v, plan\n%s", err, c.Text, without, q.ExplainPlan())
	}
	parts, err := partsOf(ctx, q)
	if err != nil {
		t.Fatalf("in parts: %v\n%s\nwithout %v, plan\n%s", err, c.Text, without, q.ExplainPlan())
	}
	defer releaseAll(parts)
	schema, err := c.Query.Schema(ctx)
	require.NoError(t, err)
	for _, part := range parts {
		require.NoError(t, sameTypes(schema, part.Schema()), c.Text)
	}
	if err := c.Want.Check(parts...); err != nil {
		t.Fatalf("in parts: %v\n%s\nwithout %v, plan\n%s", err, c.Text, without, q.ExplainPlan())
	}
	return sameTypes(schema, record.Schema()) != nil
}

// sameTypes returns an error if a result has other types than its query.
func sameTypes(want, got *arrow.Schema) error {
	for i, f := range want.Fields() {
		if !arrow.TypeEqual(f.Type, got.Field(i).Type) {
			return fmt.Errorf("column %q is %v, expected %v", f.Name, got.Field(i).Type, f.Type)
		}
	}
	return nil
}
