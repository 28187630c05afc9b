package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/base/names"
	"github.com/gpuframe/gpuframe/internal/io/source"
)

// Optimize returns a plan with the same result that is expected to take less time. The
// package documentation lists the passes. It ends with the error of the context.
func Optimize(ctx context.Context, n Node) (Node, error) { return OptimizeWithout(ctx, n, nil) }

// Facts are known properties of the values of sources. Its methods may look at the rows; false can also mean that it is not
// known.
type Facts interface {
	// IsUnique reports whether no two rows of a source have equal values in a column, and none is null.
	IsUnique(ctx context.Context, s source.Source, column string) (bool, error)
	// Span returns the number of integers from the least to the greatest value of a column.
	Span(ctx context.Context, s source.Source, column string) (span uint64, ok bool, err error)
}

// OptimizeWithout is [Optimize] without some of the [Passes], to measure what each of them
// is worth. Without facts, which may be nil, no row is read.
func OptimizeWithout(ctx context.Context, n Node, facts Facts, without ...string) (Node, error) {
	for _, name := range without {
		if !slices.Contains(Passes(), name) {
			return nil, fmt.Errorf("plan: optimize: %s: %w", names.Unknown("pass", name, Passes()), device.ErrInvalidValue)
		}
	}
	o := &optimization{ctx: ctx, Analysis: NewAnalysis(), facts: facts}
	for _, p := range passes {
		if slices.Contains(without, p.name) {
			continue
		}
		next, err := p.apply(o, n)
		if err == nil {
			err = sameColumns(n.Schema(), next.Schema())
		}
		if err != nil {
			return nil, fmt.Errorf("plan: optimize: pass %q: %w", p.name, err)
		}
		n = next
	}
	return n, nil
}

// Passes returns the names of the passes of [Optimize] in the order in which they are
// applied.
func Passes() []string {
	list := make([]string, len(passes))
	for i, p := range passes {
		list[i] = p.name
	}
	return list
}

// pass is one step of [Optimize].
type pass struct {
	name  string
	apply func(o *optimization, root Node) (Node, error)
}

// optimization is one call of [Optimize].
type optimization struct {
	*Analysis
	ctx   context.Context
	facts Facts
	// mostCounted is the number of rows of the largest table of which values are counted to find dependent columns.
	mostCounted int64
	// visits is the number of nodes that the passes have looked at.
	visits int
}

// visit counts a node that a pass looks at. It returns the error of the context.
func (o *optimization) visit() error {
	o.visits++
	return cancel.Error(o.ctx)
}

// passes are applied in this order.
var passes = []pass{
	{"simplify", (*optimization).simplify},
	{"push filters", (*optimization).pushFilters},
	{"drop sorts", (*optimization).dropSorts},
	{"order joins", (*optimization).orderJoins},
	{"narrow joins", (*optimization).narrowJoins},
	{"merge sets", (*optimization).mergeSets},
	{"reduce groups", (*optimization).reduceGroups},
	{"drop keys", (*optimization).dropKeys},
	{"join groups", (*optimization).joinGroups},
	{"group early", (*optimization).groupEarly},
	{"share sums", (*optimization).shareSums},
	{"prune columns", (*optimization).pruneColumns},
	{"push limits", (*optimization).pushLimits},
	{"late columns", (*optimization).lateColumns},
	{"fuse filters", (*optimization).fuseFilters},
	{"relax order", (*optimization).relaxOrder},
	{"share readers", (*optimization).shareReaders},
	{"share subplans", (*optimization).shareSubplans},
	{"bound probes", (*optimization).boundProbes},
}

// errColumns is the error of a pass that changed the columns of a result.
var errColumns = errors.New("the columns of the result have changed")

// sameColumns refuses a schema with other names or types than before. Whether a column can
// be null may change.
func sameColumns(before, after *arrow.Schema) error {
	same := slices.EqualFunc(before.Fields(), after.Fields(), func(a, b arrow.Field) bool {
		return a.Name == b.Name && arrow.TypeEqual(a.Type, b.Type)
	})
	if !same {
		return fmt.Errorf("from %v to %v: %w", before, after, errColumns)
	}
	return nil
}
