package observe

import (
	"cmp"
	"slices"
	"time"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer/spill"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/resource"
	"github.com/gpuframe/gpuframe/observe/internal/stacks"
)

// Version is the version of [Snapshot]. It changes if a field changes its name or meaning;
// fields may be added without a change.
const Version = 1

// Snapshot is everything that a recorder knows at one moment. Each manager's figures are
// consistent. Sizes are in bytes, times in seconds.
type Snapshot struct {
	Version int       `json:"version"`
	Time    time.Time `json:"time"`
	// Managers are the topmost managers.
	Managers []Manager `json:"managers"`
	// Queries are the queries that have begun and not ended.
	Queries []Query `json:"queries"`
	// Ended counts queries by the manager of their memory.
	Ended []EndedQueries `json:"ended"`
	// Failures are the last 100 requests that got no memory, the latest first.
	Failures []Failure `json:"failures"`
	// Waits is the distribution of waits for memory.
	Waits Distribution `json:"waits"`
	// Sites are the places with most sampled memory in use, at most 100.
	Sites []Site `json:"sites"`
	// SampleBytes is the mean distance of samples, or 0 without sampling.
	SampleBytes uint64 `json:"sample_bytes"`
	// Kernels are the counts of the managers' devices.
	Kernels []Kernels `json:"kernels"`
	// Spills are the statistics of the spillers.
	Spills []Spills `json:"spills"`
	// History has the last five minutes, one moment each second, from the first call of
	// Recorder.Handler on. It is empty elsewhere.
	History []Moment `json:"history"`
	// Operations are those that worked in the moments of History, the 20 with the most time. The estimate needs
	// Options.Engines.
	Operations []OperationTime `json:"operations"`
	// OperationSeconds is the time of all operations that worked in the moments of History, listed or not.
	OperationSeconds float64 `json:"operation_seconds"`
	// CanCancel reports whether the handler has a token for cancelling queries.
	CanCancel bool `json:"can_cancel"`
	// Charts are those of HandlerOptions, in their order. It is empty elsewhere.
	Charts []ChartTitle `json:"charts"`
}

// Manager has the figures of a manager, its children included.
type Manager struct {
	Name string `json:"name"`
	// Tenant is the path of names below the topmost manager: "a/b".
	Tenant         string `json:"tenant"`
	Device         string `json:"device"`
	Budget         uint64 `json:"budget_bytes"`
	InUse          uint64 `json:"in_use_bytes"`
	Own            uint64 `json:"own_bytes"`
	Remaining      uint64 `json:"remaining_bytes"`
	Peak           uint64 `json:"peak_bytes"`
	External       uint64 `json:"external_bytes"`
	Blocks         uint64 `json:"blocks"`
	ExternalBlocks uint64 `json:"external_blocks"`
	Allocations    uint64 `json:"allocations"`
	Frees          uint64 `json:"frees"`
	Failures       uint64 `json:"failures"`
	Leaks          uint64 `json:"leaks"`
	DoubleReleases uint64 `json:"double_releases"`
	// Waiting is the number of requests in the whole tree that wait.
	Waiting int   `json:"waiting"`
	Tags    []Tag `json:"tags"`
	// Cache has the figures of the topmost manager's caching resource, if it has one.
	Cache *Cache `json:"cache,omitempty"`
	// Transfers are those of the whole tree, in the topmost manager.
	Transfers *Transfers `json:"transfers,omitempty"`
	Children  []Manager  `json:"children"`
}

// Tag has the figures of a tag.
type Tag struct {
	Name        string `json:"name"`
	InUse       uint64 `json:"in_use_bytes"`
	Peak        uint64 `json:"peak_bytes"`
	Blocks      uint64 `json:"blocks"`
	Allocations uint64 `json:"allocations"`
}

// Cache has the figures of a caching resource.
type Cache struct {
	Reserved     uint64 `json:"reserved_bytes"`
	PeakReserved uint64 `json:"peak_reserved_bytes"`
	InUse        uint64 `json:"in_use_bytes"`
	Cached       uint64 `json:"cached_bytes"`
	Held         uint64 `json:"held_bytes"`
	LargestFree  uint64 `json:"largest_free_bytes"`
	Segments     int    `json:"segments"`
	Hits         uint64 `json:"hits"`
	Misses       uint64 `json:"misses"`
	Trimmed      uint64 `json:"trimmed_bytes"`
}

// Transfers count the copies between host memory and the device.
type Transfers struct {
	Uploads         uint64  `json:"uploads"`
	UploadedBytes   uint64  `json:"uploaded_bytes"`
	UploadSeconds   float64 `json:"upload_seconds"`
	Downloads       uint64  `json:"downloads"`
	DownloadedBytes uint64  `json:"downloaded_bytes"`
	DownloadSeconds float64 `json:"download_seconds"`
	// Failures counts both directions.
	Failures uint64 `json:"failures"`
}

