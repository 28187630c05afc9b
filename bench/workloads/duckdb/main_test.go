package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/workloads/internal/runner"
)

// TestQuestions compares the answers to all questions, on small tables.
func TestQuestions(t *testing.T) {
	e, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	for _, set := range runner.Sets {
		t.Run(set.Name, func(t *testing.T) {
			s, err := openSides(t.Context(), e, set, 3000, 1)
			require.NoError(t, err)
			defer func() { require.NoError(t, s.close()) }()
			for _, q := range set.Questions {
				t.Run(q.Name, func(t *testing.T) {
					rows, err := s.compare(t.Context(), q)
					require.NoError(t, err)
					require.NotZero(t, rows, "the answer is empty")
					require.NotZero(t, s.ours.Lines[q.Name])
				})
			}
		})
	}
}
