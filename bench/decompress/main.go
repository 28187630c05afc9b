// Command decompress measures the decompression of Parquet's pages on a device.
//
//	go -C bench run ./decompress [-device cuda:0] [-bytes 1GiB] [-only Snappy,text,64KiB] [-rounds 9]
//
// The rate is that of the output. Each page is compared with what was compressed. On the host the
// time is that of the clock, else that of the device.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/bench/internal/session"
	"github.com/gpuframe/gpuframe/bench/internal/table"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/decompress"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

func main() { session.Main("decompress", run) }

// pageSize is the length of pages.
type pageSize struct {
	name  string
	bytes int
}

var pageSizes = []pageSize{{"16MiB", 16 << 20}, {"1MiB", 1 << 20}, {"64KiB", 64 << 10}}

// bench is what all measurements share.
type bench struct {
	call          op.Call
	bytes, rounds int
	// wanted are the words of which all, if they are of a kind, choose the measurements.
	wanted []string
}

func run(ctx context.Context) error {
	name := session.Device()
	bytes := session.Bytes("bytes", 1<<30, "output of a measurement")
	only := flag.String("only", "", "words of the first columns, separated by commas: only these codecs, contents or pages")
	rounds := flag.Int("rounds", 9, "launches, of which the median is taken")
	flag.Parse()
	return session.Run(*name, func(dev *device.Device, mgr *memory.Manager) (err error) {
		call, err := op.Begin(ctx, kernels.Options{Manager: mgr})
		if err != nil {
			return err
		}
		b := &bench{call: call, bytes: int(*bytes), rounds: max(*rounds, 1)}
		if *only != "" {
			b.wanted = strings.Split(*only, ",")
		}
		fmt.Printf("%s: %s, %s of output\n\n", dev, dev.Info().Name, humanize.IBytes(*bytes))
		t := table.New("codec", "contents", "page", "pages", "ratio", "time", "output")
		for _, codec := range []decompress.Codec{decompress.None, decompress.Snappy, decompress.LZ4Raw, decompress.Gzip, decompress.Zstandard} {
			if !decompress.Supported(codec) {
				continue
			}
			for _, c := range contents {
				for _, p := range pageSizes {
					if !b.chooses(codec.String(), c.name, p.name) {
						continue
					}
					if err := b.measure(t, codec, c, p); err != nil {
						return fmt.Errorf("%v, %s, pages of %s: %w", codec, c.name, p.name, err)
					}
				}
			}
		}
		return t.Print(os.Stdout)
	})
}

// chooses reports whether the option only has a measurement.
func (b *bench) chooses(codec, content, page string) bool {
	for _, kind := range [][]string{codecNames(), contentNames(), pageNames()} {
		words := slices.DeleteFunc(slices.Clone(b.wanted), func(word string) bool { return !slices.Contains(kind, word) })
		if len(words) > 0 && !slices.ContainsFunc([]string{codec, content, page}, func(word string) bool { return slices.Contains(words, word) }) {
			return false
		}
	}
	return true
}

func codecNames() (names []string) {
	for c := decompress.None; c <= decompress.Zstandard; c++ {
		names = append(names, c.String())
	}
	return names
}

func contentNames() (names []string) {
	for _, c := range contents {
		names = append(names, c.name)
	}
	return names
}

func pageNames() (names []string) {
	for _, p := range pageSizes {
		names = append(names, p.name)
	}
	return names
}

// measure adds a row to the table.
func (b *bench) measure(t *table.Table, codec decompress.Codec, c content, page pageSize) (err error) {
	data, err := newData(codec, c, page.bytes, b.bytes)
	if err != nil {
		return err
	}
	batch, err := b.upload(data)
	defer func() {
		err = errors.Join(err, batch.Pages.Release(), batch.Input.Release(), batch.Output.Release(), batch.Status.Release())
	}()
	if err != nil {
		return err
	}
	launch := func() error { return decompress.Launch(&b.call, codec, batch) }
	if err := launch(); err != nil {
		return err
	}
	if err := b.check(codec, data, batch); err != nil {
		return err
	}
	took, err := b.time(launch)
	size := batch.Size
	t.Add(codec.String(), c.name, page.name, fmt.Sprint(size.Pages), fmt.Sprintf("%.2f", float64(size.Length)/float64(size.Compressed)),
		fmt.Sprintf("%.2f ms", took.Seconds()*1e3), fmt.Sprintf("%.1f GB/s", float64(size.Length)/took.Seconds()/1e9))
	return err
}

// upload allocates the memory of a batch. Its slices may be empty if there is an error.
func (b *bench) upload(d data) (batch decompress.Batch, err error) {
	ctx := b.call.Context()
	batch.Size = decompress.Measure(d.pages)
	words := decompress.Words(d.pages)
	if batch.Pages, err = op.NewSlice[uint64](&b.call, len(words)); err != nil {
		return batch, err
	}
	if batch.Input, err = op.NewSlice[uint8](&b.call, len(d.input)); err != nil {
		return batch, err
	}
	if batch.Output, err = op.NewSlice[uint8](&b.call, int(batch.Size.Length)); err != nil {
		return batch, err
	}
	if batch.Status, err = op.NewSlice[uint32](&b.call, len(d.pages)); err != nil {
		return batch, err
	}
	return batch, errors.Join(batch.Pages.Upload(ctx, b.call.Stream, words), batch.Input.Upload(ctx, b.call.Stream, d.input))
}

// check compares each page.
func (b *bench) check(codec decompress.Codec, d data, batch decompress.Batch) error {
	status := make([]uint32, len(d.pages))
	output := make([]byte, batch.Size.Length)
	ctx := b.call.Context()
	if err := errors.Join(batch.Status.Download(ctx, b.call.Stream, status), batch.Output.Download(ctx, b.call.Stream, output)); err != nil {
		return err
	}
	for i, p := range d.pages {
		if err := decompress.Status(status[i]).Error(codec); err != nil {
			return fmt.Errorf("page %d: %w", i, err)
		}
		if !slices.Equal(output[p.Target:p.Target+uint64(p.Length)], d.plain[i%len(d.plain)]) {
			return fmt.Errorf("page %d differs from what was compressed", i)
		}
	}
	return nil
}

// time returns the median time of a launch.
func (b *bench) time(launch func() error) (time.Duration, error) {
	once := b.byClock
	if !b.call.OnHost() {
		start, err := b.call.Stream.Device().NewTimingEvent()
		if err != nil {
			return 0, err
		}
		defer start.Close()
		end, err := b.call.Stream.Device().NewTimingEvent()
		if err != nil {
			return 0, err
		}
		defer end.Close()
		once = func(launch func() error) (time.Duration, error) { return b.between(start, end, launch) }
	}
	var times []time.Duration
	for range b.rounds {
		took, err := once(launch)
		if err != nil {
			return 0, err
		}
		times = append(times, took)
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

func (b *bench) byClock(launch func() error) (time.Duration, error) {
	began := time.Now()
	err := launch()
	return time.Since(began), err
}

func (b *bench) between(start, end *device.Event, launch func() error) (time.Duration, error) {
	if err := start.Record(b.call.Stream); err != nil {
		return 0, err
	}
	if err := errors.Join(launch(), end.Record(b.call.Stream), end.Wait(b.call.Context())); err != nil {
		return 0, err
	}
	milliseconds, err := end.Elapsed(start)
	return time.Duration(float64(milliseconds) * float64(time.Millisecond)), err
}
