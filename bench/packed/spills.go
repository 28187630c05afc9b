package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/bench/internal/table"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/buffer/spill"
	"github.com/gpuframe/gpuframe/internal/packed"
)

// spills measures moves of a table of all columns to host memory and back, plain and packed.
func (b *bench) spills(ctx context.Context) error {
	t := table.New("spilled", "table", "host memory", "to the host", "", "back", "")
	for _, packs := range []bool{false, true} {
		if err := b.spill(ctx, t, packs); err != nil {
			return err
		}
	}
	return t.Print(os.Stdout)
}

func (b *bench) spill(ctx context.Context, t *table.Table, packs bool) (err error) {
	name, options := "plain", spill.Options{}
	if packs {
		name, options.Packer = "packed", packed.WordPacker{}
	}
	spiller, err := spill.NewSpiller(b.manager, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, spiller.Close()) }()
	loaded, err := buffer.FromRecords(ctx, b.manager, b.records, buffer.LoadOptions{Unchecked: true})
	if err != nil {
		return err
	}
	moved, err := spiller.Add(loaded)
	if err != nil {
		return errors.Join(err, loaded.Release())
	}
	defer func() { err = errors.Join(err, moved.Release()) }()
	var out, back []time.Duration
	var host uint64
	for range b.rounds + 1 { // the first one is not counted: it pins memory
		began := time.Now()
		if _, err := spiller.Reclaim(ctx, moved.Bytes()); err != nil {
			return err
		}
		out = append(out, time.Since(began))
		host = spiller.Stats().HostBytes
		began = time.Now()
		err := moved.Use(ctx, func(*buffer.Buffer) error { return nil })
		if err != nil {
			return err
		}
		back = append(back, time.Since(began))
	}
	outwards, backwards := median(out[1:]), median(back[1:])
	t.Add(name, humanize.IBytes(moved.Bytes()), humanize.IBytes(host), milliseconds(outwards), rate(int64(moved.Bytes()), outwards),
		milliseconds(backwards), rate(int64(moved.Bytes()), backwards))
	return nil
}

// milliseconds prints a duration.
func milliseconds(d time.Duration) string { return fmt.Sprintf("%.1f ms", d.Seconds()*1e3) }
