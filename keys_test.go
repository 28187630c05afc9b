package gpuframe_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
)

type departure struct {
	Origin string `gpuframe:"origin"`
	Delay  int64  `gpuframe:"delay"`
}

var departures = []departure{{"OSL", 5}, {"BRN", 30}, {"OSL", 25}, {"AMS", 1}}

// keysEngine returns an engine on the host.
func keysEngine(t *testing.T) *gpuframe.Engine {
	engine, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, engine.Close()) })
	return engine
}

// TestNamesAreKeys has each verb with names of columns, and with expressions.
func TestNamesAreKeys(t *testing.T) {
	engine := keysEngine(t)
	rows := gpuframe.From(engine, departures)
	origin, delay := gpuframe.Col("origin"), gpuframe.Col("delay")
	sum := delay.Sum().As("sum")
	last := gpuframe.RowNumber()
	tests := map[string]struct{ names, expressions gpuframe.Query }{
		"group":       {rows.GroupBy("origin").Agg(sum), rows.GroupBy(origin).Agg(sum)},
		"groups":      {rows.GroupBy([]string{"origin", "delay"}).Agg(sum), rows.GroupBy([]gpuframe.Expression{origin, delay}).Agg(sum)},
		"mixed":       {rows.GroupBy("origin", delay.Mod(2).As("odd")).Agg(sum), rows.GroupBy(origin, delay.Mod(2).As("odd")).Agg(sum)},
		"select":      {rows.Select("delay", origin.Upper()), rows.Select(delay, origin.Upper())},
		"any":         {rows.GroupBy([]any{"origin", delay}).Agg(sum), rows.GroupBy([]gpuframe.Expr{origin, delay}).Agg(sum)},
		"sort slice":  {rows.Sort([]string{"origin", "delay"}), rows.Sort(origin, delay)},
		"orders":      {rows.Sort([]gpuframe.OrderBy{origin.Asc(), delay.Desc()}), rows.Sort(origin, delay.Desc())},
		"select more": {rows.Select([]string{"delay", "origin"}), rows.Select(delay, origin)},
		"join slice":  {rows.Join(rows, gpuframe.Semi, []string{"origin", "delay"}), rows.Join(rows, gpuframe.Semi, origin, delay)},
		"on slices":   {rows.Join(rows, gpuframe.Semi, gpuframe.On([]string{"origin", "delay"}, []string{"origin", "delay"})), rows.Join(rows, gpuframe.Semi, origin, delay)},
		"pointer":     {rows.GroupBy(&origin).Agg(sum), rows.GroupBy(origin).Agg(sum)},
		"sort":        {rows.Sort("origin", delay.Desc()), rows.Sort(origin, delay.Desc())},
		"top":         {rows.Top(2, "delay"), rows.Top(2, delay)},
		"window":      {rows.With(last.Over(gpuframe.By("origin").OrderBy("delay")).As("place")), rows.With(last.Over(gpuframe.By(origin).OrderBy(delay)).As("place"))},
		"first":       {rows.GroupBy("origin").Agg(delay.First().OrderBy("delay")), rows.GroupBy(origin).Agg(delay.First().OrderBy(delay))},
		"join":        {rows.Join(rows, gpuframe.Semi, "origin"), rows.Join(rows, gpuframe.Semi, origin)},
		"on":          {rows.Join(rows, gpuframe.Inner, gpuframe.On("origin", "origin")), rows.Join(rows, gpuframe.Inner, gpuframe.On(origin, origin))},
		"as of":       {rows.AsOf(rows, "delay", gpuframe.AsOfOptions{By: []gpuframe.JoinTerm{"origin"}}), rows.AsOf(rows, delay, gpuframe.AsOfOptions{By: []gpuframe.JoinTerm{origin}})},
		"resample":    {rows.Resample("delay", 10, "origin").Agg(sum), rows.Resample(delay, 10, origin).Agg(sum)},
		"pivot":       {rows.GroupBy("delay").Pivot("origin", []any{"OSL"}, sum), rows.GroupBy(delay).Pivot(origin, []any{"OSL"}, sum)},
		"cross table": {rows.CrossTab("delay", "origin", []any{"OSL"}), rows.CrossTab(delay, origin, []any{"OSL"})},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			want, err := test.expressions.Collect(t.Context())
			require.NoError(t, err)
			defer func() { require.NoError(t, want.Release()) }()
			got, err := test.names.Collect(t.Context())
			require.NoError(t, err)
			defer func() { require.NoError(t, got.Release()) }()
			require.Equal(t, want.String(), got.String())
		})
	}
}

