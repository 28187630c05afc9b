package spill

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"

	physical "github.com/pbnjay/memory"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/memory"
)

// ErrOpen is wrapped by the error of closing a [Spiller] that still has tables.
var ErrOpen = errors.New("tables are open")

// ErrOtherManager is wrapped by the error of adding a table with memory of a manager that is not
// below that of the [Spiller].
var ErrOtherManager = errors.New("memory of another manager")

// Options configure a [Spiller]. The zero value is right for most programs.
type Options struct {
	// HostBudget is the maximum of host memory for spilled tables, in bytes. Zero
	// means half of the machine's memory.
	HostBudget uint64

	// Host is the resource of that memory. Both the processor and the device must be
	// able to access it: pinned memory is copied at the full speed of the link. The
	// spiller does not close it. Nil means a private [memory.CachingResource] over a
	// [memory.PinnedResource].
	Host memory.Resource

	// Within, if it is not nil, is another spiller on the device, with the account of host memory
	// and the resource that this one uses too: HostBudget and Host are then those of that one. It
	// has to be closed later.
	Within *Spiller

	// Directory is where tables are written to a file while HostBudget is exhausted or the
	// system has no memory to pin. It must exist. Empty means no files: then such tables
	// stay on the device. The file grows to the size of the tables in it.
	Directory string

	// Packer packs tables that become smaller by it on their way to host memory. Nil means that tables stay as they are.
	Packer Packer

	// SkipBusy excludes tables with unfinished work, even if memory stays short. By
	// default the spiller waits for that work after it has moved all other tables. A
	// block knows the streams that have used it, but not when: on a stream that never
	// becomes idle, a table stays busy until a wait.
	SkipBusy bool
}

// Spiller moves the tables that were added to it between a manager's memory and
// the host's. It is safe for concurrent use.
type Spiller struct {
	manager *memory.Manager
	// host accounts for the memory of spilled tables and enforces the budget.
	host *memory.Manager
	// resource is that of the host memory. It is closed with the spiller if owned is set.
	resource memory.Resource
	owned    bool
	// beyond accounts for host memory without a budget: while tables pass through it, and while records are made.
	beyond *memory.Manager
	files  *files // nil without a directory
	packer Packer // nil if tables are not packed
	// out and in are the streams of the two directions, which the link serves
	// concurrently.
	out, in    *device.Stream
	skipBusy   bool
	unregister func()
	returning  returning
	// moves counts the moves that Close waits for.
	moves sync.WaitGroup

	mu     sync.Mutex
	closed bool
	// movable holds the tables on the device, the most recently touched at the back.
	movable list.List
	stats   Stats
	// unwritten is the error of the last table that was written to a file, or nil.
	unwritten *FileError
}

// NewSpiller makes a spiller that releases memory of the manager, and of the managers
// above it, when they run short. The caller closes the spiller before the manager.
func NewSpiller(m *memory.Manager, options Options) (*Spiller, error) {
	if m == nil {
		return nil, fmt.Errorf("spill: new spiller: the manager is nil: %w", device.ErrInvalidValue)
	}
	s := &Spiller{manager: m, skipBusy: options.SkipBusy, packer: options.Packer}
	if err := s.open(options); err != nil {
		return nil, errors.Join(fmt.Errorf("spill: new spiller on %s: %w", m.Device(), err), s.closeOwned())
	}
	s.unregister = m.AddReclaimer(s)
	return s, nil
}

func (s *Spiller) open(options Options) (err error) {
	dev := s.manager.Device()
	if options.Within != nil && !options.Within.manager.Device().Same(dev) {
		return fmt.Errorf("Options.Within is on %s: %w", options.Within.manager.Device(), device.ErrInvalidValue)
	}
	if err := s.openResource(options); err != nil {
		return err
	}
	if s.out, err = dev.NewStream(); err != nil {
		return err
	}
	if s.in, err = dev.NewStream(); err != nil {
		return err
	}
	if err := s.openHost(options); err != nil {
		return err
	}
	if s.beyond, err = memory.NewManager(dev, memory.Options{Name: "spilled tables on their way", Resource: s.resource, Stream: s.out}); err != nil {
		return err
	}
	if options.Directory != "" {
		s.files, err = openFiles(options.Directory, s.beyond)
	}
	return err
}

