package objectstore

import (
	"context"
	"sync/atomic"
)

// Tally counts cached reads and second requests of the reads of a context. It is safe for concurrent use.
type Tally struct {
	// CachedReads needed no request, and CachedBytes came from a [Cache].
	CachedReads, CachedBytes atomic.Int64
	// Hedges are second requests for ranges that took long: see [Retry].
	Hedges atomic.Int64

	cacheFailure atomic.Pointer[error]
}

// CacheFailure is the error of the disk because of which a cache is not used any more, or nil. It is that of one read.
func (t *Tally) CacheFailure() error {
	if err := t.cacheFailure.Load(); err != nil {
		return *err
	}
	return nil
}

// tallyKey is the key of a Tally in a context.
type tallyKey struct{}

// WithTally returns a context of reads that a Tally counts.
func WithTally(ctx context.Context, tally *Tally) context.Context {
	return context.WithValue(ctx, tallyKey{}, tally)
}

// tallyOf returns the Tally of a context, or nil.
func tallyOf(ctx context.Context) *Tally {
	tally, _ := ctx.Value(tallyKey{}).(*Tally)
	return tally
}