// Kernels count the kernels of a device.
type Kernels struct {
	Device        string `json:"device"`
	Launches      uint64 `json:"launches"`
	GraphLaunches uint64 `json:"graph_launches"`
	// Modules counts loads of code. Nearly all of LoadSeconds is compilation.
	Modules     uint64  `json:"modules"`
	LoadSeconds float64 `json:"load_seconds"`
}

// Query is a running or waiting query.
type Query struct {
	// Engine and ID identify the query: Engine counts the topmost engines from 0.
	Engine    int     `json:"engine"`
	ID        uint64  `json:"id"`
	Tag       string  `json:"tag"`
	Manager   string  `json:"manager"`
	State     string  `json:"state"`
	Operation string  `json:"operation"`
	Seconds   float64 `json:"seconds"`
	Rows      int64   `json:"rows"`
	OfRows    int64   `json:"of_rows"`
	Needed    uint64  `json:"needed_bytes"`
	// InUse is the memory with the query's tag in its manager.
	InUse uint64 `json:"in_use_bytes"`
	Plan  string `json:"plan"`
}

// EndedQueries counts the queries of one manager that have ended since the recorder was made.
type EndedQueries struct {
	Manager   string       `json:"manager"`
	Completed uint64       `json:"completed"`
	Failed    uint64       `json:"failed"`
	Cancelled uint64       `json:"cancelled"`
	Durations Distribution `json:"durations"`
	Waited    float64      `json:"waited_seconds"`
}

// Site is a place that allocates. The figures are estimates from samples.
type Site struct {
	Tenant    string   `json:"tenant"`
	Tag       string   `json:"tag"`
	Device    string   `json:"device"`
	InUse     uint64   `json:"in_use_bytes"`
	Blocks    uint64   `json:"blocks"`
	Allocated uint64   `json:"allocated_bytes"`
	Stack     []string `json:"stack"`
}

// Spills has the figures of a spiller.
type Spills struct {
	Tables         int     `json:"tables"`
	Spilled        int     `json:"spilled"`
	HostBytes      uint64  `json:"host_bytes"`
	HostBudget     uint64  `json:"host_budget_bytes"`
	Spills         uint64  `json:"spills"`
	Restores       uint64  `json:"restores"`
	SpilledBytes   uint64  `json:"spilled_bytes"`
	RestoredBytes  uint64  `json:"restored_bytes"`
	SpillSeconds   float64 `json:"spill_seconds"`
	RestoreSeconds float64 `json:"restore_seconds"`
	Failures       uint64  `json:"failures"`
}

// Snapshot returns everything that the recorder knows now.
//
// # Waiting
//
// Reading the figures of a tree of managers stops its allocations meanwhile: the time grows
// with the number of tags.
func (r *Recorder) Snapshot() Snapshot {
	s := r.Figures()
	s.Sites = r.heap.largest()
	return s
}

// Figures returns a [Recorder.Snapshot] without sites, which take most of its time.
func (r *Recorder) Figures() Snapshot {
	s := Snapshot{
		Version: Version, Time: time.Now(), Managers: []Manager{}, Queries: []Query{}, Failures: r.Failures(),
		Ended: r.queries.read(), Waits: r.Waits(), Sites: []Site{}, Kernels: []Kernels{}, SampleBytes: r.heap.interval, Spills: []Spills{}, History: []Moment{}, Operations: []OperationTime{},
	}
	for _, m := range r.managers {
		s.Managers = append(s.Managers, managerOf(m))
		name := m.Device().Name()
		if !slices.ContainsFunc(s.Kernels, func(k Kernels) bool { return k.Device == name }) {
			s.Kernels = append(s.Kernels, kernelsOf(name, kernels.StatsOf(m.Device())))
		}
	}
	for i, e := range r.engines {
		for _, q := range e.Running() {
			q.Manager = cmp.Or(q.Manager, titleOf(topOf(e.Manager())))
			s.Queries = append(s.Queries, queryOf(i, q, s.Managers))
		}
	}
	for _, each := range r.spillers {
		s.Spills = append(s.Spills, spillsOf(each))
	}
	return s
}

