package decompress_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/golang/snappy"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/decompress"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// Two pages in one launch. The second one is cut off.
func Example() {
	ctx := context.Background()
	dev, err := device.Open("host") // or "cuda:0"
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	mgr, err := memory.NewManager(dev, memory.Options{Budget: 1 << 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer mgr.Close()
	if err := decompressTwice(ctx, mgr); err != nil {
		fmt.Println(err)
	}
	// Output:
	// the same words, the same words
	// decompression of Snappy failed: its bytes are not of the format: the page is not of its format
}

func decompressTwice(ctx context.Context, mgr *memory.Manager) error {
	const text = "the same words, the same words"
	packed := snappy.Encode(nil, []byte(text))
	input := append(packed, packed[:len(packed)-3]...)
	pages := []decompress.Page{
		{Source: 0, Target: 0, Compressed: uint32(len(packed)), Length: uint32(len(text))},
		{Source: uint64(len(packed)), Target: uint64(len(text)), Compressed: uint32(len(packed) - 3), Length: uint32(len(text))},
	}
	call, err := op.Begin(ctx, kernels.Options{Manager: mgr})
	if err != nil {
		return err
	}
	block, slices, err := call.Scratch(uint64(len(pages)*decompress.PageWords*8), uint64(len(input)), uint64(2*len(text)), uint64(4*len(pages)))
	if err != nil {
		return err
	}
	defer block.Release()
	words, wordsErr := memory.Reinterpret[uint64](slices[0])
	status, statusErr := memory.Reinterpret[uint32](slices[3])
	batch := decompress.Batch{Pages: words, Size: decompress.Measure(pages), Input: slices[1], Output: slices[2], Status: status}
	output, numbers := make([]byte, 2*len(text)), make([]uint32, len(pages))
	if err := errors.Join(wordsErr, statusErr,
		words.Upload(ctx, call.Stream, decompress.Words(pages)), batch.Input.Upload(ctx, call.Stream, input),
		decompress.Launch(&call, decompress.Snappy, batch),
		batch.Output.Download(ctx, call.Stream, output), status.Download(ctx, call.Stream, numbers)); err != nil {
		return err
	}
	fmt.Println(string(output[:len(text)]))
	fmt.Println(decompress.Status(numbers[1]).Error(decompress.Snappy))
	return nil
}
