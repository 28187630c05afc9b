package arrowdev

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/address"
)

// These limits bound the structs that are read, so that a struct that refers to
// itself or has an absurd count cannot keep the parser busy.
const (
	maximumDepth = 64
	maximumNodes = 1 << 20
	// maximumDataBuffers is the largest number of data buffers of one array of views.
	maximumDataBuffers = 1 << 20
)

// parser turns structs into nodes. It reads no memory except the structs.
type parser struct {
	// root is the name of the parsed struct in errors.
	root string
	// count is the number of arrays that were read, buffers the number of claims.
	count, buffers int
	// nodes and claims are slabs that nodes and claims are taken from, which saves an
	// allocation for each.
	nodes  []node
	claims []claim
}

// node is an array that was checked.
type node struct {
	layout   nodeLayout
	dataType arrow.DataType
	// parent and number locate the node: it is child number of parent.
	parser *parser
	parent *node
	number int

	length, offset int
	// nulls is the null count, or column.UnknownNullCount.
	nulls int
	// claims are the buffers of the layout. For views, the data buffers follow.
	claims []claim
	// lengths is the address of the lengths of these data buffers. It is zero if no
	// lengths have to be read.
	lengths    uintptr
	children   []*node
	dictionary *node
}

// dictionaryNumber is the number of a dictionary among its parent's children.
const dictionaryNumber = -1

// claim is a buffer as the struct describes it: bytes bytes from an address on. An
// empty claim has no memory.
type claim struct {
	pointer device.Pointer
	bytes   uint64
	// group is one more than the index of the group that the claim lies in.
	group int
	// region is the memory, once it has been checked.
	region column.Bytes
}

// end returns the number of elements that the buffers hold.
func (n *node) end() int { return n.offset + n.length }

// path names the node's struct for messages.
func (n *node) path() string {
	switch {
	case n.parent == nil:
		return n.parser.root
	case n.number == dictionaryNumber:
		return n.parent.path() + ".dictionary"
	}
	return fmt.Sprintf("%s.children[%d]", n.parent.path(), n.number)
}

func (n *node) bufferPath(i int) string { return fmt.Sprintf("%s.buffers[%d]", n.path(), i) }

// fault makes an error about one of the node's fields.
func (n *node) fault(field, format string, arguments ...any) error {
	return faulty(n.path()+"."+field, format, arguments...)
}

func (p *parser) newNode() *node {
	const together = 24
	if len(p.nodes) == cap(p.nodes) {
		p.nodes = make([]node, 0, together)
	}
	p.nodes = p.nodes[:len(p.nodes)+1]
	return &p.nodes[len(p.nodes)-1]
}

func (p *parser) newClaims(count int) []claim {
	const together = 48
	p.buffers += count
	if count > cap(p.claims)-len(p.claims) {
		p.claims = make([]claim, 0, max(together, count))
	}
	from := len(p.claims)
	p.claims = p.claims[:from+count]
	return p.claims[from : from+count : from+count]
}

// parse checks the structs of an array against a type.
func (p *parser) parse(a *cabi.Array, t arrow.DataType) (*node, error) {
	return p.node(a, t, nil, 0, 0)
}

// parseTable is parse for the root of a table.
func (p *parser) parseTable(a *cabi.Array, schema *arrow.Schema) (*node, error) {
	n := p.newNode()
	*n = node{parser: p, layout: tableLayout(schema)}
	return n, n.read(a, 0)
}

func (p *parser) node(a *cabi.Array, t arrow.DataType, parent *node, number, depth int) (*node, error) {
	n := p.newNode()
	*n = node{dataType: t, parser: p, parent: parent, number: number}
	if p.count++; p.count > maximumNodes || depth > maximumDepth {
		return nil, faulty(n.path(), "more than %d arrays, or nested more than %d deep: %w", maximumNodes, maximumDepth, ErrUnsupported)
	}
	var err error
	if n.layout.Layout, err = layoutOf(t); err != nil {
		return nil, faulty(n.path(), "%w", err)
	}
	return n, n.read(a, depth)
}

// read reads the struct of a node with a known layout.
func (n *node) read(a *cabi.Array, depth int) error {
	if a.Release == 0 {
		return n.fault("release", "%w", ErrMoved)
	}
	if err := n.readCounts(a); err != nil {
		return err
	}
	if err := n.readBuffers(a); err != nil {
		return err
	}
	if err := n.readNulls(a); err != nil {
		return err
	}
	if err := n.readChildren(a, depth); err != nil {
		return err
	}
	return n.readDictionary(a, depth)
}

// readCounts reads the length and the offset.
func (n *node) readCounts(a *cabi.Array) error {
	switch {
	case a.Length < 0 || a.Length > math.MaxInt:
		return n.fault("length", "%d, expected 0 to %d: %w", a.Length, math.MaxInt, ErrInvalid)
	case a.Offset < 0 || a.Offset > math.MaxInt-a.Length:
		return n.fault("offset", "%d with a length of %d: %w", a.Offset, a.Length, ErrInvalid)
	}
	if n.length = int(a.Length); n.length > 0 { // an empty array needs no elements before its offset
		n.offset = int(a.Offset)
	}
	return nil
}

