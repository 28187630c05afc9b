package querydata_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/query/querydata"
	"github.com/gpuframe/gpuframe/memory"
)

// chain is a document of n steps that each read the last one. The text of a step has its number in
// place of each %[1]d.
func chain(n int, step string) string {
	steps := make([]string, n)
	for i := range steps {
		input := i + 1 // the second source is step 1
		if i == 0 {
			input = 0
		}
		steps[i] = fmt.Sprintf(step, input)
	}
	return document(steps...)
}

// selected is a document with one expression.
func selected(expression string) string {
	return document(`{"verb": "select", "inputs": [0], "expressions": [` + expression + `]}`)
}

// nested applies a function of one argument many times.
func nested(n int, function, argument string) string {
	return strings.Repeat(`{"function": "`+function+`", "arguments": [`, n) + argument + strings.Repeat(`]}`, n)
}

// hostile are documents of a few kilobytes that took seconds, minutes or all memory to plan.
var hostile = map[string]string{
	"unions with themselves":     chain(60, `{"verb": "union", "inputs": [%[1]d, %[1]d]}`),
	"unions":                     chain(200, `{"verb": "union", "inputs": [%[1]d, 0]}`),
	"semi joins with themselves": chain(60, `{"verb": "join", "kind": "semi", "inputs": [%[1]d, %[1]d], "keys": [`+col("Qty")+`]}`),
	"filters":                    chain(80, `{"verb": "filter", "inputs": [%[1]d], "conditions": [`+call("gt", col("Qty"), "{\"function\": \"literal\", \"value\": %[1]d}")+`]}`),
	"projections":                chain(90, `{"verb": "with", "inputs": [%[1]d], "expressions": [`+call("mul", col("Qty"), col("Qty"))+`]}`),
	"repetitions":                selected(`{"function": "repeat", "times": 2147483647, "arguments": [` + col("City") + `]}`),
	"repetitions of repetitions": selected(`{"function": "repeat", "times": 65536, "arguments": [{"function": "repeat", "times": 65536, "arguments": [` + col("City") + `]}]}`),
	"a pattern":                  selected(`{"function": "matches_regex", "pattern": "(` + strings.Repeat(`\\pL`, 400) + `){1000}", "arguments": [` + col("City") + `]}`),
	"windows of windows":         selected(nested(100, "cum_sum", col("Qty"))),
	"interpolations": selected(`{"function": "over", "by": [` + col("City") + `], "arguments": [` +
		strings.Repeat(`{"function": "interpolate_by", "arguments": [`, 12) + col("Price") + strings.Repeat(", "+col("Qty")+`]}`, 12) + `]}`),
	"negations": document(`{"verb": "filter", "inputs": [0], "conditions": [` + nested(300, "not", col("Ok")) + `]}`),
}

// TestHostileDocuments plans them in little memory: see FuzzDecode.
func TestHostileDocuments(t *testing.T) {
	e := open(t)
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			require.LessOrEqual(t, len(text), fuzzedBytes)
			planWithin(t, e, text)
		})
	}
}

// TestRepetitionsStayInTheBudget runs a repetition with a result larger than the budget.
func TestRepetitionsStayInTheBudget(t *testing.T) {
	e, err := gpuframe.Open(gpuframe.Device("host"), gpuframe.Budget(4<<20))
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	q, err := querydata.Decode(t.Context(), e, []byte(hostile["repetitions of repetitions"]), given(e))
	require.NoError(t, err)
	_, err = q.Collect(t.Context())
	require.ErrorIs(t, err, memory.ErrBudget)
	q, err = querydata.Decode(t.Context(), e, []byte(hostile["repetitions"]), given(e))
	require.NoError(t, err)
	_, err = q.Collect(t.Context())
	require.ErrorContains(t, err, "65536")
}
