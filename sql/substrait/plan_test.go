package substrait_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/substrait-io/substrait-protobuf/go/substraitpb"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql"
	"github.com/gpuframe/gpuframe/sql/parse"
	"github.com/gpuframe/gpuframe/sql/substrait"
)

// declared are the functions of the plans of these tests, by their anchors.
var declared = []string{"equal:any_any", "gt:any_any", "add:i64_i64", "multiply", "sum:i64", "count:", "avg:i64", "row_number", "divide:i64_i64", "concat", "and:bool", "extract", "nothing", "max:i64", "lt:any_any", "sum0:i64", "least", "trim"}

// plan is a plan in JSON with a root.
func plan(relation string, names ...string) string {
	var functions []string
	for i, name := range declared {
		functions = append(functions, fmt.Sprintf(`{"extensionFunction": {"extensionUriReference": 1, "functionAnchor": %d, "name": %q}}`, i, name))
	}
	return fmt.Sprintf(`{"extensionUris": [{"extensionUriAnchor": 1, "uri": "/functions.yaml"}], "extensions": [%s], "relations": [{"root": {"input": %s, "names": ["%s"]}}]}`,
		strings.Join(functions, ", "), relation, strings.Join(names, `", "`))
}

// anchor returns the anchor of a declared function.
func anchor(name string) int {
	for i, d := range declared {
		if short, _, _ := strings.Cut(d, ":"); short == name {
			return i
		}
	}
	return 99
}

const (
	people = `{"read": {"baseSchema": {"names": ["name", "city", "age"]}, "namedTable": {"names": ["people"]}}}`
	cities = `{"read": {"baseSchema": {"names": ["city", "country"]}, "namedTable": {"names": ["main", "cities"]}}}`
)

func field(i int) string {
	return fmt.Sprintf(`{"selection": {"directReference": {"structField": {"field": %d}}, "rootReference": {}}}`, i)
}

func outerField(steps, i int) string {
	return fmt.Sprintf(`{"selection": {"directReference": {"structField": {"field": %d}}, "outerReference": {"stepsOut": %d}}}`, i, steps)
}

func number(n int) string { return fmt.Sprintf(`{"literal": {"i64": "%d"}}`, n) }

func arguments(list []string) string {
	var values []string
	for _, e := range list {
		values = append(values, fmt.Sprintf(`{"value": %s}`, e))
	}
	return strings.Join(values, ", ")
}

func function(name string, list ...string) string {
	return fmt.Sprintf(`{"scalarFunction": {"functionReference": %d, "outputType": {"i64": {}}, "arguments": [%s]}}`, anchor(name), arguments(list))
}

func measure(name string, list ...string) string {
	return fmt.Sprintf(`{"measure": {"functionReference": %d, "outputType": {"i64": {}}, "arguments": [%s]}}`, anchor(name), arguments(list))
}

func filter(input, condition string) string {
	return fmt.Sprintf(`{"filter": {"input": %s, "condition": %s}}`, input, condition)
}

// project emits the expressions alone, behind the columns of an input.
func project(columns int, input string, list ...string) string {
	var mapping []string
	for i := range list {
		mapping = append(mapping, fmt.Sprint(columns+i))
	}
	return fmt.Sprintf(`{"project": {"common": {"emit": {"outputMapping": [%s]}}, "input": %s, "expressions": [%s]}}`, strings.Join(mapping, ", "), input, strings.Join(list, ", "))
}

func sorted(input string, keys ...string) string {
	var list []string
	for _, key := range keys {
		list = append(list, fmt.Sprintf(`{"expr": %s, "direction": "SORT_DIRECTION_ASC_NULLS_LAST"}`, key))
	}
	return fmt.Sprintf(`{"sort": {"input": %s, "sorts": [%s]}}`, input, strings.Join(list, ", "))
}

func join(kind, left, right, condition string) string {
	return fmt.Sprintf(`{"join": {"left": %s, "right": %s, "expression": %s, "type": "JOIN_TYPE_%s"}}`, left, right, condition, kind)
}

func grouped(input, groupings string, measures ...string) string {
	return fmt.Sprintf(`{"aggregate": {"input": %s, "groupings": [%s], "measures": [%s]}}`, input, groupings, strings.Join(measures, ", "))
}

