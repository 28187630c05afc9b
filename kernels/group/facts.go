package group

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/op"
)

// facts are the input of the choice of strategies. Those that take a pass over the rows, and a wait, are measured
// only if the choice depends on them: first the ranges of keys, then the number of groups (measure).
type facts struct {
	tuning
	limits
	onHost bool
	// rows is the most rows.
	rows int64
	// oneLaunch is set if the kernel of few rows supports the query, constants if all keys are constants.
	oneLaunch, constants bool
	// The query's options. numbered is set if each row keeps its number, asStates for a partial result.
	order              Order
	maxGroups          int64
	numbered, asStates bool
	fixedPointSums     bool
	// masked is set if rows without a group stay, waits if the host may wait for the windows of sums of expressions.
	masked, waits bool
	plan          *plan
	// inputs are those of the plan.
	inputs []inputFacts
	keys   []keyFacts
	// places is the number of combinations of the keys, or 0 if it is not known or too large.
	places uint64
	// groups is the estimated number of groups, if estimated is set.
	groups    uint64
	estimated bool
	// partitions are those that rows can move to by their places, hashes those by the hashes of their key, or nil.
	partitions, hashes *partitionPlan
}

// limits are those of a device.
type limits struct {
	// shared is the bytes of shared memory of a block.
	shared          int
	multiprocessors int
	// budget is the bytes that the manager has left, if there may be partitions by hashes.
	budget uint64
}

// inputFacts are the facts of an input.
type inputFacts struct {
	dataType arrow.DataType
	nullable bool
	// deferred is set if the input has no column yet: the kernel that adds tiles can compute it.
	deferred bool
	// extent is the range of its values, if it has integers.
	extent  extent
	integer bool
}

// keyFacts are the facts of a key.
type keyFacts struct {
	dataType                    arrow.DataType
	constant, integer, nullable bool
	// width is the number of bytes of an integer.
	width int
	// span is the range of an integer. It has no places if it is not known or too large.
	span span
}

// limitsOf returns the limits of the device of a call.
func limitsOf(call *op.Call) (l limits, err error) {
	dev := call.Stream.Device()
	if dev.Kind() == device.Host {
		return l, nil
	}
	l.multiprocessors = max(dev.Info().Multiprocessors, 1)
	l.shared, err = dev.Attribute(backend.MaxSharedMemoryPerBlockOptIn)
	return l, err
}

// sharedBytes returns the bytes of shared memory of a block that tables of places and of groups may have.
func sharedBytes(call *op.Call) (int, error) {
	l, err := limitsOf(call)
	if limit := tuningOf(call.Context()).SharedBytes; limit > 0 {
		l.shared = min(l.shared, limit)
	}
	return l.shared, err
}

// keyFactsOf returns the facts of a column that need no pass over it.
func keyFactsOf(c *column.Column) (k keyFacts, err error) {
	integer, err := integerType(c.Type())
	if err != nil || integer == nil {
		return k, err
	}
	l, err := layout.Of(c.Type())
	return keyFacts{dataType: c.Type(), integer: true, nullable: op.Nullable(c), width: l.Width}, err
}

// placesOf returns the number of combinations of keys, or 0 if it is not known or too large.
func placesOf(keys []keyFacts) uint64 {
	places := uint64(1)
	for _, k := range keys {
		if k.span.places == 0 || k.span.places > mostPartitioned/places {
			return 0
		}
		places *= k.span.places
	}
	return places
}

// hasRanges reports whether ranges of keys are of use: if a GPU may find groups by places. It may also be that all keys
// are constants.
func (f *facts) hasRanges() bool {
	return f.mayHavePlaces() && slices.ContainsFunc(f.keys, func(k keyFacts) bool { return !k.constant })
}

// mayHavePlaces reports whether the aggregates and the order of the result allow places of rows.
func (f *facts) mayHavePlaces() bool {
	return !f.onHost && f.rows > 0 && f.plan.mayHavePlaces(f.numbered, len(f.keys), f.order)
}

// mayHavePlaces reports whether the results of a query with some keys may be those of places instead of numbered groups.
func (p *plan) mayHavePlaces(numbered bool, keys int, order Order) bool {
	return !numbered && keys <= mostDenseKeys && order != FirstAppearance &&
		!slices.ContainsFunc(p.outputs, func(o output) bool { return o.method.readsNumbers() })
}

// mayHash reports whether rows may be in partitions by the hashes of their key: a single integer without nulls, and
// aggregates that partitions compute.
func (f *facts) mayHash() bool {
	return !f.onHost && f.rows > 0 && !f.asStates && !f.numbered && !f.masked && f.maxGroups == 0 && f.order != FirstAppearance &&
		len(f.keys) == 1 && f.keys[0].integer && !f.keys[0].nullable && !f.keys[0].constant &&
		(f.Find == hashesName || f.Find == "" && f.rows >= fewestHashedRows) &&
		!slices.ContainsFunc(f.plan.outputs, func(o output) bool { return !o.hasPartitions() })
}

// needsGroups reports whether the choice depends on the number of groups, and it is not known.
func (f *facts) needsGroups() bool {
	if f.estimated || f.Groups > 0 || !f.mayHash() || f.planHashesOf(2) == nil {
		return false
	}
	return f.Find == hashesName || !f.keys[0].span.short() && choose(f).name == numbersName
}

// valueFacts are the input of the choice of how values of each group are found.
type valueFacts struct {
	tuning
	onHost bool
	// rows and groups are the most rows and groups, limit is the most values of a group.
	rows, groups, limit int
	// plain is set if the values are numbers.
	plain bool
	// bounded is set if the query has MaxGroups, so that the host must not wait.
	bounded bool
}

// textFacts are the input of the choice whether keys of short strings become numbers.
type textFacts struct {
	tuning
	onHost bool
	rows   int64
	// numbered is set if each row keeps its number, bounded if the host must not wait, estimated if nothing runs.
	numbered, bounded, estimated bool
}
