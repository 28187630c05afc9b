package exec

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/query/plan"
)

// Profile collects what each node of a plan did. The zero value is ready for use. It may
// be read when the readers are closed.
type Profile struct {
	mu    sync.Mutex
	begin time.Time
	nodes map[plan.Node]*NodeProfile
}

// NodeProfile records the work of one node.
type NodeProfile struct {
	// Tables and Rows count its results; Bytes is the device memory of the tables.
	Tables, Rows int64
	Bytes        uint64
	// Calls are the times in which the node made its tables, those of its inputs included,
	// and the device's work as far as it was enqueued until then. They overlap if several
	// devices run the node.
	Calls []Call
	// InUse is the most memory of the manager that was in use when a call ended.
	InUse uint64
	// Source has the counters of a scan.
	Source source.Counters
}

// Call is one call of a node. Begin counts from the first call of any node.
type Call struct{ Begin, Duration time.Duration }

// Inclusive returns the time of all calls.
func (p *NodeProfile) Inclusive() (total time.Duration) {
	for _, c := range p.Calls {
		total += c.Duration
	}
	return total
}

// Begin returns the time from which the begins of calls count.
func (p *Profile) Begin() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.begin
}

// Of returns what a node did.
func (p *Profile) Of(n plan.Node) *NodeProfile {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.nodes == nil {
		p.nodes, p.begin = make(map[plan.Node]*NodeProfile), time.Now()
	}
	if p.nodes[n] == nil {
		p.nodes[n] = new(NodeProfile)
	}
	return p.nodes[n]
}

// Exclusive returns the time of a node without that of its inputs.
func (p *Profile) Exclusive(n plan.Node) time.Duration {
	own := p.Of(n).Inclusive()
	for _, input := range n.Inputs() {
		own -= p.Of(input).Inclusive()
	}
	return max(own, 0)
}

// Restart forgets what was recorded, for a plan that runs again.
func (p *Profile) Restart() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.nodes = nil
}

// measure returns a reader that records what another one does. It waits for the device
// after each table, so a query with a profile takes longer than one without.
func (p *Profile) measure(n plan.Node, reader buffer.Reader, settings *Settings) buffer.Reader {
	profile := p.Of(n)
	return &measured{reader, p, profile, p.Begin(), settings}
}

type measured struct {
	buffer.Reader
	profile  *Profile
	to       *NodeProfile
	origin   time.Time
	settings *Settings
}

// Next implements buffer.Reader.
func (m *measured) Next(ctx context.Context) (*buffer.Buffer, error) {
	begin := time.Now()
	table, err := m.Reader.Next(ctx)
	var rows int64
	if err == nil {
		rows, err = table.NumRows(ctx)
		if err == nil {
			err = m.settings.stream().Synchronize(ctx)
		}
		if err != nil {
			table, err = nil, errors.Join(err, table.Release())
		}
	}
	m.profile.mu.Lock()
	defer m.profile.mu.Unlock()
	if err == nil {
		m.to.Tables++
		m.to.Rows += rows
		m.to.Bytes += table.Bytes()
	}
	m.to.InUse = max(m.to.InUse, m.settings.Manager.Stats().InUse)
	m.to.Calls = append(m.to.Calls, Call{begin.Sub(m.origin), time.Since(begin)})
	return table, err
}
