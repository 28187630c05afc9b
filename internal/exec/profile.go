package exec

import (
	"context"
	"sync"
	"time"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/plan"
	"github.com/gpuframe/gpuframe/internal/source"
)

// Profile collects what each node of a plan did. The zero value is ready for use. It may
// be read when the readers are closed.
type Profile struct {
	mu    sync.Mutex
	nodes map[plan.Node]*NodeProfile
}

// NodeProfile is what one node did.
type NodeProfile struct {
	// Tables and Rows are what it yielded; Bytes is the device memory of the tables.
	Tables, Rows int64
	Bytes        uint64
	// Inclusive is the time that was spent in the node and its inputs, waiting for the
	// device included.
	Inclusive time.Duration
	// Source has the counters of a scan.
	Source source.Counters
}

// Of returns what a node did.
func (p *Profile) Of(n plan.Node) *NodeProfile {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.nodes == nil {
		p.nodes = make(map[plan.Node]*NodeProfile)
	}
	if p.nodes[n] == nil {
		p.nodes[n] = new(NodeProfile)
	}
	return p.nodes[n]
}

func (p *Profile) counters(n plan.Node) *source.Counters { return &p.Of(n).Source }

// measure returns a reader that records what another one does. It fetches row counts, so a
// query with a profile waits more often than one without.
func (p *Profile) measure(n plan.Node, reader buffer.Reader) buffer.Reader {
	return &measured{reader, p.Of(n)}
}

type measured struct {
	buffer.Reader
	to *NodeProfile
}

// Next implements buffer.Reader.
func (m *measured) Next(ctx context.Context) (*buffer.Buffer, error) {
	begin := time.Now()
	table, err := m.Reader.Next(ctx)
	if err == nil {
		var rows int64
		if rows, err = table.NumRows(ctx); err != nil {
			table, err = releasing(nil, err, table)
		} else {
			m.to.Tables++
			m.to.Rows += rows
			m.to.Bytes += table.Bytes()
		}
	}
	m.to.Inclusive += time.Since(begin)
	return table, err
}
