package ranks

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

// Config describes a rank of a group. Only Rank differs between the processes.
type Config struct {
	// Rank is the number of this process, from zero, and Size the number of processes.
	Rank, Size int
	// Address is where rank 0 listens: "unix:PATH" or "tcp:HOST:PORT". The other ranks
	// listen at PATH.RANK, or at the same interface of their machine.
	Address string
	// Listener, if it is not nil, is the listener of rank 0, in place of one at the address.
	// Open closes it.
	Listener net.Listener
	// Protocol names what the ranks exchange, and its version.
	Protocol string
	// Secret, if it is not empty, is known to the ranks only. Processes that do not know it cannot
	// join or take the place of rank 0.
	Secret string
	// Patience bounds the waits of a rank when the group fails: for the message that names the rank
	// that failed, and for peers that read nothing. It passes without a message only if a network ends
	// one connection of a pair and not the other. Zero means 30 s.
	Patience time.Duration
}

const usualPatience = 30 * time.Second

// mostRanks bounds the size of a group: each pair of ranks has two connections.
const mostRanks = 4096

func (c Config) check() error {
	if c.Size < 1 || c.Size > mostRanks {
		return fmt.Errorf("the group has %d ranks, expected 1 to %d", c.Size, mostRanks)
	}
	if c.Rank < 0 || c.Rank >= c.Size {
		return fmt.Errorf("rank %d of %d, expected 0 to %d", c.Rank, c.Size, c.Size-1)
	}
	if c.Size == 1 {
		return nil
	}
	_, _, err := split(c.Address)
	return err
}

// Open joins a group and returns when all ranks have joined. The caller closes the group. Listeners
// are closed when Open returns.
//
// # Waiting
//
// Open waits until all ranks have joined or the context ends: give it a context that ends.
//
// # Errors
//
// If the context of one rank ends, or its process, Open fails on the ranks that it had joined. The error
// wraps [ErrMismatch] if a rank has another protocol or size.
func Open(ctx context.Context, config Config) (*Group, error) {
	if config.Listener != nil {
		defer config.Listener.Close()
	}
	if err := config.check(); err != nil {
		return nil, err
	}
	g := newGroup(config)
	if g.size == 1 {
		return g, nil
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	join := g.join
	if g.rank == 0 {
		join = g.lead
	}
	err := join(ctx, config)
	if err == nil {
		_, err = g.Exchange(ctx, make([][]byte, g.size)) // all have joined
	}
	if err != nil {
		err = g.Fail(err)
		// If the contexts of several ranks end together, each returns that error.
		if ended := cancel.Error(ctx); ended != nil && !errors.Is(err, context.Cause(ctx)) {
			err = fmt.Errorf("%w: %w", ended, err)
		}
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// arrival is a connection of another rank and its first message.
type arrival struct {
	hello
	connection net.Conn
}

// door accepts connections and reads their first messages.
type door struct {
	listener net.Listener
	arrivals chan arrival
	// failed gets the error of a listener that accepts no more connections.
	failed   chan error
	handlers sync.WaitGroup
	done     chan struct{}
}

func open(listener net.Listener) *door {
	d := &door{listener: listener, arrivals: make(chan arrival), failed: make(chan error, 1), done: make(chan struct{})}
	d.handlers.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				d.failed <- err
				return
			}
			d.handlers.Go(func() { d.meet(connection) })
		}
	})
	return d
}

// meet reads the first message of a connection. One that sends no such message is closed.
func (d *door) meet(connection net.Conn) {
	read := make(chan struct{})
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		select {
		case <-d.done:
			_ = connection.Close()
		case <-read:
		}
	}()
	var h hello
	err := readJSON(connection, helloFrame, &h)
	close(read)
	<-watching
	if err != nil {
		_ = connection.Close()
		return
	}
	select {
	case d.arrivals <- arrival{h, connection}:
	case <-d.done:
		_ = connection.Close()
	}
}

// close closes the listener and all connections that have not arrived.
func (d *door) close() {
	close(d.done)
	_ = d.listener.Close()
	d.handlers.Wait()
}

// next waits for an arrival.
func (g *Group) next(ctx context.Context, d *door) (arrival, error) {
	select {
	case a := <-d.arrivals:
		return a, nil
	case err := <-d.failed:
		return arrival{}, fmt.Errorf("accept connections of the other ranks at %s: %w", addressOf(d.listener), err)
	case <-g.down:
		return arrival{}, g.cause
	case <-ctx.Done():
		return arrival{}, fmt.Errorf("wait for the other ranks: %w", cancel.Error(ctx))
	}
}

