package share

import (
	"context"
	"fmt"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

// call sends a request and waits for its answer. If the caller stops waiting, the
// connection stays usable and a later answer is dropped.
func (c *Client) call(ctx context.Context, r request) (reply, error) {
	if ctx.Err() != nil {
		return reply{}, cancel.Error(ctx)
	}
	arrived := make(chan reply, 1)
	c.mu.Lock()
	if c.broken != nil {
		c.mu.Unlock()
		return reply{}, c.broken
	}
	c.last++
	r.ID = c.last
	framed, err := frame(r)
	if err != nil {
		c.mu.Unlock()
		return reply{}, err
	}
	c.waiting[r.ID] = arrived
	c.enqueue(framed)
	c.mu.Unlock()

	select {
	case answered := <-arrived:
		return answered.checked()
	case <-c.done:
		err = c.broken
	case <-ctx.Done():
		err = cancel.Error(ctx)
	}
	c.mu.Lock()
	delete(c.waiting, r.ID)
	c.mu.Unlock()
	select {
	case answered := <-arrived: // arrived at the same time, or before the server hung up
		return answered.checked()
	default:
		return reply{}, err
	}
}

// checked turns a failure that the server reported into an error.
func (r reply) checked() (reply, error) {
	if r.Error == nil {
		return r, nil
	}
	return reply{}, r.Error.err()
}

// enqueue hands a message to the writer. The caller holds the lock.
func (c *Client) enqueue(framed []byte) {
	c.queue = append(c.queue, framed)
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// write sends the queued messages. A server that does not read blocks only this
// goroutine.
func (c *Client) write() {
	for {
		select {
		case <-c.wake:
		case <-c.done:
			return
		}
		c.mu.Lock()
		queue := c.queue
		c.queue = nil
		c.mu.Unlock()
		for _, framed := range queue {
			if err := send(c.connection, framed, nil); err != nil {
				c.fail(gone(err))
				return
			}
		}
	}
}

// read passes each answer to the call that waits for it.
func (c *Client) read() {
	source := &receiver{connection: c.connection}
	for {
		message, err := readFrame(source, mostAnswerBytes)
		descriptors := source.take()
		var a answer
		if err == nil {
			a, err = parseAnswer(message)
		}
		if err == nil && len(descriptors) != a.blocks() {
			err = fmt.Errorf("%d descriptors for %d blocks: %w", len(descriptors), a.blocks(), ErrProtocol)
		}
		if err != nil {
			_ = closeAll(descriptors)
			c.fail(err)
			return
		}
		if a.ID == 0 && a.Error != nil { // the server reports why it hangs up
			c.fail(a.Error.err())
			return
		}
		c.deliver(reply{a, descriptors})
	}
}

// blocks returns the number of descriptors that belong to the answer.
func (a answer) blocks() int {
	if a.Table == nil {
		return 0
	}
	return len(a.Table.Blocks)
}

func (c *Client) deliver(r reply) {
	c.mu.Lock()
	arrived, ok := c.waiting[r.ID]
	delete(c.waiting, r.ID)
	if ok {
		arrived <- r // has capacity one and receives only this reply
	}
	c.mu.Unlock()
	if !ok {
		c.discard(r)
	}
}

// discard returns the resources of an answer that no call waits for.
func (c *Client) discard(r reply) {
	_ = closeAll(r.descriptors)
	if r.Reference != 0 {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.giveBack(r.Reference)
	}
}

// giveBack sends the server a reference that is no longer needed. The caller holds the
// lock.
func (c *Client) giveBack(reference uint64) {
	if c.broken != nil {
		return // the server dropped all references when it disconnected
	}
	c.last++
	framed, err := frame(request{ID: c.last, Operation: operationClose, Reference: reference})
	if err == nil {
		c.enqueue(framed)
	}
}

// fail ends the connection. The first reason is kept.
func (c *Client) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken != nil {
		return
	}
	c.broken = err
	close(c.done)
	_ = c.connection.Close()
}
