package gpubeam

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe"
)

// ErrOptions is wrapped by errors about values of [Options].
var ErrOptions = errors.New("invalid options")

// Options configure the workers of a transform. They travel to the workers with the pipeline.
type Options struct {
	// Name is the name of the transform in errors. The default is that of the function, such as
	// "GroupBy".
	Name string
	// Device is the device of each worker: "cuda:0", "host". Without it each worker takes
	// its first GPU, or its host.
	Device string
	// Budget is the most device memory, in bytes, of all DoFns with these options in a process
	// together. Zero is no limit.
	Budget uint64
	// SpillBudget is the pinned host memory for tables that Budget has no room for, in bytes: see
	// gpuframe.SpillBudget. Zero is the default there.
	SpillBudget uint64
	// SpillDirectory is a directory on each worker: see gpuframe.SpillDirectory.
	SpillDirectory string
	// Partitions is the number of parts that rows are divided into by a hash of their keys.
	// Each part is merged by one worker, in its memory. The default is 16.
	Partitions int
	// Attempts is how often a worker computes a batch or partition if its device is lost. The
	// default is 2.
	Attempts int
}

const (
	defaultPartitions, mostPartitions = 16, 1 << 16
	defaultAttempts                   = 2
)

// withDefaults checks the options.
func (o Options) withDefaults(function string) (Options, error) {
	if o.Name == "" {
		o.Name = function
	}
	if o.Partitions == 0 {
		o.Partitions = defaultPartitions
	}
	if o.Attempts == 0 {
		o.Attempts = defaultAttempts
	}
	if o.Partitions < 0 || o.Partitions > mostPartitions {
		return o, fmt.Errorf("Partitions is %d, expected 1 to %d: %w", o.Partitions, mostPartitions, ErrOptions)
	}
	if o.Attempts < 0 {
		return o, fmt.Errorf("Attempts is %d, expected 1 or more: %w", o.Attempts, ErrOptions)
	}
	return o, nil
}

// engineOptions are the part of the options that engines differ by.
type engineOptions struct {
	device         string
	budget, spill  uint64
	spillDirectory string
}

func (o Options) engine() engineOptions {
	return engineOptions{o.Device, o.Budget, o.SpillBudget, o.SpillDirectory}
}

// open opens an engine. Tests replace it.
var open = func(o engineOptions) (*gpuframe.Engine, error) {
	var options []gpuframe.Option
	if o.device != "" {
		options = append(options, gpuframe.Device(o.device))
	}
	if o.budget != 0 {
		options = append(options, gpuframe.Budget(o.budget))
	}
	if o.spill != 0 {
		options = append(options, gpuframe.SpillBudget(o.spill))
	}
	if o.spillDirectory != "" {
		options = append(options, gpuframe.SpillDirectory(o.spillDirectory))
	}
	return gpuframe.Open(options...)
}
