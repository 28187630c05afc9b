package main

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/bench/internal/answer"
)

func parsed(t *testing.T, arguments ...string) *settings {
	var s settings
	set := flag.NewFlagSet("test", flag.ContinueOnError)
	s.Register(set)
	require.NoError(t, set.Parse(append(arguments, "-sf", "0.01", "-device", "host", "-rounds", "1")))
	return &s
}

// TestCompare compares all answers for data of a random seed.
func TestCompare(t *testing.T) {
	seed := strconv.FormatUint(rand.Uint64(), 10)
	t.Log("seed", seed)
	for _, arguments := range [][]string{nil, {"-parquet"}, {"-table-rows", "7000"}} {
		require.NoError(t, parsed(t, append(arguments, "-seed", seed)...).run(t.Context()))
	}
}

// TestWrittenAnswers checks the expected answers of the tests without DuckDB.
func TestWrittenAnswers(t *testing.T) {
	s := parsed(t)
	s.write = t.TempDir()
	require.NoError(t, s.run(t.Context()))
	for _, q := range s.Chosen() {
		name := "answer" + strconv.Itoa(100 + q.Number)[1:] + ".txt"
		made, err := os.ReadFile(filepath.Join(s.write, name))
		require.NoError(t, err)
		stored, err := os.ReadFile(filepath.Join("..", "queries", "testdata", name))
		require.NoError(t, err)
		require.Empty(t, answer.Parse(string(stored)).Difference(answer.Parse(string(made)), q.Order), "query %d", q.Number)
	}
}
