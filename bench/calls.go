package main

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gpuframe/gpuframe/bench/internal/peer"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// allocate times a block from allocation to release, within the budget and with its
// statistics updated.
func (b *bench) allocate() error {
	for _, bytes := range []uint64{4 << 10, 16 << 20} {
		ours, perCall, err := timed(func() error {
			block, err := b.mgr.Allocate(bytes, memory.AllocateOptions{Tag: "bench"})
			if err != nil {
				return err
			}
			return block.Release()
		})
		if err != nil {
			return err
		}
		what := fmt.Sprintf("Manager.Allocate + Release, %d KiB, %d Go allocations", bytes>>10, perCall)
		if !b.onGPU() {
			b.note(what, microseconds(ours), "", "", 0)
			continue
		}
		theirs, err := peer.AllocAsync(2000, bytes, b.mgr.Stream().Handle())
		if err != nil {
			return err
		}
		b.note(what, microseconds(ours), "cuMemAllocAsync + cuMemFreeAsync", microseconds(theirs), ratio(ours, theirs))
	}
	return nil
}

// empty is a kernel without instructions.
const empty = `.version 7.0
.target sm_70
.address_size 64
.visible .entry empty() { ret; }
`

// launch times the issue of an empty kernel. Launches run in rounds that fit the
// driver's queue, with an untimed wait between them, for both sides.
func (b *bench) launch() (err error) {
	if !b.onGPU() {
		return nil
	}
	module, err := kernels.Load(b.dev, empty)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, module.Close()) }()
	function, err := module.Function("empty")
	if err != nil {
		return err
	}
	stream := b.mgr.Stream()
	const inRound, rounds = 500, 61
	raw, err := b.rawFunction()
	if err != nil {
		return err
	}
	single := device.Dim3{X: 1}
	warp := device.Dim3{X: 32}
	var ours, theirs []time.Duration
	for range rounds {
		start := time.Now()
		for range inRound {
			if err := function.Launch(stream, single, warp, 0); err != nil {
				return err
			}
		}
		ours = append(ours, time.Since(start)/inRound)
		if err := b.dev.Driver().StreamSynchronize(stream.Handle()); err != nil {
			return err
		}
		each, err := peer.Launch(inRound, raw, stream.Handle())
		if err != nil {
			return err
		}
		theirs = append(theirs, each)
		if err := b.dev.Driver().StreamSynchronize(stream.Handle()); err != nil {
			return err
		}
	}
	us, them := middle(ours), middle(theirs)
	b.atMost("launch of an empty kernel, issue", microseconds(us), "cuLaunchKernel from C", microseconds(them), ratio(us, them), 1.15)
	return nil
}

// rawFunction loads the kernel again for the peer, without package kernels. The kernel
// stays loaded until the process ends.
func (b *bench) rawFunction() (backend.Function, error) {
	module, err := b.dev.Driver().ModuleLoad([]byte(empty))
	if err != nil {
		return 0, err
	}
	return b.dev.Driver().ModuleFunction(module, "empty")
}

// exchange times a DLPack export and import within Go.
func (b *bench) exchange() error {
	rec := record(1, 1000)
	defer rec.Release()
	table, err := buffer.FromRecord(b.mgr, rec)
	if err != nil {
		return err
	}
	defer table.Release()
	for _, options := range []dlpack.ExportOptions{{}, {NoSync: true}} {
		ours, perCall, err := timed(func() error {
			tensor, err := dlpack.Export(table.Column(0), options)
			if err != nil {
				return err
			}
			back, err := dlpack.Import(b.mgr, tensor.Detach(), dlpack.ImportOptions{NoSync: options.NoSync})
			if err != nil {
				return err
			}
			return back.Release()
		})
		if err != nil {
			return err
		}
		what := fmt.Sprintf("DLPack export + import + release, %d Go allocations", perCall)
		if options.NoSync {
			what += ", without ordering"
		}
		const limit = 2 * time.Microsecond
		b.atMost(what, microseconds(ours), "2 µs", microseconds(limit), ratio(ours, limit), 1)
	}
	return nil
}

// timed returns an operation's time and its Go allocations.
func timed(f func() error) (each time.Duration, allocations int64, err error) {
	result := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err = f(); err != nil {
				b.FailNow()
			}
		}
	})
	return time.Duration(result.NsPerOp()), result.AllocsPerOp(), err
}
