package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/bench/internal/table"
	"github.com/gpuframe/gpuframe/memory/adaptor/trace"
	"github.com/gpuframe/gpuframe/memory/replay"
)

// replay runs a log on every resource, in the order of the log.
func (b *bench) replay() error {
	log, err := loadLog(b.log)
	if err != nil {
		return err
	}
	t := table.New("resource", "first run", "later runs", "peak reserved ÷ peak in use", "unused at the peak", "largest free at the end", "failures")
	for _, subject := range subjects {
		if subject.manager {
			continue
		}
		err := subject.with(b.dev, 0, func(source *source) error { return b.replayOn(t, subject, source, log) })
		if err != nil {
			return fmt.Errorf("%s: %w", subject.name, err)
		}
	}
	s := log.Summary()
	return show(fmt.Sprintf("Replay of %s: %s allocations, %s frees, %d threads, %d streams, peak %s", b.log,
		humanize.Comma(int64(s.Allocations)), humanize.Comma(int64(s.Frees)), s.Threads, s.Streams, gibibytes(s.PeakBytes)), t)
}

func loadLog(name string) (*replay.Log, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	log, err := replay.Load(trace.Read(bufio.NewReader(file)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return log, nil
}

func (b *bench) replayOn(t *table.Table, subject subject, source *source, log *replay.Log) (err error) {
	player, err := replay.NewPlayer(log, source.resource, replay.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, player.Close()) }()
	first, err := player.Run(context.Background())
	if err != nil {
		return err
	}
	var times []time.Duration
	last := first
	for range b.rounds() / 3 {
		if last, err = player.Run(context.Background()); err != nil {
			return err
		}
		times = append(times, last.Elapsed)
	}
	fragmentation := ""
	if first.KnowsFootprint {
		fragmentation = fmt.Sprintf("%.1f %%", 100*first.AtPeak.Fragmentation())
	}
	t.Add(subject.name, milliseconds(first.Elapsed), milliseconds(middle(times)), part(last.AtEnd.PeakReserved, first.PeakInUse),
		fragmentation, gibibytes(last.AtEnd.LargestFree), humanize.Comma(int64(first.Failures)))
	return nil
}
