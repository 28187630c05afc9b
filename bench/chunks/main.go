// Command chunks measures how fast column chunks of Parquet files are decoded on a device.
//
//	go -C bench run ./chunks [-device cuda:0] [-bytes 1GiB] [-rows 1048576] [-page 1MiB] [-only "plain text"] [-rounds 9]
//
// Rates are those of the decoded values. "decode" has the bytes of the file on the device before, "whole" begins with
// bytes in pinned memory of the host. Row groups are copies of one; the rows of three of them are compared with those
// that the host decodes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/bench/internal/reading"
	"github.com/gpuframe/gpuframe/bench/internal/session"
	"github.com/gpuframe/gpuframe/bench/internal/table"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/io/source/chunks"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/memory"
)

func main() { session.Main("chunks", run) }

// bench is the settings of all measurements.
type bench struct {
	manager             *memory.Manager
	pinned              *memory.PinnedAllocator
	bytes, rows, rounds int
	page                int64 // bytes
}

func run(ctx context.Context) error {
	name := session.Device()
	bytes := session.Bytes("bytes", 1<<30, "values of a measurement")
	rows := flag.Int("rows", 1<<20, "rows of a row group")
	page := session.Bytes("page", 1<<20, "length of a page")
	only := flag.String("only", "", "only this content")
	rounds := flag.Int("rounds", 9, "decodings, of which the median is taken")
	flag.Parse()
	return session.Run(*name, func(dev *device.Device, mgr *memory.Manager) (err error) {
		pinned := memory.NewPinnedAllocator(dev, 0)
		defer func() { err = errors.Join(err, pinned.Close()) }()
		b := &bench{manager: mgr, pinned: pinned, bytes: int(*bytes), rows: *rows, rounds: max(*rounds, 1), page: int64(*page)}
		fmt.Printf("%s: %s, %s of values in row groups of %d rows, pages of %s\n\n", dev, dev.Info().Name, humanize.IBytes(*bytes), *rows, humanize.IBytes(*page))
		t := table.New("content", "row groups", "pages", "in the file", "decode", "", "whole", "")
		for _, c := range contents() {
			if *only == "" || *only == c.name {
				if err := b.measure(ctx, t, c); err != nil {
					return fmt.Errorf("%s: %w", c.name, err)
				}
			}
		}
		return t.Print(os.Stdout)
	})
}

// measure adds a row to the table.
func (b *bench) measure(ctx context.Context, t *table.Table, c content) error {
	values := c.values(b.rows)
	defer values.Release()
	chunk, about, err := write(values, b.page, c.properties)
	if err != nil {
		return err
	}
	plan, err := pages.NewPlan(chunk, about.Column)
	if err != nil {
		return err
	}
	if !chunks.Decodable(about, plan) {
		t.Add(c.name, "", "", "", "not decoded on the device", "", "", "")
		return nil
	}
	each := int(reading.ArrayBytes(values))
	groups := max(b.bytes/each, 1)
	memory := b.pinned.Allocate(groups * len(chunk))
	defer b.pinned.Free(memory)
	columns := []chunks.Column{{Type: about.Type}}
	for i := range groups {
		part := memory[i*len(chunk) : (i+1)*len(chunk)]
		copy(part, chunk)
		columns[0].Chunks = append(columns[0].Chunks, chunks.Chunk{About: about, Bytes: part, Rows: about.Values})
	}
	whole := func() ([]*column.Column, error) { return chunks.Decode(ctx, b.manager, columns, chunks.Options{}) }
	if err := b.check(ctx, chunk, about, groups, whole); err != nil {
		return err
	}
	wholeTime, err := b.time(ctx, whole)
	if err != nil {
		return err
	}
	decodeTime := time.Duration(0)
	if b.manager.Device().Kind() != device.Host {
		if decodeTime, err = b.decodeTime(ctx, columns); err != nil {
			return err
		}
	}
	rate := func(took time.Duration) (milliseconds, rate string) {
		if took == 0 {
			return "", ""
		}
		return fmt.Sprintf("%.2f ms", took.Seconds()*1e3), fmt.Sprintf("%.1f GB/s", float64(each*groups)/took.Seconds()/1e9)
	}
	decode, decodeRate := rate(decodeTime)
	all, allRate := rate(wholeTime)
	t.Add(c.name, fmt.Sprint(groups), fmt.Sprint(groups*len(plan)), humanize.IBytes(uint64(groups*len(chunk))), decode, decodeRate, all, allRate)
	return nil
}

// decodeTime returns the time to decode columns that are on the device.
func (b *bench) decodeTime(ctx context.Context, columns []chunks.Column) (took time.Duration, err error) {
	batch, err := chunks.Copy(ctx, b.manager, columns, chunks.Options{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, batch.Release()) }()
	return b.time(ctx, func() ([]*column.Column, error) { return batch.Decode(ctx) })
}

// time returns the median time until the device is idle.
func (b *bench) time(ctx context.Context, decode func() ([]*column.Column, error)) (time.Duration, error) {
	var times []time.Duration
	for range b.rounds + 1 { // the first one is not counted
		if err := b.manager.Stream().Synchronize(ctx); err != nil {
			return 0, err
		}
		began := time.Now()
		decoded, err := decode()
		if err == nil {
			err = b.manager.Stream().Synchronize(ctx)
		}
		times = append(times, time.Since(began))
		if err = errors.Join(err, release.All(decoded)); err != nil {
			return 0, err
		}
	}
	times = times[1:]
	slices.Sort(times)
	return times[len(times)/2], nil
}

// check compares the first, the middle and the last row group with the rows that the host decodes.
func (b *bench) check(ctx context.Context, chunk []byte, about pages.Flat, groups int, decode func() ([]*column.Column, error)) (err error) {
	decoded, err := decode()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release.All(decoded)) }()
	d, err := pages.NewDecoder(chunk, about, arrowmemory.DefaultAllocator)
	if err != nil {
		return err
	}
	defer d.Close()
	want, err := d.Next(about.Values)
	if err != nil {
		return err
	}
	defer want.Release()
	for _, group := range []int{0, groups / 2, groups - 1} {
		part, err := decoded[0].Slice(group*b.rows, want.Len())
		if err != nil {
			return err
		}
		got, err := part.Array(ctx)
		if err = errors.Join(err, part.Release()); err != nil {
			return err
		}
		same := array.Equal(want, got)
		got.Release()
		if !same {
			return fmt.Errorf("row group %d differs from that of the host", group)
		}
	}
	return nil
}
