package exchange

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/memory"
)

// Scatter copies parts[j] to the device of manager j, for all j. A part that is on this device is
// returned itself, with another reference, and one that is nil remains nil. The caller keeps the
// parts, and releases the results.
//
// The parts may be slices of one table: the copies to several devices run at the same time, and no
// destination waits for another one. Calls of [Copy] in sequence would wait for each other on the
// devices, because each is ordered after all pending work on the table.
//
// # Waiting
//
// Scatter waits like [Copy].
//
// # Errors
//
// The error of one destination is a [DestinationError]. After an error nothing was moved.
func Scatter(ctx context.Context, parts []*buffer.Buffer, to []*memory.Manager, options ...Options) ([]*buffer.Buffer, error) {
	tables, err := scatter(ctx, parts, to, options)
	if err != nil {
		return nil, fmt.Errorf("exchange: scatter: %w", err)
	}
	return tables, nil
}

func scatter(ctx context.Context, parts []*buffer.Buffer, to []*memory.Manager, options []Options) (tables []*buffer.Buffer, err error) {
	o, err := only(options)
	if err != nil {
		return nil, err
	}
	if err := checkManagers(to); err != nil {
		return nil, err
	}
	if len(parts) != len(to) {
		return nil, fmt.Errorf("%d parts for %d managers, expected one for each: %w", len(parts), len(to), device.ErrInvalidValue)
	}
	movers := make([]*mover, len(to))
	tables = make([]*buffer.Buffer, len(to))
	defer func() {
		if err == nil {
			return
		}
		for _, m := range movers {
			if m != nil {
				err = errors.Join(err, m.close())
			}
		}
		tables, err = nil, errors.Join(err, release.All(tables))
	}()
	failed := func(j int, err error) error { return &DestinationError{Device: to[j].Device().Name(), Err: err} }
	for j, part := range parts {
		if part == nil {
			continue
		}
		if err := part.Check(); err != nil {
			return tables, failed(j, err)
		}
		if part.Device() == nil || part.Device().Same(to[j].Device()) {
			continue
		}
		movers[j] = newMover(ctx, to[j], o)
		if err := movers[j].orderAll(parts[j : j+1]); err != nil {
			return tables, failed(j, err)
		}
	}
	for j, part := range parts {
		m := movers[j]
		movers[j] = nil
		switch {
		case part == nil:
			continue
		case m == nil:
			tables[j], err = copyTable(ctx, part, to[j], o)
		default:
			tables[j], err = m.gather(parts[j:j+1], destination{count: 1})
		}
		if err != nil {
			return tables, failed(j, err)
		}
	}
	return tables, nil
}
