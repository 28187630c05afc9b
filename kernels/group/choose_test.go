package group

import (
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	choices "github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// factsOf returns the facts of aggregates of 2²⁷ rows by an int32 of unknown range, on a device like an H100.
func factsOf(t *testing.T, aggregates ...Aggregate) *facts {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "k", Type: arrow.PrimitiveTypes.Int32}, {Name: "x", Type: arrow.PrimitiveTypes.Float64}, {Name: "n", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	}, nil)
	p, err := newPlan(schema, aggregates)
	require.NoError(t, err)
	f := &facts{
		tuning: tuningOf(t.Context()), limits: limits{shared: 227 << 10, multiprocessors: 132, budget: 64 << 30}, rows: 1 << 27, plan: p,
		keys: []keyFacts{{dataType: arrow.PrimitiveTypes.Int32, integer: true, width: 4}},
	}
	for _, in := range p.inputs {
		terms, integer := extentOfType(in.dataType)
		name, _ := in.expression.Column()
		f.inputs = append(f.inputs, inputFacts{dataType: in.dataType, nullable: name == "n", extent: terms, integer: integer})
	}
	p.share(func(input int) bool { return f.inputs[input].nullable })
	return f
}

// planned plans partitions, as measure does.
func (f *facts) planned() *facts {
	f.places = placesOf(f.keys)
	f.partitions = f.planPartitions()
	f.hashes = f.planHashes()
	return f
}

// withRange sets the range of the key.
func (f *facts) withRange(places uint64) { f.keys[0].span = span{places: places} }

// withGroups sets the estimated number of groups, of a key with a large range.
func (f *facts) withGroups(groups uint64) { f.groups, f.estimated = groups, true }

