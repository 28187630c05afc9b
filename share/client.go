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

// Client is a connection to a [Server] in this process or another one. It is safe
// for concurrent use; requests of several goroutines do not wait for each other.
type Client struct {
	path       string
	connection *net.UnixConn
	running    sync.WaitGroup
	// done is closed when the connection ends, and broken says why.
	done chan struct{}

	mu      sync.Mutex
	closed  bool
	broken  error
	last    uint64
	waiting map[uint64]chan reply
	queue   [][]byte      // messages to be sent
	wake    chan struct{} // has room for one; tells the writer that there are some
	sets    map[setKey]*set
}

// reply is an answer and the descriptors that came with it.
type reply struct {
	answer
	descriptors []int
}

// Dial connects to the server that listens on a socket. It gives up after ten
// seconds; see [DialContext].
func Dial(path string) (*Client, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	return DialContext(ctx, path)
}

// DialContext is [Dial] that gives up with the context.
func DialContext(ctx context.Context, path string) (*Client, error) {
	if !available {
		return nil, failed("dial", path, fmt.Errorf("this system has no Unix sockets that carry descriptors: %w", device.ErrNotAvailable))
	}
	connection, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, failed("dial", path, err)
	}
	c := &Client{
		path: path, connection: connection.(*net.UnixConn), done: make(chan struct{}),
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

// Close disconnects. The server drops the client's references; tables and columns
// that are open stay usable, and are to be closed and released. Closing twice
// returns an error that wraps [ErrClosed].
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

// Done returns a channel that is closed when the connection ends: because the client
// was closed, or the server is gone.
func (c *Client) Done() <-chan struct{} { return c.done }

// Tables lists what the server has, by name.
func (c *Client) Tables(ctx context.Context) ([]TableInfo, error) {
	r, err := c.call(ctx, request{Operation: operationTables})
	if err != nil {
		return nil, failed("list tables of", c.path, err)
	}
	return r.Tables, nil
}

// Open opens a table and maps all of it. Its memory is the server's, for reading
// only, and counts as external in the manager's figures; the manager must be on the
// table's device, which [TableInfo] tells. The caller releases the table, which may
// outlive the client.
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

// OpenTable opens a table and maps none of it yet: [Table.Column] maps what it
// needs. It takes the same time however large the table is. Tables that are open
// several times, by one client with one manager, are mapped once. The caller closes
// the table, which may outlive the client.
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
