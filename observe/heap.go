package observe

import (
	"runtime"
	"sync"
	"time"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/callstack"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/observe/internal/stacks"
)

// heap sums samples of blocks by stack, tenant, tag and device.
type heap struct {
	interval uint64
	start    time.Time

	mu    sync.Mutex
	sites map[siteKey]*site
	live  map[*liveBlock]struct{}
	last  lastStacks
}

// siteKey identifies a place of allocation.
type siteKey struct {
	tenant, tag, device string
	stack               [stacks.Deepest]uintptr
}

// site counts the blocks of one place. Each sample counts with its weight.
type site struct {
	allocated, inUse amount
}

type amount struct{ blocks, bytes float64 }

func (a *amount) add(weight float64, bytes uint64) {
	a.blocks += weight
	a.bytes += weight * float64(bytes)
}

// liveBlock is a sampled block that has not ended.
type liveBlock struct {
	top     *memory.Manager
	pointer device.Pointer
	bytes   uint64
	weight  float64
	since   time.Time
	site    *site
	key     *siteKey
}

func (h *heap) open(interval uint64, lastBlocks int) {
	h.interval, h.start, h.last.most = interval, time.Now(), lastBlocks
	h.sites = make(map[siteKey]*site)
	h.live = make(map[*liveBlock]struct{})
}

// sampled is memory.Observer.Sampled. Adopted memory is not this program's allocation.
func (h *heap) sampled(s memory.Sample) func(bool) {
	if s.Origin != memory.Owned || s.Bytes == 0 {
		return nil
	}
	key := siteKey{tenant: tenantOf(s.Manager), tag: nameOf(s.Tag), device: s.Manager.Device().Name()}
	runtime.Callers(2, key.stack[:])
	block := &liveBlock{top: topOf(s.Manager), pointer: s.Pointer, bytes: s.Bytes, weight: s.Weight, since: time.Now(), key: &key}
	h.mu.Lock()
	defer h.mu.Unlock()
	block.site = h.sites[key]
	if block.site == nil {
		block.site = new(site)
		h.sites[key] = block.site
	}
	block.site.allocated.add(s.Weight, s.Bytes)
	block.site.inUse.add(s.Weight, s.Bytes)
	h.live[block] = struct{}{}
	h.last.add(blockNumber{s.Number, s.Generation}, &key)
	return func(bool) { h.ended(block) }
}

func (h *heap) ended(b *liveBlock) {
	h.mu.Lock()
	defer h.mu.Unlock()
	b.site.inUse.add(-b.weight, b.bytes)
	delete(h.live, b)
}

// siteCounts are the counts of one place at one moment.
type siteCounts struct {
	siteKey
	site
}

// read copies the counts, so that they are formatted without the lock.
func (h *heap) read() []siteCounts {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]siteCounts, 0, len(h.sites))
	for key, s := range h.sites {
		list = append(list, siteCounts{key, *s})
	}
	return list
}

// trace returns the stack.
func (k *siteKey) trace() callstack.Stack {
	for i, counter := range k.stack {
		if counter == 0 {
			return k.stack[:i]
		}
	}
	return k.stack[:]
}
