package checks

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

// run runs the checks and stores their outcomes.
func (b *Batch) run(ctx context.Context, outcomes []outcome) error {
	active := false
	for i, e := range b.entries {
		if e.err != nil {
			return e.err
		}
		outcomes[i] = e.known
		active = active || e.check != nil
	}
	if !active {
		return nil
	}
	if err := b.order(); err != nil {
		return err
	}
	run := b.onGPU
	if b.stream.Device().Kind() == device.Host {
		run = b.onHost
	}
	if err := run(ctx, outcomes); err != nil {
		return fmt.Errorf("check the contents of buffers: %w", err)
	}
	return nil
}

// order checks that all memory is valid and on the stream's device, and makes the
// stream wait for the work on it.
func (b *Batch) order() error {
	for _, e := range b.entries {
		if e.check == nil {
			continue
		}
		for _, buffer := range e.check.reads() {
			block := buffer.Block()
			if buffer.Len() == 0 {
				continue
			}
			err := block.Check()
			if err == nil && !block.Device().Same(b.stream.Device()) {
				err = fmt.Errorf("the memory is on %s, the stream on %s: %w", block.Device(), b.stream.Device(), device.ErrInvalidValue)
			}
			if err == nil {
				err = block.OrderBefore(b.stream)
			}
			if err != nil {
				return fmt.Errorf("%s: check the contents: %w", e.name, err)
			}
		}
	}
	return nil
}

func (b *Batch) onHost(ctx context.Context, outcomes []outcome) error {
	// Synchronize would accept a closed stream, which a launch refuses.
	if err := b.stream.Enqueue(func(backend.Stream) error { return nil }); err != nil {
		return err
	}
	if err := b.stream.Synchronize(ctx); err != nil {
		return err
	}
	for i, e := range b.entries {
		if e.check == nil {
			continue
		}
		if ctx.Err() != nil {
			return cancel.Error(ctx)
		}
		reads := e.check.reads()
		bytes := make([][]byte, len(reads))
		var errs []error
		for r, buffer := range reads {
			var err error
			bytes[r], err = buffer.Host()
			errs = append(errs, err)
		}
		if err := errors.Join(errs...); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		outcomes[i] = e.check.onHost(bytes)
	}
	return nil
}

// judge returns the error of the first failing check.
func (b *Batch) judge(ctx context.Context, outcomes []outcome) error {
	for i, e := range b.entries {
		if bad := outcomes[i].bad; bad >= 0 {
			return b.explain(ctx, e, int(bad))
		}
		if e.conclude == nil {
			continue
		}
		if problem := e.conclude(outcomes[i]); problem != nil {
			problem.Name = e.name
			return problem
		}
	}
	return nil
}

// explain fetches the wrong element and the elements that it was compared with.
func (b *Batch) explain(ctx context.Context, e entry, bad int) error {
	reads := e.check.reads()
	bytes := make([][]byte, len(reads))
	for r, s := range e.check.peek(bad) {
		part, err := reads[r].Slice(s.from*s.width, s.to*s.width)
		if err == nil && part.Len() > 0 {
			bytes[r] = make([]byte, part.Len())
			err = part.Download(ctx, b.stream, bytes[r])
		}
		if err != nil {
			return fmt.Errorf("%s: element %d is wrong (%w) and cannot be fetched: %w", e.name, e.origin+bad, ErrOutOfRange, err)
		}
	}
	value, reason := e.check.explain(bad, bytes)
	return &ElementError{Name: e.name, Index: int64(e.origin + bad), Value: value, Reason: reason}
}
