package gpuframe_test

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/arrow/scalar"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
)

// writeTableFile writes rows of JSON as a Parquet file with row groups of three rows.
func writeTableFile(t *testing.T, fields []arrow.Field, rows string) string {
	schema := arrow.NewSchema(fields, nil)
	record, _, err := array.RecordFromJSON(arrowmemory.DefaultAllocator, schema, strings.NewReader(rows))
	require.NoError(t, err)
	defer record.Release()
	file, err := os.Create(filepath.Join(t.TempDir(), "part.parquet"))
	require.NoError(t, err)
	writer, err := pqarrow.NewFileWriter(schema, file, parquet.NewWriterProperties(parquet.WithMaxRowGroupLength(3)), pqarrow.DefaultWriterProps())
	require.NoError(t, err)
	require.NoError(t, writer.Write(record))
	require.NoError(t, writer.Close())
	return file.Name()
}

func field(name string, t arrow.DataType, id int) arrow.Field {
	f := arrow.Field{Name: name, Type: t, Nullable: true}
	if id > 0 {
		f.Metadata = arrow.NewMetadata([]string{"PARQUET:field_id"}, []string{fmt.Sprint(id)})
	}
	return f
}

func deletedRows(rows ...int64) func(first, end int64) iter.Seq[int64] {
	return func(first, end int64) iter.Seq[int64] {
		return func(yield func(int64) bool) {
			for _, row := range rows {
				if row >= first && row < end && !yield(row) {
					return
				}
			}
		}
	}
}

// evolving is a table of two files: a column was renamed, types were widened, columns were added, members moved.
func evolving(t *testing.T) gpuframe.TableFiles {
	old := writeTableFile(t, []arrow.Field{
		field("dropped", arrow.BinaryTypes.String, 9),
		field("n", arrow.PrimitiveTypes.Int32, 1),
		field("x", arrow.PrimitiveTypes.Float32, 2),
		field("d", &arrow.Decimal128Type{Precision: 5, Scale: 2}, 3),
		field("s", arrow.StructOf(field("a", arrow.PrimitiveTypes.Int32, 11), field("b", arrow.BinaryTypes.String, 12)), 4),
	}, `[{"n": 1, "x": 0.5, "d": "1.25", "s": {"a": 1, "b": "one"}}, {"n": 2, "x": 1.5, "d": "2.5", "s": null}, {"n": null, "x": null, "d": null, "s": {"a": null, "b": "three"}},
	    {"n": 4, "x": 2.5, "d": "-4.5", "s": {"a": 4, "b": null}}, {"n": 5, "x": 3.5, "d": "5", "s": {"a": 5, "b": "five"}}]`)
	recent := writeTableFile(t, []arrow.Field{
		field("s", arrow.StructOf(field("b", arrow.BinaryTypes.String, 12), field("c", arrow.PrimitiveTypes.Int64, 13), field("a2", arrow.PrimitiveTypes.Int64, 11)), 4),
		field("count", arrow.PrimitiveTypes.Int64, 1),
		field("x", arrow.PrimitiveTypes.Float64, 2),
		field("d", &arrow.Decimal128Type{Precision: 10, Scale: 2}, 3),
		field("added", arrow.BinaryTypes.String, 5),
	}, `[{"count": 6000000000, "x": 6, "d": "6", "added": "six", "s": {"a2": 6, "b": "six", "c": 60}}, {"count": 7, "x": 7, "d": "7", "added": null, "s": null}]`)
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "count", Type: arrow.PrimitiveTypes.Int64},
		{Name: "x", Type: arrow.PrimitiveTypes.Float64},
		{Name: "d", Type: &arrow.Decimal128Type{Precision: 10, Scale: 2}},
		{Name: "s", Type: arrow.StructOf(arrow.Field{Name: "a2", Type: arrow.PrimitiveTypes.Int64}, arrow.Field{Name: "c", Type: arrow.PrimitiveTypes.Int64}, arrow.Field{Name: "b", Type: arrow.BinaryTypes.String})},
		{Name: "added", Type: arrow.BinaryTypes.String},
		{Name: "part", Type: arrow.FixedWidthTypes.Date32},
	}, nil)
	part := func(day int32) map[string]scalar.Scalar {
		return map[string]scalar.Scalar{"part": scalar.NewDate32Scalar(arrow.Date32(day))}
	}
	return gpuframe.TableFiles{
		Name: "evolving", Schema: schema,
		Origins: []gpuframe.ColumnOrigin{{ID: 1}, {ID: 2}, {ID: 3}, {Members: []gpuframe.ColumnOrigin{{ID: 11}, {ID: 13}, {ID: 12}}}, {ID: 5}, {}},
		Files: []gpuframe.TableFile{
			{Path: old, Rows: 5, Constants: part(1), Deleted: deletedRows(1, 4), DeletedRows: 2},
			{Path: recent, Rows: 2, Constants: part(2)},
		},
	}
}

