package gpuframe_test

import (
	"context"
	"iter"
	"os"
	"path/filepath"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/scalar"

	"github.com/gpuframe/gpuframe"
)

// The files of a table as its metadata describe them: a constant that is not in the file, a renamed column, a deleted row,
// and a file that a condition leaves out by its range, before it is opened.
func ExampleEngine_TableFiles() {
	gpu := hostEngine()
	defer gpu.Close()
	folder, err := os.MkdirTemp("", "gpuframe")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	if _, err := gpuframe.From(gpu, exampleSales()).Select("city", "qty").WriteFile(context.Background(), filepath.Join(folder, "a.parquet"), gpuframe.Parquet()); err != nil {
		panic(err)
	}
	first := gpuframe.TableFile{
		Path: "a.parquet", Rows: 6, Constants: map[string]scalar.Scalar{"year": scalar.NewInt32Scalar(2026)},
		DeletedRows: 1, Deleted: func(first, end int64) iter.Seq[int64] {
			return func(yield func(int64) bool) {
				if first <= 3 && 3 < end { // the fourth row
					yield(3)
				}
			}
		},
	}
	absent := gpuframe.TableFile{Path: "b.parquet", Rows: 1000, Range: func(column string) gpuframe.ColumnRange {
		if column == "pieces" {
			return gpuframe.ColumnRange{Low: int64(500), High: int64(900), Valid: 1000}
		}
		return gpuframe.ColumnRange{} // unknown
	}}
	table := gpuframe.TableFiles{
		Name: "sales", Files: []gpuframe.TableFile{first, absent},
		Schema: arrow.NewSchema([]arrow.Field{
			{Name: "year", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
			{Name: "city", Type: arrow.BinaryTypes.String, Nullable: true},
			{Name: "pieces", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, // int32 in the file, of an older schema
		}, nil),
		Origins: []gpuframe.ColumnOrigin{{}, {}, {Name: "qty"}},
	}
	show(gpu.Files(os.DirFS(folder)).TableFiles(table).Filter(gpuframe.Col("pieces").Lt(100)))
	// Output:
	// year,city,pieces
	// 2026,Oslo,2
	// 2026,Bern,1
	// 2026,Oslo,3
	// 2026,Bern,1
	// 2026,Oslo,1
}
