package exec

import (
	"reflect"
	"sync"

	"github.com/gpuframe/gpuframe/internal/query/plan"
)

// operations has everything that the package knows of each type of node, except those of optional.go. It is made at the first call, because readers
// open others by it.
func operations() map[reflect.Type]operation {
	operationsOnce.Do(func() { operationTable = newOperations() })
	return operationTable
}

var (
	operationsOnce sync.Once
	operationTable map[reflect.Type]operation
)

func newOperations() map[reflect.Type]operation {
	return map[reflect.Type]operation{
		reflect.TypeFor[*plan.Scan]():     {open: openScan, streams: true, smallest: sizes.twoResults, expected: workload.twoBatches},
		reflect.TypeFor[*plan.Nothing]():  {open: opens(newNothing)},
		reflect.TypeFor[*plan.Filter]():   {open: opens(newFiltering), streams: true, keepsFew: true, smallest: sizes.resultAndHalf, expected: workload.twoBatches},
		reflect.TypeFor[*plan.Project]():  {open: maps(project), streams: true, smallest: sizes.resultAndHalf, expected: workload.twoBatches},
		reflect.TypeFor[*plan.Position](): {open: maps(position)},
		reflect.TypeFor[*plan.Require]():  {open: maps(requiring)},
		reflect.TypeFor[*plan.Number]():   {open: opens(newNumbering)},
		reflect.TypeFor[*plan.Fetch]():    {open: openFetch, smallest: sizes.resultAndHalf},
		reflect.TypeFor[*plan.Cache]():    {open: opens(newCaching), opensInputs: true, smallest: sizes.twoResults},
		reflect.TypeFor[*plan.Call]():     {open: opens(call), smallest: sizes.resultAndHalf, expected: workload.twoBatches},
		reflect.TypeFor[*plan.Slice]():    {open: tries(newSlice), partial: tries(newPartialSlice), smallest: needs(sizes.slice)},
		reflect.TypeFor[*plan.Union]():    {open: openUnion, opensInputs: true},
		reflect.TypeFor[*plan.Aggregate](): {
			open: tries(newGroups), partial: tries(newPartialGroups), smallest: sizes.groups, expected: workload.groups,
		},
		reflect.TypeFor[*plan.Partial](): {open: openPartial, smallest: needs(sizes.partial)},
		reflect.TypeFor[*plan.Merge]():   {open: tries(newMerging), smallest: needs(sizes.merge), expected: workload.groups},
		reflect.TypeFor[*plan.GroupSets](): {
			open: opens(newGroupSets), smallest: needs(sizes.groupSets), expected: workload.groupSets,
		},
		reflect.TypeFor[*plan.Over]():     {open: opens(newPartitioning), smallest: needs(sizes.windows), expected: workload.sorted},
		reflect.TypeFor[*plan.Sort]():     {open: tries(newWholeSort), smallest: needs(sizes.sort), expected: workload.sorted},
		reflect.TypeFor[*plan.Exchange](): {open: openExchange, opensInputs: true, smallest: needs(sizes.moved)},
	}
}
