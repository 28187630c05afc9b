package gpubeam_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/stretchr/testify/require"

	gpubeam "github.com/gpuframe/gpuframe/beam"
	"github.com/gpuframe/gpuframe/internal/query/querydata"
)

const (
	distinctDocument = `{"version": 1, "steps": [{"verb": "given", "number": 0},
		{"verb": "select", "inputs": [0], "expressions": [{"function": "column", "name": "id4"}, {"function": "column", "name": "v1"}]},
		{"verb": "distinct", "inputs": [1]},
		{"verb": "drop_nulls", "inputs": [2]}]}`
	topDocument = `{"version": 1, "steps": [{"verb": "given", "number": 0},
		{"verb": "top", "inputs": [0], "n": 25, "keys": [{"value": {"function": "column", "name": "v1"}, "descending": true}]}]}`
)

func TestDistinct(t *testing.T) {
	x := dbTable(600, 10, 4)
	made := runPipeline(t, func(s beam.Scope) beam.PCollection {
		rows, err := gpubeam.Distinct(s, onHost, distinctDocument, source(t, s, "x", split(x, 8)))
		require.NoError(t, err)
		return rows
	})
	require.Equal(t, rowTexts(single(t, distinctDocument, x)), rowTexts(made))
	pairs := map[string]bool{}
	for row := range int(x.NumRows()) {
		if x.Column(3).IsValid(row) && x.Column(6).IsValid(row) {
			pairs[x.Column(3).ValueStr(row)+" "+x.Column(6).ValueStr(row)] = true
		}
	}
	require.Len(t, rowTexts(made), len(pairs))
	closed(t)
}

// TestTopN requires the same rows for every division into bundles, though many keys are equal.
func TestTopN(t *testing.T) {
	x := dbTable(600, 10, 5)
	var first []string
	for _, bundles := range []int{1, 7, 20} {
		made := runPipeline(t, func(s beam.Scope) beam.PCollection {
			parts := split(x, bundles)
			slices.Reverse(parts)
			rows, err := gpubeam.TopN(s, onHost, topDocument, source(t, s, "x", parts))
			require.NoError(t, err)
			return rows
		})
		rows := rowTexts(made)
		require.Len(t, rows, 25)
		if first == nil {
			first = rows
		}
		require.Equal(t, first, rows)
		for _, r := range made {
			require.Equal(t, make([]int32, r.NumRows()), subtract(4, r.Column(6).(*array.Int32).Int32Values()))
		}
	}
	closed(t)
}

// subtract returns the differences of a number and others.
func subtract(from int32, list []int32) []int32 {
	made := make([]int32, len(list))
	for i, v := range list {
		made[i] = from - v
	}
	return made
}

// TestFloatSums requires equal bits for every division of the rows.
func TestFloatSums(t *testing.T) {
	x := dbTable(500, 5, 6)
	doc := groupDocument([]string{"id1"}, call("sum", "", col("v3")), as("sd", call("stddev", "", col("v3"))))
	want := rowTexts(single(t, doc, x))
	for _, bundles := range []int{1, 3, 50} {
		made := runPipeline(t, func(s beam.Scope) beam.PCollection {
			parts := split(x, bundles)
			slices.Reverse(parts)
			groups, err := gpubeam.GroupBy(s, onHost, doc, source(t, s, "x", parts))
			require.NoError(t, err)
			return groups
		})
		require.Equal(t, want, rowTexts(made))
	}
	closed(t)
}

// TestFailedBundle shows what Prism does with a bundle that fails in the middle: it ends the job.
// The engines hold nothing, and the job that is submitted again has the result of one that
// did not fail.
func TestFailedBundle(t *testing.T) {
	x := dbTable(300, 5, 7)
	doc := groupDocument([]string{"id4"}, call("sum", "", col("v3")), as("n", `{"function": "count_rows"}`))
	build := func(s beam.Scope) beam.PCollection {
		batches, err := gpubeam.Query(s, abandoned, document(`{"verb": "given", "number": 0}`), source(t, s, "x", split(x, 6)))
		require.NoError(t, err)
		passed := beam.ParDo(s, &failingFn{Input: t.Name(), At: 0, Times: 1}, batches)
		groups, err := gpubeam.GroupBy(s, abandoned, doc, passed)
		require.NoError(t, err)
		return groups
	}
	_, err := tryPipeline(t, build)
	require.ErrorContains(t, err, "failure 1 of the test")
	require.NoError(t, gpubeam.Close())
	require.Equal(t, rowTexts(single(t, doc, x)), rowTexts(runPipeline(t, build)))
	require.NoError(t, gpubeam.Close())
}

// TestSmallBudget requires an error that names the stage and the remedy, and no memory in use.
func TestSmallBudget(t *testing.T) {
	x := dbTable(2000, 10, 8)
	small := gpubeam.Options{Name: "by id3", Device: "host", Budget: 2000, Partitions: 2}
	_, err := tryPipeline(t, func(s beam.Scope) beam.PCollection {
		groups, err := gpubeam.GroupBy(s, small, groupDocument([]string{"id3"}, call("sum", "", col("v3"))), source(t, s, "x", []arrow.Record{x}))
		require.NoError(t, err)
		return groups
	})
	require.ErrorContains(t, err, `stage "by id3, parts"`)
	require.ErrorContains(t, err, "use smaller batches")
	closed(t)
}

