package observe

import (
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer/spill"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// DefaultSampleBytes is a rate at which sampling costs programs of small blocks a few
// nanoseconds for each, and blocks that matter on a GPU are nearly all sampled.
const DefaultSampleBytes = 4 << 20

// Options configure a [Recorder].
type Options struct {
	// Managers are the managers to record, with all other managers of their trees.
	Managers []*memory.Manager
	// Engines are the engines to record, with their tenants and their managers.
	Engines []*gpuframe.Engine
	// Spillers are the spillers to show.
	Spillers []*spill.Spiller
	// SampleBytes is the mean number of bytes between two blocks with a recorded stack.
	// Zero records none, one records all.
	SampleBytes uint64
	// Events is the number of allocations, releases and failures to keep for
	// [Recorder.MemoryMap] and [Recorder.WriteMemorySnapshot]. Zero keeps none.
	Events int
	// SnapshotFolder is a folder for memory snapshots of the moments at which requests got
	// no memory: at most one a minute, of which the last ten are kept. Empty writes none.
	SnapshotFolder string
	// Logger receives a warning for each request that got no memory, and for each slow
	// query. Nil means no log.
	Logger *slog.Logger
	// SlowQuery is the duration from which a query is slow. Zero means that none is.
	SlowQuery time.Duration
}

// Recorder records what managers do, for profiles, pages and metrics. Its methods may be
// called from any goroutine.
type Recorder struct {
	managers []*memory.Manager
	// rings are the events of the managers, or nil.
	rings    []*memory.EventRing
	engines  []*gpuframe.Engine
	spillers []*spill.Spiller
	heap     heap
	queries  endedQueries
	slow     time.Duration
	failures recent[Failure]
	waits    histogram
	// snapshots writes the files of Options.SnapshotFolder.
	snapshots failureSnapshots
	log       *slog.Logger
	history   history
	stops     []func()
	close     func()
	// closed is closed by Close.
	closed  chan struct{}
	servers servers
	// deltas counts the clients that wait for a difference of profiles.
	deltas slots
}

// New returns a recorder of managers. The caller closes it.
//
// # Errors
//
// device.ErrInvalidValue for a nil manager, engine or spiller.
func New(options Options) (*Recorder, error) {
	r := &Recorder{log: options.Logger, slow: options.SlowQuery, spillers: slices.Clone(options.Spillers), closed: make(chan struct{})}
	managers := slices.Clone(options.Managers)
	for i, m := range options.Managers {
		if m == nil {
			return nil, invalid("Managers", i)
		}
	}
	for i, s := range options.Spillers {
		if s == nil {
			return nil, invalid("Spillers", i)
		}
	}
	for i, e := range options.Engines {
		if e == nil {
			return nil, invalid("Engines", i)
		}
		// An engine and its tenants have one list of queries.
		if top := topOf(e.Manager()); !slices.ContainsFunc(r.engines, func(other *gpuframe.Engine) bool { return topOf(other.Manager()) == top }) {
			r.engines = append(r.engines, e)
			managers = append(managers, top)
		}
	}
	for _, m := range managers {
		if top := topOf(m); !slices.Contains(r.managers, top) {
			r.managers = append(r.managers, top)
		}
	}
	r.snapshots.folder, r.snapshots.log, r.snapshots.now = options.SnapshotFolder, options.Logger, time.Now
	r.heap.open(options.SampleBytes, max(options.Events, 0))
	r.waits.open(waitBounds)
	r.rings = make([]*memory.EventRing, len(r.managers))
	for i, m := range r.managers {
		if options.Events > 0 {
			ring, stop := m.RecordEvents(options.Events)
			r.rings[i], r.stops = ring, append(r.stops, stop)
		}
		r.stops = append(r.stops, m.Observe(memory.Observer{
			SampleBytes: options.SampleBytes, Sampled: r.heap.sampled, Failed: r.failed, Waited: r.waited,
		}))
	}
	for _, e := range r.engines {
		r.stops = append(r.stops, e.ObserveQueries(r.ended(titleOf(topOf(e.Manager())))))
	}
	r.close = sync.OnceFunc(func() {
		close(r.closed)
		for _, stop := range r.stops {
			stop()
		}
		r.snapshots.close()
	})
	return r, nil
}

func invalid(list string, index int) error {
	return fmt.Errorf("observe: new recorder: Options.%s[%d] is nil: %w", list, index, device.ErrInvalidValue)
}

// Close stops recording, and waits for snapshots that are being written. The records stay
// readable. Further calls do nothing.
func (r *Recorder) Close() { r.close() }

// Managers returns the topmost managers that are recorded.
func (r *Recorder) Managers() []*memory.Manager { return slices.Clone(r.managers) }

func topOf(m *memory.Manager) *memory.Manager {
	for m.Parent() != nil {
		m = m.Parent()
	}
	return m
}

// tenantOf returns the names of a manager and of those above it without the topmost one:
// "a/b". It is empty for the topmost one.
func tenantOf(m *memory.Manager) string {
	path := ""
	for ; m.Parent() != nil; m = m.Parent() {
		if path == "" {
			path = nameOf(m.Name())
		} else {
			path = nameOf(m.Name()) + "/" + path
		}
	}
	return path
}

// titleOf names a topmost manager: by its device if it has no name.
func titleOf(m *memory.Manager) string {
	if name := m.Name(); name != "" {
		return nameOf(name)
	}
	return m.Device().Name()
}

// waited records a wait for memory.
func (r *Recorder) waited(_ *memory.Manager, d time.Duration) { r.waits.add(d.Seconds()) }

// Waits returns the distribution of the times, in seconds, for which requests have waited
// for memory.
func (r *Recorder) Waits() Distribution { return r.waits.read() }