func by(keys ...string) string {
	return fmt.Sprintf(`{"groupingExpressions": [%s]}`, strings.Join(keys, ", "))
}

type (
	person struct {
		Name string
		City *string
		Age  *int64
	}
	city struct{ City, Country string }
)

// openSession returns a session with two tables.
func openSession(t testing.TB) *sql.Session {
	engine, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, engine.Close()) })
	session := sql.New(engine)
	t.Cleanup(func() { require.NoError(t, session.Close()) })
	oslo, bern := "Oslo", "Bern"
	ages := []int64{30, 20, 50}
	session.Register("people", gpuframe.From(engine, []person{{"Ada", &oslo, &ages[0]}, {"Bo", &bern, &ages[1]}, {"Cy", &oslo, &ages[2]}, {"Di", nil, nil}}))
	session.Register("cities", gpuframe.From(engine, []city{{"Oslo", "NO"}, {"Bern", "CH"}, {"Rome", "IT"}}))
	return session
}

// TestPlans compares the rows of plans of each relation.
func TestPlans(t *testing.T) {
	sameCity := function("equal", field(1), field(3))
	for _, test := range []struct{ name, plan, want string }{
		{"read", plan(people, "a", "b", "c"), "Ada Oslo 30|Bo Bern 20|Cy Oslo 50|Di null null"},
		{"read some columns", plan(`{"read": {"baseSchema": {"names": ["name", "city", "age"]}, "projection": {"select": {"structItems": [{"field": 2}, {}]}}, "filter": `+function("gt", field(2), number(25))+`, "namedTable": {"names": ["people"]}}}`, "a", "b"), "30 Ada|50 Cy"},
		{"filter", plan(filter(people, function("gt", field(2), number(25))), "a", "b", "c"), "Ada Oslo 30|Cy Oslo 50"},
		{"project appends", plan(`{"project": {"input": `+people+`, "expressions": [`+function("add", field(2), number(1))+`]}}`, "a", "b", "c", "d"), "Ada Oslo 30 31|Bo Bern 20 21|Cy Oslo 50 51|Di null null null"},
		{"filter of an expression", plan(filter(project(3, people, field(0), function("multiply", field(2), number(2))), function("gt", field(1), number(50))), "a", "b"), "Ada 60|Cy 100"},
		{"sort and fetch", plan(`{"fetch": {"input": `+sorted(people, field(2))+`, "offset": 1, "count": 2}}`, "a", "b", "c"), "Ada Oslo 30|Cy Oslo 50"},
		{"filter of a fetch", plan(filter(`{"fetch": {"input": `+sorted(people, field(2))+`, "count": 2}}`, function("gt", field(2), number(25))), "a", "b", "c"), "Ada Oslo 30"},
		{"fetch of a fetch", plan(`{"fetch": {"input": {"fetch": {"input": `+sorted(people, field(2))+`, "count": 3}}, "offset": 2}}`, "a", "b", "c"), "Cy Oslo 50"},
		{"groups", plan(sorted(grouped(people, by(field(1)), measure("sum", field(2)), measure("count")), field(0)), "a", "b", "c"), "Bern 20 1|Oslo 80 2|null null 1"},
		{"condition on groups", plan(filter(grouped(people, by(field(1)), measure("sum", field(2))), function("gt", field(1), number(50))), "a", "b"), "Oslo 80"},
		{"groups of groups", plan(grouped(grouped(people, by(field(1)), measure("count")), "", measure("max", field(1))), "a"), "2"},
		{"all rows", plan(grouped(filter(people, function("gt", field(2), number(99))), "", measure("count"), measure("sum0", field(2)), measure("sum", field(2))), "a", "b", "c"), "0 0 null"},
		{"grouping sets", plan(sorted(grouped(people, by(field(1))+", "+by(), measure("count")), field(2), field(0)), "a", "b", "c"), "Bern 1 0|Oslo 2 0|null 1 0|null 4 1"},
		{"a condition of a measure", plan(grouped(people, "", `{"measure": {"functionReference": `+fmt.Sprint(anchor("count"))+`}, "filter": `+function("gt", field(2), number(25))+`}`), "a"), "2"},
		{"inner join", plan(sorted(project(5, join("INNER", people, cities, sameCity), field(0), field(4)), field(0)), "a", "b"), "Ada NO|Bo CH|Cy NO"},
		{"left join", plan(sorted(project(5, join("LEFT", people, filter(cities, function("equal", field(1), `{"literal": {"string": "NO"}}`)), sameCity), field(0), field(4)), field(0)), "a", "b"), "Ada NO|Bo null|Cy NO|Di null"},
		{"right join", plan(sorted(project(5, join("RIGHT", people, cities, sameCity), field(0), field(4)), field(1), field(0)), "a", "b"), "Bo CH|null IT|Ada NO|Cy NO"},
		{"full join", plan(grouped(join("OUTER", people, filter(cities, function("equal", field(1), `{"literal": {"string": "IT"}}`)), sameCity), "", measure("count"), measure("count", field(4))), "a", "b"), "5 1"},
		{"semi join", plan(sorted(project(3, join("LEFT_SEMI", people, cities, sameCity), field(0)), field(0)), "a"), "Ada|Bo|Cy"},
		{"anti join", plan(project(3, join("LEFT_ANTI", people, cities, sameCity), field(0)), "a"), "Di"},
		{"right semi join", plan(sorted(project(2, join("RIGHT_SEMI", people, cities, sameCity), field(1)), field(0)), "a"), "CH|NO"},
		{"mark join", plan(sorted(project(4, join("LEFT_MARK", people, cities, sameCity), field(0), field(3)), field(0)), "a", "b"), "Ada true|Bo true|Cy true|Di null"},
		{"hash join", plan(sorted(project(5, `{"hashJoin": {"left": `+people+`, "right": `+cities+`, "type": "JOIN_TYPE_INNER", "keys": [{"left": {"directReference": {"structField": {"field": 1}}}, "right": {"directReference": {"structField": {}}}, "comparison": {"simple": "SIMPLE_COMPARISON_TYPE_EQ"}}]}}`, field(0), field(4)), field(0)), "a", "b"), "Ada NO|Bo CH|Cy NO"},
		{"cross", plan(grouped(`{"cross": {"left": `+people+`, "right": `+cities+`}}`, "", measure("count")), "a"), "12"},
		{"union", plan(sorted(`{"set": {"op": "SET_OP_UNION_DISTINCT", "inputs": [`+project(3, people, field(1))+`, `+project(2, cities, field(0))+`]}}`, field(0)), "a"), "Bern|Oslo|Rome|null"},
		{"minus", plan(`{"set": {"op": "SET_OP_MINUS_PRIMARY", "inputs": [`+project(2, cities, field(0))+`, `+project(3, people, field(1))+`]}}`, "a"), "Rome"},
		{"exists", plan(sorted(project(3, filter(people, `{"subquery": {"setPredicate": {"predicateOp": "PREDICATE_OP_EXISTS", "tuples": `+filter(cities, function("equal", field(0), outerField(1, 1)))+`}}}`), field(0)), field(0)), "a"), "Ada|Bo|Cy"},
		{"in", plan(project(2, filter(cities, `{"subquery": {"inPredicate": {"needles": [`+field(0)+`], "haystack": `+project(3, filter(people, function("gt", field(2), number(25))), field(1))+`}}}`), field(1)), "a"), "NO"},
		{"scalar", plan(project(3, filter(people, function("equal", field(2), `{"subquery": {"scalar": {"input": `+grouped(people, "", measure("max", field(2)))+`}}}`)), field(0)), "a"), "Cy"},
		{"windows", plan(sorted(project(3, people, field(0), `{"windowFunction": {"functionReference": `+fmt.Sprint(anchor("row_number"))+`, "partitions": [`+field(1)+`], "sorts": [{"expr": `+field(2)+`, "direction": "SORT_DIRECTION_DESC_NULLS_LAST"}]}}`), field(0)), "a", "b"), "Ada 2|Bo 1|Cy 1|Di 1"},
		{"running sum", plan(sorted(project(3, people, field(0), `{"windowFunction": {"functionReference": `+fmt.Sprint(anchor("sum"))+`, "arguments": [{"value": `+field(2)+`}], "sorts": [{"expr": `+field(2)+`, "direction": "SORT_DIRECTION_ASC_NULLS_LAST"}], "boundsType": "BOUNDS_TYPE_ROWS", "lowerBound": {"unbounded": {}}, "upperBound": {"currentRow": {}}}}`), field(0)), "a", "b"), "Ada 50|Bo 20|Cy 100|Di 100"},
		{"condition on a window", plan(filter(project(3, people, field(0), `{"windowFunction": {"functionReference": `+fmt.Sprint(anchor("row_number"))+`, "sorts": [{"expr": `+field(2)+`}]}}`), function("equal", field(1), number(1))), "a", "b"), "Bo 1"},
		{"division of integers", plan(project(3, people, function("divide", field(2), number(7))), "a"), "4|2|7|null"},
		{"case", plan(project(3, people, `{"ifThen": {"ifs": [{"if": `+function("gt", field(2), number(25))+`, "then": `+number(1)+`}], "else": `+number(0)+`}}`), "a"), "1|0|1|0"},
		{"one row of an aggregate without its measures", plan(project(1, grouped(people, "", measure("count")), number(7)), "a"), "7"},
		{"a null is not in a list of rows", plan(project(3, people, field(0), `{"multiOrList": {"value": [`+field(1)+`, `+field(2)+`], "options": [{"fields": [{"literal": {"string": "Oslo"}}, `+number(50)+`]}]}}`), "a", "b"), "Ada false|Bo false|Cy true|Di null"},
		{"right single join", plan(sorted(`{"join": {"left": `+project(2, cities, field(1), field(0))+`, "right": `+project(3, people, field(0), field(1))+`, "type": "JOIN_TYPE_RIGHT_SINGLE", "expression": `+function("equal", field(1), field(3))+`}}`, field(2)), "country", "city", "name", "of"), "NO Oslo Ada Oslo|CH Bern Bo Bern|NO Oslo Cy Oslo|null null Di null"},
		{"least is null for a null", plan(project(3, people, function("least", field(2), number(40))), "a"), "30|20|40|null"},
		{"trim removes spaces", plan(`{"project": {"common": {"emit": {"outputMapping": [1]}}, "input": {"read": {"baseSchema": {"names": ["a"]}, "virtualTable": {"values": [{"fields": [{"string": "  \tx  "}]}]}}}, "expressions": [`+function("trim", field(0))+`]}}`, "a"), "\tx"},
		{"concat of one null", plan(project(3, people, function("concat", field(1))), "a"), "Oslo|Bern|Oslo|null"},
		{"a literal beyond its type", plan(project(3, people, `{"cast": {"type": {"i8": {}}, "input": `+number(300)+`, "failureBehavior": "FAILURE_BEHAVIOR_RETURN_NULL"}}`), "a"), "null|null|null|null"},
		{"a list of values", plan(project(3, filter(people, `{"singularOrList": {"value": `+field(2)+`, "options": [`+number(20)+`, `+number(50)+`]}}`), field(0)), "a"), "Bo|Cy"},
		{"virtual table", plan(`{"read": {"baseSchema": {"names": ["a", "b"]}, "virtualTable": {"values": [{"fields": [{"i64": "1"}, {"string": "x"}]}, {"fields": [{"i64": "2"}, {"null": {"string": {}}}]}]}}}`, "a", "b"), "1 x|2 null"},
		{"dates", plan(`{"read": {"baseSchema": {"names": ["a", "b"]}, "virtualTable": {"values": [{"fields": [{"date": 10957}, {"decimal": {"value": "hf///////////////////w==", "precision": 10, "scale": 2}}]}]}}}`, "a", "b"), "2000-01-01 -1.23"},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, rowsOf(t, []byte(test.plan)))
			require.Equal(t, test.want, rowsOf(t, marshal(t, message(t, test.plan))))
		})
	}
}

