package share

import (
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// surplusClients is the number of clients above the limit that still get an error in
// answer. Further clients are cut off.
const surplusClients = 64

// session is one client at the server. Its goroutine reads requests and answers them in
// order.
type session struct {
	server     *Server
	connection *net.UnixConn
	// refused is set if the client exceeds ServerOptions.Clients.
	refused bool
	// references are the tables that the client has open, by number. The server's lock
	// guards this and the next field.
	references map[uint64]*published
	last       uint64
}

func (c *session) serve() {
	defer c.end()
	if !c.greet() {
		return
	}
	for {
		r, err := c.read(false)
		if err != nil {
			c.refuse(0, err)
			return
		}
		if !c.answer(r) {
			return
		}
	}
}

// read reads a request. The client must send all of it within the server's patience,
// counted from its first byte, or from the connection for the first request. Between
// requests the client may be silent for ServerOptions.Idle.
func (c *session) read(first bool) (request, error) {
	limit := c.server.options.Patience
	if !first {
		limit = c.idle()
	}
	wait := c.interrupt(limit)
	source := &begun{reader: c.connection}
	if !first {
		source.begin = func() {
			if wait.stop() {
				limit = c.server.options.Patience
				wait = c.interrupt(limit)
			}
		}
	}
	message, err := readFrame(source, mostRequestBytes)
	if !wait.stop() {
		err = fmt.Errorf("no request for %v: %w", limit, os.ErrDeadlineExceeded)
	}
	if err != nil {
		return request{}, err
	}
	return parseRequest(message)
}

// idle returns the time that the client may be silent. Zero means no limit.
func (c *session) idle() time.Duration {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	if len(c.references) > 0 {
		return 0
	}
	return c.server.options.Idle
}

// interruption ends a read when its time is over.
type interruption struct {
	over  bool
	timer func() bool
}

// interrupt ends reading after a duration; zero means never.
func (c *session) interrupt(after time.Duration) *interruption {
	w := &interruption{timer: func() bool { return true }}
	if after > 0 {
		w.timer = c.server.timers.AfterFunc(after, func() { _ = c.connection.SetReadDeadline(past) })
	}
	return w
}

// stop reports whether the time was not over.
func (w *interruption) stop() bool {
	if !w.over {
		w.over = !w.timer()
		w.timer = func() bool { return true }
	}
	return !w.over
}

// past is a deadline that ends reads and writes immediately.
var past = time.Unix(1, 0)

// begun calls begin once, after the first bytes. It uses Read and not ReadMsgUnix: the
// kernel then closes the descriptors that a client sends unasked.
type begun struct {
	reader io.Reader
	begin  func()
}

func (b *begun) Read(into []byte) (int, error) {
	n, err := b.reader.Read(into)
	if n > 0 && b.begin != nil {
		b.begin()
		b.begin = nil
	}
	return n, err
}

// greet answers the hello with a version or an error.
func (c *session) greet() bool {
	r, err := c.read(true)
	switch {
	case err != nil:
	case r.Operation != operationHello:
		err = fmt.Errorf("the first request is %q, expected %q: %w", r.Operation, operationHello, ErrProtocol)
	case r.Version != version:
		err = fmt.Errorf("the client speaks version %d, the server %d: %w", r.Version, version, ErrProtocol)
	case c.refused:
		err = fmt.Errorf("%d clients are connected, the limit; disconnect some or raise ServerOptions.Clients: %w", c.server.options.Clients, ErrTooMany)
	case c.server.options.Allow != nil:
		var who Credentials
		if who, err = credentialsOf(c.connection); err == nil && !c.server.options.Allow(who) {
			err = fmt.Errorf("process %d of user %d: %w", who.Process, who.User, ErrNotPermitted)
		}
	}
	if err != nil {
		c.refuse(r.ID, err)
		return false
	}
	return c.send(answer{ID: r.ID, Version: version})
}

// answer serves a request. It reports whether the session goes on.
func (c *session) answer(r request) bool {
	switch r.Operation {
	case operationTables:
		return c.send(answer{ID: r.ID, Tables: c.server.list()})
	case operationOpen:
		return c.open(r)
	case operationClose:
		if !c.server.drop(c, r.Reference) {
			c.refuse(r.ID, fmt.Errorf("the client does not hold reference %d: %w", r.Reference, ErrProtocol))
			return false
		}
		return true
	}
	c.refuse(r.ID, fmt.Errorf("hello sent again: %w", ErrProtocol))
	return false
}

func (c *session) open(r request) bool {
	p, reference, err := c.server.refer(c, r.Name)
	if err != nil {
		return c.refuse(r.ID, err)
	}
	// The reference keeps the descriptors open.
	if !c.write(p.answer(r.ID, reference), p.descriptors) {
		c.server.drop(c, reference)
		return false
	}
	return true
}

func (c *session) refuse(id uint64, err error) bool {
	return c.send(answer{ID: id, Error: failureOf(err)})
}

// send reports whether the client read the answer.
func (c *session) send(a answer) bool {
	framed, err := frame(a)
	if err == nil && len(framed) > headerBytes+mostAnswerBytes {
		framed, err = frame(answer{ID: a.ID, Error: failureOf(fmt.Errorf("the answer is too long: %w", ErrTooMany))})
	}
	return err == nil && c.write(framed, nil)
}

func (c *session) write(framed []byte, descriptors []int) bool {
	stop := c.server.timers.AfterFunc(c.server.options.Patience, func() { _ = c.connection.SetWriteDeadline(past) })
	err := send(c.connection, framed, descriptors)
	return stop() && err == nil
}

// end drops the client's references.
func (c *session) end() {
	_ = c.connection.Close()
	s := c.server
	s.mu.Lock()
	var last []*published
	for reference := range c.references {
		if p := s.unrefer(c, reference); p != nil {
			last = append(last, p)
		}
	}
	delete(s.sessions, c)
	s.change()
	s.mu.Unlock()
	s.releaseLast(last...)
}

// refer gives a client a reference to a table.
func (s *Server) refer(c *session, name string) (*published, uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.tables[name]
	switch {
	case s.closed:
		return nil, 0, ErrClosed
	case !ok:
		return nil, 0, fmt.Errorf("%q: %w", name, ErrNotFound)
	case len(c.references) >= s.options.References:
		return nil, 0, fmt.Errorf("the client holds %d references, the limit; close tables or raise ServerOptions.References: %w", len(c.references), ErrTooMany)
	}
	c.last++
	c.references[c.last] = p
	p.references[c]++
	s.opens++
	s.change()
	return p, c.last, nil
}

// drop takes a reference back. It reports whether the client had it.
func (s *Server) drop(c *session, reference uint64) bool {
	s.mu.Lock()
	_, had := c.references[reference]
	var last *published
	if had {
		last = s.unrefer(c, reference)
		s.change()
	}
	s.mu.Unlock()
	if last != nil {
		s.releaseLast(last)
	}
	return had
}

// unrefer removes a reference. If it was the last one to a withdrawn table, unrefer
// returns the table. The caller holds the lock.
func (s *Server) unrefer(c *session, reference uint64) *published {
	p := c.references[reference]
	delete(c.references, reference)
	if p.references[c]--; p.references[c] == 0 {
		delete(p.references, c)
	}
	if !p.withdrawn || len(p.references) > 0 {
		return nil
	}
	return p
}

// releaseLast releases tables without references and then removes them from the
// statistics.
func (s *Server) releaseLast(tables ...*published) {
	for _, p := range tables {
		err := failed("release", p.info.Name, p.release())
		s.mu.Lock()
		delete(s.hidden, p)
		s.note(err)
		s.change()
		s.mu.Unlock()
	}
}
