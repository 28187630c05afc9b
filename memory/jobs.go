package memory

import (
	"context"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// job is a part of a transfer: bytes of a span from an offset on.
type job struct {
	span          *span
	offset, bytes uint64
}

// inPlaceChunk is the length of a job where nothing is staged.
const inPlaceChunk = 4 << 20

func defaultWorkers() int { return min(8, runtime.GOMAXPROCS(0)) }

// cut divides spans into jobs of at most chunk bytes.
func cut(spans []*span, chunk uint64) []job {
	var jobs []job
	for _, s := range spans {
		for offset := uint64(0); offset < s.bytes; offset += chunk {
			jobs = append(jobs, job{span: s, offset: offset, bytes: min(chunk, s.bytes-offset)})
		}
	}
	return jobs
}

// inParallel does the jobs, in their order, on up to so many goroutines, the
// caller's among them. It stops at the first error and returns it, or the
// context's.
func inParallel(ctx context.Context, jobs []job, workers int, do func(job) error) error {
	var next atomic.Int64
	var failed atomic.Bool
	work := func() error {
		for {
			i := next.Add(1) - 1
			if i >= int64(len(jobs)) || failed.Load() {
				return nil
			}
			err := context.Cause(ctx)
			if err == nil {
				err = do(jobs[i])
			}
			if err != nil {
				failed.Store(true)
				return err
			}
		}
	}
	if len(jobs) <= 1 || workers <= 1 {
		return work()
	}
	var group errgroup.Group
	for range min(workers, len(jobs)) - 1 {
		group.Go(work)
	}
	err := work()
	if others := group.Wait(); err == nil {
		err = others
	}
	return err
}
