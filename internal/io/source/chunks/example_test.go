package chunks_test

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/source/chunks"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/internal/testing/pagestest"
	"github.com/gpuframe/gpuframe/memory"
)

// The last two of three values of a column chunk.
func ExampleDecode() {
	dev, err := device.Open("host") // or "cuda:0"
	if err != nil {
		panic(err)
	}
	defer dev.Close()
	m, err := memory.NewManager(dev, memory.Options{})
	if err != nil {
		panic(err)
	}
	defer m.Close()

	var body []byte
	for _, value := range []uint32{7, 8, 9} {
		body = binary.LittleEndian.AppendUint32(body, value)
	}
	page := pagestest.Page{Body: body, Values: 3, Uncompressed: int64(len(body))}
	about := pages.Flat{Column: pages.Column{Values: 3}, Physical: parquetformat.Int32, Type: arrow.PrimitiveTypes.Int32}
	columns, err := chunks.Decode(context.Background(), m, []chunks.Column{{
		Type:   about.Type,
		Chunks: []chunks.Chunk{{About: about, Bytes: page.Bytes(), First: 1, Rows: 2}},
	}}, chunks.Options{})
	if err != nil {
		panic(err)
	}
	defer columns[0].Release()
	text, err := columns[0].Preview(context.Background(), 2)
	fmt.Println(text, err)
	// Output: int32 column of 2, 0 nulls: [8, 9] <nil>
}
