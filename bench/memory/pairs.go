package main

import (
	"fmt"
	"runtime"
	"time"

	"github.com/gpuframe/gpuframe/bench/internal/peer"
	"github.com/gpuframe/gpuframe/bench/internal/table"
	"github.com/gpuframe/gpuframe/device"
)

const (
	pairBar      = 150 * time.Nanosecond
	pairRatioBar = 0.28
)

// pairs times an allocation and its free by size. Rounds of gpuframe and of C
// alternate, so that disturbances of the machine affect both.
func (b *bench) pairs() error {
	t := table.New("allocate + free", "size", "time", "Go allocations", "from C", "ratio", "bar")
	err := withStreams(b.dev, 1, func(streams []*device.Stream) error {
		for _, subject := range subjects {
			err := subject.with(b.dev, 0, func(source *source) error {
				return b.pairsOf(t, subject, source, streams[0])
			})
			if err != nil {
				return fmt.Errorf("%s: %w", subject.name, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return show("Pairs", t)
}

func (b *bench) pairsOf(t *table.Table, subject subject, source *source, stream *device.Stream) (err error) {
	pool, err := b.pool(0, stream)
	if err != nil {
		return err
	}
	defer pool.close(&err)
	rounds, long := 15, 20*time.Millisecond
	if b.quick {
		rounds, long = 3, 2*time.Millisecond
	}
	for _, bytes := range []uint64{256, 4 << 10, 64 << 10, 1 << 20, 16 << 20, 256 << 20} {
		n, err := calibrate(long, func(n int) error { return source.pairs(n, bytes, stream) })
		if err != nil {
			return fmt.Errorf("%s: %w", size(bytes), err)
		}
		var ours, theirs []time.Duration
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range rounds {
			start := time.Now()
			if err := source.pairs(n, bytes, stream); err != nil {
				return fmt.Errorf("%s: %w", size(bytes), err)
			}
			ours = append(ours, time.Since(start)/time.Duration(n))
			if pool == nil {
				continue
			}
			each, err := pool.Pairs(20_000, bytes, stream.Handle())
			if err != nil {
				return err
			}
			theirs = append(theirs, each)
		}
		runtime.ReadMemStats(&after)
		perPair := float64(after.Mallocs-before.Mallocs) / float64(rounds*n)
		us := middle(ours)
		row := []string{subject.name, size(bytes), microseconds(us), fmt.Sprintf("%.1f", perPair), "", ""}
		var demands bars
		if subject.judged {
			demands.demand(us <= pairBar, "≤ %s", microseconds(pairBar))
		}
		if pool != nil {
			them := middle(theirs)
			row[4], row[5] = microseconds(them), fmt.Sprintf("%.2f", ratio(us, them))
			if subject.judged {
				demands.demand(ratio(us, them) <= pairRatioBar, "≤ %.2f", pairRatioBar)
			}
		}
		t.Add(append(row, demands.String())...)
	}
	return nil
}

// calibrate returns how often an operation can run in the given time.
func calibrate(long time.Duration, do func(n int) error) (int, error) {
	for n := 1; ; n *= 2 {
		start := time.Now()
		if err := do(n); err != nil {
			return 0, err
		}
		if took := time.Since(start); took >= long/2 {
			return n, nil
		}
	}
}

// pool is the reference, which may be absent.
type pool struct{ *peer.Pool }

// pool returns nil on the host.
func (b *bench) pool(initial uint64, stream *device.Stream) (*pool, error) {
	if !b.onGPU() {
		return nil, nil
	}
	theirs, err := peer.NewPool(initial, stream.Handle())
	if err != nil {
		return nil, err
	}
	return &pool{theirs}, nil
}

// close adds its error to that of a function.
func (p *pool) close(err *error) {
	if p == nil {
		return
	}
	if failure := p.Close(); *err == nil {
		*err = failure
	}
}
