package join

import (
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Kind is which pairs of rows, and which rows without a match, are in a result.
type Kind uint8

const (
	// Inner has all pairs of rows that match.
	Inner Kind = iota
	// Left has these pairs, and the left rows without a match.
	Left
	// Right has the pairs, and the right rows without a match.
	Right
	// Full has the pairs, and the rows of both sides without a match.
	Full
	// Semi has the left rows that have a match, each once.
	Semi
	// Anti has the left rows that have no match.
	Anti
	// Cross has all pairs of rows. It takes no keys.
	Cross
)

var kindNames = [...]string{"inner", "left", "right", "full", "semi", "anti", "cross"}

// String names the kind for messages.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// leftOnly reports whether a result has only left rows.
func (k Kind) leftOnly() bool { return k == Semi || k == Anti }

// keepsLeft and keepsRight report whether rows of a side without a match are in a result.
func (k Kind) keepsLeft() bool { return k == Left || k == Full }

func (k Kind) keepsRight() bool { return k == Right || k == Full }

// Order is the order of the rows of a result.
type Order uint8

const (
	// Unspecified is the order that is the fastest: by the rows of the table with more rows,
	// the left one if both have as many. It is the same in every run.
	Unspecified Order = iota
	// LeftOrder orders pairs by the left row, then by the right row. Right rows without a
	// match come last, in order.
	LeftOrder
)

// MaxPairs is the most rows that a result can have.
const MaxPairs = math.MaxInt32

// Options configure [Tables] and [Rows].
type Options struct {
	kernels.Options
	Kind  Kind
	Order Order
	// NullsEqual makes a null key match null keys. Otherwise it matches nothing.
	NullsEqual bool
	// Where is a further condition of a match, an expression on the columns of both
	// tables. Columns of the right table have the names that they have in the result of
	// an inner join with all columns. Two rows match if it is true, not false or null. It
	// decides what matches; it does not filter the result.
	Where expr.Expr
	// Suffix is added to the name of a right column that the left table has too, until no
	// other column of the result has the name. Empty means "_right".
	Suffix string
	// MaxRows is the most rows that the result may have, if it is above zero. More are a
	// [*TooManyRowsError].
	MaxRows int64
	// LeftColumns and RightColumns name the columns of the result. Nil means all.
	LeftColumns, RightColumns []string
}

// check refuses options that are out of range, and keys that the kind does not take.
func (o *Options) check(on []On) error {
	switch {
	case o.Kind > Cross:
		return fmt.Errorf("Kind is %d, expected Inner to Cross: %w", o.Kind, device.ErrInvalidValue)
	case o.Order > LeftOrder:
		return fmt.Errorf("Order is %d, expected Unspecified or LeftOrder: %w", o.Order, device.ErrInvalidValue)
	case o.MaxRows < 0:
		return fmt.Errorf("MaxRows is %d, expected zero or more: %w", o.MaxRows, device.ErrInvalidValue)
	case o.Kind == Cross && len(on) > 0:
		return fmt.Errorf("a cross join has %d keys, expected none: choose Inner: %w", len(on), device.ErrInvalidValue)
	case o.Kind != Cross && len(on) == 0 && (o.Where.IsZero() || o.Kind.keepsRight()):
		return fmt.Errorf("a join of kind %v has no keys, expected one or more, or Inner, Left, Semi or Anti with Where: choose Cross for all pairs: %w", o.Kind, device.ErrInvalidValue)
	case o.Kind.leftOnly() && len(o.RightColumns) > 0:
		return fmt.Errorf("a join of kind %v has RightColumns, but its result has left columns only: %w", o.Kind, device.ErrInvalidValue)
	case o.Estimate != nil:
		return errNoEstimate
	}
	return nil
}

// limit returns the most rows that a result may have.
func (o *Options) limit() int64 {
	if o.MaxRows > 0 {
		return min(o.MaxRows, MaxPairs)
	}
	return MaxPairs
}

// withNulls returns the pairs, and for each pair of times of which the common type does not hold all
// values another one, of whether the keys are null, if nulls are equal: a key that the type does
// not hold is converted to null, and matches no null.
func (o *Options) withNulls(left, right *arrow.Schema, on []On) []On {
	if !o.NullsEqual {
		return on
	}
	pairs := slices.Clip(on)
	for _, pair := range on {
		a, b, err := pair.types(left, right)
		if err != nil {
			continue // the key will be refused
		}
		a, b = decodedType(a), decodedType(b)
		if !exprtree.IsTemporal(a) || !exprtree.IsTemporal(b) {
			continue
		}
		if t, ok := exprtree.CommonTime(a, b); ok && !(exprtree.HoldsTimes(t, a) && exprtree.HoldsTimes(t, b)) {
			pairs = append(pairs, On{LeftExpr: keyExpr(pair.Left, pair.LeftExpr).IsNull(), RightExpr: keyExpr(pair.Right, pair.RightExpr).IsNull()})
		}
	}
	return pairs
}
