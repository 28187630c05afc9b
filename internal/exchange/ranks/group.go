package ranks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

// Group is this process's part of a group of ranks. Its methods are safe for concurrent use.
type Group struct {
	rank, size int
	protocol   string
	secret     secret
	// patience is that of the configuration.
	patience time.Duration
	peers    []*peer // nil at this rank

	// attaching guards the connections of the peers, which end closes.
	attaching sync.Mutex
	once      sync.Once
	// down is closed when the group has failed or is closed; cause is set before.
	down  chan struct{}
	cause error
	// readers are the goroutines that read messages.
	readers sync.WaitGroup
	// notices are the goroutines that report a failure.
	notices sync.WaitGroup
}

// peer is another rank.
type peer struct {
	rank          int
	control, data net.Conn
	// writing orders the messages to the peer.
	writing sync.Mutex
	inbox   chan []byte
	// left is closed when the peer has closed the group.
	left chan struct{}
}

// mostUnread is the number of messages that a peer may send before this rank reads one. Ranks
// exchange messages in rounds, and wait in each for those of all others.
const mostUnread = 8

// noticeWait bounds the time to report a failure to a peer that reads nothing. It is shorter than
// the time that the peers wait for the report. Only Close waits for it.
func (g *Group) noticeWait() time.Duration { return g.patience * 2 / 3 }

func newGroup(c Config) *Group {
	if c.Patience <= 0 {
		c.Patience = usualPatience
	}
	return &Group{
		rank: c.Rank, size: c.Size, protocol: c.Protocol, patience: c.Patience, secret: secret(c.Secret),
		peers: make([]*peer, c.Size), down: make(chan struct{}),
	}
}

// Rank returns the number of this rank.
func (g *Group) Rank() int { return g.rank }

// Size returns the number of ranks.
func (g *Group) Size() int { return g.size }

// Down returns a channel that is closed when the group has failed or is closed.
func (g *Group) Down() <-chan struct{} { return g.down }

// Err returns why the group is down, or nil if it is not.
func (g *Group) Err() error {
	select {
	case <-g.down:
		return g.cause
	default:
		return nil
	}
}

// Data returns the data connection to another rank. The group closes it when it is down. An error
// of the connection goes to [Group.Lost].
func (g *Group) Data(rank int) net.Conn { return g.peers[rank].data }

// Send sends messages[i] to rank i, for all ranks but this one. It is the first half of
// [Group.Exchange]; the other half is one [Group.Receive] for each other rank.
//
// # Errors
//
// After any error the group is down.
func (g *Group) Send(messages [][]byte) error {
	if len(messages) != g.size {
		return g.Fail(fmt.Errorf("%d messages for %d ranks: %w", len(messages), g.size, ErrProtocol))
	}
	for i, p := range g.peers {
		if p == nil {
			continue
		}
		if len(messages[i]) > MostMessage {
			return g.Fail(fmt.Errorf("a message of %d bytes to rank %d, expected at most %d: %w", len(messages[i]), i, MostMessage, ErrProtocol))
		}
		if err := p.send(frame(messageFrame, messages[i])); err != nil {
			return g.Lost(i, err)
		}
	}
	return nil
}

// Receive returns the next message of another rank. Several goroutines may receive, each from
// another rank.
//
// # Errors
//
// If the context ends, the group goes on. The caller passes any other error to [Group.Fail].
func (g *Group) Receive(ctx context.Context, rank int) ([]byte, error) {
	return g.receive(ctx, g.peers[rank])
}

// Departed returns the failure of a rank that has closed the group, or nil if all ranks are in it.
// It is for callers that wait for another rank by other means than a message.
func (g *Group) Departed() error {
	for _, p := range g.peers {
		if p == nil {
			continue
		}
		select {
		case <-p.left:
			return departed(p.rank)
		default:
		}
	}
	return nil
}

// Exchange sends messages[i] to rank i, for all ranks but this one, and returns the message of
// each rank: all ranks call it equally often.
//
// # Errors
//
// After any error the group is down.
func (g *Group) Exchange(ctx context.Context, messages [][]byte) ([][]byte, error) {
	if err := g.Send(messages); err != nil {
		return nil, err
	}
	answers := make([][]byte, g.size)
	for i, p := range g.peers {
		if p == nil {
			answers[i] = messages[i]
			continue
		}
		var err error
		if answers[i], err = g.receive(ctx, p); err != nil {
			return nil, g.Fail(err)
		}
	}
	return answers, nil
}

func (g *Group) receive(ctx context.Context, p *peer) ([]byte, error) {
	select {
	case message := <-p.inbox: // also if the peer has left since
		return message, nil
	default:
	}
	select {
	case message := <-p.inbox:
		return message, nil
	case <-g.down:
		return nil, g.cause
	case <-ctx.Done():
		return nil, cancel.Error(ctx)
	case <-p.left:
		select {
		case message := <-p.inbox:
			return message, nil
		default:
			return nil, departed(p.rank)
		}
	}
}

// departed is the failure of a rank that has closed the group while others need it.
func departed(rank int) error {
	return &RankError{Rank: rank, ReportedBy: rank, Err: fmt.Errorf("it has closed the group: %w", ErrLost)}
}

// Lost returns the reason for an error of a connection to a rank: the failure that the group
// reports or, if it reports none in time, that the rank was lost. The group is then down.
func (g *Group) Lost(rank int, err error) error {
	timer := time.NewTimer(g.patience)
	defer timer.Stop()
	select {
	case <-g.down:
		return g.cause
	case <-g.peers[rank].left:
		return g.Fail(departed(rank))
	case <-timer.C:
	}
	return g.Fail(&RankError{Rank: rank, ReportedBy: g.rank, Err: fmt.Errorf("%w: %w", ErrLost, err)})
}

