//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev_test

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/arrowdev/internal/peer"
	"github.com/gpuframe/gpuframe/buffer"
)

var _ buffer.Reader = (*arrowdev.AsyncReader)(nil)

func TestPeerSendsToAsyncReader(t *testing.T) {
	onEachPeerDevice(t, func(t *testing.T, s *peerScene) {
		for ahead := range 4 {
			for _, sending := range []peer.SendOptions{{}, {Metadata: true}, {EndRequested: true}} {
				source, want := s.source(t, 5)
				reader, err := arrowdev.ImportAsync(s.Manager, arrowdev.AsyncOptions{Ahead: ahead})
				require.NoError(t, err)
				sender := peer.Send(reader.Handler(), source, sending)
				got, err := readTexts(t, reader, 9)
				require.ErrorIs(t, err, io.EOF)
				require.Equal(t, want, got)
				require.NoError(t, reader.Close())
				sent := sender.Wait()
				require.True(t, sent.Released)
				require.Equal(t, 5, sent.Tasks)
				require.False(t, sent.Errored)
			}
		}
	})
}

// Back-pressure: the reader requests no more batches than Ahead allows.
func TestPeerSendsNoMoreThanRequested(t *testing.T) {
	onEachPeerDevice(t, func(t *testing.T, s *peerScene) {
		for _, ahead := range []int{1, 2, 3} {
			source, _ := s.source(t, 8)
			reader, err := arrowdev.ImportAsync(s.Manager, arrowdev.AsyncOptions{Ahead: ahead})
			require.NoError(t, err)
			sender := peer.Send(reader.Handler(), source, peer.SendOptions{})
			_, err = readTexts(t, reader, 2)
			require.NoError(t, err)
			require.NoError(t, reader.Close())
			sent := sender.Wait()
			require.LessOrEqual(t, sent.Tasks, 2+ahead+1)
			require.False(t, sent.Errored)
		}
	})
}

func TestPeerSenderFails(t *testing.T) {
	onEachPeerDevice(t, func(t *testing.T, s *peerScene) {
		for after := range 4 {
			source, want := s.source(t, 4)
			source.FailAfter, source.Code, source.Message = after, 5, "the wire is cut"
			reader, err := arrowdev.ImportAsync(s.Manager, arrowdev.AsyncOptions{})
			require.NoError(t, err)
			sender := peer.Send(reader.Handler(), source, peer.SendOptions{})
			got, err := readTexts(t, reader, 9)
			require.ErrorContains(t, err, "the wire is cut")
			require.NotErrorIs(t, err, io.EOF)
			require.LessOrEqual(t, len(got), after)
			require.Equal(t, want[:len(got)], append([]string{}, got...))
			require.NoError(t, reader.Close())
			require.True(t, sender.Wait().Errored)
		}
		source, _ := s.source(t, 2)
		source.SchemaCode, source.Message = 5, "no schema"
		reader, err := arrowdev.ImportAsync(s.Manager, arrowdev.AsyncOptions{})
		require.NoError(t, err)
		sender := peer.Send(reader.Handler(), source, peer.SendOptions{})
		_, err = readTexts(t, reader, 1)
		require.ErrorContains(t, err, "no schema")
		require.NoError(t, reader.Close())
		sender.Wait()
	})
}

func TestPeerSenderFailsToExtract(t *testing.T) {
	onEachPeerDevice(t, func(t *testing.T, s *peerScene) {
		for task := 1; task < 4; task++ {
			source, want := s.source(t, 4)
			reader, err := arrowdev.ImportAsync(s.Manager, arrowdev.AsyncOptions{Ahead: 2})
			require.NoError(t, err)
			sender := peer.Send(reader.Handler(), source, peer.SendOptions{FailExtract: task})
			got, err := readTexts(t, reader, 9)
			require.Error(t, err)
			require.NotErrorIs(t, err, io.EOF)
			require.LessOrEqual(t, len(got), task-1)
			require.Equal(t, want[:len(got)], append([]string{}, got...))
			require.NoError(t, reader.Close())
			sender.Wait()
		}
	})
}

// Closing the reader at any point cancels, and everything is released.
func TestPeerSenderIsCancelled(t *testing.T) {
	onEachPeerDevice(t, func(t *testing.T, s *peerScene) {
		for most := range 6 {
			for _, finish := range []bool{false, true} {
				source, want := s.source(t, 5)
				reader, err := arrowdev.ImportAsync(s.Manager, arrowdev.AsyncOptions{Ahead: 3})
				require.NoError(t, err)
				sender := peer.Send(reader.Handler(), source, peer.SendOptions{FinishRequested: finish})
				got, err := readTexts(t, reader, most)
				require.NoError(t, err)
				require.Equal(t, want[:most], append([]string{}, got...))
				require.NoError(t, reader.Close())
				sent := sender.Wait()
				require.True(t, sent.Released)
				require.False(t, sent.Errored)
				require.NoError(t, reader.Close())
			}
		}
	})
}

