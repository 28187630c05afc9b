package gpuframe_test

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// aloneVariable names the verb that a child process of TestVerbsAlone runs.
const aloneVariable = "GPUFRAME_TEST_VERB_ALONE"

// aloneDevices is the number of devices of the child process.
const aloneDevices = "GPUFRAME_TEST_VERB_DEVICES"

type aloneRow struct {
	K, V int64
	L    []int64
	E    []float64
}

// verbsAlone are queries with one verb or function that makes nodes which not every program knows.
var verbsAlone = map[string]func(q gpuframe.Query) gpuframe.Query{
	"agg":      func(q gpuframe.Query) gpuframe.Query { return q.GroupBy("K").Agg(gpuframe.Col("V").Sum()) },
	"all rows": func(q gpuframe.Query) gpuframe.Query { return q.With(gpuframe.Col("V").Sum().As("S")) },
	"filter":   func(q gpuframe.Query) gpuframe.Query { return q.Filter(gpuframe.Col("V").Ge(gpuframe.Col("V").Mean())) },
	"join":     func(q gpuframe.Query) gpuframe.Query { return q.Join(q, gpuframe.Inner, "K") },
	"as of":    func(q gpuframe.Query) gpuframe.Query { return q.AsOf(q, gpuframe.Col("V"), gpuframe.AsOfOptions{}) },
	"nearest":  func(q gpuframe.Query) gpuframe.Query { return q.NearestTo(q, "E", 1, gpuframe.NearestOptions{}) },
	"distinct": func(q gpuframe.Query) gpuframe.Query { return q.Distinct("K") },
	"except":   func(q gpuframe.Query) gpuframe.Query { q = q.Select("K"); return q.Except(q) },
	"all":      func(q gpuframe.Query) gpuframe.Query { q = q.Select("K"); return q.IntersectAll(q) },
	"explode":  func(q gpuframe.Query) gpuframe.Query { return q.Explode("L") },
	"sort":     func(q gpuframe.Query) gpuframe.Query { return q.Sort(gpuframe.Col("V")).Head(1) },
	"top":      func(q gpuframe.Query) gpuframe.Query { return q.Top(1, gpuframe.Col("V")) },
	"crosstab": func(q gpuframe.Query) gpuframe.Query { return q.CrossTab("K", "V", []any{1, 2}).Head(1) },
	"sample":   func(q gpuframe.Query) gpuframe.Query { return q.Sample(0.5, gpuframe.SampleOptions{Replace: true}) },
	"by groups": func(q gpuframe.Query) gpuframe.Query {
		return q.SampleRows(1, gpuframe.SampleOptions{By: []gpuframe.Expression{gpuframe.Col("K")}})
	},
	"rows":     func(q gpuframe.Query) gpuframe.Query { return q.SampleRows(1, gpuframe.SampleOptions{}) },
	"shuffle":  func(q gpuframe.Query) gpuframe.Query { return q.Shuffle(1).Head(1) },
	"resample": func(q gpuframe.Query) gpuframe.Query { return q.Resample("V", 1).Agg(gpuframe.Count()) },
	"hopping":  func(q gpuframe.Query) gpuframe.Query { return q.Resample("V", 1).Span(2).Agg(gpuframe.Count()) },
	"head":     func(q gpuframe.Query) gpuframe.Query { return q.Resample("V", 1).Agg(gpuframe.Count()).Head(1) },
	"mode": func(q gpuframe.Query) gpuframe.Query {
		return q.GroupBy("K").Agg(gpuframe.Col("V").Mode(), gpuframe.Col("V").CountDistinct().As("N"))
	},
	"at": func(q gpuframe.Query) gpuframe.Query {
		return q.GroupBy("K").Agg(gpuframe.Col("V").AtMax(gpuframe.Col("K")))
	},
	"first": func(q gpuframe.Query) gpuframe.Query { return q.With(gpuframe.Col("V").First().As("F")).Head(1) },
	"tail":  func(q gpuframe.Query) gpuframe.Query { return q.Tail(1) },
	"pivot": func(q gpuframe.Query) gpuframe.Query {
		return q.GroupBy("K").Pivot("V", []any{2, 3}, gpuframe.Col("K").Sum())
	},
	"unpivot": func(q gpuframe.Query) gpuframe.Query { return q.Select("K", "V").Unpivot([]string{"K", "V"}) },
	"lag":     func(q gpuframe.Query) gpuframe.Query { return q.With(gpuframe.Col("V").Lag(1).As("P")) },
	"running": func(q gpuframe.Query) gpuframe.Query { return q.With(gpuframe.Col("V").CumSum().As("P")) },
	"over": func(q gpuframe.Query) gpuframe.Query {
		return q.With(gpuframe.Col("V").First().Over(gpuframe.By("K").OrderBy(gpuframe.Col("V").Desc())).As("P"))
	},
	"order of aggregates": func(q gpuframe.Query) gpuframe.Query {
		v := gpuframe.Col("V")
		return q.GroupBy("K").Agg(v.First().OrderBy(v.Desc()).As("A"), v.First().OrderBy(v).As("B"), v.Sum().As("C"))
	},
}

// TestVerbsAlone runs each verb in a process in which nothing else has made operations known: verbs and functions
// make those known that their nodes and the passes of the optimizer need.
func TestVerbsAlone(t *testing.T) {
	if name := os.Getenv(aloneVariable); name != "" {
		runAlone(t, verbsAlone[name])
		return
	}
	executable, err := os.Executable()
	require.NoError(t, err)
	for name := range verbsAlone {
		for _, devices := range []string{"1", "3"} {
			t.Run(name+" on "+devices, func(t *testing.T) {
				child := exec.CommandContext(t.Context(), executable, "-test.run=^TestVerbsAlone$")
				child.Env = append(slices.Clone(os.Environ()), aloneVariable+"="+name, aloneDevices+"="+devices)
				output, err := child.CombinedOutput()
				require.NoError(t, err, "%s", output)
			})
		}
	}
}

// runAlone runs a verb on the host, or on several devices, whose plans have other nodes.
func runAlone(t *testing.T, verb func(gpuframe.Query) gpuframe.Query) {
	devices, err := strconv.Atoi(os.Getenv(aloneDevices))
	require.NoError(t, err)
	e := openDevices(t, devicetest.Hosts(t, devices))
	rows := []aloneRow{{1, 2, []int64{1}, []float64{1, 0}}, {1, 3, []int64{2, 3}, []float64{0, 1}}, {2, 4, nil, []float64{1, 1}}}
	frame, err := verb(gpuframe.From(e, rows)).Collect(t.Context())
	require.NoError(t, err)
	require.NoError(t, frame.Release())
}
