package gpuframe_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// quantileModel is a quantile of sorted numbers as NumPy defines it.
func quantileModel(sorted []int64, q float64, interpolation string) float64 {
	at := q * float64(len(sorted)-1)
	low, high := float64(sorted[int(math.Floor(at))]), float64(sorted[int(math.Ceil(at))])
	switch interpolation {
	case "lower":
		return low
	case "higher":
		return high
	case "nearest":
		return float64(sorted[int(math.RoundToEven(at))])
	case "midpoint":
		return (low + high) / 2
	case "linear":
		return low + (high-low)*(at-math.Floor(at))
	}
	return float64(sorted[max(int(math.Ceil(math.Round(q*float64(len(sorted))*1e6)/1e6))-1, 0)])
}

// TestFrequencies compares quantiles with interpolations, entropies, histograms and aggregates of bits with their definitions.
func TestFrequencies(t *testing.T) {
	type row struct {
		Key  int64
		X    *int64
		Text *string
	}
	quantiles := []float64{0, 0.07, 0.25, 0.5, 0.9, 1}
	interpolations := []string{"lower", "higher", "nearest", "midpoint", "linear", "discrete"}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		e, random := engineOn(t, dev), property.Random(t)
		var rows []row
		for range 200 {
			r := row{Key: int64(random.IntN(12))}
			if r.Key > 0 && random.IntN(4) > 0 { // group 0 has no values
				x := int64(random.IntN(15) - 7)
				text := strings.Repeat("é", int(x+7)/3)
				r.X, r.Text = &x, &text
			}
			rows = append(rows, r)
		}
		x, text := gpuframe.Col("X"), gpuframe.Col("Text")
		list := []gpuframe.Expression{
			x.Entropy().As("entropy"), x.Histogram().MapEntries().As("histogram"), text.Histogram().MapGet("é").As("one"), text.QuantileWith(0.5, "discrete").As("text"),
			x.BitwiseAnd().As("and"), x.BitwiseOr().As("or"), x.BitwiseXor().As("xor"), x.Cast(arrow.PrimitiveTypes.Int8).BitwiseOr().As("narrow"),
		}
		for _, q := range quantiles {
			for _, interpolation := range interpolations {
				list = append(list, x.QuantileWith(q, interpolation).Cast(arrow.PrimitiveTypes.Float64).As(fmt.Sprint(interpolation, q)))
			}
		}
		got := lines(t, gpuframe.From(e, rows).GroupBy(gpuframe.Col("Key")).Agg(list...).Sort(gpuframe.Col("Key")))
		var want []string
		for key := range int64(12) {
			var values []int64
			var texts []string
			exists := false
			for _, r := range rows {
				exists = exists || r.Key == key
				if r.Key == key && r.X != nil {
					values, texts = append(values, *r.X), append(texts, *r.Text)
				}
			}
			if !exists {
				continue
			}
			slices.Sort(values)
			slices.SortFunc(texts, cmp.Compare)
			cells := []string{fmt.Sprint(key), "(null)", "[]", "(null)", "(null)", "(null)", "(null)", "(null)", "(null)"}
			if n := len(values); n > 0 {
				counts, entropy, and, or, xor := map[int64]int{}, math.Log2(float64(n)), int64(-1), int64(0), int64(0)
				for _, v := range values {
					counts[v]++
					and, or, xor = and&v, or|v, xor^v
				}
				var entries []string
				sum := 0.0
				for _, v := range slices.Compact(slices.Clone(values)) {
					entries = append(entries, fmt.Sprintf(`{"key":%d,"value":%d}`, v, counts[v]))
					sum += float64(counts[v]) * math.Log2(float64(counts[v]))
				}
				ones := "(null)"
				if count := len(slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return text != "é" })); count > 0 {
					ones = fmt.Sprint(count)
				}
				cells = []string{fmt.Sprint(key), fmt.Sprintf("%.9f", entropy-sum/float64(n)), "[" + strings.Join(entries, ",") + "]", ones, texts[(n+1)/2-1], fmt.Sprint(and), fmt.Sprint(or), fmt.Sprint(xor), fmt.Sprint(or)}
			}
			for _, q := range quantiles {
				for _, interpolation := range interpolations {
					if len(values) == 0 {
						cells = append(cells, "(null)")
						continue
					}
					cells = append(cells, fmt.Sprint(quantileModel(values, q, interpolation)))
				}
			}
			want = append(want, strings.Join(cells, "|")+"|")
		}
		for i := range got {
			cells := strings.Split(got[i], "|")
			var entropy float64
			if _, err := fmt.Sscan(cells[1], &entropy); err == nil {
				cells[1] = fmt.Sprintf("%.9f", entropy)
			}
			got[i] = strings.Join(cells, "|")
		}
		require.Equal(t, want, got)
		_, err := gpuframe.From(e, rows).Select(x.QuantileWith(0.5, "best")).Collect(t.Context())
		require.ErrorContains(t, err, `interpolation "best", expected 0 to 1 and one of discrete, higher, linear, lower, midpoint, nearest`)
	})
}

