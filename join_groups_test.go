package gpuframe_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
)

type personRow struct {
	ID   *int64  `gpuframe:"id"`
	Name *string `gpuframe:"name"`
	Town int32   `gpuframe:"town"`
}

type visitRow struct {
	Person *int32 `gpuframe:"person"`
	Shop   int64  `gpuframe:"shop"`
	Price  int64  `gpuframe:"price"`
}

type townRow struct {
	Town int32  `gpuframe:"t_town"`
	Name string `gpuframe:"t_name"`
}

// visits are tables of persons, with numbers that occur once, several times or never, of their visits and of their towns.
type visits struct{ persons, visits, towns *gpuframe.Frame }

func newVisits(t *testing.T, e *gpuframe.Engine, random *rand.Rand, persons int, number func(i int) *int64) visits {
	people, rows, towns := make([]personRow, persons), make([]visitRow, 3*persons), make([]townRow, 5)
	for i := range people {
		name := fmt.Sprintf("person %d of a long name", random.IntN(1+persons/2))
		people[i] = personRow{ID: number(i), Town: int32(random.IntN(6))}
		if random.IntN(8) > 0 {
			people[i].Name = &name
		}
	}
	for i := range rows {
		rows[i] = visitRow{Shop: random.Int64N(3), Price: random.Int64N(100)}
		if person := int32(random.IntN(persons + 2)); random.IntN(9) > 0 {
			rows[i].Person = &person
		}
	}
	for i := range towns {
		towns[i] = townRow{int32(i), fmt.Sprintf("town %d", i/2)}
	}
	frame := func(q gpuframe.Query) *gpuframe.Frame {
		f, err := q.Collect(t.Context())
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, f.Release()) })
		return f
	}
	return visits{frame(gpuframe.From(e, people)), frame(gpuframe.From(e, rows)), frame(gpuframe.From(e, towns))}
}

// queries are groups of joined rows.
func (v visits) queries() map[string]gpuframe.Query {
	person, id, name, town, price := gpuframe.Col("person"), gpuframe.Col("id"), gpuframe.Col("name"), gpuframe.Col("town"), gpuframe.Col("price")
	joined := v.visits.Query().Join(v.persons.Query(), gpuframe.Inner, gpuframe.On(person, id))
	towns := joined.Join(v.towns.Query(), gpuframe.Inner, gpuframe.On(town, gpuframe.Col("t_town")))
	return map[string]gpuframe.Query{
		"person":     joined.GroupBy(person, name).Agg(price.Sum().As("sum"), gpuframe.Count().As("n")),
		"shop":       joined.GroupBy(name, person, gpuframe.Col("shop"), town).Agg(price.Max()),
		"town":       towns.GroupBy(person, name, gpuframe.Col("t_name"), town).Agg(price.Mean()),
		"no person":  towns.GroupBy(name, gpuframe.Col("t_name")).Agg(price.Sum()),
		"first town": towns.GroupBy(town, gpuframe.Col("t_name")).Agg(price.Sum(), gpuframe.Count().Where(price.Gt(10)).As("n")),
		"computed":   v.visits.Query().GroupBy(gpuframe.Col("shop"), gpuframe.Col("shop").Sub(1).As("before"), person.Gt(3).As("late"), person).Agg(price.Sum()),
		"distinct":   towns.Select(person, name, gpuframe.Col("t_name").Upper().As("upper")).Distinct(),
	}
}

// TestJoinGroups tests that groups of joined rows do not depend on where the plan joins them.
func TestJoinGroups(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	once := func(i int) *int64 { n := int64(i); return &n }
	repeated := func(i int) *int64 { n := int64(i - i%2*(i%3/2)); return &n }
	absent := func(i int) *int64 {
		if i%5 == 0 {
			return nil
		}
		return once(i)
	}
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		for name, number := range map[string]func(int) *int64{"once": once, "several": repeated, "absent": absent} {
			for _, persons := range []int{1, 7, 200} {
				v := newVisits(t, e, random, persons, number)
				for which, q := range v.queries() {
					// The kept plan of a query is not that of other tables of the same size with other numbers.
					got := lines(t, q)
					without, err := q.Without(t.Context(), "join groups", "drop keys")
					require.NoError(t, err)
					want := lines(t, without)
					slices.Sort(got)
					slices.Sort(want)
					require.Equal(t, want, got, "%s, %s, %d persons", which, name, persons)
					planned, err := q.Without(t.Context())
					require.NoError(t, err)
					moves := name == "once" && which != "no person" && which != "distinct" && which != "first town"
					if persons == 200 && moves {
						require.NotEqual(t, without.ExplainPlan(), planned.ExplainPlan(), "%s, %s", which, name)
					}
				}
			}
		}
	})
}

// TestJoinGroupsOfOtherTables tests that tables of one shape share a plan only if its columns are unique in all of them,
// and that a plan is made anew if these may have changed: other libraries may write to memory that was exported.
func TestJoinGroupsOfOtherTables(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		random := rand.New(rand.NewPCG(3, 4))
		groups := func(v visits) gpuframe.Query {
			id := gpuframe.Col("person")
			joined := v.visits.Query().Join(v.persons.Query(), gpuframe.Inner, gpuframe.On(id, gpuframe.Col("id")))
			return joined.GroupBy(id, gpuframe.Col("town")).Agg(gpuframe.Col("price").Sum().As("sum"), gpuframe.Count().As("n"))
		}
		check := func(q gpuframe.Query) {
			t.Helper()
			got := lines(t, q)
			without, err := q.Without(t.Context(), "join groups")
			require.NoError(t, err)
			want := lines(t, without)
			slices.Sort(got)
			slices.Sort(want)
			require.Equal(t, want, got)
		}
		const persons = 60
		planned := func(number func(i int) *int64) uint64 {
			v := newVisits(t, e, random, persons, number)
			before := e.Planned()
			q := groups(v)
			lines(t, q)
			plans := e.Planned() - before
			check(q)
			return plans
		}
		once := func(i int) *int64 { n := int64(i); return &n }
		twice := func(i int) *int64 { n := int64(i / 2 * 2); return &n }
		require.EqualValues(t, 1, planned(once))
		require.Zero(t, planned(once), "the tables have unique numbers too")

		v := newVisits(t, e, random, persons, once)
		q := groups(v)
		check(q)
		block := v.persons.Column("id").Buffer(1).Block()
		require.NoError(t, block.BeginExport())
		before := e.Planned()
		lines(t, q)
		require.EqualValues(t, before+1, e.Planned(), "the numbers may change")
		require.NoError(t, block.EndExport())
		check(q)
		// A plan that needs no unique column was made now.
		require.Zero(t, planned(twice))
		require.Zero(t, planned(once))
	})
}
