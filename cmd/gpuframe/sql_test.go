package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSQL(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "sales.csv")
	require.NoError(t, os.WriteFile(file, []byte("city,price\nOslo,2\nBern,3\nOslo,5\n"), 0o600))
	output, err := execute("", "sql", "--device", "host", "--to", "csv", "--table", "sales="+file, "select city, max(price) as top from Sales group by all order by top desc")
	require.NoError(t, err)
	require.Equal(t, "city,top\nOslo,5\nBern,3\n", output)

	output, err = execute("select count(*) as n from cheap", "sql", "--device", "host", "--to", "csv", "create view cheap as select * from '"+file+"' where price < 4", "-")
	require.NoError(t, err)
	require.Equal(t, "n\n2\n", output)

	_, err = execute("", "sql", "--device", "host", "select cty from '"+file+"'")
	require.ErrorContains(t, err, `no column is called "cty": there are "city"`)
	_, err = execute("", "sql", "--device", "host", "--table", "sales", "select 1")
	require.ErrorContains(t, err, "expected NAME=FILES")
}