// TestWithFieldAndMaps changes fields of structs and makes maps, of sliced rows and with nulls.
func TestWithFieldAndMaps(t *testing.T) {
	type place struct {
		City string
		Size int64
	}
	type row struct {
		ID     int64
		Place  *place
		Names  []string
		Values []int64
	}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		e := engineOn(t, dev)
		rows := []row{
			{0, &place{"Oslo", 1}, []string{"a", "b"}, []int64{1, 2}}, {1, nil, []string{"c"}, nil}, {2, &place{"Bern", 2}, nil, []int64{3}}, {3, &place{"", 3}, []string{}, []int64{}},
		}
		place, id := gpuframe.Col("Place"), gpuframe.Col("ID")
		q := gpuframe.From(e, rows).Filter(id.Ge(0)).Select(
			place.WithField("Size", place.Field("Size").Mul(10).Add(id)).As("a"), place.WithField("New", id).Field("New").As("b"), place.WithField("New", "x").As("c"),
			gpuframe.MapOf(gpuframe.Col("Names"), gpuframe.Col("Values")).As("d"), gpuframe.MapOf(gpuframe.Col("Names"), gpuframe.Col("Values")).MapGet("b").As("e"))
		require.Equal(t, []string{
			`{"City":"Oslo","Size":10}|0|{"City":"Oslo","New":"x","Size":1}|[{"key":"a","value":1},{"key":"b","value":2}]|2|`,
			`(null)|(null)|(null)|[{"key":"c","value":null}]|(null)|`,
			`{"City":"Bern","Size":22}|2|{"City":"Bern","New":"x","Size":2}|(null)|(null)|`,
			`{"City":"","Size":33}|3|{"City":"","New":"x","Size":3}|[]|(null)|`,
		}, lines(t, q))
	})
}

// TestFrequenciesOfGroups compares the functions of frequencies of groups with those of windows, which have the list of the
// values of each partition: with conditions, dropped nulls, several values, other aggregates, and no keys.
func TestFrequenciesOfGroups(t *testing.T) {
	type row struct {
		Key  *int64
		X    *float64
		Text string
	}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		e, random := engineOn(t, dev), property.Random(t)
		var rows []row
		numbers := []float64{0, math.Copysign(0, -1), math.NaN(), 1.5, -2, 7}
		for range 150 {
			r := row{Text: strings.Repeat("ab", random.IntN(6))}
			if key := int64(random.IntN(5)); key < 4 {
				r.Key = &key
			}
			if at := random.IntN(9); at < len(numbers) {
				r.X = &numbers[at]
			}
			rows = append(rows, r)
		}
		q, key, x, text := gpuframe.From(e, rows), gpuframe.Col("Key"), gpuframe.Col("X"), gpuframe.Col("Text")
		short := text.LengthBytes().Lt(7)
		list := map[string]gpuframe.Expr{
			"top":            x.ApproxTopK(3).ListEval(gpuframe.Element().FormatFloat()).ListJoin("|"),
			"all":            text.ApproxTopK(100).ListJoin("|"),
			"top where":      x.ApproxTopK(2).Where(short).ListEval(gpuframe.Element().FormatFloat()).ListJoin("|"),
			"histogram":      text.Histogram().MapEntries().ListEval(gpuframe.Concat(gpuframe.Element().Field("key"), gpuframe.Element().Field("value").Cast(arrow.BinaryTypes.String))).ListJoin("|"),
			"some":           text.Histogram().Where(x.Gt(0)).MapGet("ab"),
			"entropy":        x.Entropy(),
			"entropy where":  text.Entropy().Where(short),
			"mean of others": text.LengthBytes().Max().Sub(x.ApproxTopK(1).ListLength()),
			"no rows":        x.ApproxTopK(2).Where(gpuframe.Lit(false)).ListLength(),
		}
		names := []string{}
		for name := range list {
			names = append(names, name)
		}
		slices.Sort(names)
		var groups, windows []gpuframe.Expression
		for _, name := range names {
			groups, windows = append(groups, list[name].As(name)), append(windows, list[name].Over(gpuframe.By(key)).As(name))
		}
		ofWindows := q.With(windows...).Select("Key", names).Distinct("Key").Sort("Key")
		require.Equal(t, lines(t, ofWindows), lines(t, q.GroupBy(key).Agg(groups...).Sort(key)))
		require.Equal(t, lines(t, ofWindows.Filter(key.IsValid())), lines(t, q.GroupBy(key).DropNulls().Agg(groups...).Sort(key)))
		whole := make([]gpuframe.Expression, len(windows))
		for i, name := range names {
			whole[i] = list[name].Over(gpuframe.By()).As(name)
		}
		require.Equal(t, lines(t, q.With(whole...).Select(names).Head(1)), lines(t, q.Select(groups)))
		require.Equal(t, lines(t, q.Select(groups).Union(ofWindows.Select(names))), lines(t, q.Rollup(key).Agg(groups...).Sort(gpuframe.Col("Key").IsNull(), "Key").Select(names).Tail(1).Union(q.GroupBy(key).Agg(groups...).Sort(key).Select(names))))
		ordered := q.GroupBy(key).Agg(text.ApproxTopK(2).OrderBy(text.Desc()).ListJoin("|").As("t")).Sort(key)
		require.Equal(t, lines(t, q.Sort(text.Desc()).GroupBy(key).Agg(text.ApproxTopK(2).ListJoin("|").As("t")).Sort(key)), lines(t, ordered))
	})
}
