//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

// #include <stdint.h>
import "C"

import (
	"context"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/pace"
	"github.com/gpuframe/gpuframe/internal/query/querydata"
	"github.com/gpuframe/gpuframe/memory"
)

// run is an operation on a query, on a goroutine. It sends its tables, then it closes the
// channel.
type run struct {
	cancel context.CancelFunc
	tables chan *buffer.Buffer
	// answer and err are set before the channel is closed.
	answer runAnswer
	err    error
	// rows and ofRows are the progress of the query. ofRows is negative if it is not known.
	rows, ofRows atomic.Int64
	begun        time.Time
}

// progressAnswer is the progress of a run that has not ended.
type progressAnswer struct {
	Rows      int64   `json:"rows"`
	OfRows    int64   `json:"of_rows"`
	Elapsed   float64 `json:"elapsed"`
	PerSecond float64 `json:"per_second"`
	Left      float64 `json:"left"`
	Text      string  `json:"text"`
}

// progress returns the progress. Times are in seconds.
func (r *run) progress() progressAnswer {
	p := pace.Of(r.rows.Load(), r.ofRows.Load(), time.Since(r.begun))
	return progressAnswer{p.Rows, p.OfRows, p.Elapsed.Seconds(), p.PerSecond, p.Left.Seconds(), p.String()}
}

// runAnswer is the result of an operation other than tables.
type runAnswer struct {
	Text   string        `json:"text,omitempty"`
	Fields []fieldAnswer `json:"fields,omitempty"`
	Rows   int64         `json:"rows"`
	Chart  *chartAnswer  `json:"chart,omitempty"`
	// Profile and Trace are of a run with a profile.
	Profile string `json:"profile,omitempty"`
	Trace   string `json:"trace,omitempty"`
}

// gpuframe_query starts an action on a query, in memory of a manager. The action and
// the query are documents in JSON: see operation and package querydata. The tables are the
// queries that the document calls given. The handle of the run is released by
// gpuframe_release, which cancels it and waits for its end. The functions are those that expressions call by their
// numbers.
//
//export gpuframe_query
func gpuframe_query(h C.uint64_t, action, document *C.char, tables *C.uint64_t, count C.int64_t, functions *C.uint64_t, functionCount C.int64_t, out *C.uint64_t) *C.char {
	return guarded(func() error {
		m, err := the[*memory.Manager](handle(h))
		if err != nil {
			return err
		}
		var o operation
		if err := decode(action, &o); err != nil {
			return err
		}
		engine, err := engineOf(m)
		if err != nil {
			return err
		}
		options := querydata.Options{
			Cached:    func(name string, q gpuframe.Query) gpuframe.Query { return cached(engine, name, q) },
			Statement: statementsOf(engine),
		}
		for _, each := range unsafe.Slice((*handle)(unsafe.Pointer(functions)), int(functionCount)) {
			f, err := the[*function](each)
			if err != nil {
				return err
			}
			options.Functions = append(options.Functions, f.function)
		}
		var used []*buffer.Buffer
		release := func() {
			for _, b := range used {
				_ = b.Release() // a separate reference
			}
		}
		for _, each := range unsafe.Slice((*handle)(unsafe.Pointer(tables)), int(count)) {
			b, err := wholeTable(each)
			if err != nil {
				release()
				return err
			}
			used = append(used, b)
			options.Given = append(options.Given, engine.Table(b))
		}
		q, err := querydata.Decode(context.Background(), engine, []byte(C.GoString(document)), options)
		if err != nil {
			release()
			return documentProblem(err)
		}
		*out = C.uint64_t(objects.add(start(q, o, release)))
		return nil
	})
}

// start runs an operation, and releases what it uses at its end.
func start(q gpuframe.Query, o operation, release func()) *run {
	ctx, cancel := context.WithCancel(context.Background())
	r := &run{cancel: cancel, tables: make(chan *buffer.Buffer), begun: time.Now()}
	r.ofRows.Store(-1)
	go func() {
		defer close(r.tables)
		defer cancel()
		defer release()
		r.err = recovered(func() error { return o.on(ctx, q, r) })
	}()
	return r
}

// yield sends a table. It reports false, and releases the table, if the run is cancelled.
func (r *run) yield(ctx context.Context, f *gpuframe.Frame) bool {
	select {
	case r.tables <- f.Table():
		return true
	case <-ctx.Done():
		_ = f.Release() // the run has failed already
		return false
	}
}

// Close cancels the run, and waits for its end.
func (r *run) Close() error {
	r.cancel()
	for b := range r.tables {
		_ = b.Release() // a table that was not taken
	}
	return nil
}

// The status of a run that gpuframe_run_wait returns.
const (
	runContinues = iota
	runHasTable
	runEnded
)

// gpuframe_run_wait waits for the next table of a run or for its end, and for some
// milliseconds at most: then the status is 0, with the progress as answer. The status is 1 with a table, and 2 at the
// end, with the answer. The error is that of the run. Waits are short so that Python can
// handle signals between them.
//
//export gpuframe_run_wait
func gpuframe_run_wait(h C.uint64_t, milliseconds C.int64_t, status *C.int32_t, table *C.uint64_t, answer **C.char) *C.char {
	return guarded(func() error {
		r, err := the[*run](handle(h))
		if err != nil {
			return err
		}
		timeout := time.NewTimer(time.Duration(milliseconds) * time.Millisecond)
		defer timeout.Stop()
		select {
		case b, more := <-r.tables:
			if more {
				*status, *table = runHasTable, C.uint64_t(objects.add(b))
				return nil
			}
			*status, *answer = runEnded, encoded(r.answer)
			return r.err
		case <-timeout.C:
			*status, *answer = runContinues, encoded(r.progress())
			return nil
		}
	})
}
