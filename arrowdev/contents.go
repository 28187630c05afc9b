package arrowdev

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/arrowdev/internal/checks"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/memory"
)

// contentChecks collects the checks of an array's contents.
type contentChecks struct {
	batch *checks.Batch
	// texts are the nodes with a data length that their offsets determine, and the
	// checks of these nodes.
	texts   []*node
	offsets []checks.Check
}

// checkContents runs all checks of references within the memory together, and reads
// the length of string data. It reports whether claims exist that had no length
// before.
func (i *importer) checkContents(root *node) (more bool, err error) {
	if i.options.Unchecked {
		return i.trust(root)
	}
	l := contentChecks{batch: checks.NewBatch(i.manager, i.stream)}
	if err := root.each(l.add); err != nil || l.batch.Len() == 0 {
		return false, err
	}
	results, err := l.batch.Run(i.options.context())
	if err != nil {
		return false, contentsFault(err)
	}
	for k, n := range l.texts {
		if err := n.claimBytes(2, uint64(results.Last(l.offsets[k])), 1); err != nil {
			return false, err
		}
	}
	return len(l.texts) > 0, nil
}

// contentsFault adds the name of the buffer with invalid contents.
func contentsFault(err error) error {
	var wrong *checks.ElementError
	switch {
	case !errors.As(err, &wrong):
		return faulty("", "%w", err)
	case wrong.Index < 0:
		return faulty(wrong.Name, "%s: %w", wrong.Reason, ErrInvalid)
	}
	return faulty(wrong.Name, "element %d %s: %w", wrong.Index, wrong.Reason, ErrInvalid)
}

// add adds the checks of one node.
func (l *contentChecks) add(n *node) error {
	if n.length == 0 {
		return nil
	}
	switch n.layout.Kind {
	case layout.Binary:
		check := l.batch.Offsets(n.bufferPath(1), n.layout.Width, n.elements(1), -1)
		l.texts, l.offsets = append(l.texts, n), append(l.offsets, check)
	case layout.List:
		l.batch.Offsets(n.bufferPath(1), n.layout.Width, n.elements(1), int64(n.children[0].length))
	case layout.ListView:
		l.batch.ListViews(n.bufferPath(1), n.layout.Width, n.elements(1), n.claims[2].region, int64(n.children[0].length))
	case layout.View:
		lengths := make([]int64, len(n.claims)-n.layout.Buffers())
		for k := range lengths {
			lengths[k] = int64(n.claims[n.layout.Buffers()+k].bytes)
		}
		l.batch.BinaryViews(n.bufferPath(1), n.elements(1), n.validity(), lengths)
	case layout.SparseUnion, layout.DenseUnion:
		l.union(n)
	case layout.Dictionary:
		integer := checks.Integer{Width: n.layout.Width, Signed: n.layout.IsSigned()}
		l.batch.Indices(n.bufferPath(1), integer, n.elements(1), n.validity(), int64(n.dictionary.length))
	case layout.RunEnds:
		ends := n.children[0]
		l.batch.RunEnds(ends.bufferPath(1), n.layout.Width, ends.elements(1), int64(n.end()))
	}
	return nil
}

func (l *contentChecks) union(n *node) {
	t := n.layout.Storage.(arrow.UnionType)
	l.batch.TypeIDs(n.bufferPath(0), n.elements(0), checks.NewTypeIDs(t.TypeCodes()...))
	if n.layout.Kind == layout.SparseUnion {
		return
	}
	var lengths [int(arrow.MaxUnionTypeCode) + 1]int64
	for id := range lengths {
		lengths[id] = -1
	}
	for k, code := range t.TypeCodes() {
		lengths[code] = int64(n.children[k].length)
	}
	l.batch.DenseOffsets(n.bufferPath(1), n.claims[0].region, n.elements(1), lengths[:])
}

// elements returns the elements of buffer i that the node covers.
func (n *node) elements(i int) checks.Elements {
	return checks.Elements{Buffer: n.claims[i].region, First: n.offset, Count: n.length}
}

// validity returns the part of the bitmap that the node covers.
func (n *node) validity() checks.Validity {
	return checks.Validity{Bits: n.claims[0].region, Offset: n.offset}
}

// trust sets the length of string data without a check of all offsets. On the host
// the length is the last offset; on a GPU it is the rest of the driver's allocation.
func (i *importer) trust(root *node) (more bool, err error) {
	err = root.each(func(n *node) error {
		if n.layout.Kind != layout.Binary || n.length == 0 || n.claims[2].pointer == 0 {
			return nil
		}
		more = true
		if i.manager.Device().Kind() == device.Host {
			last, err := n.lastOffset()
			if err != nil {
				return err
			}
			return n.claimBytes(2, last, 1)
		}
		bytes, err := i.allocated(n.claims[2].pointer)
		if err != nil {
			return faulty(n.bufferPath(2), "%w", err)
		}
		return n.claimBytes(2, bytes, 1)
	})
	return more, err
}

// lastOffset reads the end of the last string from the host's memory.
func (n *node) lastOffset() (uint64, error) {
	bytes, err := n.claims[1].region.Host()
	if err != nil {
		return 0, faulty(n.bufferPath(1), "%w", err)
	}
	bytes = bytes[n.end()*n.layout.Width:]
	last := int64(0)
	if n.layout.Width == 4 {
		last = int64(int32(binary.NativeEndian.Uint32(bytes)))
	} else {
		last = int64(binary.NativeEndian.Uint64(bytes))
	}
	if last < 0 {
		return 0, faulty(n.bufferPath(1), "element %d is %d, expected zero or more: %w", n.end(), last, ErrInvalid)
	}
	return uint64(last), nil
}

// allocated returns the number of bytes from an address to the end of its allocation.
func (i *importer) allocated(at device.Pointer) (uint64, error) {
	if block, ok := memory.FindExported(at, 1); ok {
		defer block.Release()
		return block.Bytes() - uint64(at-block.Pointer()), nil
	}
	for _, g := range i.groups {
		if g.base <= at && at < g.end {
			return uint64(g.end - at), nil
		}
	}
	base, length, err := i.manager.Device().Driver().AddressRange(at)
	if err != nil {
		return 0, fmt.Errorf("query the driver for the allocation: %w", err)
	}
	return uint64(base.Add(length) - at), nil
}

// countNulls refuses null rows of a table if the null count is unknown and only the
// bitmap can show them.
func (i *importer) countNulls(root *node) error {
	if root.nulls != column.UnknownNullCount {
		return nil
	}
	batch := checks.NewBatch(i.manager, i.stream)
	check := batch.Valid(root.bufferPath(0), root.validity(), root.length, -1)
	results, err := batch.Run(i.options.context())
	if err != nil {
		return contentsFault(err)
	}
	root.nulls = root.length - int(results.Valid(check))
	return root.noNulls()
}
