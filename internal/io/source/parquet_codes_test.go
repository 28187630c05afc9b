package source_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/objecttest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// A query whose conditions select rows by codes of dictionaries has the rows of one that evaluates them on values: random
// columns, encodings, mixtures of pages with and without dictionaries, page indices, nested columns, and objects of a store.
func TestRandomCodes(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		matched, unmatched := int64(0), int64(0)
		property.Check(t, func(r *rapid.T) {
			defer source.SetCodes(1, rapid.SampledFrom([]int64{1, 3, 16}).Draw(r, "least rows left out"))()
			text := slices.IndexFunc(memberColumns(), func(c memberColumn) bool { return c.t.ID() == arrow.STRING })
			f := drawIndexed(t, r, memberColumns()[text])
			s, err := source.ParquetReaderAt("data", bytes.NewReader(f.data), int64(len(f.data)))
			if rapid.Bool().Draw(r, "object") {
				defer drawObjects(r)()
				var store objecttest.Memory
				store.Set("mem://bucket/data", f.data)
				s, err = source.Files{Store: &store}.Parquet([]string{"mem://bucket/data"})
			}
			require.NoError(r, err)
			for range 4 {
				condition := f.codeCondition(r, 2)
				want := matches(t, condition, f.record.Schema(), f.record)
				if want == nil {
					continue // literals of another type
				}
				var counters source.Counters
				request := source.Request{Where: []expr.Expr{condition}, Counters: &counters, BatchRows: rapid.SampledFrom([]int64{0, 50}).Draw(r, "rows of a table")}
				got := matches(t, condition, f.record.Schema(), read(t, s, m, request)...)
				for i := range want {
					require.True(r, array.ApproxEqual(want[i], got[i], array.WithNaNsEqual(true), array.WithAbsTolerance(0)), "column %d, %v\nwant %v\ngot  %v", i, condition, want[i], got[i])
				}
				matched, unmatched = matched+counters.MatchedRows.Load(), unmatched+counters.UnmatchedRows.Load()
			}
		})
		if dev.Kind() == device.Host { // a GPU leaves out rows of few of these small files
			assert.Positive(t, unmatched, "rows are left out")
			assert.Greater(t, matched, unmatched)
		}
	})
}

// drawCodedCondition draws conditions on the columns of codedRecord.
func drawCodedCondition(r *rapid.T) (where []expr.Expr) {
	text := func() string { return fmt.Sprintf("value %02d", rapid.IntRange(0, 41).Draw(r, "text")) }
	number := func() any { return rapid.Int64Range(-1, 11).Draw(r, "number") }
	for range rapid.IntRange(1, 3).Draw(r, "conditions") {
		s, k := expr.Col("s"), expr.Col("k")
		condition := rapid.SampledFrom([]expr.Expr{
			s.Eq(expr.Lit(text())), s.In(text(), text(), text()), s.Like("%" + text()[6:7] + "_"), s.Lt(expr.Lit(text())), s.HasSuffix(expr.Lit(text()[7:])),
			s.Contains(expr.Lit(text()[6:])), s.In(text(), text()).Not(), s.Eq(expr.Lit(text())).Or(s.Gt(expr.Lit(text()))), s.IsNull(), s.Eq(expr.Lit(text())).Or(k.Eq(expr.Lit(number()))),
			k.Eq(expr.Lit(number())), k.Lt(expr.Lit(number())), k.In(number(), number()), expr.Col("n").Lt(expr.Lit(1000)), expr.Col("plain").HasSuffix(expr.Lit("7")),
		}).Draw(r, "condition")
		where = append(where, condition)
	}
	return where
}

