package objectstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

// Retry is how requests are repeated that fail with [ErrThrottled], [ErrUnavailable] or [ErrTruncated]. The zero value has
// defaults.
type Retry struct {
	// Attempts is the number of attempts of a request. Zero means 6.
	Attempts int
	// Pause is the time before the second attempt, which doubles for each further one, up to MostPause; a random part
	// of up to half of it is left out. Zero means 200 ms and 10 s. The time that a store has sent is waited, up to MostPause.
	Pause, MostPause time.Duration
	// Timeout is the time without progress after which an attempt is given up and repeated. Each byte that arrives or is
	// sent is progress: see [ReadFull] and [Body]. A second is added for each MiB until the first progress, for
	// stores that report none, and Commit has ten times as much. Zero means 30 s.
	Timeout time.Duration
	// HedgeAfter is the least time until a range is requested a second time, because its read takes more than twice as long as
	// nearly all of the latest ones of the store of a similar length. The first answer counts, and the other request is cancelled. At
	// most one of 32 reads has a second request. Zero means 250 ms. A negative time, or [HedgeVariable] with the value
	// "off", switches second requests off.
	HedgeAfter time.Duration

	// wait waits, or returns the error of the context. Tests change it.
	wait func(ctx context.Context, pause time.Duration) error
}

// EnsureRetry returns a store that repeats requests: the same one if it is of [WithRetry].
func EnsureRetry(store Store) Store {
	if _, ok := store.(*retrying); ok {
		return store
	}
	return WithRetry(store, Retry{})
}

// WithRetry returns a store that repeats requests. It replaces the Retry of a store of WithRetry.
func WithRetry(store Store, retry Retry) Store {
	var cache *Cache
	registered := false
	if before, ok := store.(*retrying); ok {
		store, cache, registered = before.store, before.cache, before.registered
	}
	if retry.Attempts <= 0 {
		retry.Attempts = 6
	}
	if retry.Pause <= 0 {
		retry.Pause = 200 * time.Millisecond
	}
	if retry.MostPause <= 0 {
		retry.MostPause = 10 * time.Second
	}
	if retry.Timeout <= 0 {
		retry.Timeout = 30 * time.Second
	}
	if retry.HedgeAfter == 0 {
		retry.HedgeAfter = usualHedgeAfter
	}
	if retry.wait == nil {
		retry.wait = wait
	}
	return &retrying{store: store, retry: retry, cache: cache, registered: registered, latencies: &latencies{}}
}

func wait(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return cancel.Error(ctx)
	}
}

// retrying is a store that repeats requests.
type retrying struct {
	store Store
	retry Retry
	// cache is that of WithCache, or nil.
	cache *Cache
	// registered reports whether the store is that of a scheme.
	registered bool
	latencies  *latencies
}

// errTimeout is the cause of the end of an attempt.
var errTimeout = fmt.Errorf("no answer in time: %w", ErrUnavailable)

// limit is the time until the first progress of a request that transfers a number of bytes.
func (r *retrying) limit(bytes int) time.Duration {
	return r.retry.Timeout + time.Duration(bytes>>20)*time.Second
}

// do repeats a request. limit is the time of an attempt until its first progress.
func (r *retrying) do(ctx context.Context, limit time.Duration, request func(ctx context.Context) error) error {
	for attempt := 1; ; attempt++ {
		err := r.attempt(ctx, limit, request)
		if err == nil || ctx.Err() != nil || !temporary(err) {
			return err
		}
		if attempt >= r.retry.Attempts {
			return fmt.Errorf("after %d attempts: %w", attempt, err)
		}
		if failure := r.retry.wait(ctx, r.pause(attempt, err)); failure != nil {
			return fmt.Errorf("%w: %w", failure, err)
		}
	}
}