// factChoices are facts and the strategy that is chosen for them.
var factChoices = []struct {
	name       string
	aggregates []Aggregate
	set        func(*facts)
	want       choices.GroupStrategy
}{
	{"a thousand rows", nil, func(f *facts) { f.oneLaunch, f.rows = true, 1000 }, oneLaunchName},
	{"as many as one launch takes", nil, func(f *facts) { f.oneLaunch, f.rows = true, mostAggregatedRows }, oneLaunchName},
	{"more rows than one launch takes", nil, func(f *facts) { f.oneLaunch, f.rows = true, mostAggregatedRows+1 }, numbersName},
	{"no rows", nil, func(f *facts) { f.oneLaunch, f.rows = true, 0 }, numbersName},
	{"few rows of other types", nil, func(f *facts) { f.rows = 1000 }, numbersName},
	{"few rows whose ranges are measured", nil, func(f *facts) { f.oneLaunch, f.rows, f.MeasuredRows = true, 1000, 1; f.withRange(10) }, denseName},

	{"a small range", nil, func(f *facts) { f.withRange(100) }, denseName},
	{"a range in one slice", nil, func(f *facts) { f.withRange(1 << 14) }, denseName},
	{"a range in slices with queues", nil, func(f *facts) { f.withRange(1 << 16) }, denseName},
	{"the largest range of tiles", nil, func(f *facts) { f.withRange(1 << 17) }, denseName},
	{"a range of records", nil, func(f *facts) { f.withRange(1 << 18) }, denseName},
	{"a range of records of few rows", nil, func(f *facts) { f.withRange(1<<17 + 1); f.rows = fewestUnrecordedRows - 1 }, denseName},
	{"a range between tiles and records", nil, func(f *facts) { f.withRange(1<<17 + 1) }, partitionsName},
	{"a constant", nil, func(f *facts) { f.keys, f.constants = []keyFacts{{constant: true, span: span{places: 1}}}, true }, denseName},
	{"a small range of many aggregates without tiles", []Aggregate{Product(expr.Col("n"))}, func(f *facts) { f.withRange(5000) }, denseName},

	{"a large range", nil, func(f *facts) { f.withRange(1 << 22) }, partitionsName},
	{"the largest range", nil, func(f *facts) { f.withRange(mostPartitioned) }, partitionsName},
	{"a range beyond the largest one", nil, func(f *facts) { f.withRange(mostPartitioned + 1) }, numbersName},
	{"a large range and a null", nil, func(f *facts) { f.withRange(1 << 22); f.keys[0].nullable = true }, partitionsName},
	{"two large ranges", nil, func(f *facts) {
		f.keys = append(f.keys, f.keys[0])
		f.withRange(1 << 12)
		f.keys[1].span.places = 1 << 10
	}, partitionsName},
	{"two ranges that are too large", nil, func(f *facts) {
		f.keys = append(f.keys, f.keys[0])
		f.withRange(1 << 20)
		f.keys[1].span.places = 1 << 20
	}, numbersName},
	{"a large range and masked rows", nil, func(f *facts) { f.withRange(1 << 22); f.masked = true }, numbersName},
	{"a large range of few rows", nil, func(f *facts) { f.withRange(1 << 22); f.rows = 1 << 17 }, numbersName},
	{"a large range of aggregates without partitions", []Aggregate{Product(expr.Col("n"))}, func(f *facts) { f.withRange(1 << 22) }, numbersName},

	{"many scattered keys", nil, func(f *facts) { f.withGroups(1 << 20) }, hashesName},
	{"scattered keys of which the number is not known", nil, func(*facts) {}, numbersName},
	{"few scattered keys", nil, func(f *facts) { f.withGroups(fewestPartitioned - 1) }, numbersName},
	{"scattered keys that tiles add up", nil, func(f *facts) { f.withGroups(1 << 16) }, numbersName},
	{"scattered keys of few rows", nil, func(f *facts) { f.withGroups(1 << 17); f.rows = fewestHashedRows - 1 }, numbersName},
	{"scattered keys and a null", nil, func(f *facts) { f.withGroups(1 << 20); f.keys[0].nullable = true }, numbersName},
	{"scattered keys and a small budget", nil, func(f *facts) { f.withGroups(1 << 20); f.budget = 1 << 30 }, numbersName},
	{"scattered keys with MaxGroups", nil, func(f *facts) { f.withGroups(1 << 20); f.maxGroups = 1 << 30 }, numbersName},
	{"many groups in a short range of few rows", nil, func(f *facts) { f.withGroups(1 << 18); f.withRange(mostPlaces); f.rows = fewestHashedRows - 1 }, numbersName},

	{"a small range in the order of the first rows", nil, func(f *facts) { f.withRange(100); f.order = FirstAppearance }, numbersName},
	{"a small range of rows with numbers", nil, func(f *facts) { f.withRange(100); f.numbered = true }, numbersName},
	{"a small range of sorted values", []Aggregate{Median(expr.Col("x"))}, func(f *facts) { f.withRange(100) }, numbersName},
	{"a partial result of a small range", nil, func(f *facts) { f.withRange(100); f.asStates = true }, numbersName},
	{"a partial result of fixed-point sums", nil, func(f *facts) { f.withRange(100); f.asStates, f.fixedPointSums = true, true }, denseName},
	{"a partial result of a large range", nil, func(f *facts) { f.withRange(1 << 22); f.asStates = true }, partitionsName},
	{"no range", nil, func(f *facts) { f.keys[0].integer = false }, numbersName},
	{"the host", nil, func(f *facts) { f.onHost = true; f.withRange(100) }, numbersName},
	{"the host and a constant", nil, func(f *facts) { f.onHost, f.constants, f.keys = true, true, nil }, oneGroupName},

	{"partitions that do not pay", nil, func(f *facts) { f.withRange(100); f.Find = partitionsName }, partitionsName},
	{"partitions that are not possible", nil, func(f *facts) { f.withRange(100); f.masked, f.Find = true, partitionsName }, denseName},
	{"hashes that do not pay", nil, func(f *facts) { f.rows, f.Find = 1000, hashesName; f.withGroups(3) }, hashesName},
	{"numbers that do not pay", nil, func(f *facts) { f.withRange(100); f.Find = numbersName }, numbersName},
	{"a forced sum of few rows", nil, func(f *facts) { f.oneLaunch, f.rows, f.Add = true, 1000, tilesName }, numbersName},
}

// TestChoose requires the strategy that finds the groups for facts, without a device.
func TestChoose(t *testing.T) {
	chosen := map[choices.GroupStrategy]bool{}
	for _, test := range factChoices {
		if test.aggregates == nil {
			test.aggregates = []Aggregate{Sum(expr.Col("x"))}
		}
		f := factsOf(t, test.aggregates...)
		test.set(f)
		name := choose(f.planned()).name
		require.Equal(t, test.want, name, test.name)
		chosen[name] = true
	}
	for _, s := range strategies {
		require.True(t, chosen[s.name], "no facts choose %s", s.name)
		require.True(t, s.fallback == "" || strategyOf(s.fallback).name == numbersName, s.name)
	}
}

