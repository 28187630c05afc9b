package dictionary_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels/dictionary"
	"github.com/gpuframe/gpuframe/memory"
)

// The letters of a word as codes, and the dictionary of the codes.
func ExampleEncode() {
	if err := encodeLetters(context.Background(), "mississippi"); err != nil {
		fmt.Println(err)
	}
	// Output:
	// [0 1 2 2 1 2 2 1 3 3 1]
	// ["m" "i" "s" "p"]
}

func encodeLetters(ctx context.Context, word string) error {
	dev, err := device.Open("host") // or "cuda:0"
	if err != nil {
		return err
	}
	defer dev.Close()
	mgr, err := memory.NewManager(dev, memory.Options{})
	if err != nil {
		return err
	}
	defer mgr.Close()
	builder := array.NewStringBuilder(arrowmemory.DefaultAllocator)
	defer builder.Release()
	builder.AppendValues(strings.Split(word, ""), nil)
	values := builder.NewArray()
	defer values.Release()
	letters, err := column.FromArray(ctx, mgr, values, column.UploadOptions{})
	if err != nil {
		return err
	}
	defer letters.Release()

	encoded, err := dictionary.Encode(ctx, letters)
	if err != nil {
		return err
	}
	defer encoded.Release()
	downloaded, err := encoded.Array(ctx)
	if err != nil {
		return err
	}
	defer downloaded.Release()
	fmt.Println(downloaded.(*array.Dictionary).Indices())
	fmt.Println(downloaded.(*array.Dictionary).Dictionary())
	return nil
}
