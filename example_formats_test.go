package gpuframe_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing/fstest"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/objectstore/https"
)

// formatted returns the first sales in a format.
func formatted(gpu *gpuframe.Engine, format gpuframe.Format) []byte {
	var data bytes.Buffer
	if _, err := gpuframe.From(gpu, exampleSales()).Select("city", "qty").Head(2).Write(context.Background(), &data, format); err != nil {
		panic(err)
	}
	return data.Bytes()
}

// Files of an archive, of an embed.FS or of os.Root.FS.
func ExampleEngine_Files() {
	gpu := hostEngine()
	defer gpu.Close()
	var archive bytes.Buffer
	writer := zip.NewWriter(&archive)
	for name, format := range map[string]gpuframe.Format{"sales.csv": gpuframe.CSV(), "sales.jsonl": gpuframe.JSONLines(), "sales.arrow": gpuframe.IPC(), "sales.parquet": gpuframe.Parquet()} {
		file, err := writer.Create(name)
		if err != nil {
			panic(err)
		}
		if _, err = file.Write(formatted(gpu, format)); err != nil {
			panic(err)
		}
	}
	if err := writer.Close(); err != nil {
		panic(err)
	}
	system, err := zip.NewReader(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
	if err != nil {
		panic(err)
	}
	var files gpuframe.Files = gpu.Files(system)
	all := files.Parquet("sales.parquet").Union(files.IPC("sales.arrow")).
		Union(files.CSV(gpuframe.CSVOptions{Types: map[string]arrow.DataType{"qty": arrow.PrimitiveTypes.Int32}}, "*.csv"))
	show(all.GroupBy("city").Agg(gpuframe.Col("qty").Sum()).Sort("city"))
	show(files.JSON(gpuframe.JSONOptions{}, "*.jsonl"))
	// Output:
	// city,qty
	// Bern,3
	// Oslo,6
	// city,qty
	// Oslo,2
	// Bern,1
}

// CSV with semicolons, without names, with a text for null and with types that are given.
func ExampleEngine_CSVWith() {
	gpu := hostEngine()
	defer gpu.Close()
	folder, err := os.MkdirTemp("", "gpuframe")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "codes.csv")
	if err := os.WriteFile(path, []byte("0150;Oslo;-\n3011;Bern;5\n"), 0o600); err != nil {
		panic(err)
	}
	options := gpuframe.CSVOptions{Delimiter: ';', NoHeader: true, Nulls: []string{"-"}, Types: map[string]arrow.DataType{"f0": arrow.BinaryTypes.String, "f2": arrow.PrimitiveTypes.Int8}}
	show(gpu.CSVWith(options, path).Rename("f0", "code").Rename("f1", "city").Rename("f2", "zones"))
	// Output:
	// code,city,zones
	// 0150,Oslo,
	// 3011,Bern,5
}

// JSON lines with the columns of a schema, and with columns that are inferred from all rows.
func ExampleEngine_JSONLinesWith() {
	gpu := hostEngine()
	defer gpu.Close()
	folder, err := os.MkdirTemp("", "gpuframe")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "events.jsonl")
	if err := os.WriteFile(path, []byte(`{"at":"2026-06-01T12:00:00Z","size":3}`+"\n"+`{"size":4.5,"kind":"late"}`+"\n"), 0o600); err != nil {
		panic(err)
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "at", Type: arrow.FixedWidthTypes.Timestamp_s, Nullable: true}}, nil)
	show(gpu.JSONLinesWith(schema, path).Filter(gpuframe.Of[time.Time]("at").Ge(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))))
	show(gpu.JSON(gpuframe.JSONOptions{InferRows: -1}, path).Select("kind", "size"))
	// Output:
	// at
	// 2026-06-01 12:00:00
	// kind,size
	// ,3
	// late,4.5
}

// A file in memory, and files of Arrow's IPC formats.
func ExampleEngine_ParquetReaderAt() {
	gpu := hostEngine()
	defer gpu.Close()
	data := formatted(gpu, gpuframe.ParquetWith(gpuframe.ParquetOptions{Compression: "zstd", Level: 3}))
	upload := gpu.ParquetReaderAt("upload", bytes.NewReader(data), int64(len(data)))
	folder, err := os.MkdirTemp("", "gpuframe")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "upload.arrow")
	if _, err := upload.WriteFile(context.Background(), path, gpuframe.IPC()); err != nil {
		panic(err)
	}
	show(gpu.IPC(path))
	// Output:
	// city,qty
	// Oslo,2
	// Bern,1
}

// Objects of one web server, with a token that no other server gets.
func ExampleEngine_Objects() {
	gpu := hostEngine()
	defer gpu.Close()
	files := fstest.MapFS{"sales.parquet": {Data: formatted(gpu, gpuframe.Parquet())}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			http.Error(w, "no token", http.StatusUnauthorized)
			return
		}
		http.FileServerFS(fs.FS(files)).ServeHTTP(w, r)
	}))
	defer server.Close()
	store := https.New(https.Options{Header: http.Header{"Authorization": {"Bearer secret"}}})
	show(gpu.Objects(store).Parquet(server.URL + "/sales.parquet"))
	schema, err := gpu.Objects(store).Parquet(server.URL + "/sales.parquet").Schema(context.Background())
	fmt.Println(schema.NumFields(), err)
	// Output:
	// city,qty
	// Oslo,2
	// Bern,1
	// 2 <nil>
}