// TestChooseAdder requires the strategy that adds rows to a number of groups, without a device.
func TestChooseAdder(t *testing.T) {
	sums := func() (list []Aggregate) {
		for range 9 {
			list = append(list, Sum(expr.Col("x").Add(expr.Lit(float64(len(list))))))
		}
		return list
	}()
	chosen := map[choices.GroupStrategy]bool{}
	for _, test := range []struct {
		name       string
		aggregates []Aggregate
		groups     uint64
		set        func(*facts)
		want       choices.GroupStrategy
	}{
		{"few groups", nil, 100, nil, tilesName},
		{"few groups of few rows", nil, 100, func(f *facts) { f.rows = fewestTiledRows - 1 }, slotsName},
		{"few groups of the fewest rows", nil, 100, func(f *facts) { f.rows = fewestTiledRows }, tilesName},
		{"groups in slices with queues", nil, 1 << 17, nil, tilesName},
		{"more groups", nil, 1<<17 + 1, nil, partitionsName},
		{"more groups of few rows", nil, 1<<17 + 1, func(f *facts) { f.rows = fewestUnrecordedRows - 1 }, recordsName},
		{"groups of records", nil, fewestRecorded, nil, recordsName},
		{"records beyond the cache", nil, mostRecordBytes/16 + 1, nil, partitionsName},
		{"as many groups as rows", nil, 1 << 27, nil, partitionsName},
		{"masked rows", nil, 1 << 22, func(f *facts) { f.masked = true }, slotsName},
		{"products", []Aggregate{Product(expr.Col("n"))}, 100, nil, slotsName},
		{"first rows", []Aggregate{ArgMin(expr.Col("x"))}, 100, nil, slotsName},
		{"variances", []Aggregate{Variance(expr.Col("x"), 1)}, 1 << 22, nil, slotsName},
		{"more sums than partitions have", sums, 1 << 22, nil, slotsName},
		{"tiles of few rows", nil, 100, func(f *facts) { f.rows, f.Add = 1000, tilesName }, tilesName},
		{"records of few rows", nil, 100, func(f *facts) { f.rows, f.Add = 1000, recordsName }, recordsName},
		{"partitions of few groups", nil, 100, func(f *facts) { f.rows, f.Add = 1000, partitionsName }, partitionsName},
		{"slots of few groups", nil, 100, func(f *facts) { f.Add = slotsName }, slotsName},
	} {
		if test.aggregates == nil {
			test.aggregates = []Aggregate{Sum(expr.Col("x"))}
		}
		f := factsOf(t, test.aggregates...)
		if test.set != nil {
			test.set(f)
		}
		name := chooseAdder(f, test.groups, true)
		require.Equal(t, test.want, name, test.name)
		chosen[name] = true
	}
	require.Len(t, chosen, len(adders))
}

// TestFusedLaunches requires whether tiles compute the expressions of aggregates, and with how many launches.
func TestFusedLaunches(t *testing.T) {
	product := func(number int) expr.Expr { return expr.Col("n").Mul(expr.Lit(number)) }
	sums := func(count int) (list []Aggregate) {
		for i := range count {
			list = append(list, Sum(product(i+2)))
		}
		return list
	}
	real := expr.Col("x").Add(expr.Lit(0.5))
	for _, test := range []struct {
		name       string
		aggregates []Aggregate
		groups     int
		set        func(*facts)
		launches   int
	}{
		{"a sum of integers", sums(1), 100, nil, 1},
		{"a sum of integers and columns", append(sums(1), Sum(expr.Col("x"))), 100, nil, 1},
		{"more sums than a launch has", sums(12), 100, nil, 2},
		{"groups in two slices", sums(1), 1 << 15, nil, 2},
		{"groups in more slices", sums(1), 1 << 17, nil, 0},
		{"few rows", sums(1), 100, func(f *facts) { f.rows = fewestTiledRows - 1 }, 0},
		{"few rows of forced tiles", sums(1), 100, func(f *facts) { f.rows, f.Add = 1000, tilesName }, 1},
		{"records", sums(1), 100, func(f *facts) { f.Add = recordsName }, 0},
		{"columns alone", []Aggregate{Sum(expr.Col("n"))}, 100, nil, 0},
		{"a sum of floats", []Aggregate{Sum(real)}, 100, nil, 1},
		{"a sum of floats that must not wait", []Aggregate{Sum(real)}, 100, func(f *facts) { f.waits = false }, 0},
		{"a product", []Aggregate{Product(product(2))}, 100, nil, 0},
	} {
		f := factsOf(t, test.aggregates...)
		f.waits = true
		for i, in := range f.plan.inputs {
			_, plain := plainColumn(in.expression)
			f.inputs[i].deferred = !plain
		}
		if test.set != nil {
			test.set(f)
		}
		launches, _, ok := f.fusedLaunches(f.plan.accumulators, test.groups, int(f.rows), false)
		require.Equal(t, test.launches > 0, ok, test.name)
		require.Len(t, launches, test.launches, test.name)
	}
}

