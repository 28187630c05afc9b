package parquetformat

import (
	"fmt"
	"math"
	"slices"

	"github.com/gpuframe/gpuframe/internal/io/thrift"
)

// mostNested is the depth of groups of columns within each other.
const mostNested = 256

// NoID is the number of a node that has none.
const NoID = -1

// Node is a group of nodes, or values.
type Node struct {
	Name       string
	Repetition Repetition
	// Children are those of a group. Values have none.
	Children []*Node
	// Physical is the type of values, with Length bytes if it is FixedLenByteArray.
	Physical Type
	Length   int
	Logical  Logical
	// ID is that of a table's column, or [NoID].
	ID int32
}

// IsGroup reports whether the node has others below it.
func (n *Node) IsGroup() bool { return len(n.Children) > 0 }

// Check returns an error if the node cannot have its logical type.
func (n *Node) Check() error {
	switch {
	case n.IsGroup():
		if k := n.Logical.Kind; k != None && k != List && k != Map {
			return fmt.Errorf("a group cannot be %v", n.Logical)
		}
	case n.Physical < Boolean || n.Physical > FixedLenByteArray:
		return fmt.Errorf("values of %v", n.Physical)
	case n.Physical == FixedLenByteArray && n.Length <= 0:
		return fmt.Errorf("values of %d bytes", n.Length)
	case !n.Logical.fits(n.Physical, n.Length):
		return fmt.Errorf("values of %v cannot be %v", n.Physical, n.Logical)
	}
	return nil
}

// Strip removes what values and groups stand for: groups become structs, and values those of their
// physical types.
func (n *Node) Strip() {
	n.Logical = Logical{}
	for _, child := range n.Children {
		child.Strip()
	}
}

// Schema is the tree of the columns of a file.
type Schema struct {
	Root *Node
	// Columns are the values of the tree, in its order.
	Columns []Column
}

// Column is where values of the tree are.
type Column struct {
	*Node
	// Field is the number of the root's child.
	Field int
	// MaxDefinition and MaxRepetition are the greatest levels.
	MaxDefinition, MaxRepetition int16
	// Ordered is set if statistics have the order that the format defines for the type.
	Ordered bool
	path    *pathName
}

// pathName is a name in the path of columns. They share the names above it: a footer of few bytes may have many columns
// in deep groups.
type pathName struct {
	name  string
	above *pathName
}

// Path returns the names from the root's child to the values.
func (c *Column) Path() (names []string) {
	for at := c.path; at != nil; at = at.above {
		names = append(names, at.name)
	}
	slices.Reverse(names)
	return names
}

// NewSchema returns the schema of a tree.
func NewSchema(root *Node) *Schema {
	s := &Schema{Root: root}
	for i, child := range root.Children {
		s.add(child, Column{Field: i})
	}
	return s
}

// add adds the columns of a node below a column's path and levels.
func (s *Schema) add(n *Node, above Column) {
	above.path = &pathName{n.Name, above.path}
	switch n.Repetition {
	case Optional:
		above.MaxDefinition++
	case Repeated:
		above.MaxDefinition++
		above.MaxRepetition++
	}
	if !n.IsGroup() {
		above.Node = n
		s.Columns = append(s.Columns, above)
	}
	for _, child := range n.Children {
		s.add(child, above)
	}
}

// SplitLevels gives lists of lists, and of maps, of two levels the third one, as the format asks of
// readers:
//
//	group a (LIST) { repeated group array (LIST) { repeated … } }
//	group a (LIST) { repeated group list { required group array (LIST) { repeated … } } }
//
// Definition and repetition levels, and the order of the columns, stay as they are, but for their paths.
func (n *Node) SplitLevels() {
	if n.Logical.Kind == List && len(n.Children) == 1 {
		inner := n.Children[0]
		if inner.Repetition == Repeated && (inner.Logical.Kind == List || inner.Logical.Kind == Map) && len(inner.Children) == 1 && inner.Children[0].Repetition == Repeated {
			inner.Repetition = Required
			n.Children[0] = &Node{Name: "list", Repetition: Repeated, Children: []*Node{inner}, ID: NoID}
		}
	}
	for _, child := range n.Children {
		child.SplitLevels()
	}
}

