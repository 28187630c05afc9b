package memory

import (
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// neighbours are the manager trees on one device. A request for which the device has
// no memory can be served after a release in another tree that uses the same
// resource.
type neighbours struct {
	key deviceKey
	// waiting counts the requests in all trees that wait for the device or are about
	// to. While it is zero, a release does not look at other trees.
	waiting atomic.Int64
	mu      sync.Mutex
	trees   []*tree
}

type deviceKey struct {
	kind    device.Kind
	ordinal int
}

// devices holds the neighbours of every device that has a manager.
var devices struct {
	mu  sync.Mutex
	all map[deviceKey]*neighbours
}

func joinNeighbours(t *tree) *neighbours {
	info := t.root.device.Info()
	key := deviceKey{t.root.device.Kind(), info.Ordinal}
	devices.mu.Lock()
	defer devices.mu.Unlock()
	if devices.all == nil {
		devices.all = make(map[deviceKey]*neighbours)
	}
	n := devices.all[key]
	if n == nil {
		n = &neighbours{key: key}
		devices.all[key] = n
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.trees = append(slices.Clip(n.trees), t)
	return n
}

// leave removes a tree. It does nothing if n is nil.
func (n *neighbours) leave(t *tree) {
	if n == nil {
		return
	}
	devices.mu.Lock()
	defer devices.mu.Unlock()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.trees = slices.DeleteFunc(slices.Clone(n.trees), func(other *tree) bool { return other == t })
	if len(n.trees) == 0 && devices.all[n.key] == n {
		delete(devices.all, n.key)
	}
}

// sharing returns the other trees that use a resource of t's resource stack.
func (n *neighbours) sharing(t *tree) (related []*tree) {
	n.mu.Lock()
	trees := n.trees
	n.mu.Unlock()
	own := stackOf(t.root.resource)
	for _, other := range trees {
		if other != t && slices.ContainsFunc(stackOf(other.root.resource), func(r Resource) bool { return slices.Contains(own, r) }) {
			related = append(related, other)
		}
	}
	return related
}

// stackOf returns a resource and the resources below it. It omits resources that are
// not comparable.
func stackOf(top Resource) (stack []Resource) {
	for top != nil {
		if reflect.TypeOf(top).Comparable() {
			stack = append(stack, top)
		}
		stacked, ok := top.(resource.Stacked)
		if !ok {
			break
		}
		top = stacked.Upstream()
	}
	return stack
}

// released notifies the related trees that t has released a block.
func (n *neighbours) released(t *tree) {
	for _, other := range n.sharing(t) {
		other.queue.released()
	}
}

// holding describes the current use of the memory of a device or of a resource.
type holding struct {
	// inUse is set if blocks exist; inProgress is set if requests exist that may
	// still get memory.
	inUse, inProgress bool
	// allocations counts all blocks ever allocated.
	allocations uint64
}

// holding inspects the tree and the related trees. own is the number of bytes that
// the calling request has reserved itself.
func (n *neighbours) holding(t *tree, own uint64) (h holding) {
	var pending uint64
	for _, each := range append(n.sharing(t), t) {
		each.stripes.lockAll()
		s, _ := each.root.stats()
		h.inUse = h.inUse || s.InUse > 0
		h.allocations += s.Allocations
		pending += each.root.inProgress()
		each.stripes.unlockAll()
	}
	h.inProgress = pending > own
	return h
}

// inProgress returns the bytes that requests to the manager and its descendants have
// reserved and not yet received. All stripes are locked.
func (m *Manager) inProgress() uint64 {
	a := &m.account
	counted, below := a.inUse.Load(), uint64(0)
	for _, child := range m.children.list() {
		c := &child.account
		counted -= c.inUse.Load()
		if c.guaranteed.Load() {
			counted += c.budget.Load()
		} else {
			counted += c.reserved.Load()
		}
		below += child.inProgress()
	}
	return a.reserved.Load() - counted + below
}
