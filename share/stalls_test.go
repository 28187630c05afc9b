//go:build linux || darwin

package share

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

const (
	testPatience = time.Hour
	testIdle     = 2 * time.Hour
)

// shortFolder returns a folder with a path short enough for a socket.
func shortFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "share")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	return folder
}

// stalling starts a server with a clock that stands still.
func stalling(t *testing.T) (*Server, *handClock) {
	t.Helper()
	timers := newHandClock()
	server, err := ListenContext(t.Context(), filepath.Join(shortFolder(t), "s"), ServerOptions{Patience: testPatience, Idle: testIdle, timers: timers})
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := server.Close(); !errors.Is(err, ErrClosed) {
			require.NoError(t, err)
		}
	})
	return server, timers
}

// peer is a client that sends what it likes.
type peer struct {
	*testing.T
	net.Conn
}

func newPeer(t *testing.T, server *Server) peer {
	t.Helper()
	connection, err := net.Dial("unix", server.Path())
	require.NoError(t, err)
	t.Cleanup(func() { _ = connection.Close() })
	return peer{t, connection}
}

func (p peer) ask(r request) {
	p.Helper()
	framed, err := frame(r)
	require.NoError(p, err)
	_, err = p.Write(framed)
	require.NoError(p, err)
	message, err := readFrame(p.Conn, mostAnswerBytes)
	require.NoError(p, err)
	require.NotContains(p, string(message), "error")
}

// requireEnd reads until the server hangs up and returns the bytes that it sent before.
func (p peer) requireEnd(server *Server) string {
	p.Helper()
	rest, err := io.ReadAll(p)
	// The connection is reset if the server left bytes unread, after the bytes that it sent.
	if !errors.Is(err, syscall.ECONNRESET) {
		require.NoError(p, err)
	}
	_, err = server.Wait(p.Context(), func(s Stats) bool { return s.Clients == 0 })
	require.NoError(p, err)
	return string(rest)
}

// A client that stops in the middle of a message, at any byte, loses its connection when
// the server's patience is over.
func TestAClientThatStallsLosesItsConnection(t *testing.T) {
	framed, err := frame(request{ID: 2, Operation: operationTables})
	require.NoError(t, err)
	for _, sent := range []int{1, 3, 4, 5, len(framed) - 1} {
		server, timers := stalling(t)
		client := newPeer(t, server)
		client.ask(request{ID: 1, Operation: operationHello, Version: version})
		timers.await(t, testIdle) // now it waits for a request
		_, err := client.Write(framed[:sent])
		require.NoError(t, err)
		timers.end(t, testPatience)
		assert.Contains(t, client.requireEnd(server), "no request for 1h0m0s", "after %d bytes", sent)
	}
}

func TestAClientThatNeverSaysHello(t *testing.T) {
	server, timers := stalling(t)
	client := newPeer(t, server)
	timers.end(t, testPatience)
	assert.Contains(t, client.requireEnd(server), "no request for")
}

// publishNumbers publishes the table "t".
func publishNumbers(t *testing.T, server *Server) {
	t.Helper()
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	numbers, _, err := array.RecordFromJSON(arrowmemory.DefaultAllocator, schema, strings.NewReader(`[{"n":1}]`))
	require.NoError(t, err)
	defer numbers.Release()
	table, err := buffer.FromRecord(m, numbers)
	require.NoError(t, err)
	defer func() { require.NoError(t, table.Release()) }()
	if err := server.Publish(t.Context(), "t", table); err != nil {
		require.ErrorIs(t, err, device.ErrNotSupported)
		t.Skip(err)
	}
	t.Cleanup(func() { require.NoError(t, server.Close()) }) // before its manager
}

// A client that takes no answers loses its connection and its references when the server's
// patience is over.
func TestAClientThatDoesNotRead(t *testing.T) {
	server, timers := stalling(t)
	publishNumbers(t, server)
	client := newPeer(t, server)
	client.ask(request{ID: 1, Operation: operationHello, Version: version})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for id := uint64(2); ; id++ {
			framed, err := frame(request{ID: id, Operation: operationOpen, Name: "t"})
			if assert.NoError(t, err); err != nil {
				return
			}
			if _, err := client.Write(framed); err != nil {
				return
			}
		}
	}()
	await.Blocked(t, "github.com/gpuframe/gpuframe/share.(*session).write", "IO wait")
	stats := server.Stats()
	require.Equal(t, 1, stats.Clients)
	require.Positive(t, stats.Tables[0].References)
	timers.end(t, testPatience)
	_, err := server.Wait(await.Context(t), func(s Stats) bool { return s.Clients == 0 && s.Tables[0].References == 0 })
	require.NoError(t, err)
	await.Receive(t, ended, "the client's connection ends")
}

// A client without tables may be silent for Idle, and a client with a table without
// limit.
func TestIdleClients(t *testing.T) {
	server, timers := stalling(t)
	publishNumbers(t, server)
	client := newPeer(t, server)
	client.ask(request{ID: 1, Operation: operationHello, Version: version})
	timers.await(t, testIdle)
	client.ask(request{ID: 2, Operation: operationOpen, Name: "t"})
	client.ask(request{ID: 3, Operation: operationTables})
	require.Equal(t, 1, timers.count(testIdle), "no timer runs for a client that has a table")
	framed, err := frame(request{ID: 4, Operation: operationClose, Reference: 1})
	require.NoError(t, err)
	_, err = client.Write(framed)
	require.NoError(t, err)
	timers.end(t, testIdle)
	assert.Contains(t, client.requireEnd(server), "no request for 2h0m0s")
}

// Another user that may read the directory can lock it. Such a lock does not stop a
// server.
func TestListenWhileTheDirectoryIsLocked(t *testing.T) {
	folder := shortFolder(t)
	directory, err := os.Open(folder)
	require.NoError(t, err)
	defer directory.Close()
	require.NoError(t, syscall.Flock(int(directory.Fd()), syscall.LOCK_EX))
	server, err := ListenContext(t.Context(), filepath.Join(folder, "s"), ServerOptions{})
	require.NoError(t, err)
	require.NoError(t, server.Close())
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Empty(t, left)
}

// A server waits for another that starts on the same path, until its context ends.
func TestServersThatStartAtTheSameTime(t *testing.T) {
	path := filepath.Join(shortFolder(t), "s")
	unlock, err := lockPath(t.Context(), systemClock{}, path)
	require.NoError(t, err)
	info, err := os.Stat(path + ".lock")
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "nobody else can hold it")

	timers := newHandClock()
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := ListenContext(ctx, path, ServerOptions{timers: timers})
		failed <- err
	}()
	timers.end(t, lockRetry)
	timers.await(t, lockRetry)
	cancel()
	err = <-failed
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, path+".lock")

	type result struct {
		*Server
		error
	}
	started := make(chan result, 1)
	go func() {
		server, err := ListenContext(t.Context(), path, ServerOptions{timers: timers})
		started <- result{server, err}
	}()
	timers.await(t, lockRetry)
	require.NoError(t, unlock(), "the file goes; the other server makes one of its own")
	timers.end(t, lockRetry)
	second := <-started
	require.NoError(t, second.error)
	require.NoFileExists(t, path+".lock")
	require.NoError(t, second.Close())
}
