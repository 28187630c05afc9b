package exchange

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/memory"
)

// AllToAll moves parts of tables between devices: parts[i][j] goes from device i to the device
// of manager j. Table j of the result has the rows of parts[0][j], parts[1][j] and so on, in
// that order. All parts have columns of the same types; parts without rows are moved by no copy.
// The caller keeps the parts, and releases the results.
//
// All destinations work at the same time, each beginning with the part of another device, and
// copies between different devices do not wait for each other. If other devices send 16 MiB or
// more to one, that one receives them on a further stream, and copies its own part meanwhile.
//
// # Waiting
//
// AllToAll waits like [Gather].
func AllToAll(ctx context.Context, parts [][]*buffer.Buffer, to []*memory.Manager, options ...Options) ([]*buffer.Buffer, error) {
	tables, err := allToAll(ctx, parts, to, options)
	if err != nil {
		return nil, fmt.Errorf("exchange: all to all: %w", err)
	}
	return tables, nil
}

func allToAll(ctx context.Context, parts [][]*buffer.Buffer, to []*memory.Manager, options []Options) ([]*buffer.Buffer, error) {
	o, err := only(options)
	if err != nil {
		return nil, err
	}
	if err := checkManagers(to); err != nil {
		return nil, err
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("no parts are given, expected those of one or more devices: %w", device.ErrInvalidValue)
	}
	for i, row := range parts {
		if len(row) != len(to) {
			return nil, fmt.Errorf("device %d has %d parts, expected one for each of the %d managers: %w", i, len(row), len(to), device.ErrInvalidValue)
		}
	}
	tables := make([][]*buffer.Buffer, len(to))
	for j := range to {
		for i := range parts {
			tables[j] = append(tables[j], parts[i][j])
		}
		if err := checkTables(tables[j]); err != nil {
			return nil, &DestinationError{Device: to[j].Device().Name(), Err: err}
		}
	}
	movers, err := moversTo(ctx, tables, to, o)
	if err != nil {
		return nil, err
	}
	return onEach(ctx, to, func(ctx context.Context, j int) (*buffer.Buffer, error) {
		movers[j].ctx = ctx
		return movers[j].gather(tables[j], destination{j, len(to)})
	})
}

// AllGather returns, on the device of each manager, one table with the rows of all tables, in
// order. The tables may be on any devices, several of them on one; their columns have the same
// types. Names and metadata are those of the first table.
//
// Each device sends its tables to all others itself, and all destinations work at the same time:
// each begins with the tables after its own, so that the devices do not all read from one. Copies
// between different devices do not wait for each other. A [Gather] to one device and a [Broadcast]
// from there move the same rows over the links of that device alone.
//
// # Ownership
//
// The caller keeps the tables, and releases the results. If only one table has rows, the results
// on its device share its memory.
//
// # Waiting
//
// AllGather waits like [Gather].
//
// # Errors
//
// The error wraps buffer.ErrSchema if the columns differ. If a table cannot be made on a device, it
// wraps a [DestinationError] with the device, and no device has a table.
func AllGather(ctx context.Context, tables []*buffer.Buffer, to []*memory.Manager, options ...Options) ([]*buffer.Buffer, error) {
	copies, err := allGather(ctx, tables, to, options)
	if err != nil {
		return nil, fmt.Errorf("exchange: all-gather: %w", err)
	}
	return copies, nil
}

func allGather(ctx context.Context, tables []*buffer.Buffer, to []*memory.Manager, options []Options) ([]*buffer.Buffer, error) {
	o, err := only(options)
	if err != nil {
		return nil, err
	}
	if err := checkManagers(to); err != nil {
		return nil, err
	}
	if err := checkTables(tables); err != nil {
		return nil, err
	}
	same := make([][]*buffer.Buffer, len(to))
	for j := range same {
		same[j] = tables
	}
	movers, err := moversTo(ctx, same, to, o)
	if err != nil {
		return nil, err
	}
	return onEach(ctx, to, func(ctx context.Context, j int) (*buffer.Buffer, error) {
		movers[j].ctx = ctx
		return movers[j].gather(tables, destination{j, len(to)})
	})
}

func checkManagers(to []*memory.Manager) error {
	if len(to) == 0 {
		return fmt.Errorf("no managers are given, expected one or more: %w", device.ErrInvalidValue)
	}
	for j, m := range to {
		if m == nil {
			return fmt.Errorf("manager %d is nil: %w", j, device.ErrInvalidValue)
		}
	}
	return nil
}

// DestinationError is the failure to make the table of one of several devices.
type DestinationError struct {
	// Device is the name of the device.
	Device string
	Err    error
}

// Error names the device.
func (e *DestinationError) Error() string { return fmt.Sprintf("to %s: %v", e.Device, e.Err) }

// Unwrap returns Err.
func (e *DestinationError) Unwrap() error { return e.Err }

