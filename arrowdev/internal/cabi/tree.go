package cabi

import (
	"sync"
	"unsafe"
)

// Owner is what an exported array keeps alive.
type Owner interface {
	// Ended is called once, when no struct of the tree is used any more, on
	// whatever goroutine or foreign thread that happens.
	Ended()
}

// Tree is the memory of the structs of one export. Until it is given to somebody
// it is used from one goroutine.
type Tree struct {
	name  uint64
	owner uint64
	next  unsafe.Pointer
	left  uintptr
	nodes uint64
}

// Begin makes a tree that has room for as many bytes as are taken from it, each
// piece rounded up to eight, and exactly as many nodes. The owner may be nil. It
// returns false where C has no memory.
func Begin(owner Owner, bytes uintptr, nodes int) (*Tree, bool) {
	bytes = Rounded(bytes)
	number := owners.add(owner)
	name, memory := beginTree(bytes, nodes, number)
	if name == 0 {
		owners.take(number)
		return nil, false
	}
	return &Tree{name: name, owner: number, next: memory, left: bytes}, true
}

// Rounded returns what a piece of so many bytes takes of a tree.
func Rounded(bytes uintptr) uintptr { return (bytes + 7) &^ 7 }

// Take returns cleared memory for a piece of the tree, aligned to eight bytes; nil
// where the tree is used up.
func (t *Tree) Take(bytes uintptr) unsafe.Pointer {
	bytes = Rounded(bytes)
	if bytes > t.left {
		return nil
	}
	piece := t.next
	t.next, t.left = unsafe.Add(t.next, bytes), t.left-bytes
	return piece
}

// OwnSchema makes the struct the tree's next node: its release is this package's.
func (t *Tree) OwnSchema(schema *Schema) {
	schema.Release, schema.Private = ownSchemaRelease, t.node()
}

// OwnArray makes the struct the tree's next node: its release is this package's.
func (t *Tree) OwnArray(array *Array) {
	array.Release, array.Private = ownArrayRelease, t.node()
}

func (t *Tree) node() uintptr {
	node := t.name | t.nodes
	t.nodes++
	return uintptr(node)
}

// Drop ends a tree that was given to nobody. The owner is not told.
func (t *Tree) Drop() {
	owners.take(t.owner)
	dropTree(t.name)
}

// OwnerOf returns the owner of the exported array that the struct belongs to, and
// whether it is the array's root, if it is one of this process's gpuframe that
// has not ended.
func (a *Array) OwnerOf() (owner Owner, root, own bool) {
	if a.Release == 0 || a.Release != ownArrayRelease {
		return nil, false, false
	}
	owner, own = owners.find(treeOwner(uint64(a.Private)))
	return owner, uint64(a.Private)&(1<<nodeBits-1) == 0, own
}

// nodeBits are the low bits of a name that number the tree's nodes.
const nodeBits = 20

// owners are those of the trees that somebody holds at the moment. Numbers are
// not used again.
var owners = ownerTable{live: map[uint64]Owner{}}

type ownerTable struct {
	mu   sync.Mutex
	last uint64
	live map[uint64]Owner
}

func (t *ownerTable) add(owner Owner) uint64 {
	if owner == nil {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last++
	t.live[t.last] = owner
	return t.last
}

func (t *ownerTable) find(number uint64) (Owner, bool) {
	if number == 0 {
		return nil, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	owner, ok := t.live[number]
	return owner, ok
}

func (t *ownerTable) take(number uint64) (Owner, bool) {
	if number == 0 {
		return nil, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	owner, ok := t.live[number]
	delete(t.live, number)
	return owner, ok
}

// treeEnded is where C says that the last node of a tree was released.
func treeEnded(owner uint64) {
	if o, ok := owners.take(owner); ok {
		o.Ended()
	}
}
