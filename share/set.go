package share

import (
	"errors"
	"fmt"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/memory"
)

// set is the memory of one table in one manager. All openings of the table share it.
type set struct {
	client    *Client
	key       setKey
	described *description
	schema    *arrow.Schema

	// The client's lock guards these: the number of openings, the number of mapped
	// blocks, and the references that the server counts for the table.
	handles    int
	mapped     int
	references []uint64

	// mu guards the following fields. It is taken before the client's lock.
	mu sync.Mutex
	// A block that is not mapped yet is nil and has a descriptor that is not negative.
	blocks      []*memory.Block
	descriptors []int
	ended       bool
}

type setKey struct {
	serial  uint64
	manager *memory.Manager
}

// enter makes a table from an answer. It uses the existing set of the table if the client
// has one. After an error the caller still owns the answer.
func (c *Client) enter(m *memory.Manager, name string, r reply) (*Table, error) {
	if r.Table == nil || r.Table.Name != name {
		return nil, fmt.Errorf("the server's answer describes another table: %w", ErrProtocol)
	}
	d := r.Table
	if id := IDOf(m.Device()); len(d.Blocks) > 0 && d.Device != id {
		return nil, fmt.Errorf("the table is on %v, the manager on %s (%v): use a manager on the device that TableInfo.Device.Name returns: %w", d.Device, m.Device(), id, ErrDevice)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := setKey{d.Serial, m}
	if s, ok := c.sets[key]; ok {
		_ = closeAll(r.descriptors) // the set has descriptors of the same memory
		s.handles++
		s.references = append(s.references, r.Reference)
		return &Table{set: s}, nil
	}
	schema, err := parseSchema(d.Schema)
	if err != nil {
		return nil, fmt.Errorf("the schema: %w: %w", err, ErrProtocol)
	}
	if schema.NumFields() != len(d.Columns) {
		return nil, fmt.Errorf("%d columns for %d fields of the schema: %w", len(d.Columns), schema.NumFields(), ErrProtocol)
	}
	s := &set{
		client: c, key: key, described: d, schema: schema, handles: 1, references: []uint64{r.Reference},
		blocks: make([]*memory.Block, len(d.Blocks)), descriptors: r.descriptors,
	}
	c.sets[key] = s
	return &Table{set: s}, nil
}

// column maps the blocks of a column and makes the column.
func (s *set) column(i int) (*column.Column, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil, fmt.Errorf("the table: %w", ErrClosed)
	}
	described := s.described.Columns[i]
	for place := range described.Places {
		if place.Block < 0 || s.blocks[place.Block] != nil {
			continue
		}
		if err := s.mapBlock(place.Block); err != nil {
			return nil, err
		}
	}
	c, err := described.Column(s.schema.Field(i).Type, s.blocks)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrProtocol)
	}
	return c, nil
}

// mapBlock maps a block. The caller holds s.mu.
func (s *set) mapBlock(i int) error {
	block, err := s.key.manager.OpenShared(memory.Shared{Descriptor: s.descriptors[i], Bytes: s.described.Blocks[i]},
		memory.SharedOptions{Release: s.unmapped})
	if err != nil {
		return err
	}
	s.client.mu.Lock()
	s.mapped++
	s.client.mu.Unlock()
	s.blocks[i] = block
	// The mapping keeps the memory alive without the descriptor.
	err = closeAll(s.descriptors[i : i+1])
	s.descriptors[i] = -1
	return err
}

// unmapped is called when the last reference to a block is released.
func (s *set) unmapped() error {
	s.client.mu.Lock()
	defer s.client.mu.Unlock()
	s.mapped--
	s.returnSurplus()
	return nil
}

// returnSurplus returns the references that are no longer needed. Each opening needs one,
// and blocks that are still mapped need one. The caller holds the client's lock.
func (s *set) returnSurplus() {
	needed := s.handles
	if needed == 0 && s.mapped > 0 {
		needed = 1
	}
	for len(s.references) > needed {
		last := len(s.references) - 1
		s.client.giveBack(s.references[last])
		s.references = s.references[:last]
	}
}

// leave ends one opening. The last one releases the set's memory.
func (s *set) leave() error {
	s.client.mu.Lock()
	s.handles--
	last := s.handles == 0
	if last {
		delete(s.client.sets, s.key)
	}
	s.returnSurplus()
	s.client.mu.Unlock()
	if !last {
		return nil
	}
	s.mu.Lock()
	s.ended = true
	blocks, descriptors := s.blocks, s.descriptors
	s.blocks, s.descriptors = nil, nil
	s.mu.Unlock()
	return errors.Join(closeAll(descriptors), release.All(blocks))
}
