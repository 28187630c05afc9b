package sink

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/objectstore"
)

// mostParts is the number of parts of an object that are sent at a time.
const mostParts = 4

// partBytes is the length of the parts of an object.
var partBytes = objectstore.PartBytes // tests change it

// toObject writes tables to an object of a store. It appears with all of them, or not at all.
func toObject(ctx context.Context, name string, format Format, reader buffer.Reader) (w Written, err error) {
	store, err := objectstore.Open(name)
	if err != nil {
		return Written{}, err
	}
	err = writeObject(ctx, store, name, func(to io.Writer) (err error) {
		w, err = write(ctx, to, format, reader)
		return err
	})
	if err != nil {
		return Written{}, err
	}
	return w, nil
}

// writeObject writes an object by a function.
func writeObject(ctx context.Context, store objectstore.Store, name string, write func(io.Writer) error) error {
	o := newObjectWriter(ctx, store, name)
	defer o.stop(nil)
	err := write(o)
	if err == nil {
		err = o.commit()
	}
	if err != nil {
		return errors.Join(err, o.abort())
	}
	return nil
}

// objectWriter sends what is written to it as parts of an object. A short object is sent at once.
type objectWriter struct {
	query context.Context
	ctx   context.Context // ends with that of the query, or when a part fails
	stop  context.CancelCauseFunc
	store objectstore.Store
	name  string
	part  []byte
	// upload is nil before the first part is full, and parts the number of those that were sent.
	upload  objectstore.Upload
	parts   int
	slots   chan struct{}
	sending sync.WaitGroup
}

func newObjectWriter(ctx context.Context, store objectstore.Store, name string) *objectWriter {
	o := &objectWriter{query: ctx, store: store, name: name, slots: make(chan struct{}, mostParts)}
	o.ctx, o.stop = context.WithCancelCause(ctx)
	return o
}

// Write implements [io.Writer]. It waits while as many parts are sent as may be.
func (o *objectWriter) Write(p []byte) (n int, err error) {
	for n < len(p) {
		if len(o.part) == partBytes {
			if err := o.send(); err != nil {
				return n, err
			}
		}
		if o.part == nil {
			o.part = make([]byte, 0, min(partBytes, 1<<20))
		}
		next := min(len(p)-n, partBytes-len(o.part))
		o.part = append(slices.Grow(o.part, next), p[n:n+next]...)
		n += next
	}
	return n, nil
}

// send begins to send the part.
func (o *objectWriter) send() (err error) {
	if o.upload == nil {
		if o.upload, err = o.store.Create(o.ctx, o.name); err != nil {
			return err
		}
	}
	select {
	case o.slots <- struct{}{}:
	case <-o.ctx.Done():
		return o.failure()
	}
	part, number := o.part, o.parts
	o.part, o.parts = nil, o.parts+1
	o.sending.Go(func() {
		defer func() { <-o.slots }()
		if err := o.upload.WritePart(o.ctx, number, part); err != nil {
			o.stop(err)
		}
	})
	return nil
}

// failure returns the error of the context of the query, or of a part, or nil.
func (o *objectWriter) failure() error {
	if err := cancel.Error(o.query); err != nil {
		return err
	}
	return context.Cause(o.ctx)
}

// commit sends the last part and makes the object.
func (o *objectWriter) commit() error {
	if o.upload == nil {
		return o.store.Put(o.ctx, o.name, o.part)
	}
	if err := o.send(); err != nil {
		return err
	}
	o.sending.Wait()
	if err := o.failure(); err != nil {
		return err
	}
	return o.upload.Commit(o.ctx, o.parts)
}

// abortTime is the time to remove the parts: the query waits for it.
const abortTime = 10 * time.Second

// abort removes the parts, also after the context is done.
func (o *objectWriter) abort() error {
	o.stop(context.Canceled)
	o.sending.Wait()
	if o.upload == nil {
		return nil
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(o.query), abortTime)
	defer stop()
	return o.upload.Abort(ctx)
}