// openResource sets the resource of the host memory.
func (s *Spiller) openResource(options Options) (err error) {
	switch {
	case options.Within != nil:
		s.resource = options.Within.resource
	case options.Host != nil:
		s.resource = options.Host
	default:
		dev := s.manager.Device()
		s.resource, err = memory.NewCachingResource(dev, memory.CachingOptions{Segments: memory.FixedSegments, Upstream: memory.NewPinnedResource(dev)})
		if err != nil {
			return err
		}
		s.owned = true
	}
	if !s.resource.Kind().HostAccessible() {
		return fmt.Errorf("Options.Host is %v memory, expected memory that the processor can access: %w", s.resource.Kind(), device.ErrInvalidValue)
	}
	return nil
}

// openHost opens the account of the host memory.
func (s *Spiller) openHost(options Options) (err error) {
	if options.Within != nil {
		s.host, err = options.Within.host.Child("spilled", 0)
		return err
	}
	dev, budget := s.manager.Device(), options.HostBudget
	if budget == 0 {
		budget = defaultHostBudget(dev)
	}
	s.host, err = memory.NewManager(dev, memory.Options{Name: "spilled", Budget: budget, Resource: s.resource, Stream: s.out})
	return err
}

func defaultHostBudget(dev *device.Device) uint64 {
	if half := physical.TotalMemory() / 2; half > 0 {
		return half
	}
	return dev.Info().TotalMemory // the system does not report its memory
}

// Add makes a table spillable. On success it takes the caller's reference over. While
// further references to the table or to a part of it exist, the table stays in place.
// All memory that is not another library's must come from the spiller's manager or
// one below it. The caller releases the result.
func (s *Spiller) Add(table *buffer.Buffer) (*Table, error) {
	skeleton, blocks, err := table.Skeleton()
	if err != nil {
		return nil, fmt.Errorf("spill: add: %w", err)
	}
	t := &Table{spiller: s, skeleton: skeleton}
	for _, block := range blocks {
		if err := t.describe(block); err != nil {
			return nil, fmt.Errorf("spill: add %v: %w", t, err)
		}
	}
	for i, block := range blocks {
		if err := block.Retain(); err != nil {
			return nil, errors.Join(fmt.Errorf("spill: add %v: %w", t, err), release.All(blocks[:i]))
		}
	}
	t.blocks = blocks
	if err := s.enter(t); err != nil {
		return nil, errors.Join(err, release.All(blocks))
	}
	if err := table.Release(); err != nil {
		return nil, errors.Join(fmt.Errorf("spill: add: %w", err), t.Release())
	}
	return t, nil
}

// describe records the arguments for a new allocation of a block of the table.
func (t *Table) describe(block *memory.Block) error {
	if err := block.Check(); err != nil {
		return err
	}
	if block.External() {
		t.external = true
	} else if !below(t.spiller.manager, block.Manager()) {
		return fmt.Errorf("%v is not memory of the spiller's manager or of one below it: %w: %w", block, ErrOtherManager, device.ErrInvalidValue)
	}
	t.homes = append(t.homes, home{manager: block.Manager(), stream: block.Stream(), tag: block.Tag(), bytes: block.Bytes()})
	t.bytes += block.Bytes()
	return nil
}

// below reports whether a manager is another one or below it.
func below(top, m *memory.Manager) bool {
	for m != nil && m != top {
		m = m.Parent()
	}
	return m != nil
}

func (s *Spiller) enter(t *Table) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("spill: add: spiller: %w", memory.ErrClosed)
	}
	s.stats.Tables++
	t.touch()
	return nil
}

// Close ends the spiller. It waits for copies in progress.
//
// # Errors
//
// While tables are open, Close returns an error that wraps [ErrOpen] and changes
// nothing: release them and close it again. A second Close returns memory.ErrClosed.
func (s *Spiller) Close() error {
	s.mu.Lock()
	closed, tables := s.closed, s.stats.Tables
	s.closed = closed || tables == 0
	s.mu.Unlock()
	if closed {
		return fmt.Errorf("spill: close spiller: %w", memory.ErrClosed)
	}
	if tables > 0 {
		return fmt.Errorf("spill: close spiller: %d tables: release them first: %w", tables, ErrOpen)
	}
	s.unregister()
	s.moves.Wait()
	return errors.Join(s.returning.drain(context.Background()), s.closeOwned())
}

func (s *Spiller) closeOwned() error {
	failures := []error{s.files.close()}
	for _, m := range []*memory.Manager{s.beyond, s.host} {
		if m != nil {
			failures = append(failures, m.Close())
		}
	}
	if s.owned {
		failures = append(failures, s.resource.Close())
	}
	for _, stream := range []*device.Stream{s.out, s.in} {
		if stream != nil {
			failures = append(failures, stream.Close())
		}
	}
	return errors.Join(failures...)
}