// attempt makes a request once, with a limit of its time without progress.
func (r *retrying) attempt(ctx context.Context, limit time.Duration, request func(ctx context.Context) error) error {
	limited, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	late := time.AfterFunc(limit, func() { stop(errTimeout) })
	defer late.Stop()
	err := request(withProgress(limited, func() { late.Reset(r.retry.Timeout) }))
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(limited), errTimeout) {
		var failed *Error
		if errors.As(err, &failed) {
			late := *failed
			late.Err = errTimeout
			return &late
		}
		return errTimeout
	}
	return err
}

// pause is the time before the next attempt.
func (r *retrying) pause(attempt int, err error) time.Duration {
	pause := min(r.retry.Pause<<min(attempt-1, 20), r.retry.MostPause)
	pause -= rand.N(pause/2 + 1)
	var failed *Error
	if errors.As(err, &failed) {
		pause = max(pause, min(failed.RetryAfter, r.retry.MostPause))
	}
	return pause
}

// Stat implements [Store].
func (r *retrying) Stat(ctx context.Context, name string) (object Object, err error) {
	err = r.do(ctx, r.limit(0), func(ctx context.Context) (err error) {
		object, err = r.store.Stat(ctx, name)
		return err
	})
	return object, err
}

// ReadRange implements [Store].
func (r *retrying) ReadRange(ctx context.Context, object Object, into []byte, offset int64) error {
	if cache := r.cacheFor(object); cache != nil {
		return r.readCached(ctx, cache, object, into, offset)
	}
	return r.readRange(ctx, object, into, offset)
}

func (r *retrying) readRange(ctx context.Context, object Object, into []byte, offset int64) error {
	return r.do(ctx, r.limit(len(into)), func(ctx context.Context) error { return r.readHedged(ctx, object, into, offset) })
}

// List implements [Store].
func (r *retrying) List(ctx context.Context, prefix, token string) (page []Object, next string, err error) {
	err = r.do(ctx, r.limit(0), func(ctx context.Context) (err error) {
		page, next, err = r.store.List(ctx, prefix, token)
		return err
	})
	return page, next, err
}

// Put implements [Store].
func (r *retrying) Put(ctx context.Context, name string, contents []byte) error {
	return r.do(ctx, r.limit(len(contents)), func(ctx context.Context) error { return r.store.Put(ctx, name, contents) })
}

// retryingDeleter repeats requests that remove objects.
type retryingDeleter struct {
	*retrying
	deleter Deleter
}

// Delete implements [Deleter].
func (d *retryingDeleter) Delete(ctx context.Context, name string) error {
	return d.do(ctx, d.limit(0), func(ctx context.Context) error { return d.deleter.Delete(ctx, name) })
}

// retryingExclusive repeats conditional writes.
type retryingExclusive struct {
	*retrying
	exclusive Exclusive
}

// PutNew implements [Exclusive].
func (e *retryingExclusive) PutNew(ctx context.Context, name string, contents []byte) error {
	return e.do(ctx, e.limit(len(contents)), func(ctx context.Context) error { return e.exclusive.PutNew(ctx, name, contents) })
}

// Create implements [Store].
func (r *retrying) Create(ctx context.Context, name string) (upload Upload, err error) {
	err = r.do(ctx, r.limit(0), func(ctx context.Context) (err error) {
		upload, err = r.store.Create(ctx, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &retryingUpload{r, upload}, nil
}

// retryingUpload is an upload that repeats requests.
type retryingUpload struct {
	*retrying
	upload Upload
}

// WritePart implements [Upload].
func (u *retryingUpload) WritePart(ctx context.Context, number int, contents []byte) error {
	return u.do(ctx, u.limit(len(contents)), func(ctx context.Context) error { return u.upload.WritePart(ctx, number, contents) })
}

// commitTimeouts is the limit of Commit: stores join parts for minutes.
const commitTimeouts = 10

// Commit implements [Upload].
func (u *retryingUpload) Commit(ctx context.Context, parts int) error {
	return u.do(ctx, commitTimeouts*u.limit(0), func(ctx context.Context) error { return u.upload.Commit(ctx, parts) })
}

// Abort implements [Upload].
func (u *retryingUpload) Abort(ctx context.Context) error {
	return u.do(ctx, u.limit(0), u.upload.Abort)
}
