package replay_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor/trace"
	"github.com/gpuframe/gpuframe/memory/replay"
)

func Example() {
	log, err := replay.Load(trace.Read(strings.NewReader(`Thread,Time,Action,Pointer,Size,Stream
1,14:21:19.998533,allocate,0x30a000000,256,0x2
1,14:21:20.104871,allocate,0x30a000100,4096,0x2
1,14:21:32.661875,free,0x30a000000,256,0x2
`)))
	if err != nil {
		fmt.Println(err)
		return
	}
	dev, err := device.Open("host")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	resource := memory.NewDriverResource(dev)
	defer resource.Close()
	player, err := replay.NewPlayer(log, resource, replay.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer player.Close()
	result, err := player.Run(context.Background())
	fmt.Println(result.Allocations, "allocations, peak", result.PeakInUse, "bytes,", result.AtEnd.InUse, "left;", err)
	// Output:
	// 2 allocations, peak 4352 bytes, 4096 left; <nil>
}
