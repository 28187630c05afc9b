package gpubeam

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// StageError is the failure of a stage of a transform on a worker.
type StageError struct {
	// Stage is the name of the transform and the stage: "GroupBy, merge".
	Stage string
	// Partition is the number of the partition, or −1 if the stage works on batches.
	Partition int64
	// Worker is the name of the worker's host, and its process.
	Worker string
	// Attempts is how often the stage was tried on this worker.
	Attempts int
	// Err is the cause of the last attempt.
	Err error
}

// Error names the stage and the worker.
func (e *StageError) Error() string {
	partition := ""
	if e.Partition >= 0 {
		partition = fmt.Sprintf(", partition %d", e.Partition)
	}
	remedy := ""
	if errors.Is(e.Err, memory.ErrBudget) || errors.Is(e.Err, device.ErrOutOfMemory) {
		remedy = ": use smaller batches, more Options.Partitions or a larger Options.Budget"
	}
	return fmt.Sprintf("gpubeam: stage %q%s on worker %s, attempt %d: %v%s", e.Stage, partition, e.Worker, e.Attempts, e.Err, remedy)
}

// Unwrap returns the cause.
func (e *StageError) Unwrap() error { return e.Err }

// workerName names this process.
var workerName = sync.OnceValue(func() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return fmt.Sprintf("%s, process %d", host, os.Getpid())
})

// stage is the part of a DoFn that uses an engine. It travels with the DoFn.
type stage struct {
	Name    string
	Options Options
}

// Setup opens the engine.
func (s *stage) Setup() error {
	if err := acquire(s.Options.engine()); err != nil {
		return s.failed(noPartition, 1, fmt.Errorf("open the engine: %w", err))
	}
	return nil
}

// Teardown gives the engine back.
func (s *stage) Teardown() error {
	if err := release(s.Options.engine()); err != nil {
		return s.failed(noPartition, 1, fmt.Errorf("close the engine: %w", err))
	}
	return nil
}

// noPartition is the number of a stage that works on batches.
const noPartition = -1

func (s *stage) failed(partition int64, attempts int, err error) error {
	return &StageError{Stage: s.Name, Partition: partition, Worker: workerName(), Attempts: attempts, Err: err}
}

// run calls f with the engine. If the device is lost, it opens it again and calls f again. f must
// not have effects beyond its result.
func (s *stage) run(ctx context.Context, partition int64, f func(*gpuframe.Engine) error) error {
	for attempt := 1; ; attempt++ {
		err := compute(ctx, s.Options.engine(), f)
		if err == nil {
			return nil
		}
		if attempt >= max(s.Options.Attempts, 1) || !errors.Is(err, device.ErrDeviceLost) || ctx.Err() != nil {
			return s.failed(partition, attempt, err)
		}
		// The memory of a lost device cannot be given back, so its close fails too.
		_ = closeWorker(s.Options.engine())
	}
}
