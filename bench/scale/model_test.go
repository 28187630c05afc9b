package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTables compares the tables of docs/measurements/2026-11-24-scale.md with the model.
func TestTables(t *testing.T) {
	for name, want := range tables() {
		got, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(t, err)
		require.Equal(t, want, string(got), "run go -C bench run ./scale and scripts/docs-tables.sh")
	}
}

// TestModel checks the model at its limits.
func TestModel(t *testing.T) {
	one := cluster{gpus: 1, host: 1, link: 50e9}
	require.Zero(t, one.network(1e9), "one GPU exchanges nothing")
	for _, c := range clusters() {
		require.InEpsilon(t, 2*c.network(1e9), c.network(2e9), 1e-12, "%v", c)
		for _, o := range operators() {
			apart, overlapped := c.times(o)
			require.GreaterOrEqual(t, apart, overlapped)
			require.GreaterOrEqual(t, overlapped, o.local)
		}
	}
	// NCCL on two hosts of eight: rapidsmpf's issue 590, which the share of the link is from.
	c := cluster{gpus: 16, host: 8, link: 400e9}
	require.InDelta(t, 75.18, 15.0/16*1e9/c.network(1e9)/1e9, 0.5)
	// Without NVLink all but the own part goes over the link.
	c = cluster{gpus: 64, host: 1, link: 400e9}
	require.InEpsilon(t, 63.0/64*1e9/(0.8*50e9), c.network(1e9), 1e-12)
}