// readBuffers reads the addresses of the buffers. It sets the length of each buffer
// that does not depend on offsets.
func (n *node) readBuffers(a *cabi.Array) error {
	want := int64(n.layout.Buffers())
	views := n.layout.Kind == layout.View
	switch {
	case views && (a.NumBuffers < want+1 || a.NumBuffers > maximumDataBuffers):
		return n.fault("n_buffers", "%d, expected %d for %v, the data buffers, and one buffer for their lengths: %w", a.NumBuffers, want, n.layout, ErrInvalid)
	case !views && a.NumBuffers != want:
		return n.fault("n_buffers", "%d, expected %d for %v: %w", a.NumBuffers, want, n.layout, ErrInvalid)
	case a.NumBuffers == 0:
		return nil
	}
	if err := checkTable(a.Buffers); err != nil {
		return n.fault("buffers", "%w", err)
	}
	addresses := unsafe.Slice((*uintptr)(address.Pointer(a.Buffers)), a.NumBuffers)
	if views {
		n.claims = n.parser.newClaims(len(addresses) - 1)
	} else {
		n.claims = n.parser.newClaims(len(addresses))
	}
	for i := range want {
		b := n.layout.Buffer(int(i))
		bytes, ok := n.layout.Extent(b, n.end())
		if !ok {
			return n.fault("length", "%d elements from %d on of %v exceed the address space: %w", n.length, n.offset, n.layout, ErrInvalid)
		}
		if err := n.claim(int(i), addresses[i], bytes, n.layout.Alignment(b), b == layout.Validity); err != nil {
			return err
		}
	}
	if views {
		return n.readData(addresses)
	}
	return nil
}

// readData records the data buffers of views. Their lengths are in the last buffer,
// which may be in device memory; importer.readLengths reads it.
func (n *node) readData(addresses []uintptr) error {
	first, last := n.layout.Buffers(), len(addresses)-1
	if first == last || n.length == 0 {
		return nil // no view refers to a data buffer
	}
	if err := checkTable(addresses[last]); err != nil {
		return faulty(n.bufferPath(last), "read the address of the lengths of the data buffers: %w", err)
	}
	n.lengths = addresses[last]
	for i := first; i < last; i++ {
		n.claims[i] = claim{pointer: device.Pointer(addresses[i])}
	}
	return nil
}

// claim records buffer i, of the given number of bytes.
func (n *node) claim(i int, at uintptr, bytes uint64, alignment int, optional bool) error {
	n.claims[i] = claim{pointer: device.Pointer(at)}
	if optional && at == 0 {
		return nil
	}
	return n.claimBytes(i, bytes, alignment)
}

// claimBytes gives buffer i its length.
func (n *node) claimBytes(i int, bytes uint64, alignment int) error {
	at := n.claims[i].pointer
	switch {
	case bytes == 0:
		return nil
	case at == 0:
		return faulty(n.bufferPath(i), "NULL, but %d elements from %d on of %v take %d bytes: %w", n.length, n.offset, n.layout, bytes, ErrInvalid)
	case at.Add(bytes) < at:
		return faulty(n.bufferPath(i), "%d bytes from %v on exceed the address space: %w", bytes, at, ErrInvalid)
	case uint64(at)%uint64(alignment) != 0:
		return faulty(n.bufferPath(i), "%v is not aligned to elements of %v, expected a multiple of %d: copy the buffer to an aligned address: %w", at, n.layout, alignment, ErrInvalid)
	}
	n.claims[i].bytes = bytes
	return nil
}

// readNulls reads the null count. A bitmap of an array without nulls is not read.
func (n *node) readNulls(a *cabi.Array) error {
	if a.NullCount < column.UnknownNullCount || a.NullCount > a.Length {
		return n.fault("null_count", "%d, expected -1 to the length %d: %w", a.NullCount, a.Length, ErrInvalid)
	}
	n.nulls = int(a.NullCount)
	switch {
	case n.layout.Kind == layout.Null:
		n.nulls = n.length
	case !n.layout.HasValidity():
		if n.nulls > 0 {
			return n.fault("null_count", "%d, but %v has no validity bitmap and so no nulls: %w", n.nulls, n.layout, ErrInvalid)
		}
		n.nulls = 0
	case n.nulls == 0:
		n.claims[0] = claim{}
	case n.claims[0].bytes == 0:
		if n.nulls > 0 {
			return faulty(n.bufferPath(0), "NULL, but null_count is %d: %w", n.nulls, ErrInvalid)
		}
		n.nulls = 0
	}
	return nil
}

// checkTable checks that an address may be that of an array of words.
func checkTable(at uintptr) error {
	if at == 0 {
		return fmt.Errorf("NULL, expected an address: %w", ErrInvalid)
	}
	if at%wordBytes != 0 {
		return fmt.Errorf("%#x is not aligned to %d bytes: %w", at, wordBytes, ErrInvalid)
	}
	return nil
}