// Random conditions on files with dictionaries have the rows that the record has: of pages of both versions, and with a dictionary that
// a writer gave up within a column chunk.
func TestRandomConditionsOnDictionaries(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		record, unmatched := codedRecord(3000), int64(0)
		var files []source.Source
		for _, properties := range [][]parquet.WriterProperty{
			{parquet.WithCompression(compress.Codecs.Snappy)}, {parquet.WithDataPageVersion(parquet.DataPageV2), parquet.WithCompression(compress.Codecs.Zstd)},
			{parquet.WithDictionaryPageSizeLimit(300)},
		} {
			files = append(files, openedData(t, wordsFile(t, []arrow.Record{record}, append(codedProperties(), properties...)...)))
		}
		property.Check(t, func(r *rapid.T) {
			defer source.SetCodes(1, rapid.SampledFrom([]int64{1, 4, 16}).Draw(r, "least rows left out"))()
			where := drawCodedCondition(r)
			condition := where[0]
			for _, each := range where[1:] {
				condition = condition.And(each)
			}
			want := matches(t, condition, record.Schema(), record)
			var counters source.Counters
			request := source.Request{Where: where, Counters: &counters, BatchRows: rapid.SampledFrom([]int64{0, 700}).Draw(r, "rows of a table")}
			got := matches(t, condition, record.Schema(), read(t, rapid.SampledFrom(files).Draw(r, "file"), m, request)...)
			for i := range want {
				require.True(r, array.Equal(want[i], got[i]), "column %d, %v", i, condition)
			}
			unmatched += counters.UnmatchedRows.Load()
		})
		assert.Positive(t, unmatched, "rows are left out")
	})
}

// codeCondition is a condition on one column or several, more of which are simple than those of condition.
func (f indexedFile) codeCondition(r *rapid.T, depth int) expr.Expr {
	if depth > 0 && rapid.Bool().Draw(r, "joined") {
		a, b := f.codeCondition(r, depth-1), f.codeCondition(r, depth-1)
		switch rapid.IntRange(0, 3).Draw(r, "operation") {
		case 0:
			return a.Or(b)
		case 1:
			return a.And(b.Not())
		}
		return a.And(b)
	}
	i := rapid.IntRange(0, len(f.columns)-1).Draw(r, "column")
	literal := func() any { return f.columns[i].literal(rapid.IntRange(0, 99).Draw(r, "literal")) }
	column, first := expr.Col(fmt.Sprint("c", i)), literal()
	list := []expr.Expr{column.Eq(expr.Lit(first)), column.In(first, literal(), literal()), column.In(first, literal(), literal()).Not(), column.Ne(expr.Lit(first)), column.IsNull().Or(column.Eq(expr.Lit(first)))}
	if text, ok := first.(string); ok {
		list = append(list, column.HasPrefix(expr.Lit(text)), column.HasSuffix(expr.Lit(text)), column.Contains(expr.Lit(text)), column.Like("%"+text+"_"))
	} else {
		list = append(list, column.Lt(expr.Lit(first)), column.Ge(expr.Lit(first)), expr.Lit(first).Lt(column))
	}
	return rapid.SampledFrom(list).Draw(r, "condition")
}

// codedRecord has text and numbers of 40 values in rows of no order, and a number, a list and a text that are different in each row.
func codedRecord(rows int) arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "k", Type: arrow.PrimitiveTypes.Int64},
		{Name: "n", Type: arrow.PrimitiveTypes.Int64}, {Name: "list", Type: arrow.ListOf(arrow.PrimitiveTypes.Int64), Nullable: true},
		{Name: "plain", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	for i := range rows {
		value := i * 7919 % 4001 % 40
		if value == 39 {
			b.Field(0).AppendNull()
		} else {
			b.Field(0).(*array.StringBuilder).Append(fmt.Sprintf("value %02d", value))
		}
		b.Field(1).(*array.Int64Builder).Append(int64(value / 4))
		b.Field(2).(*array.Int64Builder).Append(int64(i))
		b.Field(3).(*array.ListBuilder).Append(true)
		b.Field(3).(*array.ListBuilder).ValueBuilder().(*array.Int64Builder).AppendValues([]int64{int64(i), 1}[:1+i%2], nil)
		if i%5 == 0 {
			b.Field(4).AppendNull()
		} else {
			b.Field(4).(*array.StringBuilder).Append(strings.Repeat("x", i%9) + fmt.Sprint(i))
		}
	}
	return b.NewRecord()
}

func codedProperties() []parquet.WriterProperty {
	return []parquet.WriterProperty{
		parquet.WithDictionaryFor("n", false), parquet.WithDictionaryFor("plain", false), parquet.WithDictionaryFor("list.list.element", false),
		parquet.WithDataPageSize(2000), parquet.WithBatchSize(100), parquet.WithStats(false),
	}
}

