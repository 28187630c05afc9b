package share_test

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/share"
)

// A withdrawn table stays with the clients that have it open. The last of them frees its
// memory.
func TestWithdrawWhileOpen(t *testing.T) {
	onDevices(t, func(t *testing.T, _, shareable *memory.Manager) {
		server := listen(t, share.ServerOptions{Manager: shareable})
		want := record(t, 50)
		publish(t, server, "t", upload(t, shareable, want), share.PublishOptions{Copy: true})
		blocks := shareable.Stats().Blocks
		one, two := dial(t, server), dial(t, server)
		user := devicetest.Manager(t, shareable.Device(), memory.Options{})
		a, err := one.Open(t.Context(), user, "t")
		require.NoError(t, err)
		b, err := two.OpenTable(t.Context(), user, "t")
		require.NoError(t, err)
		require.NoError(t, server.Withdraw("t"))
		_, err = one.Open(t.Context(), user, "t")
		require.ErrorIs(t, err, share.ErrNotFound)
		publish(t, server, "t", upload(t, shareable, record(t, 5)), share.PublishOptions{Copy: true})
		requireRecord(t, want, a)

		require.NoError(t, a.Release())
		stats := waitFor(t, server, func(s share.Stats) bool { return s.Tables[0].Clients+s.Tables[1].Clients == 1 })
		assert.True(t, stats.Tables[0].Withdrawn != stats.Tables[1].Withdrawn)
		require.NoError(t, two.Close())
		waitFor(t, server, func(s share.Stats) bool { return len(s.Tables) == 1 })
		require.Less(t, shareable.Stats().Blocks, blocks+2, "it went back")
		late, err := b.Buffer(t.Context())
		require.NoError(t, err, "what a client was sent it keeps")
		requireRecord(t, want, late)
		require.NoError(t, errors.Join(late.Release(), b.Close()))
		require.NoError(t, server.Withdraw("t"))
		require.Empty(t, server.Stats().Tables)
	})
}

func TestTablesOutliveTheirConnection(t *testing.T) {
	onDevices(t, func(t *testing.T, plain, _ *memory.Manager) {
		server := listen(t, share.ServerOptions{})
		want := record(t, 50)
		publish(t, server, "t", upload(t, plain, want))
		client := dial(t, server)
		table, err := client.Open(t.Context(), plain, "t")
		require.NoError(t, err)
		require.NoError(t, client.Close())
		waitFor(t, server, func(s share.Stats) bool { return s.Clients == 0 })
		require.NoError(t, server.Close())
		requireRecord(t, want, table)
		require.NoError(t, table.Release())
	})
}

// Everybody opens, closes and withdraws at a time.
func TestConcurrency(t *testing.T) {
	onDevices(t, func(t *testing.T, plain, _ *memory.Manager) {
		server := listen(t, share.ServerOptions{})
		steady, passing := upload(t, plain, record(t, 100)), upload(t, plain, record(t, 10))
		publish(t, server, "steady", steady)
		want, err := checksum(steady)
		require.NoError(t, err)
		var group sync.WaitGroup
		for range 4 {
			client := dial(t, server)
			for range 2 {
				group.Go(func() {
					for range 10 {
						table, err := client.Open(t.Context(), plain, "steady")
						if !assert.NoError(t, err) {
							return
						}
						got, err := checksum(table)
						assert.NoError(t, err)
						assert.Equal(t, want, got)
						assert.NoError(t, table.Release())
						if table, err = client.Open(t.Context(), plain, "passing"); err == nil {
							assert.NoError(t, table.Release())
						} else {
							assert.ErrorIs(t, err, share.ErrNotFound)
						}
					}
				})
			}
		}
		group.Go(func() {
			for range 20 {
				assert.NoError(t, server.Publish(t.Context(), "passing", passing))
				_ = server.Stats()
				assert.NoError(t, server.Withdraw("passing"))
			}
		})
		group.Wait()
		waitFor(t, server, func(s share.Stats) bool { return len(s.Tables) == 1 && s.Tables[0].References == 0 })
	})
}

