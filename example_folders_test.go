package gpuframe_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe"
)

// A folder for each product, read again by a query that opens the files of one of them.
func ExampleQuery_WriteFiles() {
	gpu := hostEngine()
	defer gpu.Close()
	parent, err := os.MkdirTemp("", "gpuframe")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(parent)
	folder := filepath.Join(parent, "sales")
	var manifest gpuframe.Manifest
	manifest, err = gpuframe.From(gpu, exampleSales()).
		WriteFiles(context.Background(), folder, gpuframe.Parquet(), gpuframe.FolderOptions{PartitionBy: []string{"product"}, Existing: gpuframe.OverwriteFolder})
	if err != nil {
		panic(err)
	}
	for _, file := range manifest.Files {
		fmt.Println(path.Dir(file.Path), file.Rows)
	}
	show(gpu.Parquet(folder).Filter(gpuframe.Col("product").Eq("jam")).Select("product", "city", "qty"))
	// Output:
	// product=ink 2
	// product=jam 2
	// product=tea 2
	// product,city,qty
	// jam,Oslo,3
	// jam,Rome,9
}

// Folders of values that Go computes of a column, here of the weekday of a time.
func ExampleFolderKey() {
	gpu := hostEngine()
	defer gpu.Close()
	parent, err := os.MkdirTemp("", "gpuframe")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(parent)
	weekday := gpuframe.FolderKey{Name: "weekday", Column: "ts", Values: func(values arrow.Array) (arrow.Array, error) {
		times := values.(*array.Timestamp)
		unit := times.DataType().(*arrow.TimestampType).Unit
		names := array.NewStringBuilder(arrowmemory.DefaultAllocator)
		defer names.Release()
		for i := range times.Len() {
			if times.IsNull(i) {
				names.AppendNull()
			} else {
				names.Append(times.Value(i).ToTime(unit).Weekday().String())
			}
		}
		return names.NewArray(), nil
	}}
	manifest, err := gpuframe.From(gpu, exampleSales()).
		WriteFiles(context.Background(), filepath.Join(parent, "sales"), gpuframe.CSV(), gpuframe.FolderOptions{Keys: []gpuframe.FolderKey{weekday}})
	if err != nil {
		panic(err)
	}
	largest := slices.MaxFunc(manifest.Files, func(a, b gpuframe.WrittenFile) int { return cmp.Compare(a.Rows, b.Rows) })
	fmt.Println(len(manifest.Files), "files,", manifest.Rows, "rows, at most", largest.Rows, "in one")
	// Output:
	// 3 files, 6 rows, at most 2 in one
}

// The treatment of existing files as a flag of a program. Package flag calls [gpuframe.Existing.UnmarshalText] and
// [gpuframe.Existing.MarshalText].
func ExampleExisting() {
	var existing gpuframe.Existing
	flags := flag.NewFlagSet("export", flag.ContinueOnError)
	flags.TextVar(&existing, "existing", gpuframe.RefuseExisting, "what happens to existing files: error, append, overwrite or overwrite_partitions")
	fmt.Println("default:", flags.Lookup("existing").DefValue)
	if err := flags.Parse([]string{"-existing", "append"}); err != nil {
		panic(err)
	}
	fmt.Println(existing == gpuframe.AppendFiles)
	fmt.Println(existing.UnmarshalText([]byte("replace")) != nil)
	// Output:
	// default: error
	// true
	// true
}

// Field IDs, by which tables such as Iceberg's find columns, and a Bloom filter for the search of single values.
func ExampleParquetWith() {
	gpu := hostEngine()
	defer gpu.Close()
	parent, err := os.MkdirTemp("", "gpuframe")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(parent)
	options := gpuframe.ParquetOptions{
		Compression: "zstd", GroupRows: 2, NoDictionaries: true, Bloom: []string{"city"},
		FieldIDs: []gpuframe.FieldID{{ID: 1}, {ID: 2}},
	}
	name := filepath.Join(parent, "sales.parquet")
	if _, err = gpuframe.From(gpu, exampleSales()).Select("city", "qty").WriteFile(context.Background(), name, gpuframe.ParquetWith(options)); err != nil {
		panic(err)
	}
	var profile gpuframe.Profile
	madrid, err := gpu.Parquet(name).Filter(gpuframe.Col("city").Eq("Madrid")).Collect(context.Background(), gpuframe.Profiled(&profile))
	if err != nil {
		panic(err)
	}
	defer madrid.Release()
	skipped := regexp.MustCompile(`\d of \d row groups skipped.*\)`).FindString(profile.String())
	fmt.Println(madrid.NumRows(), "rows,", skipped)
	// Output: 0 rows, 3 of 3 row groups skipped (2 by Bloom filters)
}
