package objectstore

import (
	"bytes"
	"context"
	"io"
)

// progress is the key of a function of a context that resets the limit of an attempt.
type progress struct{}

func withProgress(ctx context.Context, report func()) context.Context {
	return context.WithValue(ctx, progress{}, report)
}

// reportOf returns the function of a context that reports progress of its request.
func reportOf(ctx context.Context) func() {
	if report, ok := ctx.Value(progress{}).(func()); ok {
		return report
	}
	return func() {}
}

// ReadFull is [io.ReadFull] for stores: bytes that arrive are progress of the request of a context. See [Retry].
func ReadFull(ctx context.Context, from io.Reader, into []byte) (n int, err error) {
	return io.ReadFull(&progressReader{from, reportOf(ctx)}, into)
}

// Body returns contents to send for stores: bytes that are read from it are progress of the request of a context. See
// [Retry].
func Body(ctx context.Context, contents []byte) io.ReadSeeker {
	from := bytes.NewReader(contents)
	return &struct {
		progressReader
		io.Seeker
	}{progressReader{from, reportOf(ctx)}, from}
}

// progressReader reports bytes as progress.
type progressReader struct {
	from   io.Reader
	report func()
}

// Read implements [io.Reader].
func (r *progressReader) Read(p []byte) (n int, err error) {
	n, err = r.from.Read(p)
	if n > 0 {
		r.report()
	}
	return n, err
}