// Values are made only for the rows that conditions on dictionaries select, and the counters say so.
func TestRowsAreSelectedByCodes(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		defer source.SetCodes(1, 1)()
		record := codedRecord(8000)
		s, k := expr.Col("s"), expr.Col("k")
		for _, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy} {
			data := wordsFile(t, []arrow.Record{record}, append(codedProperties(), parquet.WithCompression(codec))...)
			opened := openedData(t, data)
			for name, test := range map[string]struct {
				where []expr.Expr
				few   bool
			}{
				"equal":      {[]expr.Expr{s.Eq(expr.Lit("value 07"))}, true},
				"like":       {[]expr.Expr{s.Like("%3_").And(s.Ne(expr.Lit("value 33")))}, true},
				"numbers":    {[]expr.Expr{k.Ge(expr.Lit(8))}, true},
				"both":       {[]expr.Expr{s.Contains(expr.Lit("1")), k.Lt(expr.Lit(5))}, true},
				"most":       {[]expr.Expr{s.Ne(expr.Lit("value 07"))}, false},
				"null":       {[]expr.Expr{s.IsNull()}, false},
				"not simple": {[]expr.Expr{s.Eq(expr.Lit("value 07")).Or(s.IsNull())}, false},
				"no row":     {[]expr.Expr{s.HasPrefix(expr.Lit("other"))}, true},
			} {
				condition := test.where[0]
				for _, each := range test.where[1:] {
					condition = condition.And(each)
				}
				want := matches(t, condition, record.Schema(), record)
				var counters source.Counters
				records := read(t, opened, m, source.Request{Where: test.where, Counters: &counters})
				rows := int64(0)
				for _, each := range records {
					rows += each.NumRows()
				}
				got := matches(t, condition, record.Schema(), records...)
				for i := range want {
					require.True(t, array.Equal(want[i], got[i]), "%s, column %d", name, i)
				}
				assert.Equal(t, rows, counters.Rows.Load(), name)
				assert.Equal(t, int64(8000)-rows, counters.UnmatchedRows.Load(), name)
				if test.few {
					assert.EqualValues(t, 8000, counters.MatchedRows.Load(), name)
					assert.Less(t, rows, int64(8000)/2, name)
					if name != "numbers" || dev.Kind() == device.Host { // a GPU compares numbers as they are
						assert.Positive(t, counters.MatchedValues.Load(), name)
					}
				} else {
					assert.EqualValues(t, 8000, rows, name)
				}
			}
		}
	})
}

// Rows that are read by their numbers, or up to a limit, are all rows.
func TestNumberedRowsAreNotSelected(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	opened := openedData(t, wordsFile(t, []arrow.Record{codedRecord(8000)}, codedProperties()...))
	for _, request := range []source.Request{{Numbered: true}, {Limit: 8000}} {
		var counters source.Counters
		request.Where, request.Counters = []expr.Expr{expr.Col("s").Eq(expr.Lit("value 07"))}, &counters
		for _, each := range read(t, opened, m, request) {
			each.Release()
		}
		assert.EqualValues(t, 8000, counters.Rows.Load())
		assert.Zero(t, counters.MatchedValues.Load())
	}
}

// A code beyond the dictionary is an error that names file, row group, column and page.
func TestCodesBeyondTheDictionary(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		record := words(1, 6000)[0]
		data := wordsFile(t, []arrow.Record{record}, parquet.WithCompression(compress.Codecs.Uncompressed), parquet.WithStats(false))
		at := bytes.Index(data, binary.LittleEndian.AppendUint32(nil, uint32(len("word 0 of 0"))))
		require.Positive(t, at)
		damaged := 0
		for i := at + 2000; i < at+2020; i++ { // behind the dictionary and the levels
			hostile := bytes.Clone(data)
			hostile[i] = 0xff
			s, err := source.ParquetReaderAt("some.parquet", bytes.NewReader(hostile), int64(len(hostile)))
			require.NoError(t, err)
			_, err = readAll(t, s, m, source.Request{Columns: []string{"s", "n"}, Where: []expr.Expr{expr.Col("s").Eq(expr.Lit("word 3 of 0"))}})
			if err == nil || !strings.Contains(err.Error(), "index") {
				continue
			}
			damaged++
			require.ErrorIs(t, err, source.ErrContents)
			for _, part := range []string{"some.parquet", "row group 0", `column "s"`, "page 1"} {
				require.ErrorContains(t, err, part)
			}
		}
		assert.Positive(t, damaged)
	})
}
