package gpubeam

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/gpuframe/gpuframe"
)

// worker is an engine that the DoFns of a process share.
type worker struct {
	engine *gpuframe.Engine
	// turn holds a value while no DoFn computes.
	turn chan struct{}
	// closed is set while the turn is taken, when the engine was closed.
	closed bool
}

// workers are the engines of the process, and the number of DoFns between Setup and Teardown
// for each.
var workers = struct {
	mu         sync.Mutex
	open       map[engineOptions]*worker
	references map[engineOptions]int
}{open: map[engineOptions]*worker{}, references: map[engineOptions]int{}}

// acquire opens an engine, unless it is open, and counts a DoFn.
func acquire(o engineOptions) error {
	if _, err := workerOf(o); err != nil {
		return err
	}
	workers.mu.Lock()
	defer workers.mu.Unlock()
	workers.references[o]++
	return nil
}

// workerOf returns the worker with an engine, which it opens if needed.
func workerOf(o engineOptions) (*worker, error) {
	workers.mu.Lock()
	defer workers.mu.Unlock()
	if w, ok := workers.open[o]; ok {
		return w, nil
	}
	engine, err := open(o)
	if err != nil {
		return nil, err
	}
	w := &worker{engine: engine, turn: make(chan struct{}, 1)}
	w.turn <- struct{}{}
	workers.open[o] = w
	return w, nil
}

// release ends the use by a DoFn. After the last one it closes the engine.
func release(o engineOptions) error {
	workers.mu.Lock()
	if workers.references[o] > 0 { // Close has forgotten all references
		workers.references[o]--
	}
	last := workers.references[o] == 0
	if last {
		delete(workers.references, o)
	}
	workers.mu.Unlock()
	if !last {
		return nil
	}
	return closeWorker(o)
}

// closeWorker closes an engine after the call that computes has ended.
func closeWorker(o engineOptions) error {
	workers.mu.Lock()
	w, ok := workers.open[o]
	delete(workers.open, o)
	workers.mu.Unlock()
	if !ok {
		return nil
	}
	<-w.turn
	w.closed = true
	err := w.engine.Close()
	w.turn <- struct{}{}
	return err
}

// compute calls f with an engine, while no other DoFn computes with it.
func compute(ctx context.Context, o engineOptions, f func(*gpuframe.Engine) error) error {
	for {
		w, err := workerOf(o)
		if err != nil {
			return err
		}
		select {
		case <-w.turn:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if w.closed { // another DoFn has closed it meanwhile
			w.turn <- struct{}{}
			continue
		}
		defer func() { w.turn <- struct{}{} }()
		return f(w.engine)
	}
}

// Close closes all engines of the process, after the calls that compute have ended. Programs call
// it after their pipelines have run, because Beam's harness does not call Teardown. A DoFn
// that runs later opens its engine again.
//
// # Errors
//
// The error names device memory that was not released.
func Close() error {
	workers.mu.Lock()
	var list []engineOptions
	for o := range workers.open {
		list = append(list, o)
	}
	clear(workers.references)
	workers.mu.Unlock()
	var failures []error
	for _, o := range list {
		failures = append(failures, closeWorker(o))
	}
	return errors.Join(failures...)
}

// EngineUse describes an open engine. Sizes are bytes of device memory.
type EngineUse struct {
	// Device is the name of the device.
	Device string
	// Budget is the limit of InUse. Peak is the largest InUse since the engine was opened.
	Budget, InUse, Peak uint64
	// DoFns is the number of DoFns that have called Setup and not Teardown.
	DoFns int
}

// Engines returns the open engines of the process, in the order of their devices and budgets.
func Engines() []EngineUse {
	workers.mu.Lock()
	defer workers.mu.Unlock()
	var list []EngineUse
	for o, w := range workers.open {
		stats := w.engine.Manager().Stats()
		list = append(list, EngineUse{
			Device: w.engine.Device().Name(), Budget: stats.Budget, InUse: stats.InUse, Peak: stats.Peak,
			DoFns: workers.references[o],
		})
	}
	slices.SortFunc(list, func(a, b EngineUse) int {
		return cmp.Or(cmp.Compare(a.Device, b.Device), cmp.Compare(a.Budget, b.Budget))
	})
	return list
}