// Fail ends the group with an error of this rank, unless it is down already: it reports the
// error to the other ranks and closes the connections. It returns the error that the group
// ended with.
func (g *Group) Fail(cause error) error {
	g.end(cause, func(p *peer) {
		f := failed{Rank: g.rank, Reason: cause.Error()}
		if r := (*RankError)(nil); errors.As(cause, &r) {
			f = failed{Rank: r.Rank, Reason: strings.TrimPrefix(r.Err.Error(), ErrRemote.Error()+": ")}
		}
		_ = p.send(frameJSON(failedFrame, f))
	})
	return g.cause
}

// Close leaves the group. Other ranks that need this one afterwards fail. It may be called several
// times, and after a failure.
func (g *Group) Close() error {
	g.end(ErrClosed, func(p *peer) { _ = p.send(frame(byeFrame, nil)) })
	g.notices.Wait()
	for _, p := range g.peers { // nothing is attached any more
		p.close()
	}
	g.readers.Wait()
	return nil
}

// end takes the group down, once. Peers that are connected for messages only get the notice too.
func (g *Group) end(cause error, notify func(*peer)) {
	g.once.Do(func() {
		g.attaching.Lock()
		defer g.attaching.Unlock()
		g.cause = cause
		close(g.down)
		for _, p := range g.peers {
			if p == nil || p.control == nil {
				continue
			}
			_ = p.control.SetWriteDeadline(time.Now().Add(g.noticeWait()))
			if p.data != nil {
				_ = p.data.Close()
			}
			g.notices.Go(func() {
				notify(p)
				// The other direction stays open, so that the peer gets the notice.
				if half, ok := p.control.(interface{ CloseWrite() error }); ok {
					_ = half.CloseWrite()
				}
			})
		}
	})
}

// attach gives the group a connection to a rank, and reads messages from it. If the group is
// down it closes the connection.
func (g *Group) attach(rank int, connection net.Conn, data bool) error {
	g.attaching.Lock()
	defer g.attaching.Unlock()
	if err := g.Err(); err != nil {
		_ = connection.Close()
		return err
	}
	p := g.peers[rank]
	if p == nil {
		p = &peer{rank: rank, inbox: make(chan []byte, mostUnread), left: make(chan struct{})}
		g.peers[rank] = p
	}
	if used := p.connection(data); used != nil {
		_ = connection.Close()
		return &RankError{Rank: rank, ReportedBy: rank, Err: fmt.Errorf("it has joined twice: %w", ErrMismatch)}
	}
	if data {
		p.data = connection
		return nil
	}
	p.control = connection
	keepAlive(connection)
	g.readers.Go(func() { g.read(p) })
	return nil
}

func (p *peer) connection(data bool) net.Conn {
	if data {
		return p.data
	}
	return p.control
}

// complete reports whether all peers are connected.
func (g *Group) complete() bool {
	g.attaching.Lock()
	defer g.attaching.Unlock()
	for i, p := range g.peers {
		if i != g.rank && (p == nil || p.control == nil || p.data == nil) {
			return false
		}
	}
	return true
}

func (p *peer) send(framed []byte) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	_, err := p.control.Write(framed)
	return err
}

func (p *peer) close() {
	if p == nil {
		return
	}
	if p.control != nil {
		_ = p.control.Close()
	}
	if p.data != nil {
		_ = p.data.Close()
	}
}

// read reads the messages of a peer until its connection ends.
func (g *Group) read(p *peer) {
	for {
		k, body, err := readFrame(p.control, MostMessage)
		if err == nil {
			err = g.accept(p, k, body)
		} else {
			err = g.ended(p, err)
		}
		if err != nil {
			g.Fail(err)
			return
		}
		if k == byeFrame || k == 0 {
			return
		}
	}
}

// ended returns the error for a connection that ends.
func (g *Group) ended(p *peer, err error) error {
	if errors.Is(err, ErrProtocol) {
		return &RankError{Rank: p.rank, ReportedBy: p.rank, Err: err}
	}
	if g.Err() != nil {
		return g.cause
	}
	return &RankError{Rank: p.rank, ReportedBy: p.rank, Err: fmt.Errorf("%w: %w", ErrLost, err)}
}

// accept handles a message.
func (g *Group) accept(p *peer, k kind, body []byte) error {
	switch k {
	case messageFrame:
		select {
		case p.inbox <- body:
			return nil
		default:
			return &RankError{Rank: p.rank, ReportedBy: p.rank, Err: fmt.Errorf("more than %d messages without an answer: %w", mostUnread, ErrProtocol)}
		}
	case failedFrame:
		var f failed
		if err := json.Unmarshal(body, &f); err != nil || f.Rank < 0 || f.Rank >= g.size {
			return &RankError{Rank: p.rank, ReportedBy: p.rank, Err: fmt.Errorf("a failure of rank %d: %w", f.Rank, ErrProtocol)}
		}
		return &RankError{Rank: f.Rank, ReportedBy: p.rank, Err: fmt.Errorf("%w: %s", ErrRemote, f.Reason)}
	case byeFrame:
		close(p.left)
		return nil
	}
	return &RankError{Rank: p.rank, ReportedBy: p.rank, Err: fmt.Errorf("a message of kind %d after the handshake: %w", k, ErrProtocol)}
}