func managerOf(m *memory.Manager) Manager {
	stats := m.Stats()
	stats.Name = titleOf(m)
	manager := figuresOf(stats, "", m.Device().Name())
	moved := m.TransferStats()
	manager.Transfers = &Transfers{
		Uploads: moved.Uploads.Count, UploadedBytes: moved.Uploads.Bytes, UploadSeconds: moved.Uploads.Time.Seconds(),
		Downloads: moved.Downloads.Count, DownloadedBytes: moved.Downloads.Bytes, DownloadSeconds: moved.Downloads.Time.Seconds(),
		Failures: moved.Uploads.Failures + moved.Downloads.Failures,
	}
	if cache, ok := resource.Find[*memory.CachingResource](m.Resource()); ok {
		cached := cache.Stats()
		manager.Cache = &Cache{
			Reserved: cached.Reserved, PeakReserved: cached.PeakReserved, InUse: cached.InUse, Cached: cached.Cached, Held: cached.Held,
			LargestFree: cached.LargestFree, Segments: cached.Segments, Hits: cached.FastHits + cached.Hits, Misses: cached.Misses, Trimmed: cached.Trimmed,
		}
	}
	return manager
}

func kernelsOf(device string, s kernels.Stats) Kernels {
	return Kernels{Device: device, Launches: s.Launches, GraphLaunches: s.GraphLaunches, Modules: s.Modules, LoadSeconds: s.LoadTime.Seconds()}
}

func figuresOf(s memory.Stats, tenant, device string) Manager {
	m := Manager{
		Name: nameOf(s.Name), Tenant: tenant, Device: device, Budget: s.Budget, InUse: s.InUse, Own: s.Own, Remaining: s.Remaining,
		Peak: s.Peak, External: s.External, Blocks: s.Blocks, ExternalBlocks: s.ExternalBlocks, Allocations: s.Allocations,
		Frees: s.Frees, Failures: s.Failures, Leaks: s.Leaks, DoubleReleases: s.DoubleReleases, Waiting: s.Waiting,
		Tags: []Tag{}, Children: []Manager{},
	}
	m.Tags = slices.Grow(m.Tags, len(s.Tags))
	for _, t := range s.Tags {
		m.Tags = append(m.Tags, Tag{Name: nameOf(t.Tag), InUse: t.InUse, Peak: t.Peak, Blocks: t.Blocks, Allocations: t.Allocations})
	}
	for _, child := range s.Children {
		path := nameOf(child.Name)
		if tenant != "" {
			path = tenant + "/" + path
		}
		m.Children = append(m.Children, figuresOf(child, path, device))
	}
	return m
}

// Each calls f with the manager and all managers below it.
func (m *Manager) Each(f func(*Manager)) {
	f(m)
	for i := range m.Children {
		m.Children[i].Each(f)
	}
}

func queryOf(engine int, q gpuframe.RunningQuery, managers []Manager) Query {
	query := Query{
		Engine: engine, ID: q.ID, Tag: nameOf(q.Tag), Manager: nameOf(q.Manager), State: "running", Operation: nameOf(q.Operation),
		Seconds: time.Since(q.Begin).Seconds(), Rows: q.Rows, OfRows: q.OfRows, Needed: q.Needed, Plan: textOf(q.Plan),
	}
	if q.Waiting {
		query.State = "waiting"
	}
	for i := range managers {
		managers[i].Each(func(m *Manager) {
			at := slices.IndexFunc(m.Tags, func(t Tag) bool { return t.Name == query.Tag })
			if m.Name == query.Manager && at >= 0 {
				query.InUse = m.Tags[at].InUse
			}
		})
	}
	return query
}

func spillsOf(s *spill.Spiller) Spills {
	stats := s.Stats()
	return Spills{
		Tables: stats.Tables, Spilled: stats.Spilled, HostBytes: stats.HostBytes, HostBudget: stats.HostBudget, Spills: stats.Spills,
		Restores: stats.Restores, SpilledBytes: stats.SpilledBytes, RestoredBytes: stats.RestoredBytes,
		SpillSeconds: stats.SpillTime.Seconds(), RestoreSeconds: stats.RestoreTime.Seconds(), Failures: stats.Failures,
	}
}

// largest returns the sites with most memory in use.
func (h *heap) largest() []Site {
	const most = 100
	list := h.read()
	slices.SortFunc(list, func(a, b siteCounts) int {
		return cmp.Or(cmp.Compare(b.inUse.bytes, a.inUse.bytes), cmp.Compare(b.allocated.bytes, a.allocated.bytes))
	})
	sites := []Site{}
	for i := range list[:min(most, len(list))] {
		s := &list[i]
		site := Site{
			Tenant: s.tenant, Tag: s.tag, Device: s.device, Stack: []string{},
			InUse: uint64(round(s.inUse.bytes)), Blocks: uint64(round(s.inUse.blocks)), Allocated: uint64(round(s.allocated.bytes)),
		}
		for _, frame := range stacks.Frames(s.trace()) {
			site.Stack = append(site.Stack, stacks.Line(frame))
		}
		sites = append(sites, site)
	}
	return sites
}
