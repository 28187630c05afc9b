package memory

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// Errors to test for with errors.Is, in addition to those of package device.
var (
	// ErrBudget: the request does not fit the budget. The error is a
	// [*BudgetError].
	ErrBudget = errors.New("memory budget exceeded")
	// ErrReleased: the block was already released, or is nil.
	ErrReleased = errors.New("block already released")
	// ErrOverflow: a size exceeds the address space.
	ErrOverflow = resource.ErrOverflow
	// ErrView: a view was retained or released. Views hold no reference; [Slice.Own]
	// makes a slice that holds one.
	ErrView = errors.New("the slice is a view, which holds no reference")
	// ErrRange: an offset or a length lies outside the memory it refers to.
	ErrRange = errors.New("out of range")
	// ErrReadOnly: the memory's owner forbids writing.
	ErrReadOnly = errors.New("memory is read-only")
	// ErrLeak: blocks were still referenced when their manager was closed. The error is
	// a [*LeakError].
	ErrLeak = errors.New("memory not released")
	// ErrClosed: the manager or resource is closed.
	ErrClosed = device.ErrClosed
)

// BudgetError explains why a request did not fit a budget. errors.Is matches it with
// [ErrBudget].
type BudgetError struct {
	// Asked is the size of the request, InUse the memory in use, SetAside the memory
	// promised to reservations and to requests in progress, and Budget the limit, all
	// in bytes.
	Asked, InUse, SetAside, Budget uint64
	// Manager is the name of the manager that lacks room: the one that got the request,
	// or one above it. Kind is how that manager got its budget.
	Manager string
	Kind    BudgetKind
	// Waiting is the number of requests that wait for memory there and come first.
	Waiting int
	// Tag is the tag of the request.
	Tag string
	// Largest are the tags that hold most, the largest first, five at most.
	Largest []TagStats
}

// Error reports the request, the memory in use, the tags that use most of it, and a
// remedy.
func (e *BudgetError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "memory: allocate %s", humanize.IBytes(e.Asked))
	if e.Tag != "" {
		fmt.Fprintf(&b, " for %q", e.Tag)
	}
	fmt.Fprintf(&b, ": %v", ErrBudget)
	if e.Manager != "" {
		fmt.Fprintf(&b, " of %q", e.Manager)
	}
	fmt.Fprintf(&b, ": %s of %s in use", humanize.IBytes(e.InUse), humanize.IBytes(e.Budget))
	writeHolders(&b, e.Largest)
	if e.SetAside > 0 {
		fmt.Fprintf(&b, "; %s set aside", humanize.IBytes(e.SetAside))
	}
	if e.Waiting > 0 {
		fmt.Fprintf(&b, "; %d requests wait ahead", e.Waiting)
	}
	b.WriteString("; " + e.remedy())
	return b.String()
}

// remedy returns the action that would allow the request.
func (e *BudgetError) remedy() string {
	switch {
	case e.Asked <= e.Budget-min(e.Budget, e.InUse+e.SetAside) && e.Waiting > 0:
		return "wait behind them with Manager.AllocateContext"
	case e.Kind == ChildBudget:
		return fmt.Sprintf("release some, or raise the budget of %q with Manager.SetBudget", e.Manager)
	case e.Kind == ReservationBudget:
		return "release some, or pass more bytes to Manager.Reserve"
	}
	return "release some, raise Options.Budget, or call Manager.SetBudget"
}

// BudgetKind is how a manager got its budget.
type BudgetKind uint8

const (
	// TopBudget is the budget of a manager without a parent: Options.Budget.
	TopBudget BudgetKind = iota
	// ChildBudget was given to [Manager.Child].
	ChildBudget
	// ReservationBudget was given to [Manager.Reserve] or [Manager.ReserveWait].
	ReservationBudget
)

// Is reports whether target is [ErrBudget].
func (e *BudgetError) Is(target error) bool { return target == ErrBudget }

func writeHolders(b *strings.Builder, largest []TagStats) {
	for i, tag := range largest {
		separator := ", "
		if i == 0 {
			separator = " by "
		}
		fmt.Fprintf(b, "%s%s", separator, tag)
	}
}

// AllocationError explains why a resource had no memory for a request that fitted the
// budget. It wraps the resource's error.
type AllocationError struct {
	// Asked is the size of the request, InUse and Peak are those of the topmost
	// manager, all in bytes.
	Asked, InUse, Peak uint64
	// Device and Tag are the device and the tag of the request.
	Device, Tag string
	// Largest are the tags that hold most, the largest first, five at most.
	Largest []TagStats
	// Err is the resource's error.
	Err error
}

// Error reports the request, the memory in use, the tags that use most of it, and the
// reason.
func (e *AllocationError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "memory: allocate %s on %s", humanize.IBytes(e.Asked), e.Device)
	if e.Tag != "" {
		fmt.Fprintf(&b, " for %q", e.Tag)
	}
	fmt.Fprintf(&b, ": %s in use", humanize.IBytes(e.InUse))
	writeHolders(&b, e.Largest)
	fmt.Fprintf(&b, ", peak %s: %v", humanize.IBytes(e.Peak), e.Err)
	return b.String()
}

// Unwrap returns the resource's error.
func (e *AllocationError) Unwrap() error { return e.Err }

// LeakError reports the blocks that were still referenced when a manager was closed.
// errors.Is matches it with [ErrLeak].
type LeakError struct {
	// Manager is the name of the manager.
	Manager string
	// Blocks and Bytes count the manager's own memory that was not released.
	Blocks, Bytes uint64
	// ExternalBlocks counts adopted memory that was not released.
	ExternalBlocks uint64
	// DoubleReleases counts Release calls on blocks that were already released.
	DoubleReleases uint64
	// Tags are the tags that hold the memory, the largest first.
	Tags []TagStats
	// Sites are the call stacks that allocated the memory. They are known only with
	// Options.TrackAllocations.
	Sites []string
}

// Error reports the amounts, the tags and, if known, the call stacks.
func (e *LeakError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "memory: close manager: %v: %d blocks of %s", ErrLeak, e.Blocks, humanize.IBytes(e.Bytes))
	if e.ExternalBlocks > 0 {
		fmt.Fprintf(&b, ", %d adopted blocks", e.ExternalBlocks)
	}
	if e.DoubleReleases > 0 {
		fmt.Fprintf(&b, ", %d releases too many", e.DoubleReleases)
	}
	for _, tag := range e.Tags {
		fmt.Fprintf(&b, "; %s", tag)
	}
	if len(e.Sites) == 0 {
		b.WriteString("; set Options.TrackAllocations to learn where they were allocated")
	}
	for _, site := range e.Sites {
		fmt.Fprintf(&b, "\nallocated at\n%s", site)
	}
	return b.String()
}

// Is reports whether target is [ErrLeak].
func (e *LeakError) Is(target error) bool { return target == ErrLeak }
