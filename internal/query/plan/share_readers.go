package plan

import (
	"github.com/gpuframe/gpuframe/internal/io/source"
)

// shareReaders makes the scans of a source that can be read once a single scan, of the
// columns of all. Each of its users selects its columns. The scan runs once for all of
// them: see [HoldsRows].
func (o *optimization) shareReaders(root Node) (Node, error) {
	merged := map[source.Source]*Scan{}
	for _, scan := range Scans(root) {
		if !source.Once(scan.source) {
			continue
		}
		if known := merged[scan.source]; known != nil {
			merged[scan.source] = known.merge(scan)
		} else {
			merged[scan.source] = scan
		}
	}
	if len(merged) == 0 {
		return root, nil
	}
	return o.rewrite(root, func(n Node) (Node, error) {
		scan, ok := n.(*Scan)
		if !ok || !source.Once(scan.source) {
			return n, nil
		}
		single := merged[scan.source]
		if scan.same(single) {
			return single, nil
		}
		return NewColumns(single, scan.columns...)
	})
}

// merge returns a scan that yields the columns and at least the rows of two scans of one
// source.
func (s *Scan) merge(other *Scan) *Scan {
	if s.same(other) {
		return s
	}
	wanted := map[string]bool{}
	for _, list := range [][]string{s.columns, other.columns} {
		for _, name := range list {
			wanted[name] = true
		}
	}
	merged := *s
	merged.schema, merged.where, merged.limit = s.all, nil, 0
	if sameExpressions(s.where, other.where) {
		merged.where = s.where
	}
	return merged.WithColumns(wanted)
}
