package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// Run does random operations on a device and returns a report of them. If memory did
// not hold its pattern, the error is a [*CorruptionError]. After an error the report
// covers the operations before it.
func Run(ctx context.Context, dev *device.Device, options Options) (Report, error) {
	if dev == nil {
		return Report{}, fmt.Errorf("soak: run: the device is nil: %w", device.ErrInvalidValue)
	}
	options, err := options.withDefaults(dev)
	if err != nil {
		return Report{}, fmt.Errorf("soak: run on %s: %w", dev, err)
	}
	r := &run{device: dev, options: options}
	if err = r.open(); err == nil {
		started := time.Now()
		err = errors.Join(r.drive(ctx), r.releaseAndWait())
		r.report.Elapsed = time.Since(started)
		err = errors.Join(err, r.tally())
	}
	if err = errors.Join(err, r.close()); err != nil {
		return r.report, fmt.Errorf("soak: run on %s with %v: %w", dev, options.Method, err)
	}
	return r.report, nil
}

// run is the state that the goroutines share.
type run struct {
	device  *device.Device
	options Options
	// manager uses the resource under test. books and pinned are independent of it and
	// allocate what the run itself needs.
	manager, books, pinned *memory.Manager
	lanes                  []lane
	scratch                []memory.Slice[uint8]
	module                 *kernels.Module
	workers                []*worker
	report                 Report
}

func (r *run) open() (err error) {
	r.manager, err = memory.NewManager(r.device, memory.Options{Resource: r.options.Resource, Budget: r.options.Budget})
	if err != nil {
		return err
	}
	r.books, err = memory.NewManager(r.device, memory.Options{Resource: memory.NewDriverResource(r.device)})
	if err != nil {
		return err
	}
	r.pinned, err = memory.NewManager(r.device, memory.Options{Resource: memory.NewPinnedResource(r.device)})
	if err != nil {
		return err
	}
	for i := range r.options.Streams {
		stream, err := r.device.NewStream()
		if err != nil {
			return err
		}
		r.lanes = append(r.lanes, lane{Stream: stream, number: i})
	}
	if err := r.openMethod(); err != nil {
		return err
	}
	return r.hire()
}

// openMethod creates the state that all checkers of the method share.
func (r *run) openMethod() (err error) {
	if r.options.Method == Kernels {
		r.module, err = kernels.Load(r.device, code)
		return err
	}
	for range r.lanes {
		scratch, err := memory.NewSlice[uint8](r.books, scratchBytes, memory.AllocateOptions{})
		if err != nil {
			return err
		}
		r.scratch = append(r.scratch, scratch)
	}
	return nil
}

func (r *run) newChecker() (checker, error) {
	if r.options.Method == Kernels {
		return newKernelChecker(r.module, r.books, r.options)
	}
	return newCopyChecker(r.pinned, r.scratch, r.options)
}

func (r *run) hire() error {
	trimmer, _ := resource.Find[resource.Trimmer](r.manager.Resource())
	inboxes := make([]chan held, r.options.Goroutines)
	for i := range inboxes {
		inboxes[i] = make(chan held, batch)
	}
	for i := range r.options.Goroutines {
		checker, err := r.newChecker()
		if err != nil {
			return err
		}
		r.workers = append(r.workers, &worker{
			number: i, options: r.options, manager: r.manager, trimmer: trimmer,
			lanes: r.lanes, own: r.lanes[i%len(r.lanes)], checker: checker, inboxes: inboxes,
			random: rand.New(rand.NewPCG(r.options.Seed, uint64(i))),
		})
	}
	return nil
}

// drive runs the goroutines, then checks the blocks that were passed to goroutines that
// had ended.
func (r *run) drive(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, w := range r.workers {
		group.Go(func() error { return w.drive(ctx) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, w := range r.workers {
		if err := w.finish(); err != nil {
			return err
		}
	}
	return nil
}

// releaseAndWait releases the blocks that remain after an error and waits for the device.
func (r *run) releaseAndWait() error {
	var failures []error
	for _, w := range r.workers {
		failures = append(failures, w.abandon())
		r.report.add(w.report)
	}
	r.report.Memory = r.manager.Stats()
	return errors.Join(append(failures, r.device.Synchronize(context.Background()))...)
}

// tally collects the findings of the checks.
func (r *run) tally() error {
	var failures []error
	corruption := &CorruptionError{}
	for _, w := range r.workers {
		counts, err := w.checker.tally()
		failures = append(failures, err)
		r.report.CheckedBytes += counts.bytes
		corruption.Mismatches += counts.mismatches
		corruption.First = append(corruption.First, counts.first...)
	}
	r.report.Mismatches = corruption.Mismatches
	if corruption.Mismatches > 0 {
		failures = append(failures, corruption)
	}
	return errors.Join(failures...)
}

// close releases everything that open created, even after a failed open.
func (r *run) close() error {
	var failures []error
	for _, w := range r.workers {
		failures = append(failures, w.checker.close())
	}
	for _, s := range r.scratch {
		failures = append(failures, s.Release())
	}
	if r.module != nil {
		failures = append(failures, r.module.Close())
	}
	for _, m := range []*memory.Manager{r.manager, r.books, r.pinned} {
		if m != nil {
			failures = append(failures, m.Close())
		}
	}
	for _, l := range r.lanes {
		failures = append(failures, l.Close())
	}
	return errors.Join(failures...)
}
