package gpuframe_test

import (
	"context"
	"os"

	"github.com/gpuframe/gpuframe"
)

// showLines runs a query and prints its rows as lines of JSON, which have lists and structs.
func showLines(q gpuframe.Query) {
	if _, err := q.Write(context.Background(), os.Stdout, gpuframe.JSONLines()); err != nil {
		panic(err)
	}
}

// student is a row with lists: names of courses, their marks, and whether they were passed.
type student struct {
	Name    string     `gpuframe:"name"`
	Courses []string   `gpuframe:"courses"`
	Marks   []int64    `gpuframe:"marks"`
	Passed  []bool     `gpuframe:"passed"`
	Groups  [][]string `gpuframe:"groups"`
}

func exampleStudents() []student {
	return []student{
		{"Ada", []string{"logic", "music"}, []int64{6, 4}, []bool{true, true}, [][]string{{"red"}, {"blue", "red"}}},
		{"Bo", []string{"logic", "art", "music"}, []int64{3, 5, 2}, []bool{false, true, false}, [][]string{{"blue"}}},
		{"Cy", nil, nil, nil, nil},
	}
}

// The best course of each student: the position of the greatest mark chooses from another list.
func ExampleExpr_ListTake() {
	gpu := hostEngine()
	defer gpu.Close()
	courses, marks := gpuframe.Col("courses"), gpuframe.Col("marks")
	best := marks.ListEval(gpuframe.If(gpuframe.Element().Eq(marks.ListMax()), gpuframe.ElementIndex(), nil)).ListFilter(gpuframe.Element().IsValid())
	showLines(gpuframe.From(gpu, exampleStudents()).Select("name", courses.ListTake(best).As("best"), courses.ListJoin(", ").As("all")))
	// Output:
	// {"name":"Ada","best":["logic"],"all":"logic, music"}
	// {"name":"Bo","best":["art"],"all":"logic, art, music"}
	// {"name":"Cy","best":null,"all":null}
}

// Lists of bools have their logic. Lists of lists become lists.
func ExampleExpr_ListFlatten() {
	gpu := hostEngine()
	defer gpu.Close()
	passed, groups := gpuframe.Col("passed"), gpuframe.Col("groups")
	showLines(gpuframe.From(gpu, exampleStudents()).
		Select("name", passed.ListAll().As("all"), passed.ListAny().As("any"), groups.ListFlatten().ListUnique().As("groups")))
	// Output:
	// {"name":"Ada","all":true,"any":true,"groups":["red","blue"]}
	// {"name":"Bo","all":false,"any":true,"groups":["blue"]}
	// {"name":"Cy","all":null,"any":null,"groups":null}
}

// The rank of each mark: the expression on the inner list reads the element of the outer one by its name.
func ExampleExpr_ListEvalWith() {
	gpu := hostEngine()
	defer gpu.Close()
	marks := gpuframe.Col("marks")
	outer := gpuframe.ElementNames{Element: "mark", Index: "place"}
	better := marks.ListFilter(gpuframe.Element().Gt(gpuframe.Col("mark"))).ListLength()
	later := marks.ListFilterWith(gpuframe.ElementNames{Element: "m", Index: "i"}, gpuframe.Col("i").Ge(1))
	showLines(gpuframe.From(gpu, exampleStudents()).
		Select("name", marks.ListEvalWith(outer, better.Add(1)).As("ranks"), later.As("but_first")))
	// Output:
	// {"name":"Ada","ranks":[1,2],"but_first":[4]}
	// {"name":"Bo","ranks":[2,1,3],"but_first":[5,2]}
	// {"name":"Cy","ranks":null,"but_first":null}
}

// A row for each number below another: Sequence and Explode repeat rows.
func ExampleExpr_Sequence() {
	gpu := hostEngine()
	defer gpu.Close()
	show(gpuframe.From(gpu, exampleSales()).Head(2).
		Select("city", gpuframe.Col("qty").Sequence().As("piece")).
		Explode("piece"))
	// Output:
	// city,piece
	// Oslo,0
	// Oslo,1
	// Bern,0
}

// Elements of several lists and of values. Lists that are null are left out.
func ExampleConcatListSkipNulls() {
	gpu := hostEngine()
	defer gpu.Close()
	showLines(gpuframe.From(gpu, exampleStudents()).
		Select("name", gpuframe.ConcatListSkipNulls(gpuframe.Col("courses"), "sport").As("courses")))
	// Output:
	// {"name":"Ada","courses":["logic","music","sport"]}
	// {"name":"Bo","courses":["logic","art","music","sport"]}
	// {"name":"Cy","courses":["sport"]}
}

// Text becomes a struct. WithField changes a field.
func ExampleExpr_SplitFields() {
	type line struct{ Text string }
	gpu := hostEngine()
	defer gpu.Close()
	place := gpuframe.Col("Text").SplitFields("/", "country", "city").As("place")
	showLines(gpuframe.From(gpu, []line{{"NO/Oslo"}, {"CH"}}).
		Select(place).
		With(gpuframe.Col("place").WithField("city", gpuframe.Col("place").Field("city").FillNull("?").Upper())))
	// Output:
	// {"place":{"country":"NO","city":"OSLO"}}
	// {"place":{"country":"CH","city":"?"}}
}

// Maps are made of lists of keys and values, and read by key.
func ExampleMapOf() {
	gpu := hostEngine()
	defer gpu.Close()
	marks := gpuframe.MapOf(gpuframe.Col("courses"), gpuframe.Col("marks"))
	rows := gpuframe.From(gpu, exampleStudents()).With(marks.As("by_course"))
	byCourse := gpuframe.Col("by_course")
	good := byCourse.MapEntries().ListFilter(gpuframe.Element().Field("value").Ge(4)).MapFromEntries()
	showLines(rows.Select("name", byCourse.MapGet("music").As("music"), good.MapEntries().ListEval(gpuframe.Element().Field("key")).As("good")))
	// Output:
	// {"name":"Ada","music":4,"good":["logic","music"]}
	// {"name":"Bo","music":2,"good":["art"]}
	// {"name":"Cy","music":null,"good":null}
}

// How often each value occurs, as a map.
func ExampleExpr_Histogram() {
	gpu := hostEngine()
	defer gpu.Close()
	numbers := gpuframe.Col("qty").Histogram().As("numbers")
	showLines(gpuframe.From(gpu, exampleSales()).GroupBy("city").Agg(numbers).Sort("city").
		Select("city", gpuframe.Col("numbers").MapGet(1).FillNull(0).As("ones"), gpuframe.Col("numbers").MapEntries().As("numbers")))
	// Output:
	// {"city":"Bern","ones":2,"numbers":[{"key":1,"value":2}]}
	// {"city":"Oslo","ones":1,"numbers":[{"key":1,"value":1},{"key":2,"value":1},{"key":3,"value":1}]}
	// {"city":"Rome","ones":0,"numbers":[{"key":9,"value":1}]}
}
