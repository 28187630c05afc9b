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

// ServerOptions configure a [Server]. The zero value suits most programs.
type ServerOptions struct {
	// Mode is the mode of the socket file. Processes that may write to the file may open
	// the tables. Zero means 0600: only the server's user.
	Mode os.FileMode
	// Allow, if not nil, is called for each client that connects, on the client's
	// goroutine, and reports whether to serve it. Linux only.
	Allow func(Credentials) bool
	// Manager allocates copies of tables on its device. Its resource is a
	// memory.SharedResource or forwards to one. If nil, the server makes a manager for
	// each device, with all of the device's memory as its budget.
	Manager *memory.Manager
	// Clients is the limit of connected clients. Zero means 256.
	Clients int
	// References is the limit of references of one client. Zero means 4096.
	References int
	// Patience is the time after which the server disconnects a client that does not
	// complete a message, does not send its first message, or does not read an answer.
	// Zero means ten seconds.
	Patience time.Duration
	// Idle is the time after which the server disconnects a client that has no table open
	// and sends nothing. Zero means never. A client with an open table may be silent
	// without limit.
	Idle time.Duration

	// timers is the system's clock, except in tests.
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

// Server publishes tables that other processes open by name. It is safe for concurrent
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
	// running counts the goroutines and the calls of Publish.
	running sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	changed  chan struct{} // closed and replaced at each change
	tables   map[string]*published
	hidden   map[*published]struct{} // withdrawn, but still in use
	sessions map[*session]struct{}
	managers []*memory.Manager
	serial   uint64
	opens    uint64
	failures []error // errors without a caller, which Close returns
}

// startLimit is the time that [Listen] and [Dial] wait for other processes.
const startLimit = 10 * time.Second

// Listen creates the socket and serves clients until [Server.Close]. It waits at most ten
// seconds for other servers that start on the same path; see [ListenContext].
func Listen(path string, options ServerOptions) (*Server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	return ListenContext(ctx, path, options)
}

// ListenContext is like [Listen] but waits until the context ends. It replaces the socket
// of a server that ended without closing. The path may have about 85 bytes, a limit of
// the system.
//
// While the server checks that the path is free and takes it, it holds a lock on a file
// with that path and the suffix ".lock", which it then removes. Only the server's user
// can open that file.
//
// # Errors
//
// The error wraps [ErrInUse] if another server listens on the path, and
// device.ErrNotAvailable if the system has no Unix sockets that carry descriptors.
func ListenContext(ctx context.Context, path string, options ServerOptions) (*Server, error) {
	const operation = "listen"
	if !available {
		return nil, failed(operation, path, fmt.Errorf("this system has no Unix sockets that carry descriptors: %w", device.ErrNotAvailable))
	}
	if options.Allow != nil && !hasCredentials {
		return nil, failed(operation, path, fmt.Errorf("ServerOptions.Allow: the system does not identify clients, leave Allow nil: %w", device.ErrNotSupported))
	}
	if options.Mode&^os.ModePerm != 0 {
		return nil, failed(operation, path, fmt.Errorf("ServerOptions.Mode is %v, expected permission bits only: %w", options.Mode, device.ErrInvalidValue))
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

// accept accepts clients until the listener is closed.
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
		// The process may be out of descriptors for a while. New clients wait meanwhile.
		again, stop := after(s.timers, 10*time.Millisecond)
		select {
		case <-again:
		case <-s.ending.Done():
			stop()
			return
		}
	}
}

// begin serves a connection on a new goroutine.
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

// change wakes the callers of Wait. The caller holds the lock.
func (s *Server) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// note keeps an error without a caller for Close. The caller holds the lock.
func (s *Server) note(err error) {
	const most = 16
	if err != nil && len(s.failures) < most {
		s.failures = append(s.failures, err)
	}
}

// Close removes the socket, disconnects the clients and releases the tables. Memory that
// clients have mapped stays theirs. Publish calls in progress fail. Close the server
// before its devices.
//
// # Errors
//
// The error joins failures of Close and earlier failures in the background. After the
// first call it wraps [ErrClosed].
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

// removeSocket removes the file, unless another server has replaced it.
func (s *Server) removeSocket() error {
	info, err := os.Lstat(s.path)
	if err != nil || !os.SameFile(info, s.socket) {
		return nil
	}
	return os.Remove(s.path)
}
