package soak

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

//go:embed soak.ptx
var code string

// The partition of a block of memory. mostChecked and batch are constants of soak.cu
// too.
const (
	threads      = 256
	wordsEach    = 4
	mostShare    = 8
	mostChecked  = 8192
	findingsHead = 4
	mostRecords  = 64
	recordWords  = 6
)

// cyclesPerMicrosecond is the approximate clock rate of current GPUs.
const cyclesPerMicrosecond = 1500

// kernelChecker launches the kernels of soak.cu.
type kernelChecker struct {
	writing, checking *kernels.Function
	findings          memory.Slice[uint64]
	delay             uint64
	goroutines        int
	// enqueued is the number of words that the kernels must have compared at the end.
	enqueued uint64
}

func newKernelChecker(module *kernels.Module, books *memory.Manager, options Options) (*kernelChecker, error) {
	c := &kernelChecker{
		goroutines: options.Goroutines,
		delay:      uint64(options.Delay/time.Nanosecond) * cyclesPerMicrosecond / 1000,
	}
	var err error
	if c.writing, err = module.Function("soak_write"); err != nil {
		return nil, err
	}
	if c.checking, err = module.Function("soak_verify"); err != nil {
		return nil, err
	}
	c.findings, err = memory.NewSlice[uint64](books, findingsHead+mostRecords*recordWords, memory.AllocateOptions{})
	if err != nil {
		return nil, err
	}
	// The findings are zeroed before any stream can add to them.
	ctx := context.Background()
	if err = c.findings.Upload(ctx, nil, make([]uint64, c.findings.Len())); err == nil {
		err = c.findings.Block().Synchronize(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, c.findings.Release())
	}
	return c, nil
}

func (c *kernelChecker) write(on lane, pieces []piece, late bool) error {
	_, err := c.launch(c.writing, on, pieces, late)
	return err
}

func (c *kernelChecker) check(on lane, pieces []piece, late bool) error {
	// The findings are passed as a plain address, so no launch records a use of them:
	// they outlast every launch, and the records would only cost time.
	words, err := c.launch(c.checking, on, pieces, late, c.findings.Pointer(), uint64(on.number))
	if err != nil {
		return err
	}
	c.enqueued += words
	return nil
}

// launch enqueues a kernel over the pieces and returns the number of words it visits.
func (c *kernelChecker) launch(kernel *kernels.Function, on lane, pieces []piece, late bool, further ...any) (visited uint64, err error) {
	arguments := make([]any, 0, batch+5)
	var description [2 * batch]uint64 // struct Batch
	var most uint64
	for i, p := range pieces {
		words := p.block.Bytes() / wordBytes
		description[i], description[batch+i] = words, p.writing.seed()
		visited += min(words, mostChecked)
		most = max(most, min(words, mostChecked))
		arguments = append(arguments, p.block)
	}
	for range batch - len(pieces) {
		arguments = append(arguments, device.Pointer(0))
	}
	share := uint32(min(mostShare, max(1, (most+threads*wordsEach-1)/(threads*wordsEach))))
	var delay uint64
	if late {
		delay = c.delay
	}
	arguments = append(append(arguments, description, share, delay), further...)
	grid := device.Dim3{X: share * uint32(len(pieces))}
	return visited, kernel.Launch(on.Stream, grid, device.Dim3{X: threads}, 0, arguments...)
}

func (c *kernelChecker) tally() (tally, error) {
	words := make([]uint64, c.findings.Len())
	if err := c.findings.Download(context.Background(), nil, words); err != nil {
		return tally{}, err
	}
	checked, mismatches, records := words[0], words[1], min(words[2], mostRecords)
	t := tally{bytes: checked * wordBytes, mismatches: mismatches}
	for i := range records {
		record := words[findingsHead+i*recordWords:][:recordWords]
		seed, index, actual := record[2], record[3], record[4]
		t.first = append(t.first, Mismatch{
			Writing: writingOfWord(seed),
			Address: device.Pointer(record[0]), Bytes: record[1] * wordBytes, Offset: index * wordBytes,
			Expected: seed + index, Found: actual, Other: writingOfWord(actual).known(c.goroutines),
			Stream: int(record[5]),
		})
	}
	if checked != c.enqueued {
		return t, fmt.Errorf("the kernels compared %d words of %d: some have not run", checked, c.enqueued)
	}
	return t, nil
}

func (c *kernelChecker) close() error { return c.findings.Release() }
