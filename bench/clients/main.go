// Command clients measures how many queries per second clients of one engine get together.
//
//	go -C bench run ./clients [-device cuda:0] [-rows 1000000] [-clients 1,4,16,64] [-for 2s]
//
// Each client is a goroutine that collects the query of five verbs on the same table again
// and again, and reads its ten rows as an Arrow record. The answer of each call is compared
// with that of the first. A latency is the time of one call.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"golang.org/x/sync/errgroup"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/internal/session"
	"github.com/gpuframe/gpuframe/bench/internal/table"
	"github.com/gpuframe/gpuframe/bench/internal/verbs"
	"github.com/gpuframe/gpuframe/buffer"
)

func main() { session.Main("clients", run) }

func run(ctx context.Context) (err error) {
	name := flag.String("device", "cuda:0", "device to measure")
	rows := flag.Int("rows", 1_000_000, "rows of the table")
	counts := flag.String("clients", "1,4,16,64", "numbers of clients, with commas")
	during := flag.Duration("for", 2*time.Second, "time of each measurement")
	profile := flag.String("cpuprofile", "", "file to write a profile to, for go tool pprof")
	locks := flag.String("mutexprofile", "", "file to write a profile of contended locks to")
	flag.Parse()
	e, err := gpuframe.Open(gpuframe.Device(*name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	data, err := verbs.Table(e, *rows, 7)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, data.Release()) }()
	want, err := ask(ctx, e, data)
	if err != nil {
		return err
	}
	defer want.Release()
	if *locks != "" {
		runtime.SetMutexProfileFraction(5)
		defer func() {
			file, failure := os.Create(*locks)
			if failure == nil {
				failure = errors.Join(pprof.Lookup("mutex").WriteTo(file, 0), file.Close())
			}
			err = errors.Join(err, failure)
		}()
	}
	if *profile != "" {
		file, err := os.Create(*profile)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(file); err != nil {
			return errors.Join(err, file.Close())
		}
		defer func() {
			pprof.StopCPUProfile()
			err = errors.Join(err, file.Close())
		}()
	}
	fmt.Printf("%s: %s, %d rows\n\n", e.Device(), e.Device().Info().Name, *rows)
	t := table.New("clients", "queries/s", "median", "p99", "longest")
	for _, text := range strings.Split(*counts, ",") {
		clients, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		m, err := measure(ctx, e, data, want, clients, *during)
		if err != nil {
			return fmt.Errorf("%d clients: %w", clients, err)
		}
		t.Add(m.cells()...)
	}
	return t.Print(os.Stdout)
}

// measurement is what some clients got.
type measurement struct {
	clients   int
	took      time.Duration
	latencies []time.Duration
}

func (m *measurement) cells() []string {
	slices.Sort(m.latencies)
	at := func(share float64) string {
		return fmt.Sprintf("%.2f ms", m.latencies[int(share*float64(len(m.latencies)-1))].Seconds()*1e3)
	}
	return []string{strconv.Itoa(m.clients), fmt.Sprintf("%.0f", float64(len(m.latencies))/m.took.Seconds()), at(0.5), at(0.99), at(1)}
}

func measure(ctx context.Context, e *gpuframe.Engine, data *buffer.Buffer, want arrow.Record, clients int, during time.Duration) (*measurement, error) {
	each := make([][]time.Duration, clients)
	group, ctx := errgroup.WithContext(ctx)
	began := time.Now()
	for i := range clients {
		group.Go(func() error {
			for time.Since(began) < during {
				start := time.Now()
				got, err := ask(ctx, e, data)
				if err != nil {
					return err
				}
				each[i] = append(each[i], time.Since(start))
				same := array.RecordEqual(got, want)
				got.Release()
				if !same {
					return errors.New("the answer differs from the first one")
				}
			}
			return nil
		})
	}
	err := group.Wait()
	return &measurement{clients, time.Since(began), slices.Concat(each...)}, err
}

// ask makes and runs the query, and returns its rows. The caller releases them.
func ask(ctx context.Context, e *gpuframe.Engine, data *buffer.Buffer) (arrow.Record, error) {
	result, err := verbs.Query(e, data).Collect(ctx)
	if err != nil {
		return nil, err
	}
	record, err := result.Record(ctx)
	return record, errors.Join(err, result.Release())
}
