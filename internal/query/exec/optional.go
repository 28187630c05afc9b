package exec

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/query/plan"
)

// Operations that not every program has are known once a verb or an expression that makes their nodes has called
// their Use function. If no part of the program calls a Use function, the linker leaves out its operations and
// their kernels: see RATIONALE.md.

// UseJoins makes [plan.Join] and [Facts] known.
func UseJoins() {
	joins.use(func() map[reflect.Type]operation {
		count := integersOf
		integers.Store(&count)
		return map[reflect.Type]operation{
			reflect.TypeFor[*plan.Join](): {open: opens(newJoining), smallest: sizes.joined, expected: workload.joined},
		}
	})
}

// UseAsOf makes [plan.AsOf] known.
func UseAsOf() {
	asOf.use(func() map[reflect.Type]operation {
		return map[reflect.Type]operation{
			reflect.TypeFor[*plan.AsOf](): {open: opens(newNearest), smallest: sizes.joined, expected: workload.joined},
		}
	})
}

// UseNearestTo makes [plan.NearestTo] known.
func UseNearestTo() {
	nearestTo.use(func() map[reflect.Type]operation {
		return map[reflect.Type]operation{
			reflect.TypeFor[*plan.NearestTo](): {open: opens(newSearching), smallest: needs(sizes.searched), expected: workload.joined},
		}
	})
}

// UseDistinct makes [plan.Distinct] known.
func UseDistinct() {
	distinctRows.use(func() map[reflect.Type]operation {
		return map[reflect.Type]operation{
			reflect.TypeFor[*plan.Distinct](): {
				open: takesAll(distinct), partial: maps(partlyDistinct), smallest: sizes.allRows, expected: workload.groups,
			},
		}
	})
}

// UseExplode makes [plan.Explode] known.
func UseExplode() {
	explodes.use(func() map[reflect.Type]operation {
		return map[reflect.Type]operation{reflect.TypeFor[*plan.Explode](): {open: opens(explode), expected: workload.twoBatches}}
	})
}

// UseDraw makes [plan.Draw] known.
func UseDraw() {
	draws.use(func() map[reflect.Type]operation {
		return map[reflect.Type]operation{reflect.TypeFor[*plan.Draw](): {open: takesAll(draw)}}
	})
}

// UseTop makes a [plan.Sort] with a limit known. Plans of several devices may have others without the verb.
func UseTop() {
	tops.use(func() map[reflect.Type]operation {
		return map[reflect.Type]operation{
			reflect.TypeFor[*plan.Sort](): {
				open: tries(newSorting), partial: opens(newLocalTop), smallest: needs(sizes.sort), leastPartial: needs(sizes.topBytes), expected: workload.sorted,
			},
		}
	})
}

// UseWindows makes functions of [plan.Over] known that depend on the order of the rows, a frame or the
// place of the row.
func UseWindows() {
	if orderedWindows.Load() == nil {
		compute := overOrdered
		orderedWindows.Store(&compute)
	}
}

// optional are operations that few programs have.
type optional struct{ known atomic.Bool }

var joins, asOf, nearestTo, distinctRows, explodes, draws, tops optional

// use makes the operations known, once.
func (o *optional) use(table func() map[reflect.Type]operation) {
	if o.known.Load() {
		return
	}
	optionalMutex.Lock()
	defer optionalMutex.Unlock()
	all := table()
	if earlier := optionalTable.Load(); earlier != nil {
		for t, known := range *earlier {
			all[t] = known
		}
	}
	optionalTable.Store(&all)
	o.known.Store(true)
}

var (
	optionalMutex sync.Mutex
	optionalTable atomic.Pointer[map[reflect.Type]operation]
)

// optionalOperation returns the operation of a type of nodes, if a Use function has made it known.
func optionalOperation(t reflect.Type) (operation, bool) {
	table := optionalTable.Load()
	if table == nil {
		return operation{}, false
	}
	known, ok := (*table)[t]
	return known, ok
}

// orderedWindows computes the functions of windows that [UseWindows] is for.
var orderedWindows atomic.Pointer[func(context.Context, *stage, *plan.Over, *buffer.Buffer) (*buffer.Buffer, error)]

// overOrdered adds functions of windows to each row.
func overOrdered(ctx context.Context, s *stage, n *plan.Over, table *buffer.Buffer) (*buffer.Buffer, error) {
	rows, err := exactRows(ctx, table)
	if err != nil {
		return nil, err
	}
	all, err := s.ordered(ctx, rows, n)
	return release.OnError(all, err, rows.Release())
}

// computeOrdered adds functions of windows that depend on an order, a frame or the place of the row.
func computeOrdered(ctx context.Context, s *stage, n *plan.Over, table *buffer.Buffer) (*buffer.Buffer, error) {
	compute := orderedWindows.Load()
	if compute == nil {
		return nil, fmt.Errorf("%v has no execution, because no verb has made its operations known: %w", n, device.ErrNotSupported)
	}
	return (*compute)(ctx, s, n, table)
}
