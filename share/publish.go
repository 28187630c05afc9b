package share

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/memory"
)

// PublishOptions configure [Server.Publish]. The zero value suits most programs.
type PublishOptions struct {
	// Copy copies the table even if it could be shared in place. Its owner may then
	// change the original, and clients map each large column separately.
	Copy bool
}

// published is a table of the server.
type published struct {
	info   TableInfo
	serial uint64
	// description is the encoded description that clients get with the descriptors.
	description []byte
	descriptors []int
	// table is set for a table that is shared in place, blocks for a copy.
	table  *buffer.Buffer
	blocks []*memory.Block
	// references counts the references of each client. The server's lock guards this and
	// the following fields.
	references map[*session]int
	withdrawn  bool
}

// Publish lets clients open a table by name. The package documentation lists which tables
// are shared in place and which are copied.
//
// # Ownership
//
// For a table that is shared in place the server keeps a reference; no program may change
// the table from then on. Any other table is copied, and the caller may release it
// afterwards.
//
// # Waiting
//
// Publish waits until all work on the table is done. If only the device knows the row
// count, Publish fetches it.
func (s *Server) Publish(ctx context.Context, name string, table *buffer.Buffer, options ...PublishOptions) error {
	return failed("publish", name, s.publish(ctx, name, table, options))
}

func (s *Server) publish(ctx context.Context, name string, table *buffer.Buffer, options []PublishOptions) error {
	if err := checkName(name); err != nil {
		return err
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return ErrClosed
	}
	if _, taken := s.tables[name]; taken {
		s.mu.Unlock()
		return ErrExists
	}
	s.serial++
	p := &published{serial: s.serial, references: make(map[*session]int)}
	s.running.Add(1)
	s.mu.Unlock()
	defer s.running.Done()

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.ending, func() { cancel(ErrClosed) })()
	err := s.prepare(ctx, p, name, table, options)
	if err == nil {
		err = s.show(p)
	}
	if err != nil {
		return errors.Join(err, p.release())
	}
	return nil
}

// show makes a table visible to clients.
func (s *Server) show(p *published) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	if _, taken := s.tables[p.info.Name]; taken { // another Publish was faster
		return ErrExists
	}
	s.tables[p.info.Name] = p
	s.change()
	return nil
}

// prepare fills p. After an error the caller releases p.
func (s *Server) prepare(ctx context.Context, p *published, name string, table *buffer.Buffer, options []PublishOptions) error {
	if len(options) > 1 {
		return fmt.Errorf("%d PublishOptions, expected at most one: %w", len(options), device.ErrInvalidValue)
	}
	rows, err := table.NumRows(ctx)
	if err != nil {
		return err
	}
	view, err := rowsOf(table, rows)
	if err != nil {
		return err
	}
	p.table = view
	planned, inPlace, err := planTable(ctx, view, len(options) == 0 || !options[0].Copy)
	if err != nil {
		return err
	}
	blocks := planned.blocks
	if !inPlace && len(blocks) > 0 {
		if blocks, err = s.copy(ctx, p, planned); err != nil {
			return err
		}
	}
	d := description{Name: name, Rows: rows, Serial: p.serial, Columns: planned.columns}
	for _, block := range blocks {
		shared, err := block.Share(memory.ShareOptions{})
		if err != nil {
			return err
		}
		p.descriptors = append(p.descriptors, shared.Descriptor)
		d.Blocks = append(d.Blocks, shared.Bytes)
		d.Device = IDOf(block.Device())
	}
	if d.Schema, err = formatSchema(view.Schema()); err != nil {
		return err
	}
	p.info = TableInfo{Name: name, Rows: rows, Columns: view.NumColumns(), Bytes: d.bytes(), Device: d.Device}
	return p.encode(&d)
}

// rowsOf returns the table without the capacity beyond its rows. The caller releases the
// result.
func rowsOf(table *buffer.Buffer, rows int64) (*buffer.Buffer, error) {
	if rows == table.Capacity() { // a slice would lose the count of nulls
		return table, table.Retain()
	}
	return table.Slice(0, rows)
}

// copy copies the table into memory of the server.
func (s *Server) copy(ctx context.Context, p *published, planned *plan) ([]*memory.Block, error) {
	manager, err := s.manager(planned.blocks[0].Device())
	if err != nil {
		return nil, err
	}
	planned.layOut(largeColumn)
	if p.blocks, err = planned.copyTo(ctx, manager); err != nil {
		return nil, err
	}
	// The original is no longer needed.
	view := p.table
	p.table = nil
	return p.blocks, view.Release()
}

// manager returns the manager that allocates shareable memory of a device.
func (s *Server) manager(dev *device.Device) (*memory.Manager, error) {
	if m := s.options.Manager; m != nil && m.Device().Same(dev) {
		return m, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.managers {
		if m.Device().Same(dev) {
			return m, nil
		}
	}
	m, err := memory.NewManager(dev, memory.Options{Name: "share", Resource: memory.NewSharedResource(dev)})
	if err != nil {
		return nil, err
	}
	s.managers = append(s.managers, m)
	return m, nil
}

func (p *published) encode(d *description) (err error) {
	if p.description, err = json.Marshal(d); err != nil {
		return err
	}
	if len(p.description) > mostAnswerBytes-overhead {
		return fmt.Errorf("the description of %d columns takes %d bytes: %w", len(d.Columns), len(p.description), ErrTooLarge)
	}
	return nil
}

// answer encodes the message that opens the table for a client.
func (p *published) answer(id, reference uint64) []byte {
	return frameTable(id, reference, p.description)
}

// release frees the server's part of the table. Memory that clients have mapped stays
// theirs.
func (p *published) release() error {
	err := errors.Join(closeAll(p.descriptors), p.table.Release(), release.All(p.blocks))
	p.descriptors, p.table, p.blocks = nil, nil, nil
	return err
}

// Withdraw hides a table: clients can no longer open it, and its name is free. The memory
// is released when the last client stops using the table, or before Withdraw returns if
// no client uses it.
func (s *Server) Withdraw(name string) error {
	s.mu.Lock()
	p, ok := s.tables[name]
	if !ok {
		closed := s.closed
		s.mu.Unlock()
		if closed {
			return failed("withdraw", name, ErrClosed)
		}
		return failed("withdraw", name, ErrNotFound)
	}
	delete(s.tables, name)
	p.withdrawn = true
	last := len(p.references) == 0
	if !last {
		s.hidden[p] = struct{}{}
	}
	s.change()
	s.mu.Unlock()
	if !last {
		return nil
	}
	return failed("withdraw", name, p.release())
}