// onEach makes a table for each destination, all at the same time. After an error it releases
// those that were made.
func onEach(ctx context.Context, to []*memory.Manager, makeTable func(ctx context.Context, j int) (*buffer.Buffer, error)) ([]*buffer.Buffer, error) {
	tables := make([]*buffer.Buffer, len(to))
	group, inner := errgroup.WithContext(ctx)
	for j := range to {
		group.Go(func() (err error) {
			if tables[j], err = makeTable(inner, j); err != nil {
				return &DestinationError{Device: to[j].Device().Name(), Err: err}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, errors.Join(err, release.All(tables))
	}
	return tables, nil
}

// Broadcast returns a table with the same rows on the device of each manager. On a device that
// has the table already, the result is the table itself with another reference. Devices that
// have received the table send it on, so that n copies take log2(n) rounds. The caller keeps the
// table, and releases the results.
//
// # Waiting
//
// Broadcast waits like [Copy].
func Broadcast(ctx context.Context, table *buffer.Buffer, to []*memory.Manager, options ...Options) ([]*buffer.Buffer, error) {
	copies, err := broadcast(ctx, table, to, options)
	if err != nil {
		return nil, fmt.Errorf("exchange: broadcast: %w", err)
	}
	return copies, nil
}

func broadcast(ctx context.Context, table *buffer.Buffer, to []*memory.Manager, options []Options) ([]*buffer.Buffer, error) {
	o, err := only(options)
	if err != nil {
		return nil, err
	}
	if err := checkManagers(to); err != nil {
		return nil, err
	}
	if err := table.Check(); err != nil {
		return nil, err
	}
	copies := make([]*buffer.Buffer, 0, len(to))
	senders := []*buffer.Buffer{table}
	for len(copies) < len(to) {
		next := to[len(copies):min(len(copies)+len(senders), len(to))]
		tables, err := onEach(ctx, next, func(ctx context.Context, j int) (*buffer.Buffer, error) {
			return copyTable(ctx, senders[j], next[j], o)
		})
		if err != nil {
			return nil, errors.Join(err, release.All(copies))
		}
		copies, senders = append(copies, tables...), append(senders, tables...)
	}
	return copies, nil
}

// Reduce combines tables to one in memory of the manager. combine makes one table of two: it
// gets the combination of tables that are neighbours in the order given, on one device, and
// returns a new table there, which Reduce releases. It is called for several pairs at a time, so
// that n tables take log2(n) rounds; for one table it is not called. The caller keeps the
// tables, and releases the result.
//
//	merged, err := exchange.Reduce(ctx, partials, mgr, func(ctx context.Context, a, b *buffer.Buffer) (*buffer.Buffer, error) {
//		return group.Combine(ctx, schema, []*buffer.Buffer{a, b}, aggregates)
//	})
//
// # Waiting
//
// Reduce waits like [Copy] and like combine.
func Reduce(ctx context.Context, tables []*buffer.Buffer, to *memory.Manager, combine func(ctx context.Context, a, b *buffer.Buffer) (*buffer.Buffer, error), options ...Options) (*buffer.Buffer, error) {
	combined, err := reduce(ctx, tables, to, combine, options)
	if err != nil {
		return nil, fmt.Errorf("exchange: reduce: %w", err)
	}
	return combined, nil
}

func reduce(ctx context.Context, tables []*buffer.Buffer, to *memory.Manager, combine func(ctx context.Context, a, b *buffer.Buffer) (*buffer.Buffer, error), options []Options) (combined *buffer.Buffer, err error) {
	o, err := only(options)
	if err != nil {
		return nil, err
	}
	if to == nil {
		return nil, errNoManager
	}
	if len(tables) == 0 || combine == nil {
		return nil, fmt.Errorf("no table or no function to combine tables is given: %w", device.ErrInvalidValue)
	}
	level := make([]*buffer.Buffer, 0, len(tables))
	for i, table := range tables {
		if err := table.Retain(); err != nil {
			return nil, errors.Join(fmt.Errorf("table %d: %w", i, err), release.All(level))
		}
		level = append(level, table)
	}
	for len(level) > 1 {
		next, err := halve(ctx, level, to, combine, o)
		if err = errors.Join(err, release.All(level)); err != nil {
			return nil, errors.Join(err, release.All(next))
		}
		level = next
	}
	combined, err = copyTable(ctx, level[0], to, o)
	return release.OnError(combined, err, level[0].Release())
}

// halve combines tables 0 and 1, 2 and 3, and so on. The manager is that of tables without one.
func halve(ctx context.Context, tables []*buffer.Buffer, to *memory.Manager, combine func(ctx context.Context, a, b *buffer.Buffer) (*buffer.Buffer, error), options Options) ([]*buffer.Buffer, error) {
	managers := make([]*memory.Manager, (len(tables)+1)/2)
	for j := range managers {
		if managers[j] = tables[2*j].Manager(); managers[j] == nil {
			managers[j] = to
		}
	}
	return onEach(ctx, managers, func(ctx context.Context, j int) (*buffer.Buffer, error) {
		first := tables[2*j]
		if 2*j+1 == len(tables) {
			return first, first.Retain()
		}
		second, err := copyTable(ctx, tables[2*j+1], managers[j], options)
		if err != nil {
			return nil, err
		}
		combined, err := combine(ctx, first, second)
		return release.OnError(combined, err, second.Release())
	})
}
