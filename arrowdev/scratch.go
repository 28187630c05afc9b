package arrowdev

import "sync"

// scratch is memory that imports need only while they last. Most of what an import
// of a few columns would allocate is in it.
type scratch struct {
	nodes  []node
	claims []claim
	groups []group
}

const (
	// scratchNodes and scratchClaims are how many an import begins with. What it
	// needs beyond these is its own.
	scratchNodes  = 32
	scratchClaims = 96
)

var scratches = sync.Pool{New: func() any {
	return &scratch{
		nodes:  make([]node, 0, scratchNodes),
		claims: make([]claim, 0, scratchClaims),
		groups: make([]group, 0, scratchClaims),
	}
}}

// borrow gives the import the memory, which is cleared.
func (i *importer) borrow() {
	i.scratch = scratches.Get().(*scratch)
	i.parser.nodes, i.parser.claims, i.groups = i.scratch.nodes, i.scratch.claims, i.scratch.groups
}

// giveBack ends the import's use of the memory: nothing may refer to a node, a claim
// or a group any more. It may be called twice.
func (i *importer) giveBack() {
	s := i.scratch
	if s == nil {
		return
	}
	i.scratch = nil
	// How much of it was used the import has lost count of where it needed more.
	clear(s.nodes[:min(cap(s.nodes), i.count+1)])
	clear(s.claims[:min(cap(s.claims), i.buffers)])
	clear(s.groups[:min(cap(s.groups), len(i.groups))])
	i.parser.nodes, i.parser.claims, i.groups = nil, nil, nil
	scratches.Put(s)
}
