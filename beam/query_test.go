package gpubeam_test

import (
	"slices"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/stretchr/testify/require"

	gpubeam "github.com/gpuframe/gpuframe/beam"
)

const filtered = `{"version": 1, "steps": [{"verb": "given", "number": 0}, {"verb": "filter", "inputs": [0], "conditions": [
	{"function": "gt", "arguments": [{"function": "column", "name": "x"}, {"function": "literal", "value": 50}]}]}]}`

func TestQuery(t *testing.T) {
	record := numbers(1000)
	made := runPipeline(t, func(s beam.Scope) beam.PCollection {
		batches, err := gpubeam.Query(s, onHost, filtered, source(t, s, "x", split(record, 10)))
		require.NoError(t, err)
		return batches
	})
	require.Len(t, made, 10, "one batch for each, also without rows")
	require.Equal(t, rowTexts(single(t, filtered, record)), rowTexts(made))
	require.Equal(t, 10, shared.bundles["TestQuery x"])
	closed(t)
}

// TestManyBundles requires one engine for all DoFns, and no memory after a thousand bundles.
func TestManyBundles(t *testing.T) {
	record := numbers(1000)
	made := runPipeline(t, func(s beam.Scope) beam.PCollection {
		batches, err := gpubeam.Query(s, onHost, filtered, source(t, s, "x", split(record, 1000)))
		require.NoError(t, err)
		return batches
	})
	require.Len(t, rowTexts(made), 849)
	require.Equal(t, 1000, shared.bundles["TestManyBundles x"])
	engines := slices.DeleteFunc(gpubeam.Engines(), func(e gpubeam.EngineUse) bool { return e.Budget == abandoned.Budget })
	require.Len(t, engines, 1)
	require.Zero(t, engines[0].InUse)
	require.NotZero(t, engines[0].Peak)
	closed(t)
}
