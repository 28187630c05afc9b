package share

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// ServerOptions configure a [Server]. The zero value is right for most programs.
type ServerOptions struct {
	// Mode is that of the socket file: who may write to it may open the tables.
	// Zero means 0600, the server's own user.
	Mode os.FileMode
	// Allow is asked about each client that connects, besides, on the client's own
	// goroutine. Nil allows all that the mode does. Linux only.
	Allow func(Credentials) bool
	// Manager is where copies come from, for tables on its device; its resource is
	// a memory.SharedResource or passes on to one. Without it the server makes a
	// manager for each device, whose budget is all of the device's memory.
	Manager *memory.Manager
	// Clients is how many there may be at a time. Zero means 256.
	Clients int
	// References is how many a client may have at a time. Zero means 4096.
	References int
	// Patience is how long the server waits for the rest of a message that a client
	// has begun, for its first message, and for a client to take its answer, before
	// it disconnects the client. Zero means ten seconds.
	Patience time.Duration
	// Idle is how long a client that has no table open may send nothing before it is
	// disconnected. Zero means for ever. A client that has a table open may be silent
	// as long as it lives.
	Idle time.Duration

	// timers is the system's clock, but in tests.
	timers clock
}

func (o ServerOptions) withDefaults() ServerOptions {
	if o.Mode == 0 {
		o.Mode = 0o600
	}
	if o.Clients <= 0 {
		o.Clients = 256
	}
	if o.References <= 0 {
		o.References = 4096
	}
	if o.Patience <= 0 {
		o.Patience = 10 * time.Second
	}
	if o.timers == nil {
		o.timers = systemClock{}
	}
	return o
}

// Server has tables that other processes open by name. It is safe for concurrent
// use.
type Server struct {
	options  ServerOptions
	timers   clock
	path     string
	socket   os.FileInfo
	listener *net.UnixListener
	// ending is done when the server closes.
	ending context.Context
	end    context.CancelCauseFunc
	// running are the goroutines and the calls of Publish.
	running sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	changed  chan struct{} // closed at each change, and made anew
	tables   map[string]*published
	hidden   map[*published]struct{} // withdrawn, but still in use
	sessions map[*session]struct{}
	managers []*memory.Manager
	serial   uint64
	opens    uint64
	failures []error // of what happened without a caller
}

// startLimit is how long [Listen] and [Dial] wait for other processes.
const startLimit = 10 * time.Second

// Listen makes the socket and serves clients there until [Server.Close]. It waits for
// other servers that start on the same path, ten seconds at most; see [ListenContext].
func Listen(path string, options ServerOptions) (*Server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	return ListenContext(ctx, path, options)
}

// ListenContext is [Listen] that gives up with the context. The socket of a server
// that has ended without closing is replaced. If a server listens there still, the
// error wraps [ErrInUse]. The path is at most some 85 bytes long, for systems limit it.
//
// While it looks whether the path is free and takes it, the server holds a lock on a
// file of that path with ".lock" at its end, which it then removes. Nobody but its own
// user can open the file.
func ListenContext(ctx context.Context, path string, options ServerOptions) (*Server, error) {
	const operation = "listen"
	if !available {
		return nil, failed(operation, path, fmt.Errorf("this system has no Unix sockets that carry descriptors: %w", device.ErrNotAvailable))
	}
	if options.Allow != nil && !hasCredentials {
		return nil, failed(operation, path, fmt.Errorf("ServerOptions.Allow: the system does not tell who clients are: %w", device.ErrNotSupported))
	}
	if options.Mode&^os.ModePerm != 0 {
		return nil, failed(operation, path, fmt.Errorf("ServerOptions.Mode is %v, of which only permissions count: %w", options.Mode, device.ErrInvalidValue))
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, failed(operation, path, err)
	}
	options = options.withDefaults()
	listener, socket, err := bind(ctx, options.timers, path, options.Mode)
	if err != nil {
		return nil, failed(operation, path, err)
	}
	s := &Server{
		options: options, timers: options.timers, path: path, socket: socket, listener: listener, changed: make(chan struct{}),
		tables: make(map[string]*published), hidden: make(map[*published]struct{}), sessions: make(map[*session]struct{}),
	}
	s.ending, s.end = context.WithCancelCause(context.Background())
	s.running.Go(s.accept)
	return s, nil
}

// Path returns the absolute path of the socket.
func (s *Server) Path() string { return s.path }

// accept takes clients until the listener is closed.
func (s *Server) accept() {
	for {
		connection, err := s.listener.AcceptUnix()
		if err == nil {
			s.begin(connection)
			continue
		}
		if s.ending.Err() != nil {
			return
		}
		// The process may be out of descriptors for a while. Clients wait meanwhile.
		again, stop := after(s.timers, 10*time.Millisecond)
		select {
		case <-again:
		case <-s.ending.Done():
			stop()
			return
		}
	}
}

// begin serves a connection on a goroutine of its own.
func (s *Server) begin(connection *net.UnixConn) {
	client := &session{server: s, connection: connection, references: make(map[uint64]*published)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.sessions) >= s.options.Clients+surplusClients {
		_ = connection.Close()
		return
	}
	client.refused = len(s.sessions) >= s.options.Clients
	s.sessions[client] = struct{}{}
	s.running.Go(client.serve)
	s.change()
}

// change tells those who wait. The lock is held.
func (s *Server) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// note keeps an error that has no caller for Close. The lock is held.
func (s *Server) note(err error) {
	const most = 16
	if err != nil && len(s.failures) < most {
		s.failures = append(s.failures, err)
	}
}

// Close ends the server: it removes the socket, disconnects the clients and gives
// back what it keeps. Publish calls under way fail. What clients have mapped stays
// with them. The error tells, too, what failed in the background before. Close the
// server before its devices, and only once: after that the error wraps [ErrClosed].
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return failed("close", s.path, ErrClosed)
	}
	s.closed = true
	s.end(ErrClosed)
	for client := range s.sessions {
		_ = client.connection.Close()
	}
	s.change()
	s.mu.Unlock()

	failures := []error{s.listener.Close(), s.removeSocket()}
	s.running.Wait()

	s.mu.Lock()
	defer s.mu.Unlock()
	for _, table := range s.tables {
		failures = append(failures, table.release())
	}
	clear(s.tables)
	for _, manager := range s.managers {
		failures = append(failures, manager.Close())
	}
	return failed("close", s.path, errors.Join(append(failures, s.failures...)...))
}

// removeSocket removes the file unless it is another server's by now.
func (s *Server) removeSocket() error {
	info, err := os.Lstat(s.path)
	if err != nil || !os.SameFile(info, s.socket) {
		return nil
	}
	return os.Remove(s.path)
}