// message reads a plan in JSON without a look at its fields.
func message(t testing.TB, text string) *substraitpb.Plan {
	m := &substraitpb.Plan{}
	require.NoError(t, protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal([]byte(text), m))
	return m
}

func marshal(t testing.TB, m *substraitpb.Plan) []byte {
	data, err := proto.Marshal(m)
	require.NoError(t, err)
	return data
}

// rowsOf runs a plan and writes its rows as text.
func rowsOf(t *testing.T, data []byte) string {
	query, err := substrait.Query(t.Context(), openSession(t), data)
	require.NoError(t, err)
	frame, err := query.Collect(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, frame.Release()) }()
	record, err := frame.Record(t.Context())
	require.NoError(t, err)
	defer record.Release()
	var rows []string
	for i := range int(record.NumRows()) {
		var row []string
		for _, c := range record.Columns() {
			if c.IsNull(i) {
				row = append(row, "null")
			} else {
				row = append(row, c.ValueStr(i))
			}
		}
		rows = append(rows, strings.Join(row, " "))
	}
	return strings.Join(rows, "|")
}

// TestFieldsThatDouble has projections of which each uses the one before twice.
func TestFieldsThatDouble(t *testing.T) {
	relation := project(3, people, field(2))
	for range 40 {
		relation = project(1, relation, function("add", field(0), field(0)))
	}
	text, err := substrait.Statement([]byte(plan(relation, "a")))
	require.NoError(t, err)
	require.Less(t, len(text), 20_000)
}

