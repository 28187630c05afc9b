package packed_test

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/packed"
	"github.com/gpuframe/gpuframe/memory"
)

// Keys of 8 bytes, of which a GPU gets 4 bits.
func ExampleUnpack() {
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

	builder := array.NewInt64Builder(arrowmemory.DefaultAllocator)
	for i := range int64(packed.BlockRows) {
		builder.Append(1_000_000 + i + i%7)
	}
	keys := builder.NewArray()
	p, err := packed.NewPacker([]arrow.DataType{keys.DataType()}, arrowmemory.DefaultAllocator)
	if err != nil {
		panic(err)
	}
	columns, blocks, err := p.Pack(context.Background(), [][]arrow.Array{{keys}})
	if err != nil {
		panic(err)
	}
	defer packed.Release(blocks)
	unpacked, err := packed.Unpack(context.Background(), m, columns, packed.Options{})
	if err != nil {
		panic(err)
	}
	defer unpacked[0].Release()
	text, err := unpacked[0].Preview(context.Background(), 3)
	fmt.Println(columns[0].Bytes()*8/packed.BlockRows, "bits a row:", text, err)
	// Output: 3 bits a row: int64 column of 65536, 0 nulls: [1000000, 1000002, 1000004, …] <nil>
}
