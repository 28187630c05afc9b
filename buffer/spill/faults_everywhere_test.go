package spill_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/buffer/spill"
	"github.com/gpuframe/gpuframe/internal/testing/faulttest"
	"github.com/gpuframe/gpuframe/memory"
)

// spilling loads a table, moves it to the host or to a file, reads it there, restores it and
// releases it. The end of the spiller, which waits for the copies, checks that no
// host memory is in use.
func spilling(name string, options func(testing.TB) spill.Options) faulttest.Operation {
	return faulttest.Operation{
		Name: name, Requests: 2, Cancellable: true,
		Prepare: func(t testing.TB, m *memory.Manager) faulttest.Run {
			want := numbers(tableRows, 3)
			s := newSpiller(t, m, options(t))
			return func(ctx context.Context) (func(testing.TB), error) {
				loaded, err := buffer.FromRecord(m, want)
				if err != nil {
					return nil, err
				}
				table, err := s.Add(loaded)
				require.NoError(t, err)
				err = travel(ctx, t, s, table)
				return nil, errors.Join(err, table.Release())
			}
		},
	}
}

func travel(ctx context.Context, t testing.TB, s *spill.Spiller, table *spill.Table) error {
	want := numbers(tableRows, 3)
	if _, err := s.Reclaim(ctx, tableBytes); err != nil {
		return err
	}
	got, err := table.Record(ctx)
	if err != nil {
		return err
	}
	requireSame(t, want, got)
	got.Release()
	held, err := table.Acquire(ctx)
	if err != nil {
		return err
	}
	if got, err = held.Record(ctx); err == nil {
		requireSame(t, want, got)
		got.Release()
	}
	return errors.Join(err, held.Release())
}

var (
	toHost = spilling("to the host and back", func(testing.TB) spill.Options { return spill.Options{} })
	toFile = spilling("to a file and back", toFiles)
)

func TestEveryAllocationFails(t *testing.T) { faulttest.EachAllocation(t, toHost, toFile) }

func TestEveryDriverCallFails(t *testing.T) { faulttest.EachCall(t, toHost, toFile) }

func TestTheDeviceIsLostAtEveryDriverCall(t *testing.T) { faulttest.EachCallLost(t, toHost, toFile) }

func TestTheContextEndsAtEveryDriverCall(t *testing.T) {
	faulttest.EachCallCancelled(t, toHost, toFile)
}