// TestErrors has plans that are refused, with the place and the problem.
func TestErrors(t *testing.T) {
	for _, test := range []struct{ name, plan, want string }{
		{"no relation", `{"relations": []}`, "plan: it has no root relation"},
		{"two roots", `{"relations": [{"root": {"input": ` + people + `}}, {"root": {"input": ` + people + `}}]}`, "plan: it has two roots"},
		{"field", plan(filter(people, function("gt", field(7), number(1))), "a"), "root.filter.condition.gt[0]: field 7 of a relation with 3 fields"},
		{"function", plan(filter(people, function("nothing")), "a"), "root.filter.condition.nothing: function nothing is not supported"},
		{"undeclared", plan(filter(people, function("other")), "a"), "root.filter.condition: the plan declares no function 99"},
		{"arguments", plan(filter(people, function("gt", field(0))), "a"), "function gt has 1 arguments"},
		{"a comparison of three", plan(filter(people, function("equal", field(0), field(1), field(2))), "a"), "function equal has 3 arguments"},
		{"option", plan(filter(people, `{"scalarFunction": {"functionReference": 0, "arguments": [], "options": [{"name": "case_sensitivity", "preference": ["CASE_INSENSITIVE"]}]}}`), "a"), "option case_sensitivity with CASE_INSENSITIVE is not supported, only CASE_SENSITIVE"},
		{"one grouping set of two expressions", plan(`{"aggregate": {"input": `+people+`, "groupingExpressions": [`+field(0)+`, `+field(1)+`], "groupings": [{"expressionReferences": [0]}]}}`, "a", "b"), "root.aggregate.groupingExpressions[1]: no grouping set has it"},
		{"equal grouping expressions", plan(`{"aggregate": {"input": `+project(3, people, field(1), field(1))+`, "groupingExpressions": [`+field(0)+`, `+field(1)+`], "groupings": [{"expressionReferences": [0]}, {"expressionReferences": [1]}]}}`, "a", "b", "c"), "equal expressions in several grouping sets"},
		{"many grouping sets", plan(grouped(people, strings.Repeat(by(field(0))+", ", 300)+by()), "a"), "301 grouping sets of 1 expressions, expected 256 sets"},
		{"an enhancement", plan(`{"filter": {"input": `+people+`, "condition": {"literal": {"boolean": true}}, "advancedExtension": {"enhancement": {"@type": "type.googleapis.com/substrait.Plan"}}}}`, "a", "b", "c"), "the relation has an enhancement"},
		{"tables of two schemas", plan(`{"cross": {"left": `+cities+`, "right": `+strings.Replace(cities, "main", "other", 1)+`}}`, "a", "b", "c", "d"), "the tables main.cities and other.cities have one name"},
		{"a part of an aggregate", plan(grouped(people, "", strings.Replace(measure("count"), `{"measure": {`, `{"measure": {"phase": "AGGREGATION_PHASE_INITIAL_TO_INTERMEDIATE", `, 1)), "a"), "phase AGGREGATION_PHASE_INITIAL_TO_INTERMEDIATE is not supported"},
		{"a long name", `{"extensions": [{"extensionFunction": {"name": "` + strings.Repeat("x", 101) + `"}}], "relations": [{"root": {"input": ` + people + `}}]}`, "a function has a name of 101 bytes"},
		{"a long text that is repeated", plan(`{"project": {"common": {"emit": {"outputMapping": [3` + strings.Repeat(", 3", 200) + `]}}, "input": ` + people + `, "expressions": [{"literal": {"string": "` + strings.Repeat("x", 100_000) + `"}}]}}`), "the statement of the plan is longer"},
		{"offset", plan(`{"fetch": {"input": `+people+`, "offset": -1}}`, "a"), "it is -1, expected 0 or more"},
		{"names", plan(people, "a", "b", "c", "d"), "root: it has 4 names for 3 columns"},
		{"write", plan(`{"write": {}}`, "a"), "relation Write is not supported"},
		{"missing", plan(`{}`, "a"), "root: a relation is missing"},
		{"outer", plan(filter(people, outerField(2, 0)), "a"), "a reference 2 steps out of 0 relations"},
		{"emit", plan(`{"project": {"common": {"emit": {"outputMapping": [9]}}, "input": `+people+`}}`, "a"), "field 9 of a relation with 3 fields"},
		{"set", plan(`{"set": {"op": "SET_OP_UNION_ALL", "inputs": [`+people+`, `+cities+`]}}`, "a"), "root.set.inputs[1]: it has 2 columns, the first input 3"},
		{"join", plan(join("UNSPECIFIED", people, cities, number(1)), "a"), "join UNSPECIFIED is not supported"},
		{"depth", plan(strings.Repeat(`{"filter": {"condition": {"literal": {"boolean": true}}, "input": `, 600)+people+strings.Repeat("}}", 600), "a"), "the plan has more than 300 levels"},
		{"unknown field", `{"relations": [{"root": {"input": {"read": {"later": 1}}}}]}`, "the plan cannot be read"},
		{"not a plan", "\xff\xff", "the plan cannot be read"},
		{"table", plan(`{"read": {"baseSchema": {"names": ["x"]}, "namedTable": {"names": ["nobody"]}}}`, "a"), "nobody"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := substrait.Query(t.Context(), openSession(t), []byte(test.plan))
			require.ErrorContains(t, err, test.want)
			require.ErrorContains(t, err, "substrait: ")
		})
	}
}

