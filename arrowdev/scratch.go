package arrowdev

import "sync"

// scratch is memory that an import needs only while it runs. It holds most of the
// allocations of an import of a few columns.
type scratch struct {
	nodes  []node
	claims []claim
	groups []group
}

const (
	// scratchNodes and scratchClaims are the initial capacities. An import that needs
	// more allocates its own memory.
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

// borrow gives the import cleared memory.
func (i *importer) borrow() {
	i.scratch = scratches.Get().(*scratch)
	i.parser.nodes, i.parser.claims, i.groups = i.scratch.nodes, i.scratch.claims, i.scratch.groups
}

// giveBack ends the import's use of the memory: no reference to a node, a claim or a
// group may remain. Further calls do nothing.
func (i *importer) giveBack() {
	s := i.scratch
	if s == nil {
		return
	}
	i.scratch = nil
	// An import that outgrew the scratch does not know how much of it was used.
	clear(s.nodes[:min(cap(s.nodes), i.count+1)])
	clear(s.claims[:min(cap(s.claims), i.buffers)])
	clear(s.groups[:min(cap(s.groups), len(i.groups))])
	i.parser.nodes, i.parser.claims, i.groups = nil, nil, nil
	scratches.Put(s)
}
