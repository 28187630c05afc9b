package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
)

// content is values in an encoding.
type content struct {
	name       string
	properties []parquet.WriterProperty
	values     func(rows int) arrow.Array
}

func contents() []content {
	dictionary, plain := parquet.WithDictionaryDefault(true), parquet.WithDictionaryDefault(false)
	return []content{
		{"plain int64", []parquet.WriterProperty{plain}, integers(func(r *rand.Rand, _ int) int64 { return r.Int64() }, 0)},
		{"plain int64, nulls", []parquet.WriterProperty{plain}, integers(func(r *rand.Rand, _ int) int64 { return r.Int64() }, 10)},
		{"dictionary int64", []parquet.WriterProperty{dictionary}, integers(few, 0)},
		{"dictionary int64, nulls", []parquet.WriterProperty{dictionary}, integers(few, 10)},
		{"delta int64", []parquet.WriterProperty{plain, parquet.WithEncoding(parquet.Encodings.DeltaBinaryPacked)}, integers(func(r *rand.Rand, row int) int64 { return int64(row)*1000 + r.Int64N(1000) }, 0)},
		{"dictionary text", []parquet.WriterProperty{dictionary}, texts(func(r *rand.Rand, _ int) string { return fmt.Sprintf("Customer#%09d", r.IntN(1000)) })},
		{"plain text", []parquet.WriterProperty{plain}, texts(sentence)},
		{"delta lengths, text", []parquet.WriterProperty{plain, parquet.WithEncoding(parquet.Encodings.DeltaLengthByteArray)}, texts(sentence)},
		{"shared beginnings, text", []parquet.WriterProperty{plain, parquet.WithEncoding(parquet.Encodings.DeltaByteArray)}, texts(func(r *rand.Rand, row int) string {
			return fmt.Sprintf("https://example.org/%09d/%04d", row/3, r.IntN(1000))
		})},
		{"plain int64, Snappy", []parquet.WriterProperty{plain, parquet.WithCompression(compress.Codecs.Snappy)}, integers(few, 0)},
	}
}

func sentence(r *rand.Rand, _ int) string { return "carefully final deposits sleep"[:5+r.IntN(20)] }

// few draws from 1,000 values.
func few(r *rand.Rand, _ int) int64 { return r.Int64N(1000) * 1_000_003 }

// integers returns a function that makes values, of which one in nulls is null.
func integers(value func(r *rand.Rand, row int) int64, nulls int) func(rows int) arrow.Array {
	return func(rows int) arrow.Array {
		r, b := rand.New(rand.NewPCG(1, 2)), array.NewInt64Builder(arrowmemory.DefaultAllocator)
		for row := range rows {
			if nulls > 0 && r.IntN(nulls) == 0 {
				b.AppendNull()
			} else {
				b.Append(value(r, row))
			}
		}
		return b.NewArray()
	}
}

func texts(value func(r *rand.Rand, row int) string) func(rows int) arrow.Array {
	return func(rows int) arrow.Array {
		r, b := rand.New(rand.NewPCG(1, 2)), array.NewStringBuilder(arrowmemory.DefaultAllocator)
		for row := range rows {
			b.Append(value(r, row))
		}
		return b.NewArray()
	}
}

// write returns values as a column chunk of pages of a length.
func write(values arrow.Array, page int64, properties []parquet.WriterProperty) (chunk []byte, about pages.Flat, err error) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: values.DataType(), Nullable: values.NullN() > 0}}, nil)
	record := array.NewRecord(schema, []arrow.Array{values}, int64(values.Len()))
	defer record.Release()
	properties = append([]parquet.WriterProperty{parquet.WithDataPageSize(page)}, properties...)
	var to bytes.Buffer
	writer, err := pqarrow.NewFileWriter(schema, &to, parquet.NewWriterProperties(properties...), pqarrow.NewArrowWriterProperties())
	if err != nil {
		return nil, about, err
	}
	if err := writer.Write(record); err != nil {
		return nil, about, err
	}
	if err := writer.Close(); err != nil {
		return nil, about, err
	}
	data := to.Bytes()
	tail, err := parquetformat.ReadTail(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, about, err
	}
	footer, err := parquetformat.Read(tail)
	if err != nil {
		return nil, about, err
	}
	m, column := &footer.Groups[0].Chunks[0], footer.Schema.Columns[0]
	return data[m.Start() : m.Start()+m.Compressed], pages.Flat{
		Column:   pages.Column{Codec: m.Codec, Values: m.Values, MaxDefinition: column.MaxDefinition},
		Physical: column.Physical, Width: column.Length, Type: values.DataType(),
	}, nil
}