// TestNeedsGroups requires the facts for which the number of groups is estimated: it may take a pass over the rows.
func TestNeedsGroups(t *testing.T) {
	for _, test := range []struct {
		name string
		set  func(*facts)
		want bool
	}{
		{"scattered keys", func(*facts) {}, true},
		{"a known estimate", func(f *facts) { f.withGroups(1 << 20) }, false},
		{"a small range", func(f *facts) { f.withRange(100) }, false},
		{"a large range", func(f *facts) { f.withRange(1 << 22) }, false},
		{"a range of a table of places", func(f *facts) { f.withRange(mostPlaces); f.rows = fewestHashedRows }, false},
		{"a range with too many places", func(f *facts) { f.withRange(1 << 22); f.rows = fewestHashedRows }, true},
		{"few rows", func(f *facts) { f.rows = fewestHashedRows - 1 }, false},
		{"numbers", func(f *facts) { f.Find = numbersName }, false},
		{"hashes of few rows", func(f *facts) { f.rows, f.Find = 10, hashesName }, true},
		{"hashes of a number of groups", func(f *facts) { f.rows, f.Find, f.Groups = 10, hashesName, 100 }, false},
	} {
		f := factsOf(t, Sum(expr.Col("x")))
		test.set(f)
		f.places = placesOf(f.keys)
		f.partitions = f.planPartitions()
		require.Equal(t, test.want, f.needsGroups(), test.name)
	}
}

// TestChooseValues requires the strategies that find the largest values and quantiles of each group, without a device.
func TestChooseValues(t *testing.T) {
	for _, test := range []struct {
		name                string
		set                 func(*valueFacts)
		extremes, quantiles choices.GroupStrategy
	}{
		{"many numbers of few groups", func(*valueFacts) {}, topsName, selectionName},
		{"the host", func(f *valueFacts) { f.onHost = true }, sortedValuesName, sortedValuesName},
		{"other values", func(f *valueFacts) { f.plain = false }, sortedValuesName, sortedValuesName},
		{"no rows", func(f *valueFacts) { f.rows = 0 }, sortedValuesName, sortedValuesName},
		{"no groups", func(f *valueFacts) { f.groups = 0 }, sortedValuesName, sortedValuesName},
		{"the most values", func(f *valueFacts) { f.limit = mostTops }, topsName, selectionName},
		{"more values", func(f *valueFacts) { f.limit = mostTops + 1 }, sortedValuesName, selectionName},
		{"no values", func(f *valueFacts) { f.limit = 0 }, sortedValuesName, selectionName},
		{"the fewest rows of quantiles", func(f *valueFacts) { f.rows = fewestSelected }, topsName, selectionName},
		{"fewer rows", func(f *valueFacts) { f.rows = fewestSelected - 1 }, topsName, sortedValuesName},
		{"the fewest rows of largest values", func(f *valueFacts) { f.rows = fewestTopped + 1 }, topsName, sortedValuesName},
		{"even fewer rows", func(f *valueFacts) { f.rows = fewestTopped }, sortedValuesName, sortedValuesName},
		{"the most groups of quantiles", func(f *valueFacts) { f.groups = f.rows / fewestSelectedOfGroup }, topsName, selectionName},
		{"more groups", func(f *valueFacts) { f.groups = f.rows/fewestSelectedOfGroup + 1 }, topsName, sortedValuesName},
		{"the most groups of largest values", func(f *valueFacts) { f.groups = f.rows }, topsName, sortedValuesName},
		{"one more group", func(f *valueFacts) { f.groups = f.rows + 1 }, sortedValuesName, sortedValuesName},
		{"MaxGroups", func(f *valueFacts) { f.bounded = true }, topsName, sortedValuesName},
		{"forced tops of few rows", func(f *valueFacts) { f.rows, f.Values = 10, topsName }, topsName, sortedValuesName},
		{"forced selection of few rows", func(f *valueFacts) { f.rows, f.Values = 10, selectionName }, sortedValuesName, selectionName},
		{"a forced sort", func(f *valueFacts) { f.Values = sortedValuesName }, sortedValuesName, sortedValuesName},
	} {
		f := valueFacts{rows: 1 << 27, groups: 100, limit: 2, plain: true}
		test.set(&f)
		require.Equal(t, test.extremes, chooseValues(extremeFinders, &f).name, test.name)
		require.Equal(t, test.quantiles, chooseValues(quantileFinders, &f).name, test.name)
	}
}

