package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gpuframe/gpuframe/device"
)

// releaser is a result.
type releaser interface{ Release() error }

// work is an operation to time. Its result is released before it runs again.
type work func(ctx context.Context) (releaser, error)

func median[T time.Duration | float64](values []T) T {
	slices.Sort(values)
	return values[len(values)/2]
}

// batch is the number of calls that are timed together, in sequence, as programs make
// them: the host's part of a call then overlaps with the device's work of the previous
// call. The peers do the same.
const batch = 5

// onDevice returns the median of the device's times of some rounds.
func (b *bench) onDevice(ctx context.Context, w work) (took time.Duration, err error) {
	start, err := b.dev.NewTimingEvent()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, start.Close()) }()
	end, err := b.dev.NewTimingEvent()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, end.Close()) }()
	const warm = 2
	var times []time.Duration
	for round := range warm + b.rounds {
		milliseconds, err := b.between(ctx, start, end, w)
		if err != nil {
			return 0, err
		}
		if round >= warm {
			times = append(times, time.Duration(milliseconds*1e6/batch))
		}
	}
	return median(times), nil
}

// between runs a batch between two events.
func (b *bench) between(ctx context.Context, start, end *device.Event, w work) (milliseconds float64, err error) {
	if err := start.Record(b.stream); err != nil {
		return 0, err
	}
	for range batch {
		result, err := w(ctx)
		if err != nil {
			return 0, err
		}
		if err := result.Release(); err != nil {
			return 0, err
		}
	}
	if err := errors.Join(end.Record(b.stream), end.Wait(ctx)); err != nil {
		return 0, err
	}
	elapsed, err := end.Elapsed(start)
	return float64(elapsed), err
}

// byClock returns the median time from the call until its result is complete.
func (b *bench) byClock(ctx context.Context, w work) (time.Duration, error) {
	const warm, rounds = 200, 1001
	var times []time.Duration
	for round := range warm + rounds {
		began := time.Now()
		result, err := w(ctx)
		if err != nil {
			return 0, err
		}
		err = b.dev.Driver().StreamSynchronize(b.stream.Handle())
		took := time.Since(began)
		if err = errors.Join(err, result.Release()); err != nil {
			return 0, err
		}
		if round >= warm {
			times = append(times, took)
		}
	}
	return median(times), nil
}
