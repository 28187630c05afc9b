package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gpuframe/gpuframe/bench/internal/table"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
)

const (
	threadBytes   = 4 << 10
	threadRateBar = 6e6
)

// threadCounts are the numbers of goroutines. The last of them also share one stream.
var threadCounts = []int{1, 2, 4, 8, 16}

// threads counts pairs per second.
func (b *bench) threads() error {
	head := []string{"millions of pairs of 4 KiB per second, by goroutines"}
	for _, n := range threadCounts {
		head = append(head, fmt.Sprint(n))
	}
	most := threadCounts[len(threadCounts)-1]
	t := table.New(append(head, fmt.Sprintf("%d on one stream", most), "bar")...)
	err := withStreams(b.dev, most, func(streams []*device.Stream) error {
		for _, subject := range subjects {
			err := subject.with(b.dev, 0, func(source *source) error {
				return b.threadsOf(t, subject, func(streams []*device.Stream) (float64, error) {
					return source.rate(b.while(), streams)
				}, streams)
			})
			if err != nil {
				return fmt.Errorf("%s: %w", subject.name, err)
			}
		}
		return b.threadsInC(t, streams)
	})
	if err != nil {
		return err
	}
	return show("Threads, each with a stream of its own", t)
}

// while returns the time for which pairs are counted.
func (b *bench) while() time.Duration {
	if b.quick {
		return 10 * time.Millisecond
	}
	return 150 * time.Millisecond
}

func (b *bench) threadsInC(t *table.Table, streams []*device.Stream) (err error) {
	pool, err := b.pool(0, streams[0])
	if pool == nil || err != nil {
		return err
	}
	defer pool.close(&err)
	return b.threadsOf(t, subject{name: "cuMemAllocFromPoolAsync + cuMemFreeAsync from C"}, func(streams []*device.Stream) (float64, error) {
		var handles []backend.Stream
		for _, stream := range streams {
			handles = append(handles, stream.Handle())
		}
		return pool.Threads(b.while(), threadBytes, handles)
	}, streams)
}

func (b *bench) threadsOf(t *table.Table, subject subject, rate func([]*device.Stream) (float64, error), streams []*device.Stream) error {
	rounds := 5
	if b.quick {
		rounds = 1
	}
	median := func(streams []*device.Stream) (float64, error) {
		var rates []float64
		for range rounds {
			each, err := rate(streams)
			if err != nil {
				return 0, err
			}
			rates = append(rates, each)
		}
		return middle(rates), nil
	}
	row := []string{subject.name}
	var single, all float64
	for _, n := range threadCounts {
		each, err := median(streams[:n])
		if err != nil {
			return err
		}
		if n == 1 {
			single = each
		}
		all = each
		row = append(row, fmt.Sprintf("%.2f", each/1e6))
	}
	shared := make([]*device.Stream, len(streams))
	for i := range shared {
		shared[i] = streams[0]
	}
	each, err := median(shared)
	if err != nil {
		return err
	}
	var demands bars
	if subject.judged {
		demands.demand(all >= threadRateBar, "≥ %.0f", threadRateBar/1e6)
		demands.demand(all >= single, "≥ that of 1")
	}
	t.Add(append(row, fmt.Sprintf("%.2f", each/1e6), demands.String())...)
	return nil
}

// rate runs a goroutine for each stream that allocates and frees for the given time,
// and returns the pairs per second.
func (s *source) rate(long time.Duration, streams []*device.Stream) (float64, error) {
	const inRow = 32
	var stop atomic.Bool
	var pairs atomic.Uint64
	var group errgroup.Group
	var ready sync.WaitGroup
	begin := make(chan struct{})
	ready.Add(len(streams))
	for _, stream := range streams {
		group.Go(func() error {
			err := s.pairs(100, threadBytes, stream)
			ready.Done()
			<-begin
			done := uint64(0)
			for err == nil && !stop.Load() {
				err = s.pairs(inRow, threadBytes, stream)
				done += inRow
			}
			pairs.Add(done)
			return err
		})
	}
	ready.Wait()
	start := time.Now()
	close(begin)
	time.Sleep(long)
	stop.Store(true)
	err := group.Wait()
	return float64(pairs.Load()) / time.Since(start).Seconds(), err
}
