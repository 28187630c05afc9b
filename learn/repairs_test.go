package learn_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/learn"
)

// hostEngine opens the host for a test.
func hostEngine(t *testing.T) *gpuframe.Engine {
	e, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e
}

type number struct{ X float64 }

func TestBinsOfOneValue(t *testing.T) {
	q := gpuframe.From(hostEngine(t), []number{{5}, {5}, {5}})
	for _, kind := range []string{"uniform_bins", "quantile_bins"} {
		bins, err := learn.Fit(t.Context(), q, learn.Request{Kind: kind, Columns: []string{"X"}, Bins: 4})
		require.NoError(t, err)
		require.Equal(t, []int64{0, 0, 0}, column[int64](t, bins.Apply(q), "X"))
	}
	none, err := learn.Decode("bins", []byte(`{"columns":[{"column":"X","edges":[]}]}`))
	require.NoError(t, err)
	require.Equal(t, []int64{0, 0, 0}, column[int64](t, none.Apply(q), "X"))
}

type texts struct {
	ID      int64
	A       string
	AB      string `gpuframe:"A_b"`
	Another string
}

func TestOneHotNames(t *testing.T) {
	e := hostEngine(t)
	ctx := t.Context()
	rows := gpuframe.From(e, []texts{{1, "b_c", "c", "x"}, {2, "d", "e", "y"}})
	for _, columns := range [][]string{{"A", "A_b"}, {"A_b", "A"}} {
		_, err := learn.FitOneHot(ctx, rows, learn.CategoryOptions{}, columns...)
		require.ErrorIs(t, err, learn.ErrOption)
		require.ErrorContains(t, err, `"A_b_c"`)
		require.ErrorContains(t, err, "rename one of the columns")
	}
	_, err := learn.FitOneHot(ctx, rows.Rename("Another", "A_d"), learn.CategoryOptions{}, "A")
	require.ErrorContains(t, err, `"A_d" of column "A" has the name of a column of the query`)
	for _, o := range []learn.CategoryOptions{{NullCategory: true}, {Unknown: learn.UnknownCategory}} {
		reserved := map[bool]string{true: "null", false: "unknown"}[o.NullCategory]
		_, err = learn.FitOneHot(ctx, gpuframe.From(e, []texts{{A: reserved}}), o, "A")
		require.ErrorIs(t, err, learn.ErrOption)
	}
	fitted, err := learn.FitOneHot(ctx, rows, learn.CategoryOptions{}, "A")
	require.NoError(t, err)
	_, err = fitted.Apply(rows.Rename("Another", "A_d")).Collect(ctx)
	var problems *gpuframe.QueryError
	require.ErrorAs(t, err, &problems)
	require.ErrorContains(t, err, `"A_d"`)
}

func TestOneHotOfManyCategories(t *testing.T) {
	list := make([]texts, 300)
	for i := range list {
		list[i] = texts{ID: int64(i), A: fmt.Sprint(i)}
	}
	q := gpuframe.From(hostEngine(t), list)
	fitted, err := learn.FitOneHot(t.Context(), q, learn.CategoryOptions{}, "A")
	require.NoError(t, err)
	hot := column[uint8](t, fitted.Apply(q), "A_7")
	for i, x := range hot {
		require.Equal(t, i == 7, x == 1)
	}
}

func TestDecodeRefusesOtherKinds(t *testing.T) {
	q := gpuframe.From(hostEngine(t), random(20, 4))
	fitted := map[string]learn.Transformer{}
	for kind, r := range map[string]learn.Request{
		"labels": {Kind: "labels", Columns: []string{"City"}}, "target_means": {Kind: "target_means", Columns: []string{"City"}, Target: "Y"},
		"scaling": {Kind: "min_max", Columns: []string{"Y"}}, "imputation": {Kind: "mean", Columns: []string{"X"}},
		"bins": {Kind: "uniform_bins", Columns: []string{"Y"}, Bins: 2},
	} {
		f, err := learn.Fit(t.Context(), q, r)
		require.NoError(t, err)
		fitted[kind] = f
	}
	for kind, value := range fitted {
		text, err := json.Marshal(value)
		require.NoError(t, err)
		for other := range fitted {
			_, err := learn.Decode(other, text)
			if other == kind {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, learn.ErrOption, "%s as %s", kind, other)
			}
		}
		for _, text := range []string{`{}`, `null`, `[]`, string(text) + `{}`, `{"kind":"x"}`} {
			_, err := learn.Decode(kind, []byte(text))
			require.ErrorIs(t, err, learn.ErrOption, "%s of %s", text, kind)
		}
	}
	nothing, err := learn.FitMinMax(t.Context(), q)
	require.NoError(t, err)
	text, err := json.Marshal(nothing)
	require.NoError(t, err)
	require.JSONEq(t, `{"columns":[]}`, string(text))
}

func TestFitsOfSpecialNumbers(t *testing.T) {
	e, ctx := hostEngine(t), t.Context()
	for _, special := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -math.MaxFloat64} {
		q := gpuframe.From(e, []number{{1}, {special}, {math.MaxFloat64}, {2}})
		for _, kind := range []string{"standardization", "min_max", "mean", "uniform_bins", "quantile_bins"} {
			fitted, err := learn.Fit(ctx, q, learn.Request{Kind: kind, Columns: []string{"X"}, Bins: 3})
			if err != nil {
				require.ErrorIs(t, err, learn.ErrNotFinite, "%s of %v", kind, special)
				require.ErrorContains(t, err, `"X"`)
				continue
			}
			_, err = json.Marshal(fitted)
			require.NoError(t, err, "%s of %v", kind, special)
		}
	}
	_, err := learn.Fit(ctx, gpuframe.From(e, []number{{1}, {math.NaN()}}), learn.Request{Kind: "standardization", Columns: []string{"X"}})
	require.ErrorIs(t, err, learn.ErrNotFinite)
	_, err = learn.Constant(math.NaN(), "X")
	require.ErrorIs(t, err, learn.ErrOption)
	_, err = learn.FitTargetMeans(ctx, gpuframe.From(e, random(9, 1)), "Y", learn.TargetOptions{Smoothing: math.Inf(1)}, "City")
	require.ErrorIs(t, err, learn.ErrOption)
}