// lead is how rank 0 joins: all others dial it.
func (g *Group) lead(ctx context.Context, config Config) error {
	listener := config.Listener
	if listener == nil {
		var err error
		if listener, err = listen(ctx, config.Address); err != nil {
			return err
		}
	}
	d := open(listener)
	defer d.close()
	w := welcome{Session: newSession(), Addresses: make([]string, g.size)}
	nonces := make([]string, g.size)
	for joined := 1; joined < g.size; {
		a, err := g.next(ctx, d)
		if err != nil {
			return err
		}
		if a.Data || a.Session != "" { // of another group
			_ = a.connection.Close()
			continue
		}
		if !g.secret.proved(a.hello) { // a stranger, which must not end the group
			_ = (&peer{control: a.connection}).send(frameJSON(failedFrame, failed{Rank: a.Rank, Reason: "it does not have the secret of rank 0"}))
			_ = a.connection.Close()
			continue
		}
		if err := g.check(a.hello); err != nil {
			// It speaks the protocol, so it belongs to the group.
			_ = (&peer{control: a.connection}).send(frameJSON(failedFrame, failed{Rank: a.Rank, Reason: err.Error()}))
			_ = a.connection.Close()
			return &RankError{Rank: a.Rank, ReportedBy: a.Rank, Err: err}
		}
		if err := g.attach(a.Rank, a.connection, false); err != nil {
			return err
		}
		w.Addresses[a.Rank], nonces[a.Rank] = a.Address, a.Nonce
		joined++
	}
	for _, p := range g.peers[1:] {
		if err := p.send(frameJSON(welcomeFrame, g.secret.answer(w, nonces[p.rank]))); err != nil {
			return g.Lost(p.rank, err)
		}
	}
	return g.receiveRest(ctx, d, w.Session)
}

// check compares what a rank expects with this rank's.
func (g *Group) check(h hello) error {
	switch {
	case h.Protocol != g.protocol:
		return fmt.Errorf("it has protocol %q, rank %d has %q: use one version of the program: %w", h.Protocol, g.rank, g.protocol, ErrMismatch)
	case h.Size != g.size:
		return fmt.Errorf("it expects %d ranks, rank %d expects %d: %w", h.Size, g.rank, g.size, ErrMismatch)
	case h.Rank <= g.rank || h.Rank >= g.size:
		return fmt.Errorf("it has joined as rank %d of %d: %w", h.Rank, g.size, ErrMismatch)
	}
	return nil
}

// receiveRest attaches connections of the session until all are there.
func (g *Group) receiveRest(ctx context.Context, d *door, session string) error {
	for !g.complete() {
		a, err := g.next(ctx, d)
		if err != nil {
			return err
		}
		if a.Session != session || !g.secret.proved(a.hello) || g.check(a.hello) != nil {
			_ = a.connection.Close()
			continue
		}
		if err := g.attach(a.Rank, a.connection, a.Data); err != nil {
			return err
		}
	}
	return nil
}

// join is how the other ranks join.
func (g *Group) join(ctx context.Context, config Config) error {
	address := config.Address
	first, err := dial(ctx, address)
	if err != nil {
		return fmt.Errorf("connect to rank 0 at %s: %w", address, err)
	}
	keepAlive(first)
	listener, err := listen(ctx, above(first, address, g.rank))
	if err != nil {
		return errors.Join(err, first.Close())
	}
	d := open(listener)
	defer d.close()
	h := hello{Protocol: g.protocol, Rank: g.rank, Size: g.size, Address: addressOf(d.listener)}
	w, err := g.enter(ctx, first, h)
	if err != nil {
		return errors.Join(err, first.Close())
	}
	if err := g.attach(0, first, false); err != nil {
		return err
	}
	if len(w.Addresses) != g.size {
		return &RankError{Rank: 0, ReportedBy: 0, Err: fmt.Errorf("%d addresses for %d ranks: %w", len(w.Addresses), g.size, ErrProtocol)}
	}
	h.Session, h.Address = w.Session, ""
	for rank := range g.rank {
		at := w.Addresses[rank]
		if rank == 0 {
			at = address
		}
		for _, data := range []bool{false, true} {
			if rank == 0 && !data {
				continue
			}
			h.Data = data
			if err := g.connect(ctx, rank, at, h); err != nil {
				return err
			}
		}
	}
	return g.receiveRest(ctx, d, w.Session)
}

// enter sends the first message to rank 0 and waits for its answer.
func (g *Group) enter(ctx context.Context, connection net.Conn, h hello) (w welcome, err error) {
	h = g.secret.prove(h)
	unblock := context.AfterFunc(ctx, func() { _ = connection.Close() })
	defer unblock()
	if _, err = connection.Write(frameJSON(helloFrame, h)); err == nil {
		err = readJSON(connection, welcomeFrame, &w)
	}
	if ended := cancel.Error(ctx); ended != nil {
		return w, fmt.Errorf("wait for the other ranks: %w", ended)
	}
	if err == nil && !g.secret.answered(w, h) {
		return w, &RankError{Rank: 0, ReportedBy: g.rank, Err: fmt.Errorf("it does not have the secret of rank %d: %w", g.rank, ErrMismatch)}
	}
	if r := (*RankError)(nil); err != nil && !errors.As(err, &r) {
		err = &RankError{Rank: 0, ReportedBy: 0, Err: fmt.Errorf("%w: %w", ErrLost, err)}
	}
	return w, err
}

// connect makes a connection to a rank that listens.
func (g *Group) connect(ctx context.Context, rank int, address string, h hello) error {
	ctx, stop := context.WithCancel(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer stop()
	watching.Go(func() {
		select {
		case <-g.down:
			stop()
		case <-ctx.Done():
		}
	})
	connection, err := dial(ctx, address)
	if err == nil {
		if _, err = connection.Write(frameJSON(helloFrame, g.secret.prove(h))); err != nil {
			err = errors.Join(err, connection.Close())
		}
	}
	if failed := g.Err(); failed != nil && err != nil {
		return failed
	}
	if err != nil {
		return &RankError{Rank: rank, ReportedBy: rank, Err: fmt.Errorf("connect to %s: %w", address, err)}
	}
	return g.attach(rank, connection, h.Data)
}
