package checks

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// launch is a kernel with its arguments.
type launch struct {
	module *module
	// threads is the number of threads that have work in the first iteration. The
	// kernels accept any number of blocks of whole warps.
	threads   int
	arguments []any
}

const (
	threads = 256
	// bytesEach is the size of a thread's load if it loads several elements.
	bytesEach = 16
	// blocksPerMultiprocessor fills the largest multiprocessors, which hold 2,048
	// threads. Further elements are processed by further iterations of the kernel's
	// loop.
	blocksPerMultiprocessor = 2048 / threads
	// resultWords is the number of words of struct Result of search.cuh.
	resultWords = 3
	tag         = "arrowdev checks"
)

// onGPU launches a kernel for each check. All write to one allocation: the results of
// all checks and then the tables of those that need one.
func (b *Batch) onGPU(ctx context.Context, outcomes []outcome) (err error) {
	var words, tables []int64
	for _, e := range b.entries {
		if e.check != nil {
			words = append(words, noOutcome.bad, noOutcome.first, noOutcome.last)
			tables = append(tables, e.check.table()...)
		}
	}
	results := len(words)
	words = append(words, tables...)
	answers, err := memory.NewSlice[int64](b.manager, len(words), memory.AllocateOptions{Stream: b.stream, Tag: tag})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, answers.Release()) }()
	if err := answers.Upload(ctx, b.stream, words); err != nil {
		return err
	}
	if err := b.launchAll(ctx, answers, results); err != nil {
		return err
	}
	head, err := answers.Slice(0, results)
	if err == nil {
		err = head.Download(ctx, b.stream, words[:results])
	}
	if err != nil {
		return err
	}
	for i, e := range b.entries {
		if e.check != nil {
			outcomes[i] = outcome{words[0], words[1], words[2]}
			words = words[resultWords:]
		}
	}
	return nil
}

func (b *Batch) launchAll(ctx context.Context, answers memory.Slice[int64], tables int) error {
	most := uint32(b.stream.Device().Info().Multiprocessors * blocksPerMultiprocessor)
	result := 0
	for _, e := range b.entries {
		if e.check == nil {
			continue
		}
		to, err := answers.Slice(result, result+resultWords)
		if err != nil {
			return err
		}
		result += resultWords
		length := len(e.check.table())
		table, err := answers.Slice(tables, tables+length)
		if err != nil {
			return err
		}
		tables += length
		l := e.check.kernel(table, to)
		function, err := l.module.kernel(ctx, b.stream.Device())
		if err == nil {
			grid := kernels.GridFor(l.threads, threads)
			grid.X = min(grid.X, max(most, 1))
			err = function.Launch(b.stream, grid, device.Dim3{X: threads}, 0, l.arguments...)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
	}
	return nil
}

// loads returns the number of threads that load the given number of bytes in one
// iteration.
func loads(bytes uint64) int { return int((bytes + bytesEach - 1) / bytesEach) }