// element is a node of the list in preorder that the format has, with the number of its children.
type element struct {
	node     *Node
	children int64
}

// readElement decodes a node.
func readElement(d *thrift.Decoder) (e element, err error) {
	n := &Node{ID: NoID}
	e.node = n
	var precision, scale int32
	converted, hasLogical := int64(noConverted), false
	err = d.Fields(thrift.MostDepth, func(field int, kind byte) error {
		switch {
		case field == 4 && kind == thrift.Binary:
			name, err := d.Text()
			n.Name = string(name)
			return err
		case field == 10 && kind == thrift.Struct:
			members, err := d.Object(thrift.MostDepth - 1)
			n.Logical, hasLogical = readLogical(members), true
			return err
		case kind != thrift.Int32:
			return d.Pass(kind, thrift.MostDepth-1)
		}
		v, err := d.Signed()
		switch field {
		case 1:
			n.Physical = Type(v)
		case 2:
			n.Length = int(min(max(v, math.MinInt32), math.MaxInt32))
		case 3:
			n.Repetition = Repetition(v)
		case 5:
			e.children = v
		case 6:
			converted = v
		case 7:
			scale = int32(v)
		case 8:
			precision = int32(v)
		case 9:
			n.ID = int32(v)
		}
		return err
	})
	if !hasLogical && converted != noConverted {
		n.Logical = fromConverted(converted, precision, scale)
	}
	return e, err
}

// readSchema decodes the list of nodes.
func readSchema(d *thrift.Decoder) (*Schema, error) {
	var list []element
	err := d.Elements(func(kind byte) error {
		if kind != thrift.Struct {
			return fmt.Errorf("a column is of type %d: %w", kind, thrift.ErrDamaged)
		}
		e, err := readElement(d)
		if e.children < 0 || e.children > int64(len(d.Data)) {
			return fmt.Errorf("a column has %d columns below it: %w", e.children, thrift.ErrDamaged)
		}
		list = append(list, e)
		return err
	})
	if err != nil {
		return nil, err
	}
	root, rest, err := tree(list, mostNested)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%d columns are in no group: %w", len(rest), thrift.ErrDamaged)
	}
	if err != nil {
		return nil, err
	}
	return NewSchema(root), nil
}

// tree takes a node with those below it from a list in preorder.
func tree(list []element, depth int) (*Node, []element, error) {
	if len(list) == 0 || depth == 0 {
		return nil, nil, fmt.Errorf("a group ends early, or %d groups are in each other: %w", mostNested, thrift.ErrDamaged)
	}
	e, list := list[0], list[1:]
	for range e.children {
		child, rest, err := tree(list, depth-1)
		if err != nil {
			return nil, nil, err
		}
		e.node.Children, list = append(e.node.Children, child), rest
	}
	return e.node, list, nil
}

// count returns the number of nodes in a tree.
func (n *Node) count() int {
	sum := 1
	for _, child := range n.Children {
		sum += child.count()
	}
	return sum
}

// appendTo appends a node and those below it to a list.
func (n *Node) appendTo(t *thrift.Encoder, isRoot bool) {
	t.Element(func() {
		if !n.IsGroup() && !isRoot {
			t.Int32(1, int64(n.Physical))
			if n.Physical == FixedLenByteArray {
				t.Int32(2, int64(n.Length))
			}
		}
		t.Int32(3, int64(n.Repetition))
		t.Binary(4, []byte(n.Name))
		if n.IsGroup() || isRoot {
			t.Int32(5, int64(len(n.Children)))
		}
		if converted := n.Logical.converted(); converted != noConverted {
			t.Int32(6, converted)
		}
		if n.Logical.Kind == Decimal {
			t.Int32(7, int64(n.Logical.Scale))
			t.Int32(8, int64(n.Logical.Precision))
		}
		if n.ID >= 0 {
			t.Int32(9, int64(n.ID))
		}
		if n.Logical.Kind != None {
			t.Object(10, func() { n.Logical.appendTo(t) })
		}
	})
	for _, child := range n.Children {
		child.appendTo(t, false)
	}
}
