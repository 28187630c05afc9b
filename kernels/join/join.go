package join

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
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
func (k Kind) keepsLeft() bool  { return k == Left || k == Full }
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

// maxSide is the most rows that a table can have. The largest uint32 stands for no row.
const maxSide = math.MaxUint32 - 1

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

// Tables joins two tables. on are the keys: rows match if all keys are equal. The result
// has the left columns, then the right columns without the right keys that have the name of
// their left key. In a right join such a key column has the values of the right table, in a
// full join those of the row that exists, in a type that has the values of both. Semi and Anti have only the left columns.
//
// Pairs are in the order of the rows of one side, the pairs of each such row in the order of the
// other side's rows: see [Order].
//
// # Waiting
//
// On a GPU Tables waits once for the number of pairs, and with it for whether keys of the
// smaller table occur twice. If they do it waits again, for the number of their pairs. A
// left join whose right keys are known to be unique does not wait. Added to this are one
// wait for each row count that only the device knows, for a condition, and for right rows
// without a match; keys that do not fit 64 bits add those of order.Search. See [github.com/gpuframe/gpuframe/kernels/selection.Take] for the waits of strings and lists.
//
// The number of rows of Semi and Anti stays on the device, unless MaxRows is set.
//
// # Ownership
//
// The caller releases the result. It shares columns of a table, without a copy, if all of
// its rows are in the result once and in order, as in a left join with distinct right keys.
//
// # Errors
//
// A pair of keys that cannot be used is a [*KeyError]. It wraps buffer.ErrSchema for
// unknown names and device.ErrNotSupported for types that cannot be compared. A result
// with too many rows is a [*TooManyRowsError]. A result that does not fit the budget is an
// error that wraps memory.ErrBudget, with the bytes of its columns.
//
// # Estimates
//
// Estimates are upper bounds. The result has at most MaxRows rows. If the keys of one table
// are known to be unique, each row of the other table has at most one match. Joins with a
// condition, with keys of more than 64 bits, or with strings in rows that may match several
// times cannot be estimated.
func Tables(ctx context.Context, left, right *buffer.Buffer, on []On, options Options) (*buffer.Buffer, error) {
	table, err := joinTables(ctx, left, right, on, options)
	if err != nil {
		return nil, fmt.Errorf("join: %w", err)
	}
	return table, nil
}

func joinTables(ctx context.Context, left, right *buffer.Buffer, on []On, options Options) (*buffer.Buffer, error) {
	if options.Estimate != nil {
		return nil, estimateTables(ctx, left, right, on, options)
	}
	r, err := begin(ctx, left, right, on, options)
	if err != nil {
		return nil, err
	}
	probesRight := r.probesRight()
	m, err := r.match(probesRight)
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	table, err := r.tableOf(m, probesRight)
	return release.OnError(table, err, r.close())
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
	case o.Kind != Cross && len(on) == 0:
		return fmt.Errorf("a join of kind %v has no keys, expected one or more: choose Cross for all pairs: %w", o.Kind, device.ErrInvalidValue)
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