// TestKeysOfOtherTypes are errors that name the value, at each place of a key.
func TestKeysOfOtherTypes(t *testing.T) {
	engine := keysEngine(t)
	rows, delay := gpuframe.From(engine, departures), gpuframe.Col("delay")
	tests := map[string]gpuframe.Query{
		"group":     rows.GroupBy(7).Agg(gpuframe.Count()),
		"select":    rows.Select(7),
		"sort":      rows.Sort(7),
		"partition": rows.With(delay.Sum().Over(gpuframe.By(7))),
		"order":     rows.With(gpuframe.RowNumber().Over(gpuframe.By("origin").OrderBy(7)).As("n")),
		"join":      rows.Join(rows, gpuframe.Inner, 7),
		"on":        rows.Join(rows, gpuframe.Inner, gpuframe.On("origin", 7)),
	}
	for name, q := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := q.Schema(t.Context())
			require.ErrorIs(t, err, device.ErrInvalidValue)
			require.ErrorContains(t, err, "7 is a Go value of type int, expected the name of a column as a string, or an expression")
			requireOneProblem(t, err)
		})
	}
	_, err := rows.GroupBy("orgin").Agg(gpuframe.Count()).Schema(t.Context())
	require.ErrorContains(t, err, `no column is called "orgin": there are "origin"`)
}

// requireOneProblem has an error with one problem of the query.
func requireOneProblem(t *testing.T, err error) {
	t.Helper()
	var problems *gpuframe.QueryError
	require.ErrorAs(t, err, &problems)
	require.Len(t, problems.Problems, 1, "%v", err)
}

// TestKeysThatAreNone are one problem each, and never a panic.
func TestKeysThatAreNone(t *testing.T) {
	engine := keysEngine(t)
	rows, delay := gpuframe.From(engine, departures), gpuframe.Col("delay")
	var none *gpuframe.Expr
	var noOrder *gpuframe.OrderBy
	number := gpuframe.RowNumber()
	const isNil, hasOrder, oneKey = "nil", "delay has a direction, which only keys of an order have", "expected one key"
	for name, test := range map[string]struct {
		q    gpuframe.Query
		want string
	}{
		"sort":              {rows.Sort(nil), isNil},
		"sort pointer":      {rows.Sort(none), isNil},
		"sort order":        {rows.Sort(noOrder), isNil},
		"group":             {rows.GroupBy(nil).Agg(gpuframe.Count()), isNil},
		"group pointer":     {rows.GroupBy(none).Agg(gpuframe.Count()), isNil},
		"group order":       {rows.GroupBy(delay.Desc()).Agg(gpuframe.Count()), hasOrder},
		"group slices":      {rows.GroupBy([]any{[]string{"origin"}}).Agg(gpuframe.Count()), oneKey},
		"select":            {rows.Select("origin", none), isNil},
		"select order":      {rows.Select(delay.Desc()), hasOrder},
		"order":             {rows.With(number.Over(gpuframe.By("origin").OrderBy(nil)).As("n")), isNil},
		"order pointer":     {rows.With(number.Over(gpuframe.By("origin").OrderBy(none)).As("n")), isNil},
		"partition pointer": {rows.With(number.Over(gpuframe.By(none)).As("n")), isNil},
		"first":             {rows.Select(delay.First().OrderBy(none)), isNil},
		"join":              {rows.Join(rows, gpuframe.Inner, none), isNil},
		"on":                {rows.Join(rows, gpuframe.Inner, gpuframe.On("origin", none)), isNil},
		"on slices":         {rows.Join(rows, gpuframe.Inner, gpuframe.On([]string{"origin", "delay"}, "origin")), "2 left keys and 1 right keys"},
		"as of":             {rows.AsOf(rows, nil, gpuframe.AsOfOptions{}), isNil},
		"resample":          {rows.Resample([]string{"delay"}, 10).Agg(gpuframe.Count()), oneKey},
		"resample order":    {rows.Resample(delay.Desc(), 10).Agg(gpuframe.Count()), hasOrder},
		"cross table":       {rows.CrossTab([]string{"delay"}, "origin", []any{"OSL"}), oneKey},
		"filter":            {rows.Filter(none), ""},
		"with":              {rows.With(none), ""},
		"matching":          {rows.Join(rows, gpuframe.Inner, "origin", gpuframe.Matching(none)), isNil},
		"where":             {rows.Select(delay.Sum().Where(none)), isNil},
		"operand":           {rows.Select(delay.Add(none)), ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := test.q.Schema(t.Context())
			require.ErrorContains(t, err, test.want)
			requireOneProblem(t, err)
			require.NotContains(t, err.Error(), "{")
		})
	}
	_, err := rows.Select(7, 8, "orgin").Schema(t.Context())
	var problems *gpuframe.QueryError
	require.ErrorAs(t, err, &problems)
	require.Len(t, problems.Problems, 3)
}
