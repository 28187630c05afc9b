package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gpuframe/gpuframe/bench/internal/table"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// spin keeps one multiprocessor busy for a million clocks and writes a number.
const spin = `.version 7.0
.target sm_70
.address_size 64
.visible .entry spin(.param .u64 out)
{
	.reg .pred %busy;
	.reg .b64 %out, %begin, %now, %gone;
	ld.param.u64 %out, [out];
	cvta.to.global.u64 %out, %out;
	mov.u64 %begin, %clock64;
again:
	mov.u64 %now, %clock64;
	sub.s64 %gone, %now, %begin;
	setp.lt.s64 %busy, %gone, 1000000;
	@%busy bra again;
	st.global.u64 [%out], %now;
	ret;
}
`

const (
	kernelsInRound = 4
	numberBytes    = 8
)

// streamCounts are the numbers of streams between which the kernels of a round
// alternate.
var streamCounts = []int{1, 2, 4}

// launcher enqueues the work of RMM's benchmark on memory: on a GPU the kernel, on the
// host a fill.
type launcher struct {
	dev      *device.Device
	module   *kernels.Module
	function *kernels.Function
	// raw is the same kernel for the peer.
	rawModule backend.Module
	raw       backend.Function
}

func (b *bench) newLauncher() (l *launcher, err error) {
	l = &launcher{dev: b.dev}
	if !b.onGPU() {
		return l, nil
	}
	if l.module, err = kernels.Load(b.dev, spin); err != nil {
		return nil, err
	}
	if l.function, err = l.module.Function("spin"); err != nil {
		return nil, errors.Join(err, l.close())
	}
	if l.rawModule, err = b.dev.Driver().ModuleLoad([]byte(spin)); err != nil {
		return nil, errors.Join(err, l.close())
	}
	if l.raw, err = b.dev.Driver().ModuleFunction(l.rawModule, "spin"); err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

func (l *launcher) close() error {
	var failures []error
	if l.module != nil {
		failures = append(failures, l.module.Close())
	}
	if l.rawModule != 0 {
		failures = append(failures, l.dev.Driver().ModuleUnload(l.rawModule))
	}
	return errors.Join(failures...)
}

// launch takes a *memory.Block or a device.Pointer.
func (l *launcher) launch(stream *device.Stream, argument any, pointer device.Pointer) error {
	if l.function != nil {
		return l.function.Launch(stream, device.Dim3{X: 1}, device.Dim3{X: 1}, 0, argument)
	}
	return stream.Enqueue(func(handle backend.Stream) error {
		return l.dev.Driver().MemsetAsync(pointer, 1, 1, numberBytes, handle)
	})
}

// writeNumber allocates a number on the stream, writes it by a kernel, and frees it.
func (s *source) writeNumber(l *launcher, stream *device.Stream) error {
	if s.manager == nil {
		allocation, err := s.resource.Allocate(numberBytes, stream)
		if err != nil {
			return err
		}
		return errors.Join(l.launch(stream, allocation.Pointer, allocation.Pointer), s.resource.Free(allocation, nil))
	}
	block, err := s.manager.Allocate(numberBytes, memory.AllocateOptions{Stream: stream, Tag: "bench"})
	if err != nil {
		return err
	}
	return errors.Join(l.launch(stream, block, block.Pointer()), block.Release())
}

// streams times rounds of four kernels, each with separate memory.
func (b *bench) streams() (err error) {
	launcher, err := b.newLauncher()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, launcher.close()) }()
	head := []string{fmt.Sprintf("%d kernels and the wait for them, by streams", kernelsInRound), "memory at first"}
	for _, n := range streamCounts {
		head = append(head, fmt.Sprint(n), "of C")
	}
	t := table.New(head...)
	err = withStreams(b.dev, streamCounts[len(streamCounts)-1], func(streams []*device.Stream) error {
		base, err := b.streamsInC(t, launcher, streams)
		if err != nil {
			return err
		}
		for _, subject := range subjects {
			for _, warm := range []bool{false, true} {
				if err := b.streamsOf(t, subject, warm, launcher, streams, base); err != nil {
					return fmt.Errorf("%s: %w", subject.name, err)
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return show("Streams", t)
}

func (b *bench) rounds() int {
	if b.quick {
		return 3
	}
	return 31
}

// streamsInC returns the times by number of streams; zero means unknown.
func (b *bench) streamsInC(t *table.Table, l *launcher, streams []*device.Stream) (base map[int]time.Duration, err error) {
	base = map[int]time.Duration{}
	pool, err := b.pool(0, streams[0])
	if pool == nil || err != nil {
		return base, err
	}
	defer pool.close(&err)
	row := []string{"the driver's pool from C", ""}
	for _, n := range streamCounts {
		var handles []backend.Stream
		for _, stream := range streams[:n] {
			handles = append(handles, stream.Handle())
		}
		var times []time.Duration
		for range b.rounds() {
			took, err := pool.Kernels(1, kernelsInRound, handles, l.raw)
			if err != nil {
				return nil, err
			}
			times = append(times, took)
		}
		base[n] = middle(times)
		row = append(row, microseconds(base[n]), "")
	}
	t.Add(row...)
	return base, nil
}

// streamsOf opens the subject again for each number of streams. If warm is true, every
// stream has freed memory before.
func (b *bench) streamsOf(t *table.Table, subject subject, warm bool, l *launcher, streams []*device.Stream, base map[int]time.Duration) error {
	row := []string{subject.name, "none"}
	if warm {
		row[1] = "on each stream"
	}
	for _, n := range streamCounts {
		var each time.Duration
		err := subject.with(b.dev, 0, func(source *source) (err error) {
			if warm {
				if err := source.warm(streams[:n]); err != nil {
					return err
				}
			}
			each, err = b.kernelRounds(source, l, streams[:n])
			return err
		})
		if err != nil {
			return err
		}
		relative := ""
		if base[n] > 0 {
			relative = fmt.Sprintf("%.2f", ratio(each, base[n]))
		}
		row = append(row, microseconds(each), relative)
	}
	t.Add(row...)
	return nil
}

func (b *bench) kernelRounds(source *source, l *launcher, streams []*device.Stream) (time.Duration, error) {
	var times []time.Duration
	for range b.rounds() {
		start := time.Now()
		for i := range kernelsInRound {
			if err := source.writeNumber(l, streams[i%len(streams)]); err != nil {
				return 0, err
			}
		}
		if err := b.dev.Synchronize(context.Background()); err != nil {
			return 0, err
		}
		times = append(times, time.Since(start))
	}
	return middle(times), nil
}

// warm allocates a number on every stream, and frees all of them.
func (s *source) warm(streams []*device.Stream) error {
	var bytes []uint64
	for range streams {
		bytes = append(bytes, numberBytes)
	}
	held := s.newSlots(len(streams))
	for i, stream := range streams {
		take := held.withResource
		if held.blocks != nil {
			take = held.withManager
		}
		if err := take(bytes[i:i+1], []uint32{uint32(i)}, stream); err != nil {
			return errors.Join(err, held.free())
		}
	}
	return held.free()
}
