package flight

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	arrowflight "github.com/apache/arrow/go/v17/arrow/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/keepalive"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
)

// Server serves the tables and queries of an engine. Its methods may be called from any
// goroutine.
type Server struct {
	engine  *gpuframe.Engine
	options Options
	limits  Limits
	rpc     *grpc.Server
	sql     arrowflight.FlightServer

	mu      sync.Mutex
	shared  map[string]sharedTable
	clients map[string]*client // by name
	running int
	// changed is signalled at the beginning and the end of each call.
	changed sync.Cond
	closed  bool
	// writers are the goroutines that send to clients. They end soon after their calls.
	writers sync.WaitGroup
	// connections has one element for each open connection.
	connections chan struct{}
	close       func() error
	// timer starts the timers of waits for clients.
	timer timer
}

// Source makes the query on a shared table, on the engine of the client that reads it.
type Source func(engine *gpuframe.Engine) gpuframe.Query

// NewServer makes a server of an engine's device. It does not listen.
//
// # Ownership
//
// The caller closes the server before the engine.
//
// # Errors
//
// The error wraps device.ErrInvalidValue for options that make no sense, and is that of
// [gpuframe.Engine.Tenant] if a client's budget is not one.
func NewServer(engine *gpuframe.Engine, options Options) (*Server, error) {
	s, err := newServer(engine, options)
	if err != nil {
		return nil, fmt.Errorf("flight: new server: %w", err)
	}
	return s, nil
}

func newServer(engine *gpuframe.Engine, options Options) (*Server, error) {
	if engine == nil {
		return nil, fmt.Errorf("the engine is nil: %w", device.ErrInvalidValue)
	}
	limits, err := options.Limits.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := options.check(); err != nil {
		return nil, err
	}
	s := &Server{engine: engine, options: options, limits: limits, shared: map[string]sharedTable{}, clients: map[string]*client{}, timer: newTimer}
	s.changed.L = &s.mu
	s.connections = make(chan struct{}, limits.Connections)
	s.close = sync.OnceValue(s.closeAll)
	accesses := options.Clients
	if len(accesses) == 0 {
		accesses = []ClientAccess{{Name: anonymous}}
	}
	for _, access := range accesses {
		tenant, err := engine.Tenant(access.Name, access.Budget)
		if err != nil {
			return nil, errors.Join(err, s.closeClients())
		}
		s.clients[access.Name] = &client{name: access.Name, token: sha256.Sum256([]byte(access.Token)), engine: tenant, tables: map[string]*upload{}}
	}
	s.rpc = grpc.NewServer(
		grpc.MaxRecvMsgSize(limits.MessageBytes),
		grpc.MaxConcurrentStreams(uint32(min(limits.AllStreams, 1<<20))),
		grpc.MaxHeaderListSize(headerBytes), grpc.InTapHandle(s.admit),
		grpc.ConnectionTimeout(limits.Handshake), grpc.WaitForHandlers(true),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: limits.Alive, Timeout: limits.Alive, MaxConnectionIdle: unused}),
		grpc.ForceServerCodecV2(codec{encoding.GetCodecV2(proto.Name)}),
		grpc.ChainUnaryInterceptor(s.unary), grpc.ChainStreamInterceptor(s.streaming),
	)
	service := &service{server: s}
	s.sql = newStatements(service)
	arrowflight.RegisterFlightServiceServer(s.rpc, service)
	return s, nil
}

// Share makes a table visible to all clients. Each use calls source, which returns a query on
// the engine that it is given: on files, or on a table by [gpuframe.Engine.Table].
//
// # Errors
//
// The error wraps device.ErrInvalidValue for an empty name and for a name that is taken.
func (s *Server) Share(name string, source Source) error {
	return s.share(name, sharedTable{source: source})
}

// ShareFrame makes a table in device memory visible to all clients. Reads of all its rows copy
// nothing into the memory of the client's budget.
//
// # Ownership
//
// The caller releases the frame, after Withdraw or Close. Streams that run then keep it.
//
// # Errors
//
// The error is that of Share.
func (s *Server) ShareFrame(name string, frame *gpuframe.Frame) error {
	return s.share(name, sharedTable{frame: frame})
}

// sharedTable is a source or a frame.
type sharedTable struct {
	source Source
	frame  *gpuframe.Frame
}

func (s *Server) share(name string, table sharedTable) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, taken := s.shared[name]
	switch {
	case name == "" || len(name) > tableNameBytes || (table.source == nil && table.frame == nil):
		return fmt.Errorf("flight: share: the name is empty, or longer than %d bytes, or the table is nil: %w", tableNameBytes, device.ErrInvalidValue)
	case taken:
		return fmt.Errorf("flight: share %q: the name is taken: call Withdraw first: %w", name, device.ErrInvalidValue)
	}
	s.shared[name] = table
	return nil
}

// Withdraw ends what Share began, and reports whether the name was shared. Streams of the
// table that run go on.
func (s *Server) Withdraw(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, shared := s.shared[name]
	delete(s.shared, name)
	return shared
}

// Serve answers calls that arrive at the listener until Close. For TLS the listener is one of
// [crypto/tls.Listen] with "h2" in NextProtos. Serve closes the listener.
func (s *Server) Serve(listener net.Listener) error {
	if err := s.rpc.Serve(&limitedListener{Listener: listener, open: s.connections}); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("flight: serve: %w", err)
	}
	return nil
}

// Shutdown refuses new calls, waits for those that run, and then is Close. If the context ends first, Close ends the
// calls. The error is that of Close.
func (s *Server) Shutdown(ctx context.Context) error {
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		s.rpc.GracefulStop() // Close ends it
	}()
	select {
	case <-drained:
	case <-ctx.Done():
	}
	err := s.Close()
	<-drained
	return err
}

// Close ends all calls, waits for them, and releases the uploaded tables. Further calls return
// the same error.
func (s *Server) Close() error { return s.close() }

func (s *Server) closeAll() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.rpc.Stop()
	s.writers.Wait()
	if err := s.closeClients(); err != nil {
		return fmt.Errorf("flight: close: %w", err)
	}
	return nil
}

func (s *Server) closeClients() error {
	var err error
	for _, c := range s.clients {
		err = errors.Join(err, c.close())
	}
	return err
}

const (
	// unused is how long a connection without calls stays open. A client that is disconnected
	// connects again with its next call.
	unused = 10 * time.Minute
	// headerBytes is the size of the largest headers of a call.
	headerBytes = 16 << 10
)

func (s *Server) unary(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (reply any, err error) {
	ctx, end, err := s.handle(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	defer recovered(&err)
	reply, err = handle(ctx, request)
	return reply, statusOf(err)
}

func (s *Server) streaming(service any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handle grpc.StreamHandler) (err error) {
	ctx, end, err := s.handle(stream.Context())
	if err != nil {
		return err
	}
	defer end()
	defer recovered(&err)
	return statusOf(handle(service, &boundStream{ServerStream: stream, ctx: ctx, idle: s.limits.Idle, timer: s.timer, writers: &s.writers}))
}

// recovered turns a panic of a call into a status: one call must not end the server.
func recovered(err *error) {
	if reason := recover(); reason != nil {
		*err = refused(codes.Internal, "the call panicked: %v", reason)
	}
}
