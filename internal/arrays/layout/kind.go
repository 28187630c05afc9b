package layout

// Kind is the meaning of a type's buffers and children.
type Kind uint8

// The kinds. Union type ids and union offsets have one and four bytes each.
const (
	unknown Kind = iota
	// Null has no buffers: all elements are null.
	Null
	// Fixed has values of Width bytes each.
	Fixed
	// Bits has values of one bit each.
	Bits
	// Binary has offsets of Width bytes into a buffer of data.
	Binary
	// View has views of Width bytes, and any number of data buffers after them.
	View
	// List has offsets of Width bytes into its child.
	List
	// ListView has offsets and sizes of Width bytes each.
	ListView
	// FixedSizeList has ListSize elements of its child for each list.
	FixedSizeList
	// Struct has a child for each field.
	Struct
	// SparseUnion has type ids; all its children are as long as it is.
	SparseUnion
	// DenseUnion has type ids and offsets into its children.
	DenseUnion
	// Dictionary has indices of Width bytes into its dictionary.
	Dictionary
	// RunEnds has run ends of Width bytes in its first child, values in its second.
	RunEnds
)

// Buffer is the content of one buffer of an array.
type Buffer uint8

// The contents of buffers.
const (
	// Validity is a bitmap with a set bit for each element that is not null.
	Validity Buffer = iota
	// Values are Width bytes for each element.
	Values
	// ValueBits are one bit for each element.
	ValueBits
	// Offsets are Width bytes for each element, and one more at the end.
	Offsets
	// Starts are Width bytes for each element: where its list begins.
	Starts
	// Sizes are Width bytes for each element: how long its list is.
	Sizes
	// Views are Width bytes for each element.
	Views
	// Data are the bytes that offsets or views refer to.
	Data
	// TypeIDs are one byte for each element.
	TypeIDs
	// ChildOffsets are four bytes for each element of a dense union.
	ChildOffsets
	// Indices are Width bytes for each element.
	Indices
)

var bufferNames = [...]string{
	Validity: "validity", Values: "values", ValueBits: "values", Offsets: "offsets", Starts: "offsets", Sizes: "sizes",
	Views: "views", Data: "data", TypeIDs: "type ids", ChildOffsets: "offsets", Indices: "indices",
}

// String names the contents for messages.
func (b Buffer) String() string { return bufferNames[b] }

// buffersOf are the buffers of each kind, in the order of Arrow's format. Data buffers
// of views are not in it, for their number is each array's own.
var buffersOf = [...]struct {
	count   int
	buffers [3]Buffer
}{
	Null:          {},
	Fixed:         {2, [3]Buffer{Validity, Values}},
	Bits:          {2, [3]Buffer{Validity, ValueBits}},
	Binary:        {3, [3]Buffer{Validity, Offsets, Data}},
	View:          {2, [3]Buffer{Validity, Views, Data}},
	List:          {2, [3]Buffer{Validity, Offsets}},
	ListView:      {3, [3]Buffer{Validity, Starts, Sizes}},
	FixedSizeList: {1, [3]Buffer{Validity}},
	Struct:        {1, [3]Buffer{Validity}},
	SparseUnion:   {1, [3]Buffer{TypeIDs}},
	DenseUnion:    {2, [3]Buffer{TypeIDs, ChildOffsets}},
	Dictionary:    {2, [3]Buffer{Validity, Indices}},
	RunEnds:       {},
}