// TestRefusals requires errors while the pipeline is built.
func TestRefusals(t *testing.T) {
	given := `{"verb": "given", "number": 0}`
	p := beam.NewPipeline()
	s := p.Root()
	batches := source(t, s, "x", []arrow.Record{numbers(1)})
	group := func(document string) error {
		_, err := gpubeam.GroupBy(s, onHost, document, batches)
		return err
	}
	for _, c := range []struct {
		err   error
		cause error
		text  string
	}{
		{group(`{`), querydata.ErrDocument, "JSON"},
		{group(document(`{"verb": "given", "number": 1}`)), querydata.ErrDocument, "steps[0].number"},
		{group(document(given)), gpubeam.ErrStep, `no step "group"`},
		{group(document(given, `{"verb": "head", "inputs": [0], "n": 3}`, groupStep(1, []string{"i"}))), gpubeam.ErrStep, `the verb "head"`},
		{group(document(given, groupStep(0, []string{"i"}), groupStep(1, []string{"i"}))), gpubeam.ErrStep, `steps[2] is a second "group"`},
		{group(groupDocument([]string{"i"}, call("first", "", col("x")))), gpubeam.ErrStep, `"first" depends on the order`},
		{group(groupDocument([]string{"i"}, call("sum", "", call("cum_sum", "", col("x"))))), gpubeam.ErrStep, `"cum_sum"`},
		{group(document(given, `{"verb": "with", "inputs": [0], "expressions": [`+as("r", call("row_number", ""))+`]}`, groupStep(1, []string{"i"}))), gpubeam.ErrStep, `"row_number"`},
		{group(document(given, groupStep(0, []string{"i"}), `{"verb": "union", "inputs": [1, 0]}`)), gpubeam.ErrStep, "reads step 0"},
		{func() error {
			_, err := gpubeam.Distinct(s, onHost, document(given, `{"verb": "distinct", "inputs": [0], "columns": ["i"]}`), batches)
			return err
		}(), gpubeam.ErrStep, "select the columns before"},
		{func() error {
			_, err := gpubeam.Join(s, onHost, document(given, `{"verb": "given", "number": 1}`, `{"verb": "join", "inputs": [0, 1], "kind": "cross"}`), batches, batches)
			return err
		}(), gpubeam.ErrStep, `"cross"`},
		{func() error {
			_, err := gpubeam.Query(s, gpubeam.Options{Partitions: -1}, document(given), batches)
			return err
		}(), gpubeam.ErrOptions, "Partitions is -1"},
		{func() error {
			_, err := gpubeam.Query(s, onHost, document(given), beam.Create(s, 1))
			return err
		}(), gpubeam.ErrBatch, "elements of type int"},
		{func() error {
			_, err := gpubeam.WriteParquet(s, "x", 0, batches)
			return err
		}(), gpubeam.ErrOptions, "number of files is 0"},
		{gpubeam.RequestAccelerator("", 1), gpubeam.ErrOptions, "a kind"},
	} {
		require.ErrorIs(t, c.err, c.cause)
		require.ErrorContains(t, c.err, c.text)
	}
	_, err := gpubeam.ReadParquet(s, "gopher://files/*")
	require.ErrorContains(t, err, "gopher")
}

// TestParquet writes files and reads them again.
func TestParquet(t *testing.T) {
	x := dbTable(300, 5, 9)
	prefix := t.TempDir() + "/x"
	p := beam.NewPipeline()
	_, err := gpubeam.WriteParquet(p.Root(), prefix, 2, source(t, p.Root(), "x", split(x, 5)))
	require.NoError(t, err)
	require.NoError(t, execute(t.Context(), p))
	made := runPipeline(t, func(s beam.Scope) beam.PCollection {
		batches, err := gpubeam.ReadParquet(s, prefix+"-*.parquet")
		require.NoError(t, err)
		return batches
	})
	require.Equal(t, rowTexts([]arrow.Record{x}), rowTexts(made))
	require.Equal(t, rowTexts([]arrow.Record{x}), rowTexts(single(t, document(fmt.Sprintf(`{"verb": "parquet", "paths": [%q]}`, prefix+"-*.parquet")))))
	_, err = tryPipeline(t, func(s beam.Scope) beam.PCollection {
		batches, err := gpubeam.ReadParquet(s, "testdata/no-parquet.txt")
		require.NoError(t, err)
		return batches
	})
	require.ErrorContains(t, err, "no-parquet.txt")
}

func execute(ctx context.Context, p *beam.Pipeline) error {
	_, err := beam.Run(ctx, "prism", p)
	return err
}

// TestStageError requires the cause of an error on a worker.
func TestStageError(t *testing.T) {
	cause := errors.New("cause")
	err := error(&gpubeam.StageError{Stage: "s", Partition: 3, Worker: "w", Attempts: 2, Err: cause})
	require.ErrorIs(t, err, cause)
	require.Equal(t, `gpubeam: stage "s", partition 3 on worker w, attempt 2: cause`, err.Error())
}

// TestRequestAccelerator requires the hint in the options of the SDK.
func TestRequestAccelerator(t *testing.T) {
	before := jobopts.ResourceHints
	t.Cleanup(func() { jobopts.ResourceHints = before })
	require.NoError(t, gpubeam.RequestAccelerator("nvidia-l4", 2, "install-nvidia-driver"))
	payload := jobopts.GetPipelineResourceHints().Payloads()["beam:resources:accelerator:v1"]
	require.Equal(t, "type:nvidia-l4;count:2;install-nvidia-driver", string(payload))
	require.ErrorIs(t, gpubeam.RequestAccelerator("a b", 1), gpubeam.ErrOptions)
}
