package command

import (
	"bytes"
	"compress/gzip"
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

// TestCompressedFiles reads a file of gzip by its name, and writes none.
func TestCompressedFiles(t *testing.T) {
	var packed bytes.Buffer
	to := gzip.NewWriter(&packed)
	_, err := to.Write([]byte("city\tprice\nOslo\t2\nBern\t3\n"))
	require.NoError(t, err)
	require.NoError(t, to.Close())
	file := filepath.Join(t.TempDir(), "sales.tsv.gz")
	require.NoError(t, os.WriteFile(file, packed.Bytes(), 0o600))
	output, err := execute("", "sql", "--device", "host", "--to", "csv", "select sales.price from '"+file+"' where city = 'Bern'")
	require.NoError(t, err)
	require.Equal(t, "price\n3\n", output)
	output, err = execute("", "query", file, "--device", "host", "--to", "csv", "--filter", "price < 3")
	require.NoError(t, err)
	require.Equal(t, "city,price\nOslo,2\n", output)
	_, err = execute("", "query", file, "--device", "host", "-o", filepath.Join(t.TempDir(), "out.csv.gz"))
	require.ErrorContains(t, err, "the extension names no format")
}
