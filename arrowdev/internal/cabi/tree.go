package cabi

import (
	"sync"
	"unsafe"
)

// Owner is the object that an exported array keeps alive.
type Owner interface {
	// Ended is called once, when no struct of the tree is in use any more, on any
	// goroutine or foreign thread.
	Ended()
}

// Tree is the memory of the structs of one export. Until it is handed out, one
// goroutine uses it.
type Tree struct {
	name  uint64
	owner uint64
	next  unsafe.Pointer
	left  uintptr
	nodes uint64
}

// Begin makes a tree with room for the given number of bytes, each piece rounded up to
// eight, and for exactly the given number of nodes. The owner may be nil. It returns
// false if C has no memory.
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

// Rounded returns the size of a piece of the given number of bytes in a tree.
func Rounded(bytes uintptr) uintptr { return (bytes + 7) &^ 7 }

// Take returns cleared memory for a piece of the tree, aligned to eight bytes, or nil
// if the tree is full.
func (t *Tree) Take(bytes uintptr) unsafe.Pointer {
	bytes = Rounded(bytes)
	if bytes > t.left {
		return nil
	}
	piece := t.next
	t.next, t.left = unsafe.Add(t.next, bytes), t.left-bytes
	return piece
}

// OwnSchema makes the struct the tree's next node, with this package's release.
func (t *Tree) OwnSchema(schema *Schema) {
	schema.Release, schema.Private = ownSchemaRelease, t.node()
}

// OwnArray makes the struct the tree's next node, with this package's release.
func (t *Tree) OwnArray(array *Array) {
	array.Release, array.Private = ownArrayRelease, t.node()
}

func (t *Tree) node() uintptr {
	node := t.name | t.nodes
	t.nodes++
	return uintptr(node)
}

// Drop frees a tree that was not handed out. It does not notify the owner.
func (t *Tree) Drop() {
	owners.take(t.owner)
	dropTree(t.name)
}

// OwnerOf returns the owner of the exported array that contains the struct, and whether
// the struct is its root. own is false unless this process's gpuframe exported the
// array and its tree has not ended.
func (a *Array) OwnerOf() (owner Owner, root, own bool) {
	if a.Release == 0 || a.Release != ownArrayRelease {
		return nil, false, false
	}
	owner, own = owners.find(treeOwner(uint64(a.Private)))
	return owner, uint64(a.Private)&(1<<nodeBits-1) == 0, own
}

// nodeBits are the low bits of a name that number the tree's nodes.
const nodeBits = 20

// owners holds the owners of the trees that foreign code holds. Numbers are not reused.
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

// treeEnded is called by C when the last node of a tree was released.
func treeEnded(owner uint64) {
	if o, ok := owners.take(owner); ok {
		o.Ended()
	}
}
