package flight

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"strings"
	"sync"
	"unicode"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/tap"
)

// call is a call from its headers on. The server's lock guards its fields.
type call struct {
	client *client
	upload bool
	// handled reports that the call's handler has begun. Then the call ends with the handler,
	// and otherwise with its stream.
	handled, ended bool
}

// callKey is the key of the *call in a call's context.
type callKey struct{}

// callOf returns the call of a context.
func callOf(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

// clientOf returns the client of a call.
func clientOf(ctx context.Context) *client { return callOf(ctx).client }

// admit checks the token of a call and counts the call. gRPC calls it with the headers, before
// it receives a message: a caller without a token can make the server hold no message.
func (s *Server) admit(ctx context.Context, info *tap.Info) (context.Context, error) {
	c, err := s.authorized(info.Header)
	if err != nil {
		return ctx, err
	}
	current := &call{client: c, upload: strings.HasSuffix(info.FullMethodName, "/DoPut")}
	if err := s.count(current); err != nil {
		return ctx, err
	}
	ctx = context.WithValue(ctx, callKey{}, current)
	context.AfterFunc(ctx, func() { s.end(current, false) })
	return ctx, nil
}

func (s *Server) count(current *call) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := current.client
	switch {
	case s.closed:
		return refused(codes.Unavailable, "the server is closed")
	case s.running >= s.limits.AllStreams:
		return refused(codes.ResourceExhausted, "%d calls are running, the server's limit: try again later", s.running)
	case c.running >= s.limits.Streams:
		return refused(codes.ResourceExhausted, "client %q has %d running calls, its limit: end one first", c.name, c.running)
	case current.upload && c.uploads >= s.limits.Uploads:
		return refused(codes.ResourceExhausted, "client %q has %d running uploads, its limit: end one first", c.name, c.uploads)
	}
	s.running++
	c.running++
	if current.upload {
		c.uploads++
	}
	s.changed.Broadcast()
	return nil
}

// handle begins the handler of a call: the call ends with it. The caller calls end.
func (s *Server) handle(ctx context.Context) (with context.Context, end func(), err error) {
	current := callOf(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if current.ended {
		return nil, nil, refused(codes.Canceled, "the client has ended the call")
	}
	current.handled = true
	ctx, cancel := context.WithTimeout(ctx, s.limits.Stream)
	return ctx, func() {
		cancel()
		s.end(current, true)
	}, nil
}

// end ends what count began, when the stream or the handler of the call has ended.
func (s *Server) end(current *call, handler bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if current.ended || current.handled != handler {
		return
	}
	current.ended = true
	s.running--
	current.client.running--
	if current.upload {
		current.client.uploads--
	}
	s.changed.Broadcast()
}

// authorized returns the client of a call with headers.
func (s *Server) authorized(headers metadata.MD) (*client, error) {
	if len(s.options.Clients) == 0 {
		return s.clients[anonymous], nil
	}
	token := bearer(headers)
	if token == "" {
		return nil, refused(codes.Unauthenticated, `there is no header "authorization: Bearer TOKEN"`)
	}
	// Sums are equally long, and all are compared: the time depends on no client's token.
	sum := sha256.Sum256([]byte(token))
	var match *client
	for _, c := range s.clients {
		if subtle.ConstantTimeCompare(sum[:], c.token[:]) == 1 {
			match = c
		}
	}
	if match == nil {
		return nil, refused(codes.Unauthenticated, "the token is not one of a client")
	}
	return match, nil
}

// bearer returns the token of a call, or "".
func bearer(headers metadata.MD) string {
	for _, value := range headers.Get("authorization") {
		if scheme, token, ok := strings.Cut(value, " "); ok && strings.EqualFold(scheme, "bearer") {
			return token
		}
	}
	return ""
}

// limitedListener closes connections above a number that are open at a time.
type limitedListener struct {
	net.Listener
	open chan struct{} // has one element for each connection
}

// Accept implements net.Listener.
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case l.open <- struct{}{}:
			return &limitedConn{Conn: conn, closed: sync.OnceFunc(func() { <-l.open })}, nil
		default:
			_ = conn.Close() // nothing was sent on it
		}
	}
}

// limitedConn is a connection that is counted until it is closed.
type limitedConn struct {
	net.Conn
	closed func()
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	defer c.closed()
	return c.Conn.Close()
}

// checkTableName reports a name that is empty, too long or not printable text.
func checkTableName(name string) error {
	if name == "" || len(name) > tableNameBytes {
		return refused(codes.InvalidArgument, "a table name of %d bytes, expected 1 to %d", len(name), tableNameBytes)
	}
	for _, letter := range name { // unicode.ReplacementChar for bytes that are not UTF-8
		if !unicode.IsPrint(letter) || letter == unicode.ReplacementChar {
			return refused(codes.InvalidArgument, "the table name %q has the character %U, expected printable text", name, letter)
		}
	}
	return nil
}

// tableNameBytes is the length of the longest name of an uploaded table.
const tableNameBytes = 255
