package main

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/bench/internal/peer"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/memory"
)

// record makes a record of eight-byte columns, alternately integers and floats, in
// ordinary memory.
func record(columns, rows int) arrow.Record {
	fields := make([]arrow.Field, columns)
	arrays := make([]arrow.Array, columns)
	for i := range fields {
		values := make([]int64, rows)
		for j := range values {
			values[j] = int64(j*columns + i)
		}
		bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), 8*rows)
		var kind arrow.DataType = arrow.PrimitiveTypes.Int64
		if i%2 == 1 {
			kind = arrow.PrimitiveTypes.Float64
		}
		data := array.NewData(kind, rows, []*arrowmemory.Buffer{nil, arrowmemory.NewBufferBytes(bytes)}, nil, 0, 0)
		fields[i] = arrow.Field{Name: fmt.Sprintf("c%d", i), Type: kind}
		arrays[i] = array.MakeFromData(data)
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), arrays, int64(rows))
}

// link is pinned and device memory for timing the link's rate.
type link struct {
	bench  *bench
	device memory.Slice[uint8]
	pinned unsafe.Pointer
	bytes  uint64
}

func (b *bench) newLink(bytes uint64) (*link, error) {
	slice, err := memory.NewSlice[uint8](b.mgr, int(bytes), memory.AllocateOptions{})
	if err != nil {
		return nil, err
	}
	pinned, err := b.dev.Driver().HostAlloc(bytes)
	if err != nil {
		return nil, errors.Join(err, slice.Release())
	}
	clear(unsafe.Slice((*byte)(pinned), bytes))
	return &link{bench: b, device: slice, pinned: pinned, bytes: bytes}, nil
}

func (l *link) close() error {
	return errors.Join(l.device.Release(), l.bench.dev.Driver().HostFree(l.pinned))
}

// toDevice and toHost return the time of one pinned copy as C issues it.
func (l *link) toDevice(n int) (time.Duration, error) {
	return medianOf(n, func() (time.Duration, error) {
		return peer.ToDevice(1, l.device.Pointer(), l.pinned, l.bytes, l.bench.mgr.Stream().Handle())
	})
}

func (l *link) toHost(n int) (time.Duration, error) {
	return medianOf(n, func() (time.Duration, error) {
		return peer.ToHost(1, l.pinned, l.device.Pointer(), l.bytes, l.bench.mgr.Stream().Handle())
	})
}

func (b *bench) load(rec arrow.Record) error {
	table, err := buffer.FromRecord(b.mgr, rec)
	if err != nil {
		return err
	}
	return table.Release()
}

// largeRecord moves a record, limited by the link's rate, in both directions.
func (b *bench) largeRecord() (err error) {
	const columns, repeat = 16, 9
	rows := int(b.large / columns / 8)
	bytes := uint64(rows) * columns * 8
	what := fmt.Sprintf("%.3g GiB record", float64(bytes)/(1<<30))
	rec := record(columns, rows)
	defer rec.Release()

	start := time.Now()
	if err := b.load(rec); err != nil {
		return err
	}
	first := time.Since(start)
	up, err := median(repeat, func() error { return b.load(rec) })
	if err != nil {
		return err
	}
	table, err := buffer.FromRecord(b.mgr, rec)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, table.Release()) }()
	down, err := b.unload(table, repeat, column.DownloadOptions{})
	if err != nil {
		return err
	}
	allocator := memory.NewPinnedAllocator(b.dev, 0)
	defer func() { err = errors.Join(err, allocator.Close()) }()
	downPinned, err := b.unload(table, repeat, column.DownloadOptions{Allocator: allocator})
	if err != nil {
		return err
	}
	if !b.onGPU() {
		b.note("FromRecord, "+what, gigabytes(bytes, up), "", "", 0)
		b.note("Record, "+what, gigabytes(bytes, down), "", "", 0)
		return nil
	}
	l, err := b.newLink(bytes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	pinnedUp, err := l.toDevice(repeat)
	if err != nil {
		return err
	}
	pinnedDown, err := l.toHost(repeat)
	if err != nil {
		return err
	}
	ordinary := make([]byte, bytes)
	for i := range ordinary {
		ordinary[i] = byte(i)
	}
	pageable, err := medianOf(3, func() (time.Duration, error) {
		return peer.ToDevicePageable(1, l.device.Pointer(), ordinary)
	})
	if err != nil {
		return err
	}
	b.atLeast("FromRecord, "+what, gigabytes(bytes, up), "pinned cuMemcpyHtoDAsync", gigabytes(bytes, pinnedUp), rate(bytes, up)/rate(bytes, pinnedUp), 0.85)
	b.atLeast("FromRecord, "+what, gigabytes(bytes, up), "cuMemcpyHtoD, ordinary memory", gigabytes(bytes, pageable), rate(bytes, up)/rate(bytes, pageable), 4)
	b.note("FromRecord, "+what+", first in the process", gigabytes(bytes, first), "pinned cuMemcpyHtoDAsync", gigabytes(bytes, pinnedUp), rate(bytes, first)/rate(bytes, pinnedUp))
	b.atLeast("Record, "+what, gigabytes(bytes, down), "pinned cuMemcpyDtoHAsync", gigabytes(bytes, pinnedDown), rate(bytes, down)/rate(bytes, pinnedDown), 0.7)
	b.note("Record, "+what+", PinnedAllocator", gigabytes(bytes, downPinned), "pinned cuMemcpyDtoHAsync", gigabytes(bytes, pinnedDown), rate(bytes, downPinned)/rate(bytes, pinnedDown))
	return nil
}

func (b *bench) unload(table *buffer.Buffer, repeat int, options column.DownloadOptions) (time.Duration, error) {
	return median(repeat, func() error {
		rec, err := table.RecordWith(context.Background(), options)
		if err != nil {
			return err
		}
		rec.Release()
		return nil
	})
}

// smallRecord moves a record that is limited by latency.
func (b *bench) smallRecord() (err error) {
	const columns, rows, repeat = 20, 10_000, 301
	const bytes = columns * rows * 8
	rec := record(columns, rows)
	defer rec.Release()
	up, err := median(repeat, func() error { return b.load(rec) })
	if err != nil {
		return err
	}
	const what = "FromRecord, 10,000 rows × 20 columns"
	if !b.onGPU() {
		b.note(what, microseconds(up), "", "", 0)
		return nil
	}
	// The same after a pause, when all processors are in a sleep state.
	apart, err := medianOf(21, func() (time.Duration, error) {
		time.Sleep(2 * time.Millisecond)
		start := time.Now()
		err := b.load(rec)
		return time.Since(start), err
	})
	if err != nil {
		return err
	}
	l, err := b.newLink(bytes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	pinned, err := l.toDevice(repeat)
	if err != nil {
		return err
	}
	plain, err := peer.Alloc(50, bytes)
	if err != nil {
		return err
	}
	async, err := peer.AllocAsync(1000, bytes, b.mgr.Stream().Handle())
	if err != nil {
		return err
	}
	b.atMost(what, microseconds(up), "pinned copy + cuMemAllocAsync pair", microseconds(pinned+async), ratio(up, pinned+async), 1.5)
	b.atMost(what, microseconds(up), "pinned copy + cuMemAlloc pair", microseconds(pinned+plain), ratio(up, pinned+plain), 1.5)
	b.note(what+", 2 ms apart", microseconds(apart), "pinned copy + cuMemAllocAsync pair", microseconds(pinned+async), ratio(apart, pinned+async))
	return nil
}

func ratio(ours, theirs time.Duration) float64 { return ours.Seconds() / theirs.Seconds() }
