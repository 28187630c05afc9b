package plan_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/kernels/join"
)

// TestJoinGroups has a table of persons with unique numbers id_p, and one of towns with unique numbers id_t: qty_p is the
// town of a person.
func TestJoinGroups(t *testing.T) {
	b := builder{t}
	all, persons, towns := table(t, ""), ofRows(t, "_p", 900), ofRows(t, "_t", 10)
	known := &facts{unique: []string{"id_p", "id_t"}, spans: map[string]uint64{"id": 900, "qty": 1000, "id_p": 900, "qty_p": 30}}
	optimized := func(n plan.Node, known plan.Facts) ([]string, error) {
		others := slices.DeleteFunc(plan.Passes(), func(name string) bool { return name == "join groups" })
		root, err := plan.OptimizeWithout(t.Context(), n, known, others...)
		if err != nil {
			return nil, err
		}
		return lines(root), nil
	}
	col := expr.Col
	aggregation := func(function, column string) plan.Aggregation {
		return plan.Aggregation{Function: function, Values: []expr.Expr{col(column)}, Name: function}
	}
	joined := func(left, right plan.Node, l, r string) plan.Node {
		return b.join(left, right, plan.JoinOptions{Kind: join.Inner, Keys: []plan.JoinKey{{Left: col(l), Right: col(r)}}})
	}
	by := func(n plan.Node, list ...string) plan.Node {
		keys := make([]expr.Expr, len(list))
		for i, name := range list {
			keys[i] = col(name)
		}
		return b.aggregate(n, keys, aggregation("sum", "price"))
	}
	inner := joined(all, persons, "id", "id_p")
	twice := joined(inner, towns, "qty_p", "id_t")
	for name, c := range map[string]struct {
		plan plan.Node
		want string
	}{
		"key of the table":  {by(inner, "id_p", "city_p"), "select id_p = `later key 0`, city_p = `later key 1`, sum = `later value 0`\n inner join on `joined key` = `table key` in any order\n  group by joined key = id: later value 0 = sum(price)\n   scan 0 records\n  select table key = id_p, later key 0 = id_p, later key 1 = city_p\n   scan 0 records"},
		"key of the rows":   {by(inner, "city_p", "id", "flag"), "select city_p = `later key 0`, id = `later key 1`, flag = `later key 2`, sum = `later value 0`\n inner join on `later key 1` = `table key` in any order\n  group by later key 1 = id, later key 2 = flag: later value 0 = sum(price)\n   scan 0 records\n  select table key = id_p, later key 0 = city_p\n   scan 0 records"},
		"table on the left": {by(joined(persons, ofRows(t, "", 1000), "id_p", "id"), "id", "city_p"), "select id = `later key 0`, city_p = `later key 1`, sum = `later value 0`\n inner join on `later key 0` = `table key` in any order\n  group by later key 0 = id: later value 0 = sum(price)\n   scan 0 records\n  select table key = id_p, later key 1 = city_p\n   scan 0 records"},
		"a projection":      {by(b.project(inner, col("id"), col("city_p"), col("price")), "id", "city_p"), "select id = `later key 0`, city_p = `later key 1`, sum = `later value 0`\n inner join on `later key 0` = `table key` in any order\n  group by later key 0 = id: later value 0 = sum(price)\n   scan 0 records\n  select table key = id_p, later key 1 = city_p\n   scan 0 records"},
		"a town of a person": {by(twice, "id_p", "city_p", "city_t"), "select id_p = `later key 0`, city_p = `later key 1`, city_t = `later key 2`, sum = `later value 0`\n" +
			" inner join on `joined key` = `table key` in any order\n  select `later key 0`, `later key 1`, joined key = `later key 2`, `later value 0`\n   inner join on `joined key` = `table key` in any order\n" +
			"    group by joined key = id: later value 0 = sum(`later value 0`) = sum(price)\n"},
	} {
		got, err := optimized(c.plan, known)
		require.NoError(t, err)
		if name == "a town of a person" {
			text := strings.Join(got, "\n")
			require.Contains(t, text, "group by joined key = id: ", text)
			require.Equal(t, 2, strings.Count(text, "inner join"), text)
			require.Less(t, strings.LastIndex(text, "inner join"), strings.Index(text, "group by"), text)
			continue
		}
		require.Equal(t, c.want, strings.Join(got, "\n"), name)
	}
	filtered := joined(all, b.filter(persons, col("qty_p").Gt(expr.Lit(3))), "id", "id_p")
	ordered, err := plan.NewAggregate(inner, []expr.Expr{col("id"), col("city_p")}, []plan.Aggregation{aggregation("max", "price")}, plan.GroupOptions{Order: group.FirstAppearance})
	b.node(ordered, err)
	withoutNulls, err := plan.NewAggregate(inner, []expr.Expr{col("id"), col("city_p")}, []plan.Aggregation{aggregation("max", "price")}, plan.GroupOptions{DropNulls: true})
	b.node(withoutNulls, err)
	left := b.join(all, persons, plan.JoinOptions{Kind: join.Left, Keys: []plan.JoinKey{{Left: col("id"), Right: col("id_p")}}})
	for name, n := range map[string]plan.Node{
		"only the key": by(inner, "id_p"), "not determined": by(inner, "city_p"), "not unique": by(joined(all, persons, "qty", "qty_p"), "qty", "city_p"),
		"a filter": by(filtered, "id", "city_p"), "in order": ordered, "without nulls": withoutNulls, "left": by(left, "id", "city_p"),
		"first row":         b.aggregate(inner, []expr.Expr{col("id"), col("city_p")}, aggregation("first", "price")),
		"reads the table":   b.aggregate(inner, []expr.Expr{col("id"), col("city_p")}, aggregation("max", "price_p")),
		"a key of both":     b.aggregate(inner, []expr.Expr{col("id"), col("qty").Add(col("qty_p"))}, aggregation("max", "price")),
		"a large table":     by(joined(all, ofRows(t, "_p", 1001), "id", "id_p"), "id", "city_p"),
		"read twice":        b.union(by(inner, "id", "city_p"), b.project(inner, col("id"), col("city_p"), col("price").As("sum"))),
		"an expression":     by(b.project(inner, col("id").Add(expr.Lit(1)).As("id"), col("city_p"), col("price")), "id", "city_p"),
		"no group":          b.aggregate(inner, nil, aggregation("max", "price")),
		"a town, no person": by(twice, "flag_p", "city_t"),
	} {
		got, err := optimized(n, known)
		require.NoError(t, err)
		require.Equal(t, lines(n), got, name)
	}
	n := by(inner, "id", "city_p")
	got, err := optimized(n, nil)
	require.NoError(t, err)
	require.Equal(t, lines(n), got)
	errLost := errors.New("the device is lost")
	_, err = optimized(n, &facts{err: errLost})
	require.ErrorIs(t, err, errLost)
	_, err = optimized(n, &facts{err: errLost, spans: known.spans})
	require.ErrorIs(t, err, errLost)
	far := &facts{unique: known.unique, spans: map[string]uint64{"id": 3605}} // few values can have a person
	got, err = optimized(n, far)
	require.NoError(t, err)
	require.Equal(t, lines(n), got)
	require.Equal(t, []string{"span of id"}, far.calls)
	small := &facts{}
	_, err = optimized(by(inner, "city_p"), small)
	require.NoError(t, err)
	require.Equal(t, []string{"city_p is unique"}, small.calls)
}

// facts are unique columns and spans by their names. calls has the calls.
type facts struct {
	unique []string
	spans  map[string]uint64
	err    error
	calls  []string
}

func (f *facts) IsUnique(_ context.Context, _ source.Source, column string) (bool, error) {
	f.calls = append(f.calls, column+" is unique")
	return slices.Contains(f.unique, column), f.err
}

func (f *facts) Span(_ context.Context, _ source.Source, column string) (uint64, bool, error) {
	f.calls = append(f.calls, "span of "+column)
	span, ok := f.spans[column]
	if ok {
		return span, true, nil
	}
	return 0, false, f.err
}
