package column

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/memory"
)

// These are the conditions of row counts to test for with errors.Is.
var (
	// ErrRows reports a number of rows that is negative, exceeds the capacity,
	// differs from another one, or is unknown to the host.
	ErrRows = errors.New("bad row count")
	// ErrRowsOnDevice wraps ErrRows: the operation needs the number of rows on the
	// host, and only the device has it. NumRows fetches it.
	ErrRowsOnDevice = fmt.Errorf("only the device knows the number of rows: call NumRows first: %w", ErrRows)
)

const unknownRows = -1

// RowCount is a number of rows in device memory. An operator writes it there if the
// size of its output depends on data, and the next operator reads it without a
// synchronization. All columns of a table, and the table itself, share one RowCount:
// it is fetched once, and then known to all of them.
//
// A RowCount is reference-counted, like blocks, and is safe for concurrent use. The
// number in device memory must not change after [RowCount.Fetch].
type RowCount struct {
	references atomic.Int64
	capacity   int64
	device     memory.Slice[int64]
	// host is the number of rows, or unknownRows until it has been fetched.
	host atomic.Int64

	// A derived count is add + times × parent. It counts the elements of a child, and
	// its number is not in device memory.
	parent     *RowCount
	add, times int64
}

// NewRowCount returns the count that one int64 in device memory holds. The capacity
// is the maximum number of rows: the length of the columns that will carry the count.
// The count retains the memory. The caller keeps its own reference, and releases the
// count.
func NewRowCount(device memory.Slice[int64], capacity int64) (*RowCount, error) {
	if device.Block() == nil || device.Len() != 1 {
		return nil, fmt.Errorf("column: new row count: the device memory has %d elements, expected one: %w", device.Len(), ErrRows)
	}
	if capacity < 0 {
		return nil, fmt.Errorf("column: new row count: the capacity is %d, expected zero or more: %w", capacity, ErrRows)
	}
	if err := device.Block().Retain(); err != nil {
		return nil, fmt.Errorf("column: new row count: %w", err)
	}
	r := &RowCount{capacity: capacity, device: device.View()}
	r.references.Store(1)
	r.host.Store(unknownRows)
	return r, nil
}

// ofChild returns the count of a child's elements: (offset + r) × size, for a child
// with size elements for each of its parent's and a parent that begins at an offset.
// The caller releases it.
func (r *RowCount) ofChild(offset, size int64) (*RowCount, error) {
	capacity, ok := affine(offset, size, r.capacity)
	if !ok {
		return nil, fmt.Errorf("%d rows of %d elements: %w", r.capacity, size, memory.ErrOverflow)
	}
	add, times, root := r.chain()
	return root.derive((add+offset)*size, times*size, capacity)
}

// derive returns the count add + times × r. Its maximum is the capacity.
func (r *RowCount) derive(add, times, capacity int64) (*RowCount, error) {
	if err := r.Retain(); err != nil {
		return nil, err
	}
	if add == 0 && times == 1 {
		return r, nil
	}
	d := &RowCount{capacity: capacity, parent: r, add: add, times: times}
	d.references.Store(1)
	return d, nil
}

// affine returns (offset + rows) × size, if it is an int64. No argument may be
// negative.
func affine(offset, size, rows int64) (elements int64, ok bool) {
	if rows > math.MaxInt64-offset {
		return 0, false
	}
	high, low := bits.Mul64(uint64(offset+rows), uint64(size))
	return int64(low), high == 0 && low <= math.MaxInt64
}

// Capacity returns the maximum number of rows.
func (r *RowCount) Capacity() int64 { return r.capacity }

// Device returns the count in device memory, borrowed. It is empty for the count of a
// child that is computed from its parent's count: of fixed-size lists, and of structs
// that begin at an offset. Fetch works for these too.
func (r *RowCount) Device() memory.Slice[int64] { return r.device }

// Host returns the number of rows if the host knows it already.
func (r *RowCount) Host() (rows int64, known bool) {
	if r.parent != nil {
		rows, known = r.parent.Host()
		return r.add + r.times*rows, known // at most the capacity, which is an int64
	}
	rows = r.host.Load()
	return rows, rows != unknownRows
}

