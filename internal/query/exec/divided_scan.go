package exec

import (
	"context"
	"sync"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/memory"
)

// dividedSource is a source that the workers of a fragment read together. The first one that
// needs it opens it.
type dividedSource struct {
	fragment *fragment
	progress func(rows, bytes int64)

	mu     sync.Mutex
	opened bool
	parts  []source.Part
	err    error
}

// dividedScan is one worker's part of a source.
type dividedScan struct {
	*dividedSource
	worker *worker
	// input is the number of the scan among the scans and shuffles of a fragment.
	input int
}

// scan returns the part of a worker of the scan that it opens next.
func (w *worker) scan() *dividedScan {
	f, number := w.fragment, w.scans
	w.scans++
	if number == len(f.scans) {
		d := &dividedSource{fragment: f}
		if f.settings.Progress != nil {
			d.progress = f.settings.Progress.scan()
		}
		f.scans = append(f.scans, d)
	}
	return &dividedScan{f.scans[number], w, w.newInput()}
}

// newPlace numbers the scan or the shuffle that the worker opens.
func (w *worker) newInput() int {
	w.inputs++
	return w.inputs - 1
}

// isFirst reports whether the first worker opens the scan.
func (d *dividedScan) isFirst() bool { return d.worker.number == 0 }

// open returns the reader of a part.
func (d *dividedScan) open(ctx context.Context, node *plan.Scan, request source.Request) (buffer.Reader, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	input := d.input
	if !d.opened {
		d.opened = true
		settings := &d.fragment.settings
		managers := []*memory.Manager{settings.Manager}
		for _, other := range settings.Others {
			managers = append(managers, other.Manager)
		}
		request.Progress, request.Stay = d.progress, settings.Stay
		request.Behind = func(ctx context.Context, reader, slow int, taken <-chan struct{}) (bool, error) {
			return d.fragment.behind(ctx, reader, slow, input, taken)
		}
		d.parts, d.err = source.Split(ctx, settings.source(node), managers, request, settings.Move)
	}
	if d.err != nil {
		return nil, d.err
	}
	return &trackedPart{d.parts[d.worker.number], d}, nil
}

// behind waits until another worker takes one of the batches of a scan that wait for it. It returns
// true if that worker may take none before the reading worker goes on: it has ended, it reads no
// further, it has left the scan, or it has a table that the reader of the fragment takes.
//
// A worker that waits here has read all batches before those that wait for the slow worker. So a
// worker that waits for the ordinals of others, such as a [rowCounter], does not wait for it.
func (f *fragment) behind(ctx context.Context, reader, slow, scan int, taken <-chan struct{}) (further bool, err error) {
	err = f.workers[reader].settings.Turns.outside(ctx, func() error {
		for {
			f.mu.Lock()
			moved := f.moved.next()
			w := f.workers[slow]
			further = w.done || w.stopped || w.yielding || w.at.input > scan
			f.mu.Unlock()
			if further {
				return nil
			}
			select {
			case <-taken:
				return nil
			case <-moved:
			case <-f.broken:
				return f.failure
			case <-ctx.Done():
				return cancel.Error(ctx)
			}
		}
	})
	return further, err
}

// close closes the parts, also those that no worker has opened.
func (d *dividedSource) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return release.CloseAll(d.parts)
}

// trackedPart notes the ordinals of tables.
type trackedPart struct {
	source.Part
	scan *dividedScan
}

// Next implements buffer.Reader.
func (p *trackedPart) Next(ctx context.Context) (*buffer.Buffer, error) {
	table, err := p.Part.Next(ctx)
	if err == nil {
		number, first := p.Part.Batch()
		p.scan.worker.reach(ordinal{p.scan.input, number}, first)
	}
	return table, err
}
