package checks_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/arrowdev/internal/checks"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

func Example() {
	ctx := context.Background()
	dev, err := device.Open("host") // or "cuda:0"
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	mgr, err := memory.NewManager(dev, memory.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer mgr.Close()
	buffer, _ := memory.NewSlice[uint8](mgr, 16, memory.AllocateOptions{})
	defer buffer.Release()
	var bytes []byte
	for _, offset := range []uint32{0, 4, 9, 7} {
		bytes = binary.NativeEndian.AppendUint32(bytes, offset)
	}
	fmt.Println(buffer.Upload(ctx, nil, bytes))

	batch := checks.NewBatch(mgr, nil)
	two := batch.Offsets(`column 0 "city": buffer 1 (offsets)`, 4, checks.Elements{Buffer: buffer, Count: 2}, -1)
	results, err := batch.Run(ctx)
	fmt.Println(results.First(two), results.Last(two), err)

	batch.Offsets(`column 3 "origin": buffer 1 (offsets)`, 4, checks.Elements{Buffer: buffer, Count: 3}, -1)
	_, err = batch.Run(ctx)
	fmt.Println(err)
	fmt.Println(errors.Is(err, checks.ErrOutOfRange))
	// Output:
	// <nil>
	// 0 9 <nil>
	// column 3 "origin": buffer 1 (offsets): element 3 is 7, less than 9 before it: contents out of range
	// true
}
