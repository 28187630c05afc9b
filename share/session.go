package share

import (
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// surplusClients are told that there are too many clients; more than these are cut off.
const surplusClients = 64

// session is one client at the server. Its goroutine reads requests and answers
// them one by one.
type session struct {
	server     *Server
	connection *net.UnixConn
	// refused says that there are too many clients.
	refused bool
	// references are the tables that the client has open, by number. The server's
	// lock guards them and last.
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

// read takes a request. The client has the server's patience to send it, from its
// first byte on; the first request of all, from the beginning on. Between requests it
// may be silent as long as ServerOptions.Idle says.
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
		err = fmt.Errorf("no request came for %v: %w", limit, os.ErrDeadlineExceeded)
	}
	if err != nil {
		return request{}, err
	}
	return parseRequest(message)
}

// idle returns how long the client may be silent. Zero means for ever.
func (c *session) idle() time.Duration {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	if len(c.references) > 0 {
		return 0
	}
	return c.server.options.Idle
}

// interruption ends what the session waits for when its time is over.
type interruption struct {
	over  bool
	timer func() bool
}

// interrupt ends reading after a time; zero means never.
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

// past is a deadline that ends reads and writes at once.
var past = time.Unix(1, 0)

// begun calls begin once, after the first bytes. It reads with Read, and not
// ReadMsgUnix: the kernel closes descriptors that nobody takes.
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

// greet says hello, or why not.
func (c *session) greet() bool {
	r, err := c.read(true)
	switch {
	case err != nil:
	case r.Operation != operationHello:
		err = fmt.Errorf("the first request is %q, not %q: %w", r.Operation, operationHello, ErrProtocol)
	case r.Version != version:
		err = fmt.Errorf("the client speaks version %d, the server %d: %w", r.Version, version, ErrProtocol)
	case c.refused:
		err = fmt.Errorf("%d clients are connected: %w", c.server.options.Clients, ErrTooMany)
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

// answer does what is asked. It reports whether the client may go on.
func (c *session) answer(r request) bool {
	switch r.Operation {
	case operationTables:
		return c.send(answer{ID: r.ID, Tables: c.server.list()})
	case operationOpen:
		return c.open(r)
	case operationClose:
		if !c.server.drop(c, r.Reference) {
			c.refuse(r.ID, fmt.Errorf("reference %d is not the client's: %w", r.Reference, ErrProtocol))
			return false
		}
		return true
	}
	c.refuse(r.ID, fmt.Errorf("hello, again: %w", ErrProtocol))
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

// send reports whether the client took the answer.
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

// end drops what the client had.
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
		return nil, 0, fmt.Errorf("the client has %d tables open: %w", len(c.references), ErrTooMany)
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

// unrefer forgets a reference, and returns the table where it was the last one to a
// table that was withdrawn. The lock is held.
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

// releaseLast gives back tables that nobody has any more, and only then lets go of
// them in the figures.
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
