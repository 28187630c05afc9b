package observe

import (
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// blockNumber identifies a block in the process.
type blockNumber struct{ number, generation uint64 }

// lastStacks are the stacks of the blocks that were sampled last, so that events of blocks
// that have ended have theirs. The heap's lock guards it.
type lastStacks struct {
	// most is the number of blocks to keep, or 0.
	most  int
	keys  map[blockNumber]*siteKey
	order []blockNumber
	// next is the place in order that the next block takes once order is full.
	next int
}

func (l *lastStacks) add(block blockNumber, key *siteKey) {
	switch {
	case l.most == 0:
		return
	case l.keys == nil:
		l.keys = make(map[blockNumber]*siteKey)
	}
	if len(l.order) < l.most {
		l.order = append(l.order, block)
	} else {
		delete(l.keys, l.order[l.next])
		l.order[l.next] = block
		l.next = (l.next + 1) % l.most
	}
	l.keys[block] = key
}

// stackOf returns the stack of a block, if it was among those sampled last.
func (h *heap) stackOf(number, generation uint64) *siteKey {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last.keys[blockNumber{number, generation}]
}

// owners adds the owners of the sampled blocks of a tree of managers.
func (h *heap) owners(top *memory.Manager, table *stackTable, to map[device.Pointer]BlockOwner) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for b := range h.live {
		if b.top == top {
			to[b.pointer] = BlockOwner{Requested: b.bytes, Tenant: b.key.tenant, Tag: b.key.tag, Since: b.since, Stack: table.position(b.key)}
		}
	}
}