// exportTo runs an export until the receiver is done.
func (s *peerScene) exportTo(t *testing.T, ctx context.Context, reader buffer.Reader, options peer.ReceiveOptions) (peer.Received, error) {
	t.Helper()
	receiver := peer.NewReceiver(options, s.view)
	err := arrowdev.ExportAsync(ctx, s.Manager, reader, receiver.Handler())
	got := receiver.Wait()
	require.True(t, got.Released)
	require.Empty(t, got.Problems)
	require.Equal(t, got.Tasks, got.Extracted)
	require.Empty(t, peer.Mistakes())
	return got, err
}

func numberedTexts(texts []string) (all string) {
	for i, text := range texts {
		all += fmt.Sprintf("batch %d\n%s", i, text)
	}
	return all
}

func TestPeerReceivesToTheEnd(t *testing.T) {
	onEachPeerDevice(t, func(t *testing.T, s *peerScene) {
		for _, options := range []peer.ReceiveOptions{
			{First: 1, Next: 1}, {First: 100}, {First: 2, Next: 3, Extract: peer.Later, Seed: 7},
			{First: 1, Next: 1, RequestLater: true}, {First: 1, Next: 2, RequestLater: true, Extract: peer.Later},
		} {
			options.CancelAfter, options.RefuseAfter = peer.Never, peer.Never
			source, want := s.reader(t, 5, nil)
			got, err := s.exportTo(t, t.Context(), source, options)
			require.NoError(t, err)
			require.Equal(t, numberedTexts(want), got.Values)
			require.True(t, got.Ended)
			require.Zero(t, got.Errors)
			require.True(t, source.closed)
			s.requireNothing(t)
		}
	})
}

func TestPeerReceivesLess(t *testing.T) {
	base := peer.ReceiveOptions{First: 9, CancelAfter: peer.Never, RefuseAfter: peer.Never}
	with := func(change func(o *peer.ReceiveOptions)) peer.ReceiveOptions {
		o := base
		change(&o)
		return o
	}
	for name, c := range map[string]struct {
		options peer.ReceiveOptions
		failure error
		// most is the largest number of tasks, errors the number of calls of
		// on_error.
		most, errors int
	}{
		"error":         {base, errPeer, 5, 1},
		"discard":       {with(func(o *peer.ReceiveOptions) { o.Extract = peer.Discard }), nil, 5, 0},
		"some":          {with(func(o *peer.ReceiveOptions) { o.Extract = peer.Some }), nil, 5, 0},
		"refuse schema": {with(func(o *peer.ReceiveOptions) { o.SchemaCode = 22 }), nil, 0, 0},
		"refuse":        {with(func(o *peer.ReceiveOptions) { o.RefuseAfter, o.TaskCode = 2, 22 }), nil, 2, 0},
		"no requests":   {with(func(o *peer.ReceiveOptions) { o.First = -3 }), nil, 0, 1},
		"cancel first":  {with(func(o *peer.ReceiveOptions) { o.CancelAfter = 0 }), nil, 5, 0},
		"cancel":        {with(func(o *peer.ReceiveOptions) { o.CancelAfter = 2 }), nil, 5, 0},
		"cancel later": {with(func(o *peer.ReceiveOptions) {
			o.CancelAfter, o.CancelLater, o.First, o.Extract = 2, true, 3, peer.Later
		}), nil, 5, 0},
	} {
		t.Run(name, func(t *testing.T) {
			onEachPeerDevice(t, func(t *testing.T, s *peerScene) {
				for seed := range uint64(10) {
					source, _ := s.reader(t, 5, c.failure)
					c.options.Seed = seed
					got, _ := s.exportTo(t, t.Context(), source, c.options)
					require.LessOrEqual(t, got.Tasks, c.most)
					require.Equal(t, c.errors, got.Errors)
					if c.failure != nil {
						require.Contains(t, got.Message, c.failure.Error())
					}
					if c.errors > 0 {
						require.NotZero(t, got.Code)
						require.False(t, got.Ended)
					}
					require.True(t, source.closed)
					s.requireNothing(t)
				}
			})
		})
	}
}

// The context ends an export that waits for a request which never comes.
func TestPeerReceiverThatRequestsNothing(t *testing.T) {
	onEachPeerDevice(t, func(t *testing.T, s *peerScene) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		source, _ := s.reader(t, 3, nil)
		got, err := s.exportTo(t, ctx, source, peer.ReceiveOptions{CancelAfter: peer.Never, RefuseAfter: peer.Never})
		require.ErrorIs(t, err, context.Canceled)
		require.Zero(t, got.Tasks)
		require.True(t, source.closed)
	})
}
