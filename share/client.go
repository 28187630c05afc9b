package share

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// Client is a connection to a [Server] in this process or another one. It is safe for
// concurrent use; requests of several goroutines do not wait for each other.
type Client struct {
	path       string
	connection *net.UnixConn
	running    sync.WaitGroup
	// done is closed when the connection ends. broken is the reason.
	done chan struct{}

	mu      sync.Mutex
	closed  bool
	broken  error
	last    uint64
	waiting map[uint64]chan reply
	queue   [][]byte      // messages to be sent
	wake    chan struct{} // has capacity one; wakes the writer when queue is not empty
	sets    map[setKey]*set
}

// reply is an answer and the descriptors that came with it.
type reply struct {
	answer
	descriptors []int
}

// Dial connects to the server that listens on a socket. It fails after ten seconds; see
// [DialContext].
func Dial(path string) (*Client, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	return DialContext(ctx, path)
}

// DialContext is like [Dial] but waits until the context ends.
func DialContext(ctx context.Context, path string) (*Client, error) {
	if !available {
		return nil, failed("dial", path, fmt.Errorf("this system has no Unix sockets that carry descriptors: %w", device.ErrNotAvailable))
	}
	connection, err := dial(ctx, path)
	if err != nil {
		return nil, failed("dial", path, err)
	}
	c := &Client{
		path: path, connection: connection, done: make(chan struct{}),
		waiting: make(map[uint64]chan reply), wake: make(chan struct{}, 1), sets: make(map[setKey]*set),
	}
	c.running.Go(c.read)
	c.running.Go(c.write)
	hello, err := c.call(ctx, request{Operation: operationHello, Version: version})
	if err == nil && hello.Version != version {
		err = fmt.Errorf("the server speaks version %d, this client %d: %w", hello.Version, version, ErrProtocol)
	}
	if err != nil {
		return nil, errors.Join(failed("dial", path, err), c.Close())
	}
	return c, nil
}

// dial connects to a Unix socket. net.Dialer.DialContext would link the resolver of host
// names, 0.3 MB of a program.
func dial(ctx context.Context, path string) (*net.UnixConn, error) {
	return new(net.Dialer).DialUnix(ctx, "unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
}

// Close disconnects. The server drops the client's references. Open tables and columns
// stay usable; the caller still closes and releases them. A second Close returns an error
// that wraps [ErrClosed].
func (c *Client) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return failed("close", c.path, ErrClosed)
	}
	c.closed = true
	c.mu.Unlock()
	c.fail(ErrClosed)
	c.running.Wait()
	return nil
}

// Done returns a channel that is closed when the connection ends: after [Client.Close],
// or when the server closes it or dies.
func (c *Client) Done() <-chan struct{} { return c.done }

// Tables lists the server's tables, sorted by name.
func (c *Client) Tables(ctx context.Context) ([]TableInfo, error) {
	r, err := c.call(ctx, request{Operation: operationTables})
	if err != nil {
		return nil, failed("list tables of", c.path, err)
	}
	return r.Tables, nil
}

// Open opens a table and maps all of it. The memory belongs to the server, is for reading
// only, and counts as external in the manager's statistics. The manager must be on the
// table's device; see [TableInfo].
//
// # Ownership
//
// The caller releases the table, which may outlive the client.
func (c *Client) Open(ctx context.Context, m *memory.Manager, name string) (*buffer.Buffer, error) {
	table, err := c.OpenTable(ctx, m, name)
	if err != nil {
		return nil, err
	}
	whole, err := table.Buffer(ctx)
	if err = errors.Join(err, table.Close()); err != nil {
		return nil, errors.Join(err, whole.Release())
	}
	return whole, nil
}

// OpenTable opens a table without mapping it; [Table.Column] maps a column on first use.
// Opening takes the same time for a table of any size. A client maps a table once for
// each manager, however often it is open.
//
// # Ownership
//
// The caller closes the table, which may outlive the client.
func (c *Client) OpenTable(ctx context.Context, m *memory.Manager, name string) (*Table, error) {
	if err := checkName(name); err != nil {
		return nil, failed("open", name, err)
	}
	r, err := c.call(ctx, request{Operation: operationOpen, Name: name})
	if err != nil {
		return nil, failed("open", name, err)
	}
	table, err := c.enter(m, name, r)
	if err != nil {
		c.discard(r)
		return nil, failed("open", name, err)
	}
	return table, nil
}