// Fetch returns the number of rows.
//
// # Waiting
//
// The first call waits for the work on the count and copies it to the host. Later
// calls return the cached number.
//
// # Errors
//
// A count that is negative or exceeds the capacity gives an error that wraps
// [ErrRows], and the next call fetches it again.
func (r *RowCount) Fetch(ctx context.Context) (int64, error) {
	if rows, known := r.Host(); known {
		return rows, nil
	}
	if r.parent != nil {
		if _, err := r.parent.Fetch(ctx); err != nil {
			return 0, err
		}
		rows, _ := r.Host()
		return rows, nil
	}
	var count [1]int64
	block := r.device.Block()
	stream := block.WorkStream()
	if err := block.OrderBefore(stream); err != nil {
		return 0, fmt.Errorf("column: fetch the row count: %w", err)
	}
	if err := r.device.Download(ctx, stream, count[:]); err != nil {
		return 0, fmt.Errorf("column: fetch the row count: %w", err)
	}
	if err := r.Learn(count[0]); err != nil {
		return 0, err
	}
	return count[0], nil
}

// Learn sets the number of rows, if the caller has fetched it together with other
// data. A number that is negative, exceeds the capacity, or differs from the known
// one gives an error that wraps [ErrRows]. For counts that are computed from a
// parent's, Learn does nothing.
func (r *RowCount) Learn(rows int64) error {
	if rows < 0 || rows > r.capacity {
		return fmt.Errorf("column: the row count on the device is %d, expected 0 to %d: %w", rows, r.capacity, ErrRows)
	}
	known, ok := r.Host()
	if ok && known != rows {
		return fmt.Errorf("column: learn a row count of %d: the known count is %d: %w", rows, known, ErrRows)
	}
	if r.parent == nil {
		r.host.Store(rows)
	}
	return nil
}

// Same reports whether two counts are equal: the same number in device memory, or two
// equal numbers that the host knows.
func (r *RowCount) Same(other *RowCount) bool {
	if r == other {
		return true
	}
	if r == nil || other == nil {
		return false
	}
	a, aKnown := r.Host()
	b, bKnown := other.Host()
	if aKnown && bKnown {
		return a == b
	}
	a, aTimes, aRoot := r.chain()
	b, bTimes, bRoot := other.chain()
	return a == b && aTimes == bTimes && (aRoot == bRoot || aRoot.IsAt(bRoot.device))
}

// IsAt reports whether the count is the number at a place in device memory.
func (r *RowCount) IsAt(device memory.Slice[int64]) bool {
	return r.device.Block() != nil && r.device.Block() == device.Block() && r.device.Offset() == device.Offset()
}

// Manager returns the manager of the device memory.
func (r *RowCount) Manager() *memory.Manager {
	_, _, root := r.chain()
	return root.device.Block().Manager()
}

// chain returns the count as add + times × root.
func (r *RowCount) chain() (add, times int64, root *RowCount) {
	if r.parent != nil {
		return r.add, r.times, r.parent
	}
	return 0, 1, r
}

// String formats the count for messages.
func (r *RowCount) String() string {
	if r == nil {
		return "nil row count"
	}
	if rows, known := r.Host(); known {
		return fmt.Sprint(rows)
	}
	return fmt.Sprintf("at most %d", r.capacity)
}

// Retain adds a reference.
func (r *RowCount) Retain() error {
	for r != nil {
		count := r.references.Load()
		if count <= 0 {
			break
		}
		if r.references.CompareAndSwap(count, count+1) {
			return nil
		}
	}
	return fmt.Errorf("column: retain row count: %w", memory.ErrReleased)
}

// Release drops a reference. The last one releases the device memory. Release of a
// nil count does nothing. One release too many is an error that wraps
// memory.ErrReleased.
func (r *RowCount) Release() error {
	if r == nil {
		return nil
	}
	for {
		count := r.references.Load()
		if count <= 0 {
			return fmt.Errorf("column: release row count: %w", memory.ErrReleased)
		}
		if !r.references.CompareAndSwap(count, count-1) {
			continue
		}
		if count > 1 {
			return nil
		}
		if r.parent != nil {
			return r.parent.Release()
		}
		return r.device.Block().Release()
	}
}