func TestTableFiles(t *testing.T) {
	table := evolving(t)
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		rows := func(q gpuframe.Query) string {
			frame, err := q.Collect(t.Context())
			require.NoError(t, err)
			defer func() { require.NoError(t, frame.Release()) }()
			record, err := frame.Record(t.Context())
			require.NoError(t, err)
			defer record.Release()
			text, err := record.MarshalJSON()
			require.NoError(t, err)
			return string(text)
		}
		q := e.TableFiles(table)
		require.JSONEq(t, `[
			{"count": 1, "x": 0.5, "d": "1.25", "s": {"a2": 1, "b": "one", "c": null}, "added": null, "part": "1970-01-02"},
			{"count": null, "x": null, "d": null, "s": {"a2": null, "b": "three", "c": null}, "added": null, "part": "1970-01-02"},
			{"count": 4, "x": 2.5, "d": "-4.5", "s": {"a2": 4, "b": null, "c": null}, "added": null, "part": "1970-01-02"},
			{"count": 6000000000, "x": 6, "d": "6", "s": {"a2": 6, "b": "six", "c": 60}, "added": "six", "part": "1970-01-03"},
			{"count": 7, "x": 7, "d": "7", "s": null, "added": null, "part": "1970-01-03"}]`, rows(q))
		require.JSONEq(t, `[{"n": 5}]`, rows(q.Select(gpuframe.Count().As("n"))))
		require.JSONEq(t, `[{"part": "1970-01-02", "n": 3}, {"part": "1970-01-03", "n": 2}]`, rows(q.GroupBy(gpuframe.Col("part")).Agg(gpuframe.Count().As("n")).Sort(gpuframe.Col("part"))))
		require.JSONEq(t, `[{"count": 4}, {"count": 7}]`, rows(q.Filter(gpuframe.Col("count").Ge(2), gpuframe.Col("count").Lt(10)).Select(gpuframe.Col("count"))))
		require.JSONEq(t, `[{"count": 6000000000}]`, rows(q.Filter(gpuframe.Col("added").Eq("six")).Select(gpuframe.Col("count"))))
		require.JSONEq(t, `[{"count": 7}]`, rows(q.Filter(gpuframe.Col("part").Eq(gpuframe.Lit(arrow.Date32(2)))).Tail(1).Select(gpuframe.Col("count"))))
	})
}

// Files that conditions exclude are not opened: their paths lead nowhere.
func TestTableFilesAreLeftOut(t *testing.T) {
	table := evolving(t)
	absent := gpuframe.TableFile{Path: filepath.Join(t.TempDir(), "absent.parquet"), Rows: 10, Range: func(column string) gpuframe.ColumnRange {
		if column == "x" {
			return gpuframe.ColumnRange{Low: -3.0, High: -1.0, Nulls: 0, Valid: 10}
		}
		return gpuframe.ColumnRange{Nulls: -1, Valid: -1}
	}, Constants: map[string]scalar.Scalar{"part": scalar.MakeNullScalar(arrow.FixedWidthTypes.Date32)}}
	table.Files = append(slices.Clone(table.Files), absent)
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		q := e.TableFiles(table)
		for _, condition := range []gpuframe.Expr{gpuframe.Col("part").IsValid(), gpuframe.Col("x").Ge(0).And(gpuframe.Col("x").IsNaN().Not())} {
			frame, err := q.Filter(condition).Collect(t.Context())
			require.NoError(t, err)
			require.NoError(t, frame.Release())
		}
		_, err := q.Collect(t.Context())
		require.ErrorIs(t, err, os.ErrNotExist)
		require.ErrorContains(t, err, "evolving")
		_, err = q.Filter(gpuframe.Col("part").IsNull()).Collect(t.Context())
		require.ErrorIs(t, err, os.ErrNotExist)
	})
}

