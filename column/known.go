package column

import "sync/atomic"

// Known is what is known of a column's values besides the type. Its zero value says
// nothing, which is always right.
type Known struct {
	// Unique says that no two elements are equal; at most one is null.
	Unique Answer
}

// Answer is yes, no or unknown.
type Answer uint8

// The answers.
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

// known is what is known of a column. It is learned while others read it.
type known struct{ unique atomic.Uint32 }

// Known returns what is known of the column's values.
func (c *Column) Known() Known { return Known{Unique: Answer(c.known.unique.Load())} }

// LearnUnique tells the column whether no two of its elements are equal, for a caller
// who has found out. Columns that were made of this one before do not learn it, unless
// they share it as their dictionary. Unknown changes nothing.
func (c *Column) LearnUnique(unique Answer) {
	if unique != Unknown {
		c.known.unique.Store(uint32(unique))
	}
}

// DictionaryUnique reports whether no two values of the column's dictionary are equal,
// so that equal codes are equal values and different codes different ones. It is
// Unknown for a column without a dictionary.
func (c *Column) DictionaryUnique() Answer {
	if c.data.Dictionary == nil {
		return Unknown
	}
	return c.data.Dictionary.Known().Unique
}

// ofPart returns what is known of some of the elements.
func (k Known) ofPart() Known {
	if k.Unique == No {
		k.Unique = Unknown
	}
	return k
}
