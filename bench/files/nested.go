package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
)

// nestedRows is the number of rows of a file of nested columns.
const nestedRows = 1 << 20

// nestedSelections are the columns of such files, each by itself: a tenth of the values and lists is null, and a tenth of the lists
// empty.
var nestedSelections = []selection{
	{"int64, nulls", []string{"n"}}, {"text, nulls", []string{"s"}}, {"struct", []string{"struct"}}, {"list of int64", []string{"list"}},
	{"list of text", []string{"texts"}}, {"list of structs", []string{"structs"}}, {"list of lists", []string{"lists"}}, {"all columns", nil},
}

func nestedSchema() *arrow.Schema {
	integers, text := arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String
	pair := arrow.StructOf(arrow.Field{Name: "a", Type: integers, Nullable: true}, arrow.Field{Name: "b", Type: text, Nullable: true})
	var fields []arrow.Field
	for name, t := range []arrow.DataType{integers, text, pair, arrow.ListOf(integers), arrow.ListOf(text), arrow.ListOf(pair), arrow.ListOf(arrow.ListOf(integers))} {
		fields = append(fields, arrow.Field{Name: nestedSelections[name].columns[0], Type: t, Nullable: true})
	}
	return arrow.NewSchema(fields, nil)
}

// appendNested appends a value of a type.
func appendNested(b array.Builder, r *rand.Rand) {
	if r.IntN(10) == 0 {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.Int64Builder:
		b.Append(r.Int64N(1000) * 1_000_003)
	case *array.StringBuilder:
		b.Append("carefully final deposits sleep"[:5+r.IntN(20)])
	case *array.StructBuilder:
		b.Append(true)
		for i := range b.NumField() {
			appendNested(b.FieldBuilder(i), r)
		}
	case *array.ListBuilder:
		b.Append(true)
		if r.IntN(10) > 0 {
			for range 1 + r.IntN(7) {
				appendNested(b.ValueBuilder(), r)
			}
		}
	}
}

// writeNested writes copies of a file of nested columns.
func writeNested(folder string, copies int) error {
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, nestedSchema())
	defer b.Release()
	r := rand.New(rand.NewPCG(1, 2))
	for i := range b.Fields() {
		for range nestedRows {
			appendNested(b.Field(i), r)
		}
	}
	record := b.NewRecord()
	defer record.Release()
	var to bytes.Buffer
	writer, err := pqarrow.NewFileWriter(record.Schema(), &to, parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy)), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		return err
	}
	if err := writer.Write(record); err != nil {
		return err
	}
	if err := writer.Close(); err != nil {
		return err
	}
	for i := range copies {
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("nested-%03d.parquet", i)), to.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
