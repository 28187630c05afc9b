// Command packed measures packed columns: those of lineitem, with the generator of bench/tpch.
//
//	go -C bench run ./packed [-device cuda:0] [-sf 10] [-only l_comment] [-rounds 9]
//
// A row has the length of the column as Arrow and packed, the rate at which all processors pack it, the rate of the copy
// to the device, and that of the kernels: Arrow's bytes, but those of the packed form for the copy. The last rows are all
// columns together. Then a table of all columns is spilled to host memory and comes back, plain and packed by the device, and
// a query that has nothing else to do scans a host table of them, plain and packed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"os"
	"slices"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/internal/reading"
	"github.com/gpuframe/gpuframe/bench/internal/session"
	"github.com/gpuframe/gpuframe/bench/internal/table"
	"github.com/gpuframe/gpuframe/bench/tpch/data"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/packed"
	"github.com/gpuframe/gpuframe/memory"
)

func main() { session.Main("packed", run) }

// bench is the settings of all measurements and the rows.
type bench struct {
	manager *memory.Manager
	pinned  *memory.PinnedAllocator
	rounds  int
	schema  *arrow.Schema
	records []arrow.Record
}

const (
	// recordRows is the number of rows of a record. A call packs the rows of four.
	recordRows = 16 * packed.BlockRows
	callRows   = 4
	// mostRows is the number of rows with which the comments have 32-bit offsets.
	mostRows = 64 << 20
)

func run(ctx context.Context) error {
	name := session.Device()
	scale := flag.Float64("sf", 10, "scale factor; of the rows the first 64 Mi")
	only := flag.String("only", "", "only this column")
	rounds := flag.Int("rounds", 9, "calls, of which the median is taken")
	flag.Parse()
	g, err := data.New(*scale, 12)
	if err != nil {
		return err
	}
	return session.Run(*name, func(dev *device.Device, mgr *memory.Manager) (err error) {
		pinned := memory.NewPinnedAllocator(dev, 0)
		defer func() { err = errors.Join(err, pinned.Close()) }()
		b := &bench{manager: mgr, pinned: pinned, rounds: max(*rounds, 1), schema: data.Lineitem.Schema()}
		defer func() {
			for _, record := range b.records {
				record.Release()
			}
		}()
		rows := int64(0)
		for record, err := range g.Records(ctx, data.Lineitem, recordRows) {
			if err != nil {
				return err
			}
			if rows+record.NumRows() > mostRows {
				record.Release()
				break
			}
			b.records, rows = append(b.records, record), rows+record.NumRows()
		}
		fmt.Printf("%s: %s, lineitem at scale factor %v, %d rows\n\n", dev, dev.Info().Name, *scale, rows)
		return b.measureAll(ctx, *only)
	})
}

func (b *bench) measureAll(ctx context.Context, only string) error {
	t := table.New("columns", "Arrow", "packed", "ratio", "pack", "copy", "unpack", "")
	var all []int
	for i, f := range b.schema.Fields() {
		all = append(all, i)
		if only == "" || only == f.Name {
			if err := b.measure(ctx, t, f.Name, []int{i}); err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
		}
	}
	if only == "" {
		if err := b.measure(ctx, t, "all", all); err != nil {
			return err
		}
	}
	if err := t.Print(os.Stdout); err != nil || only != "" {
		return err
	}
	fmt.Println()
	if err := b.spills(ctx); err != nil {
		return err
	}
	fmt.Println()
	return b.scans(ctx)
}

// rate prints a rate.
func rate(bytes int64, took time.Duration) string {
	return fmt.Sprintf("%.1f GB/s", float64(bytes)/took.Seconds()/1e9)
}

// measure adds a row with columns to the table.
func (b *bench) measure(ctx context.Context, t *table.Table, name string, places []int) (err error) {
	began := time.Now()
	columns, blocks, err := b.pack(ctx, places)
	if err != nil {
		return err
	}
	defer packed.Release(blocks)
	packing := time.Since(began)
	plain, small := int64(0), int64(0)
	for _, record := range b.records {
		for _, place := range places {
			plain += reading.ArrayBytes(record.Column(place))
		}
	}
	for _, c := range columns {
		small += c.Bytes() + c.Dictionary.Bytes()
	}
	copying, unpacking, err := b.times(ctx, columns)
	if err != nil {
		return err
	}
	t.Add(name, humanize.IBytes(uint64(plain)), humanize.IBytes(uint64(small)), fmt.Sprintf("%.2f", float64(plain)/float64(small)),
		rate(plain, packing), rate(small, copying), fmt.Sprintf("%.2f ms", unpacking.Seconds()*1e3), rate(plain, unpacking))
	return nil
}

