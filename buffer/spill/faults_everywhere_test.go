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

// spilling loads a table, moves it to the host, reads it there, restores it and
// releases it. The end of the spiller, which waits for the copies, checks that no
// host memory is in use.
func spilling() faulttest.Operation {
	return faulttest.Operation{
		Name: "to the host and back", Requests: 2, Cancellable: true,
		Prepare: func(t testing.TB, m *memory.Manager) faulttest.Run {
			want := numbers(tableRows, 3)
			s := newSpiller(t, m, spill.Options{})
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

func TestEveryAllocationFails(t *testing.T) { faulttest.EachAllocation(t, spilling()) }

func TestEveryDriverCallFails(t *testing.T) { faulttest.EachCall(t, spilling()) }

func TestTheDeviceIsLostAtEveryDriverCall(t *testing.T) { faulttest.EachCallLost(t, spilling()) }

func TestTheContextEndsAtEveryDriverCall(t *testing.T) { faulttest.EachCallCancelled(t, spilling()) }
