// Command neighbours measures the search for the nearest rows.
//
//	go -C bench run ./neighbours [-device cuda:0] [-rounds 5]
//	python3 bench/neighbours/peers.py
//
// The vectors are uniform, with elements from −1 to 1. A rate is that of the products of all pairs: 2 · queries · rows ·
// elements operations. peers.py has the same sizes with torch: the product of the matrices alone, and with the selection.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/gpuframe/gpuframe/bench/internal/session"
	"github.com/gpuframe/gpuframe/bench/internal/table"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/vector"
	"github.com/gpuframe/gpuframe/memory"
)

func main() { session.Main("neighbours", run) }

// size is the size of a search.
type size struct{ queries, rows, dim, k int }

var sizes = []size{{1000, 10_000_000, 128, 10}, {1000, 1_000_000, 768, 10}, {1000, 1_000_000, 768, 100}, {16, 10_000_000, 128, 10}}

func run(ctx context.Context) error {
	name := session.Device()
	rounds := flag.Int("rounds", 5, "searches, of which the fastest is printed")
	part := flag.Int("part", 1, "one of so many rows, for the host")
	flag.Parse()
	return session.Run(*name, func(dev *device.Device, mgr *memory.Manager) error {
		fmt.Printf("%s: %s\n\n", dev, dev.Info().Name)
		t := table.New("queries", "rows", "elements", "k", "metric", "time", "rate")
		for _, s := range sizes {
			s.rows /= max(*part, 1)
			if err := measure(ctx, mgr, t, s, *rounds); err != nil {
				return err
			}
		}
		return t.Print(os.Stdout)
	})
}

// measure adds the rows of a size to the table.
func measure(ctx context.Context, mgr *memory.Manager, t *table.Table, s size, rounds int) (err error) {
	queries, err := upload(ctx, mgr, s.queries, s.dim, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, queries.Release()) }()
	rows, err := upload(ctx, mgr, s.rows, s.dim, 2)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Release()) }()
	for metric := vector.L2; metric <= vector.Dot; metric++ {
		var best time.Duration
		for range rounds + 1 { // the first one compiles
			began := time.Now()
			n, err := vector.Nearest(ctx, queries, rows, s.k, vector.NearestOptions{Options: kernels.Options{Manager: mgr}, Metric: metric})
			if err != nil {
				return err
			}
			if err := errors.Join(mgr.Stream().Synchronize(ctx), n.Release()); err != nil {
				return err
			}
			if took := time.Since(began); best == 0 || took < best {
				best = took
			}
		}
		operations := 2 * float64(s.queries) * float64(s.rows) * float64(s.dim)
		t.Add(fmt.Sprint(s.queries), fmt.Sprint(s.rows), fmt.Sprint(s.dim), fmt.Sprint(s.k), metric.String(),
			fmt.Sprintf("%.2f ms", best.Seconds()*1e3), fmt.Sprintf("%.0f GFLOPS", operations/best.Seconds()/1e9))
	}
	return nil
}

// upload makes random vectors.
func upload(ctx context.Context, mgr *memory.Manager, rows, dim int, seed uint64) (*vector.Dense, error) {
	values := make([]float32, rows*dim)
	parts := runtime.GOMAXPROCS(0)
	var group sync.WaitGroup
	for part := range parts {
		group.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(part)))
			for i := len(values) * part / parts; i < len(values)*(part+1)/parts; i++ {
				values[i] = 2*random.Float32() - 1
			}
		})
	}
	group.Wait()
	c, err := column.FromSlice(ctx, mgr, values, column.SliceOptions{})
	return &vector.Dense{Values: c, Rows: rows, Dim: dim}, err
}