// pack packs columns of all rows.
func (b *bench) pack(ctx context.Context, places []int) (columns []packed.Column, blocks []*arrowmemory.Buffer, err error) {
	types := make([]arrow.DataType, len(places))
	for i, place := range places {
		types[i] = b.schema.Field(place).Type
	}
	p, err := packed.NewPacker(types, b.pinned)
	if err != nil {
		return nil, nil, err
	}
	for part := range parts(b.records, callRows*recordRows) {
		arrays := make([][]arrow.Array, len(places))
		for i, place := range places {
			for _, record := range part {
				arrays[i] = append(arrays[i], record.Column(place))
			}
		}
		next, memory, err := p.Pack(ctx, arrays)
		if err != nil {
			packed.Release(blocks)
			return nil, nil, err
		}
		blocks = append(blocks, memory...)
		if columns == nil {
			columns = next
			continue
		}
		for i, c := range next {
			columns[i].Blocks, columns[i].Rows, columns[i].Dictionary = append(columns[i].Blocks, c.Blocks...), columns[i].Rows+c.Rows, c.Dictionary
		}
	}
	return columns, blocks, nil
}

// parts yields slices of records that have a number of rows together, all but the last ones. Only the last call of a
// column may have a block with fewer rows.
func parts(records []arrow.Record, rows int64) iter.Seq[[]arrow.Record] {
	return func(yield func([]arrow.Record) bool) {
		var part []arrow.Record
		left := rows
		for _, record := range records {
			for at := int64(0); at < record.NumRows(); {
				n := min(left, record.NumRows()-at)
				part = append(part, record.NewSlice(at, at+n))
				if at, left = at+n, left-n; left > 0 {
					continue
				}
				if !yield(part) {
					return
				}
				part, left = nil, rows
			}
		}
		if len(part) > 0 {
			yield(part)
		}
	}
}

// times returns the median times of the copy and of the kernels.
func (b *bench) times(ctx context.Context, columns []packed.Column) (copying, unpacking time.Duration, err error) {
	var copies, kernels []time.Duration
	for range b.rounds + 1 { // the first one is not counted
		began := time.Now()
		batch, err := packed.Copy(ctx, b.manager, columns, packed.Options{})
		if err == nil {
			err = b.manager.Stream().Synchronize(ctx)
		}
		if err != nil {
			return 0, 0, err
		}
		copies = append(copies, time.Since(began))
		began = time.Now()
		unpacked, err := batch.Unpack(ctx)
		if err == nil {
			err = b.manager.Stream().Synchronize(ctx)
		}
		kernels = append(kernels, time.Since(began))
		if err = errors.Join(err, release.All(unpacked), batch.Release()); err != nil {
			return 0, 0, err
		}
	}
	return median(copies[1:]), median(kernels[1:]), nil
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// scans measures queries that read all columns of a host table.
func (b *bench) scans(ctx context.Context) (err error) {
	engine, err := gpuframe.Managed(b.manager)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	t := table.New("scan", "host memory", "made in", "time", "of Arrow's bytes", "of the host memory")
	for _, plain := range []bool{true, false} {
		if err := b.scan(ctx, engine, t, plain); err != nil {
			return err
		}
	}
	return t.Print(os.Stdout)
}

func (b *bench) scan(ctx context.Context, engine *gpuframe.Engine, t *table.Table, plain bool) (err error) {
	reader, err := array.NewRecordReader(b.schema, b.records)
	if err != nil {
		return err
	}
	defer reader.Release()
	began := time.Now()
	host, err := engine.NewHostTable(ctx, reader, gpuframe.HostTableOptions{Plain: plain})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, host.Release()) }()
	making := time.Since(began)
	arrowBytes, hostBytes := int64(0), int64(0)
	for i := range b.schema.NumFields() {
		for _, record := range b.records {
			arrowBytes += reading.ArrayBytes(record.Column(i))
		}
		hostBytes += host.Bytes(i)
	}
	var times []time.Duration
	for range b.rounds + 1 { // the first one is not counted
		began := time.Now()
		for frame, err := range engine.HostTable(host).Batches(ctx) {
			if err == nil {
				err = frame.Release()
			}
			if err != nil {
				return err
			}
		}
		if err := b.manager.Stream().Synchronize(ctx); err != nil {
			return err
		}
		times = append(times, time.Since(began))
	}
	took := median(times[1:])
	name := "packed"
	if plain {
		name = "plain"
	}
	t.Add(name, humanize.IBytes(uint64(hostBytes)), fmt.Sprintf("%.1f s", making.Seconds()), fmt.Sprintf("%.1f ms", took.Seconds()*1e3), rate(arrowBytes, took), rate(hostBytes, took))
	return nil
}
