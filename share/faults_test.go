package share_test

import (
	"context"
	"errors"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/faulttest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/share"
)

// sharing publishes a copy of a table, opens it, reads it and lets it go.
func sharing() faulttest.Operation {
	return faulttest.Operation{
		Name: "publish and open", Cancellable: true, Mends: []string{"SetAccessReadOnly"},
		Prepare: func(t testing.TB, m *memory.Manager) faulttest.Run {
			want := record(t, 20)
			table := upload(t, m, want)
			path := socket(t)
			return func(ctx context.Context) (func(testing.TB), error) {
				server, err := share.ListenContext(t.Context(), path, share.ServerOptions{Patience: await.Limit})
				require.NoError(t, err)
				err = there(ctx, t, server, m, table, want)
				return nil, errors.Join(err, server.Close())
			}
		},
	}
}

func there(ctx context.Context, t testing.TB, server *share.Server, m *memory.Manager, table *buffer.Buffer, want arrow.Record) error {
	if err := server.Publish(ctx, "t", table); err != nil {
		return err
	}
	client, err := share.DialContext(t.Context(), server.Path())
	require.NoError(t, err)
	opened, err := client.Open(ctx, m, "t")
	if err == nil {
		var got arrow.Record
		if got, err = opened.Record(ctx); err == nil {
			require.True(t, array.RecordEqual(want, got))
			got.Release()
		}
		err = errors.Join(err, opened.Release())
	}
	return errors.Join(err, client.Close(), server.Withdraw("t"))
}

func TestEveryDriverCallFails(t *testing.T) { faulttest.EachCall(t, sharing()) }

func TestTheDeviceIsLostAtEveryDriverCall(t *testing.T) { faulttest.EachCallLost(t, sharing()) }

func TestTheContextEndsAtEveryDriverCall(t *testing.T) { faulttest.EachCallCancelled(t, sharing()) }
