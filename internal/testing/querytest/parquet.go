package querytest

import (
	"bytes"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"github.com/gpuframe/gpuframe"
)

// parquet returns a query on a Parquet file in memory, with a row group for each batch. Its
// statistics let scans leave out row groups.
func (g *generator) parquet(schema *arrow.Schema, batches []arrow.Record) gpuframe.Query {
	var file bytes.Buffer
	writer, err := pqarrow.NewFileWriter(schema, &file, parquet.NewWriterProperties(), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err == nil {
		for _, batch := range batches {
			if err = writer.Write(batch); err != nil {
				break
			}
		}
		if closing := writer.Close(); err == nil {
			err = closing
		}
	}
	if err != nil {
		g.t.Fatalf("write a Parquet file: %v", err)
	}
	name := fmt.Sprintf("source%d.parquet", g.names)
	return g.engine.ParquetReaderAt(name, bytes.NewReader(file.Bytes()), int64(file.Len()))
}
