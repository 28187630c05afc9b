package bind

import (
	"fmt"
	"slices"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// GroupingSets are groupings by parts of the keys: the numbers of the keys of each. Nil is one grouping by all keys.
type GroupingSets [][]int

// MostSets is the limit of the sets of a grouping, MostMembers that of all keys of all sets: each set has a column for
// each key. Plans of 20,000 keys took six seconds.
const MostSets, MostMembers = 256, 4096

// Rollup returns the sets of the first n of some parts, for each n, the largest one first.
func Rollup(parts ...[]int) (sets GroupingSets) {
	for n := len(parts); n >= 0; n-- {
		sets = append(sets, append([]int{}, slices.Concat(parts[:n]...)...))
	}
	return sets
}

// Cube returns all subsets of some parts, of which at most 1<<len(parts) = [MostSets] are possible, the largest one
// first. It returns nil if there are more.
func Cube(parts ...[]int) (sets GroupingSets) {
	if len(parts) > 8 {
		return nil
	}
	for mask := 1<<len(parts) - 1; mask >= 0; mask-- {
		set := []int{}
		for i, part := range parts {
			if mask&(1<<i) != 0 {
				set = append(set, part...)
			}
		}
		sets = append(sets, set)
	}
	return sets
}

// Check refuses more sets than a plan may have.
func (s GroupingSets) Check(keys int) error {
	if len(s) > MostSets {
		return fmt.Errorf("there are %d grouping sets, expected at most %d: %w", len(s), MostSets, device.ErrInvalidValue)
	}
	if len(s)*keys > MostMembers {
		return fmt.Errorf("there are %d grouping sets of %d keys, expected at most %d keys in all: group by fewer keys, or by expressions of them: %w", len(s), keys, MostMembers, device.ErrInvalidValue)
	}
	return nil
}

// groupingID is the function of the keys that a set lacks.
const groupingID = "grouping_id"

// setGrouping is a grouping by each of several sets of keys, whose rows follow each other.
type setGrouping struct {
	*binder
	input      plan.Node
	keys       []expr.Expr
	sets       GroupingSets
	aggregates []RowsFunction
	// ids are the columns of grouping_id, with the numbers of the keys of their bits.
	ids     []string
	ofBits  [][]int
	options plan.GroupOptions
}

// addID adds a column of grouping_id. It reports arguments that are no keys.
func (g *setGrouping) addID(f *dividedFunction) bool {
	if !f.Aggregation.Where.IsZero() {
		g.report(fmt.Errorf("grouping_id has no rows: leave out Where: %w", device.ErrInvalidValue))
		return false
	}
	bits := make([]int, len(f.Aggregation.Values))
	for i, v := range f.Aggregation.Values {
		if bits[i] = g.keyOf(v); bits[i] < 0 {
			g.reportUnless(fmt.Errorf("grouping_id of %s, which is no key of the groups: %w", plan.Readable(v.String()), device.ErrInvalidValue), v.Columns())
			return false
		}
	}
	if len(bits) == 0 {
		bits = keyNumbers(len(g.keys))
	}
	if len(bits) > 63 {
		g.report(fmt.Errorf("grouping_id has %d keys, expected at most 63: %w", len(bits), device.ErrInvalidValue))
		return false
	}
	g.ids, g.ofBits = append(g.ids, f.Aggregation.Name), append(g.ofBits, bits)
	return true
}

// keyOf returns the number of the key with the name of a column, or of the key that is the same expression, or -1.
func (g *setGrouping) keyOf(v expr.Expr) int {
	if name, isColumn := v.Column(); isColumn {
		if number := slices.IndexFunc(g.keys, func(k expr.Expr) bool { return k.Name() == name }); number >= 0 {
			return number
		}
	}
	return slices.IndexFunc(g.keys, func(k expr.Expr) bool { return plan.Unnamed(v).Same(plan.Unnamed(k)) })
}

func keyNumbers(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}

// node returns the groups of all sets.
func (g *setGrouping) node() (plan.Node, error) {
	if g.sets == nil {
		return g.groupsOf(keyNumbers(len(g.keys)))
	}
	parts := make([]plan.Node, len(g.sets))
	for i, set := range g.sets {
		var err error
		if parts[i], err = g.groupsOf(set); err != nil {
			return nil, err
		}
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return node(plan.NewUnion(parts...))
}

// groupsOf returns the groups of a set of keys. The other keys are null.
func (g *setGrouping) groupsOf(set []int) (plan.Node, error) {
	var keys, columns []expr.Expr
	aggregates := slices.Clone(g.aggregates)
	for i, k := range g.keys {
		if slices.Contains(set, i) {
			keys, columns = append(keys, k), append(columns, expr.Col(k.Name()))
			continue
		}
		t, _, err := k.Type(g.input.Schema())
		if err != nil {
			return nil, err
		}
		null := expr.LitOf(t, nil)
		if _, _, err := null.Type(g.input.Schema()); err != nil { // no literal has the type: the first value of no rows
			absent := plan.Aggregation{Function: "first", Values: []expr.Expr{k}, Where: expr.Lit(false), Name: plan.Computed("null " + k.Name())}
			aggregates, null = append(aggregates, RowsFunction{Aggregation: absent}), expr.Col(absent.Name)
		}
		columns = append(columns, null.As(k.Name()))
	}
	if len(keys)+len(aggregates) == 0 {
		aggregates = []RowsFunction{{Aggregation: plan.Aggregation{Function: "count", Name: plan.Computed("rows of the group")}}}
	}
	grouped, err := groups(g.input, keys, aggregates, g.options)
	if err != nil || len(keys) == len(g.keys) && len(g.ids) == 0 {
		return grouped, err
	}
	for _, a := range g.aggregates {
		columns = append(columns, expr.Col(a.Aggregation.Name))
	}
	for i, name := range g.ids {
		columns = append(columns, expr.Lit(lacking(set, g.ofBits[i])).As(name))
	}
	return node(plan.NewProject(grouped, columns...))
}

// lacking returns a bit for each of some keys, the first one the highest, which is 1 if a set lacks the key.
func lacking(set, keys []int) (bits int64) {
	for _, k := range keys {
		bits *= 2
		if !slices.Contains(set, k) {
			bits++
		}
	}
	return bits
}
