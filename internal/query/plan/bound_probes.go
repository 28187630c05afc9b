package plan

import (
	"slices"

	"github.com/gpuframe/gpuframe/kernels/join"
)

// KeyBounds are the least and the greatest value of a key on the right side of a join. They
// are known when the query has read that side. The plan only has their identity, because
// several runs may use it at a time.
type KeyBounds struct {
	// Key describes the key.
	Key string
}

// ScanBounds is a column of a scan of which only values within bounds are of interest.
type ScanBounds struct {
	Column string
	Of     *KeyBounds
}

// boundProbes passes the bounds of the keys of a right side to the scan of the left side's
// key, if only left rows with a match are in the result. The right side is read first. The
// scan leaves out row groups by statistics, and may leave out rows.
func (o *optimization) boundProbes(root Node) (Node, error) {
	parents := parents(root)
	joins, scans := map[*Join][]*KeyBounds{}, map[*Scan][]ScanBounds{}
	for _, n := range inputsFirst(root) {
		j, ok := n.(*Join)
		if !ok || j.options.Kind != join.Inner && j.options.Kind != join.Semi || j.options.NullsEqual {
			continue
		}
		for i, k := range j.options.Keys {
			name, ok := plainColumn(k.Left)
			if !ok {
				continue
			}
			scan, column := origin(j.left, name, parents)
			if scan == nil {
				continue
			}
			if joins[j] == nil {
				joins[j] = make([]*KeyBounds, len(j.options.Keys))
			}
			bounds := &KeyBounds{Readable(k.Right.String())}
			joins[j][i] = bounds
			scans[scan] = append(scans[scan], ScanBounds{column, bounds})
		}
	}
	return o.rewriteEach(inputsFirst(root), func(n Node, inputs []Node) (Node, error) {
		switch n := n.(type) {
		case *Scan:
			if scans[n] != nil {
				bounded := *n
				bounded.bounds = append(slices.Clone(n.bounds), scans[n]...)
				return &bounded, nil
			}
		case *Join:
			if joins[n] != nil {
				options := n.options
				options.Bounds = joins[n]
				return node(NewJoin(inputs[0], inputs[1], options))
			}
		}
		return withInputs(n, inputs...)
	})
}

// origin returns the scan and its column that a column of a node is, if rows of the scan
// may be left out when rows with the same value in the column are not of interest. Only one
// operation reads each node between.
func origin(n Node, name string, parents map[Node]int) (scan *Scan, column string) {
	for parents[n] == 1 {
		if scan, ok := n.(*Scan); ok {
			if scan.limit != 0 {
				return nil, ""
			}
			return scan, name
		}
		n, name = n.origin(name)
	}
	return nil, ""
}
