package pages

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/base/release"
)

// nestedNode makes a list, a map or a struct, or the values of a leaf.
type nestedNode struct {
	*Nested
	// element is the definition level from which on the next list around it has an element.
	element  uint32
	children []*nestedNode
	leaf     *leafDecoder

	length, nulls int
	validity      bitmap
	offsets       offsets
	elements      int // of a list
}

func (n *nestedNode) begin(mem arrowmemory.Allocator) {
	n.length, n.nulls, n.elements = 0, 0, 0
	n.validity, n.offsets = bitmap{growing{mem: mem}}, offsets{growing{mem: mem}}
}

// take adds the lists or structs that begin with entries.
func (n *nestedNode) take(definitions, repetitions []uint32) error {
	if n.Nullable {
		n.validity.reserve(n.length + len(definitions))
	}
	var ends []int32
	if n.Element > 0 {
		ends = n.offsets.reserve(n.length + len(definitions) + 1)
	}
	depth, level, listLevel := uint32(n.Depth), uint32(n.Definition), uint32(n.Element)
	for i, definition := range definitions {
		if repetitions[i] <= depth && definition >= n.element {
			if n.Nullable {
				n.validity.put(n.length, definition >= level)
				if definition < level {
					n.nulls++
				}
			}
			if ends != nil {
				ends[n.length] = int32(n.elements)
			}
			n.length++
		}
		if ends != nil && repetitions[i] <= depth+1 && definition >= listLevel {
			n.elements++
		}
	}
	if n.elements > math.MaxInt32 {
		return fmt.Errorf("%d elements of lists: %w", n.elements, ErrLong)
	}
	return nil
}

func (n *nestedNode) drop() {
	n.validity.drop()
	n.offsets.drop()
}

// array returns the array of a part, of which the parts around it have a number of elements.
func (n *nestedNode) array(length int) (arrow.Array, error) {
	if n.leaf != nil {
		if n.leaf.length != length {
			return nil, n.disagrees(n.leaf.length, length)
		}
		return n.leaf.end(), nil
	}
	if n.length != length {
		return nil, n.disagrees(n.length, length)
	}
	elements := length
	if n.Element > 0 {
		elements = n.elements
	}
	var children []arrow.Array
	defer func() { release.Arrow(children) }()
	for _, each := range n.children {
		child, err := each.array(elements)
		if err != nil {
			return nil, err
		}
		children = append(children, child)
	}
	return n.assemble(children)
}

func (n *nestedNode) disagrees(length, around int) error {
	return fmt.Errorf("the levels of leaf %d are of %d elements or rows, there are %d: %w", n.First().Leaf, length, around, ErrDamaged)
}

// assemble returns the array of a list or a struct with its parts.
func (n *nestedNode) assemble(children []arrow.Array) (arrow.Array, error) {
	parts := make([]arrow.ArrayData, len(children))
	for i, child := range children {
		parts[i] = child.Data()
	}
	buffers := make([]*arrowmemory.Buffer, 1, 2)
	defer func() {
		for _, b := range buffers {
			if b != nil {
				b.Release()
			}
		}
	}()
	if fixed, ok := n.Type.(*arrow.FixedSizeListType); ok {
		elements, err := n.fixedElements(int(fixed.Len()), children[0])
		if err != nil {
			return nil, err
		}
		defer elements.Release()
		parts[0] = elements.Data()
	} else if n.Element > 0 {
		n.offsets.reserve(n.length + 1)[n.length] = int32(n.elements)
		buffers = append(buffers, n.offsets.take(4*(n.length+1)))
	}
	if n.nulls > 0 {
		buffers[0] = n.validity.take((n.length + 7) / 8)
	}
	data := array.NewData(n.Type, n.length, buffers, parts, n.nulls, 0)
	defer data.Release()
	return array.MakeFromData(data), nil
}

// fixedElements returns the elements of lists of a fixed size: a file has none for a list that is null, an array has.
func (n *nestedNode) fixedElements(size int, elements arrow.Array) (arrow.Array, error) {
	if int64(n.length)*int64(size) > int64(mostElements) {
		return nil, fmt.Errorf("%d lists of %d elements: %w", n.length, size, ErrLong)
	}
	ends := n.offsets.reserve(n.length + 1)
	ends[n.length] = int32(n.elements)
	isNull := func(row int) bool { return n.nulls > 0 && n.validity.memory[row>>3]>>(row&7)&1 == 0 }
	parts, absent := []arrow.Array{array.NewSlice(elements, 0, 0)}, arrow.Array(nil)
	defer func() { release.Arrow(parts) }()
	for row := 0; row < n.length; {
		begin, null := row, isNull(row)
		for ; row < n.length && isNull(row) == null; row++ {
			if length := int(ends[row+1] - ends[row]); !null && length != size {
				return nil, fmt.Errorf("a list of %d elements in a column of %v: %w", length, n.Type, ErrDamaged)
			}
		}
		if !null {
			parts = append(parts, array.NewSlice(elements, int64(ends[begin]), int64(ends[row])))
			continue
		}
		if absent == nil {
			absent = array.MakeArrayOfNull(n.offsets.mem, elements.DataType(), size*min(n.nulls, nullLists))
			defer absent.Release()
		}
		for left := row - begin; left > 0; left -= min(left, nullLists) {
			parts = append(parts, array.NewSlice(absent, 0, int64(size*min(left, nullLists))))
		}
	}
	if n.nulls == 0 {
		elements.Retain()
		return elements, nil
	}
	return array.Concatenate(parts, n.offsets.mem)
}

// nullLists is the number of null lists that are added to an array at a time.
const nullLists = 64
