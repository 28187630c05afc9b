package flight

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
)

// boundStream is a stream with limits: the server waits for the client no longer than idle,
// and the context has the call's limit of time.
type boundStream struct {
	grpc.ServerStream
	ctx  context.Context
	idle time.Duration
	// timer starts the timer of a wait. Tests replace it.
	timer timer
	// writers counts the goroutines that wait for the client.
	writers *sync.WaitGroup
}

// timer starts a timer of a duration. The channel receives at its end.
type timer func(d time.Duration) (over <-chan time.Time, stop func() bool)

func newTimer(d time.Duration) (over <-chan time.Time, stop func() bool) {
	t := time.NewTimer(d)
	return t.C, t.Stop
}

// Context implements grpc.ServerStream.
func (b *boundStream) Context() context.Context { return b.ctx }

// SendMsg implements grpc.ServerStream.
func (b *boundStream) SendMsg(message any) error {
	return b.wait("take", func() error { return b.ServerStream.SendMsg(message) })
}

// RecvMsg implements grpc.ServerStream.
func (b *boundStream) RecvMsg(message any) error {
	return b.wait("send", func() error { return b.ServerStream.RecvMsg(message) })
}

// wait returns the error of f, which waits for the client, or an error if that takes too
// long. f ends after the call then: when a call has returned, gRPC ends the waits of its stream.
func (b *boundStream) wait(verb string, f func() error) error {
	done := make(chan error, 1)
	b.writers.Add(1)
	go func() {
		defer b.writers.Done()
		var err error
		defer func() { done <- err }()
		defer recovered(&err)
		err = f()
	}()
	over, stop := b.timer(b.idle)
	defer stop()
	select {
	case err := <-done:
		return err
	case <-over:
		return refused(codes.DeadlineExceeded, "the client did not %s a message for %v", verb, b.idle)
	case <-b.ctx.Done():
		return b.ctx.Err()
	}
}