func TestContexts(t *testing.T) {
	dev := devicetest.Open(t, "host")
	mgr := devicetest.Manager(t, dev, memory.Options{})
	server := listen(t, share.ServerOptions{})
	publish(t, server, "t", upload(t, mgr, record(t, 5)))
	client := dial(t, server)
	gone, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("the user went away")
	cancel(reason)
	_, err := client.Open(gone, mgr, "t")
	require.ErrorIs(t, err, reason)
	_, err = client.Tables(gone)
	require.ErrorIs(t, err, reason)
	table, err := client.OpenTable(t.Context(), mgr, "t")
	require.NoError(t, err)
	_, err = table.Column(gone, 0)
	require.ErrorIs(t, err, reason)
	_, err = table.Buffer(gone)
	require.ErrorIs(t, err, reason)
	require.NoError(t, table.Close())
	_, err = server.Wait(gone, func(share.Stats) bool { return false })
	require.ErrorIs(t, err, reason)
	_, err = share.DialContext(gone, server.Path())
	require.Error(t, err)
	waitFor(t, server, referencesOf("t", 0))

	waited := make(chan error, 1)
	go func() {
		_, err := server.Wait(t.Context(), func(share.Stats) bool { return false })
		waited <- err
	}()
	require.NoError(t, server.Close())
	require.ErrorIs(t, <-waited, share.ErrClosed)
}

func TestTheSocketsMode(t *testing.T) {
	for _, mode := range []os.FileMode{0, 0o660, 0o400} {
		server := listen(t, share.ServerOptions{Mode: mode})
		info, err := os.Stat(server.Path())
		require.NoError(t, err)
		want := mode
		if mode == 0 {
			want = 0o600
		}
		require.Equal(t, want, info.Mode().Perm())
		if mode == 0o400 && os.Geteuid() != 0 {
			_, err := share.DialContext(t.Context(), server.Path())
			require.ErrorIs(t, err, os.ErrPermission)
		}
		require.NoError(t, server.Close())
	}
	_, err := share.ListenContext(t.Context(), socket(t), share.ServerOptions{Mode: os.ModeSetuid | 0o600})
	require.ErrorIs(t, err, device.ErrInvalidValue)
}

func TestPaths(t *testing.T) {
	path := socket(t)
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	_, err := share.ListenContext(t.Context(), path, share.ServerOptions{})
	require.ErrorIs(t, err, share.ErrInUse)
	require.NoError(t, os.Remove(path))
	_, err = share.ListenContext(t.Context(), path+"/none/socket", share.ServerOptions{})
	require.ErrorIs(t, err, os.ErrNotExist)

	server, err := share.ListenContext(t.Context(), path, share.ServerOptions{Patience: await.Limit})
	require.NoError(t, err)
	_, err = share.ListenContext(t.Context(), path, share.ServerOptions{})
	require.ErrorIs(t, err, share.ErrInUse)
	require.NoError(t, os.Rename(path, path+".old"))
	other, err := share.ListenContext(t.Context(), path, share.ServerOptions{Patience: await.Limit})
	require.NoError(t, err)
	require.NoError(t, server.Close())
	client, err := share.DialContext(t.Context(), path)
	require.NoError(t, err, "a server removes its own socket only")
	require.NoError(t, errors.Join(client.Close(), other.Close(), os.Remove(path+".old")))
}

func TestWhoMay(t *testing.T) {
	seen := make(chan share.Credentials, 2)
	allowed := false
	server := listen(t, share.ServerOptions{Clients: 1, References: 2, Allow: func(c share.Credentials) bool {
		seen <- c
		return allowed
	}})
	_, err := share.DialContext(t.Context(), server.Path())
	require.ErrorIs(t, err, share.ErrNotPermitted)
	assert.Equal(t, share.Credentials{Process: os.Getpid(), User: os.Geteuid(), Group: os.Getegid()}, <-seen)
	waitFor(t, server, func(s share.Stats) bool { return s.Clients == 0 })
	allowed = true

	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	publish(t, server, "t", upload(t, mgr, record(t, 5)))
	client := dial(t, server)
	_, err = share.DialContext(t.Context(), server.Path())
	require.ErrorIs(t, err, share.ErrTooMany)
	var tables []*share.Table
	for range 2 {
		table, err := client.OpenTable(t.Context(), mgr, "t")
		require.NoError(t, err)
		tables = append(tables, table)
	}
	_, err = client.OpenTable(t.Context(), mgr, "t")
	require.ErrorIs(t, err, share.ErrTooMany)
	for _, table := range tables {
		require.NoError(t, table.Close())
	}
	waitFor(t, server, referencesOf("t", 0))
	again, err := client.Open(t.Context(), mgr, "t")
	require.NoError(t, err)
	require.NoError(t, again.Release())
}
