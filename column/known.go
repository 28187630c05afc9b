package column

import "sync/atomic"

// Known holds known properties of a column's values. Its zero value means that
// nothing is known, which is always correct.
type Known struct {
	// Unique reports whether no two elements are equal; at most one is null.
	Unique Answer
}

// Answer is yes, no or unknown.
type Answer uint8

// These are the answers.
const (
	Unknown Answer = iota
	Yes
	No
)

// String returns the answer as a word.
func (a Answer) String() string {
	switch a {
	case Yes:
		return "yes"
	case No:
		return "no"
	}
	return "unknown"
}

// known is the state behind Known, Bounds, TextBounds, DistinctEstimate and Ascending. It may change while other goroutines
// read it.
type known struct {
	unique   atomic.Uint32
	bounds   atomic.Pointer[Bounds]
	texts    atomic.Pointer[TextBounds]
	distinct atomic.Pointer[uint64]
	ascends  atomic.Uint32
}

// Bounds are the least and the greatest value of a column of integers, extended to 64 bits by
// their sign.
type Bounds struct{ Least, Greatest uint64 }

// Bounds returns the bounds of the column's values that are not null, or false if they are
// unknown. Columns do not change, so an operator that has found the bounds does not look for
// them again. Memory that another library owns, or that was exported to one, may change:
// the bounds of a column of such memory are unknown.
func (c *Column) Bounds() (Bounds, bool) {
	if known := c.known.bounds.Load(); known != nil && !c.MayChange() {
		return *known, true
	}
	return Bounds{}, false
}

// BoundedBytes is the number of positions of TextBounds.
const BoundedBytes = 16

// TextBounds are the bounds of a column of strings or of binary values, without the null ones.
type TextBounds struct {
	// Shortest and Longest are lengths in bytes. Shortest is above Longest if all values are null.
	Shortest, Longest int
	// Least and Greatest are the bounds of the bytes of each position, of the values that have it. They are
	// unknown if Longest is above BoundedBytes.
	Least, Greatest [BoundedBytes]byte
}

// TextBounds returns the bounds of a column of strings, or false if they are unknown: see Bounds.
func (c *Column) TextBounds() (TextBounds, bool) {
	if known := c.known.texts.Load(); known != nil && !c.MayChange() {
		return *known, true
	}
	return TextBounds{}, false
}

// LearnTextBounds records the bounds of a column of strings. The caller must have verified them.
// Slices and other columns of the same memory do not learn them.
func (c *Column) LearnTextBounds(b TextBounds) { c.known.texts.Store(&b) }

// DistinctEstimate returns an estimate of the number of different values of the column that are not null, or
// false without an estimate: see Bounds. Operators choose how they work by it, and must be right for any number.
func (c *Column) DistinctEstimate() (uint64, bool) {
	if known := c.known.distinct.Load(); known != nil && !c.MayChange() {
		return *known, true
	}
	return 0, false
}

// LearnDistinctEstimate records an estimate of the number of different values. It should depend on the values
// alone, so that operators choose the same way in every run. Slices and other columns of the same memory do not
// learn it.
func (c *Column) LearnDistinctEstimate(n uint64) { c.known.distinct.Store(&n) }

// Ascending returns whether no element of a column of integers is null or below the one before it: see Bounds.
func (c *Column) Ascending() Answer {
	if known := Answer(c.known.ascends.Load()); known != Unknown && !c.MayChange() {
		return known
	}
	return Unknown
}

// LearnAscending records whether no element of the column is null or below the one before it. The caller must have
// verified it. Slices and other columns of the same memory do not learn it.
func (c *Column) LearnAscending(ascends Answer) { c.known.ascends.Store(uint32(ascends)) }

// MayChange reports whether other libraries may write to the column's values: nothing is known of them.
func (c *Column) MayChange() bool {
	for i := range c.NumBuffers() {
		if block := c.Buffer(i).Block(); block != nil && block.MayChange() {
			return true
		}
	}
	return false
}

// LearnBounds records the bounds of a column of integers. The caller must have verified
// them. Slices and other columns of the same memory do not learn them.
func (c *Column) LearnBounds(b Bounds) { c.known.bounds.Store(&b) }

// Known returns the known properties of the column's values: none of a column that may change.
func (c *Column) Known() Known {
	if unique := Answer(c.known.unique.Load()); unique != Unknown && !c.MayChange() {
		return Known{Unique: unique}
	}
	return Known{}
}

// LearnUnique records whether no two elements of the column are equal. The caller
// must have verified it. Columns that were made of this one before do not learn it,
// unless they share it as their dictionary. Unknown changes nothing.
func (c *Column) LearnUnique(unique Answer) {
	if unique != Unknown {
		c.known.unique.Store(uint32(unique))
	}
}

// DictionaryUnique reports whether no two values of the column's dictionary are
// equal. Then equal codes are equal values, and different codes are different values.
// It returns Unknown for a column without a dictionary.
func (c *Column) DictionaryUnique() Answer {
	if c.data.Dictionary == nil {
		return Unknown
	}
	return c.data.Dictionary.Known().Unique
}

// ofPart returns the properties that hold for any subset of the elements.
func (k Known) ofPart() Known {
	if k.Unique == No {
		k.Unique = Unknown
	}
	return k
}