// TestNumbersOfTextsPay requires the facts for which the bounds of strings are found.
func TestNumbersOfTextsPay(t *testing.T) {
	for _, test := range []struct {
		name string
		set  func(*textFacts)
		want bool
	}{
		{"many rows", func(*textFacts) {}, true},
		{"the fewest rows", func(f *textFacts) { f.rows = unwaited + 1 }, true},
		{"fewer rows", func(f *textFacts) { f.rows = unwaited }, false},
		{"the host", func(f *textFacts) { f.onHost = true }, false},
		{"rows with numbers", func(f *textFacts) { f.numbered = true }, false},
		{"MaxGroups", func(f *textFacts) { f.bounded = true }, false},
		{"an estimate", func(f *textFacts) { f.estimated = true }, false},
		{"few rows of a test", func(f *textFacts) { f.rows, f.TextRows = 1, 1 }, true},
		{"no rows of a test", func(f *textFacts) { f.rows, f.TextRows = 0, 1 }, false},
	} {
		f := textFacts{tuning: tuningOf(t.Context()), rows: 1 << 20}
		test.set(&f)
		require.Equal(t, test.want, f.numbersPay(), test.name)
	}
}

// TestPlacesOfHashes requires the number of places of partitions by hashes.
func TestPlacesOfHashes(t *testing.T) {
	for _, test := range []struct {
		name           string
		groups, budget uint64
		given          int
		places         uint64
	}{
		{name: "tables are full to two thirds", groups: 1 << 20, places: 1 << 21},
		{name: "few groups", groups: 3, places: 8},
		{name: "too many groups", groups: mostPartitioned},
		{name: "a number of groups", given: 100, places: 256},
		{name: "a budget", groups: 1 << 20, budget: 8 << 30, places: 1 << 21},
		{name: "too small a budget", groups: 1 << 20, budget: 2 << 30},
	} {
		f := factsOf(t, Sum(expr.Col("x")))
		f.withGroups(test.groups)
		f.Groups = test.given
		if test.budget > 0 {
			f.budget = test.budget
		}
		p := f.planHashes()
		if test.places == 0 {
			require.True(t, p == nil, test.name)
			continue
		}
		require.True(t, p != nil, test.name)
		require.Equal(t, test.places, p.places, test.name)
	}
}

// TestDocumentedStrategies requires that the package documentation names the strategies in their order.
func TestDocumentedStrategies(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	documented := func(title string) (names []string) {
		_, section, _ := strings.Cut(string(text), "\n// # "+title+"\n")
		section, _, _ = strings.Cut(section, "\n// # ")
		for _, line := range strings.Split(section, "\n") {
			row, table := strings.CutPrefix(line, "//\t")
			if name, _, _ := strings.Cut(row, "  "); table && name != "" && name != "strategy" {
				names = append(names, name)
			}
		}
		return names
	}
	var finders, adding []string
	for _, s := range strategies {
		finders = append(finders, string(s.name))
	}
	for _, a := range adders {
		adding = append(adding, string(a.name))
	}
	require.Equal(t, finders, documented("How groups are found"))
	require.Equal(t, adding, documented("How rows are added"))
	var values []string
	for _, table := range [][]valueFinder{extremeFinders[:1], quantileFinders} {
		for _, v := range table {
			values = append(values, string(v.name))
		}
	}
	require.Equal(t, values, documented("How values of groups are found"))
}