func TestTableFilesErrors(t *testing.T) {
	table := evolving(t)
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		fail := func(table gpuframe.TableFiles, message string, columns ...gpuframe.Expression) {
			q := e.TableFiles(table)
			if len(columns) > 0 {
				q = q.Select(columns)
			}
			_, err := q.Collect(t.Context())
			require.ErrorContains(t, err, message)
		}
		fail(gpuframe.TableFiles{Name: "empty"}, "the schema is nil")
		changed := table
		changed.Origins = table.Origins[:1]
		fail(changed, "1 origins for 6 columns")
		narrow := table
		narrow.Schema = arrow.NewSchema([]arrow.Field{{Name: "count", Type: arrow.PrimitiveTypes.Int32}, {Name: "x", Type: arrow.PrimitiveTypes.Float64}, {Name: "part", Type: arrow.FixedWidthTypes.Date32}}, nil)
		narrow.Origins = []gpuframe.ColumnOrigin{{ID: 1}, {ID: 2}, {}}
		fail(narrow, "values of int64 are not converted to int32")
		frame, err := e.TableFiles(narrow).Select(gpuframe.Col("part")).Collect(t.Context())
		require.NoError(t, err, "a column that cannot be read is not read")
		require.NoError(t, frame.Release())
		twice := table
		twice.Schema, twice.Origins = arrow.NewSchema(append(table.Schema.Fields(), table.Schema.Field(0)), nil), nil
		fail(twice, `the column "count" twice`)
		typed := table
		typed.Files = []gpuframe.TableFile{{Path: "x", Constants: map[string]scalar.Scalar{"part": scalar.NewInt64Scalar(1)}}}
		fail(typed, `a constant of int64 for column "part" of date32`)
	})
}

// A table without files has no rows.
func TestTableWithoutFiles(t *testing.T) {
	table := evolving(t)
	table.Files = nil
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		frame, err := e.TableFiles(table).Collect(t.Context())
		require.NoError(t, err)
		defer func() { require.NoError(t, frame.Release()) }()
		require.Zero(t, frame.NumRows())
	})
}

// The zero values of a file, and of a range, leave out nothing.
func TestTableFilesOfUnknownRows(t *testing.T) {
	table := evolving(t)
	for i := range table.Files {
		table.Files[i].Rows = 0
		table.Files[i].Range = func(string) gpuframe.ColumnRange { return gpuframe.ColumnRange{} }
	}
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		q := e.TableFiles(table)
		for want, condition := range map[int64]gpuframe.Expr{
			3: gpuframe.Col("part").Eq(gpuframe.Lit(arrow.Date32(1))), 5: gpuframe.Col("part").IsValid(), 1: gpuframe.Col("count").IsNull(), 4: gpuframe.Col("count").IsValid(),
		} {
			frame, err := q.Filter(condition).Collect(t.Context())
			require.NoError(t, err)
			require.EqualValues(t, want, frame.NumRows())
			require.NoError(t, frame.Release())
		}
	})
}

// A condition on a column that is not converted is an error: the bounds in the file are not those of the table's type.
func TestTableFilesOfOtherTypes(t *testing.T) {
	table := gpuframe.TableFiles{
		Name: "unsigned", Schema: arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}, {Name: "m", Type: arrow.PrimitiveTypes.Int64}}, nil),
		Files: []gpuframe.TableFile{{Path: writeTableFile(t, []arrow.Field{
			field("n", arrow.PrimitiveTypes.Uint64, 0), field("m", arrow.PrimitiveTypes.Int64, 0),
		}, `[{"n": 9223372036854775808, "m": 1}]`), Rows: 1}},
	}
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		for _, condition := range []gpuframe.Expr{gpuframe.Col("n").Gt(0), gpuframe.Col("n").Eq(7), gpuframe.Col("n").IsValid()} {
			_, err := e.TableFiles(table).Filter(condition).Select(gpuframe.Col("m")).Collect(t.Context())
			require.ErrorContains(t, err, `column "n": it is of uint64 in the file, of int64 in the table`)
		}
		frame, err := e.TableFiles(table).Select(gpuframe.Col("m")).Collect(t.Context())
		require.NoError(t, err)
		require.NoError(t, frame.Release())
	})
}

// Deleted rows are rows of the file.
func TestTableFilesWithoutDeletedRows(t *testing.T) {
	table := evolving(t)
	table.Files[1].Deleted, table.Files[1].DeletedRows = deletedRows(1, 2), 2
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		_, err := e.TableFiles(table).Collect(t.Context())
		require.ErrorContains(t, err, "row 2 is deleted, the file has 2 rows")
	})
}