// TestUnknownFields refuses a plan in binary form with a field of another version.
func TestUnknownFields(t *testing.T) {
	m := message(t, plan(people, "a", "b", "c"))
	read := m.GetRelations()[0].GetRoot().GetInput().GetRead()
	read.ProtoReflect().SetUnknown([]byte{0xf8, 0x3f, 1}) // field 1023, a number
	_, err := substrait.Statement(marshal(t, m))
	require.ErrorContains(t, err, "plan.relations[0].root.input.read has fields that Substrait 0.85 does not have")
}

// TestParameters binds a value in the call, and in the plan.
func TestParameters(t *testing.T) {
	text := plan(project(3, filter(people, function("gt", field(2), `{"dynamicParameter": {"type": {"i64": {}}, "parameterReference": 0}}`)), field(0)), "a")
	query, err := substrait.Query(t.Context(), openSession(t), []byte(text), int64(40))
	require.NoError(t, err)
	frame, err := query.Collect(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1, frame.NumRows())
	require.NoError(t, frame.Release())
	bound := strings.Replace(text, `{"extensionUris"`, `{"parameterBindings": [{"parameterAnchor": 0, "value": {"i64": "40"}}], "extensionUris"`, 1)
	require.Equal(t, "Cy", rowsOf(t, []byte(bound)))
}

// FuzzPlan translates any bytes. A statement that results is one that the parser reads.
func FuzzPlan(f *testing.F) {
	seeds := []string{plan(people, "a", "b", "c"), plan(sorted(grouped(people, by(field(1)), measure("sum", field(2))), field(0)), "a", "b"), plan(join("LEFT", people, cities, function("equal", field(1), field(3))), "a", "b", "c", "d", "e"), plan(`{"set": {"op": "SET_OP_UNION_ALL", "inputs": [`+people+`, `+people+`]}}`, "a", "b", "c")}
	for _, seed := range seeds {
		f.Add([]byte(seed))
		f.Add(marshal(f, message(f, seed)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text, err := substrait.Statement(data)
		if err != nil {
			return
		}
		_, err = parse.Statements(text)
		require.NoError(t, err, text)
	})
}
