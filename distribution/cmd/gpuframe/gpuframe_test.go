package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/objecttest"
)

// TestMain runs the command in place of the tests in a process that a test starts.
func TestMain(m *testing.M) {
	if os.Getenv("GPUFRAME_TEST_COMMAND") != "" {
		main()
	}
	os.Exit(m.Run())
}

// run returns what a process of the command prints, and its messages.
func run(t *testing.T, environment []string, arguments ...string) (output, messages string, err error) {
	t.Helper()
	command := exec.Command(os.Args[0], append(arguments, "--device", "host")...)
	command.Env = append(append(os.Environ(), "GPUFRAME_TEST_COMMAND=1"), environment...)
	var out, log bytes.Buffer
	command.Stdout, command.Stderr = &out, &log
	err = command.Run()
	return out.String(), log.String(), err
}

const (
	icebergTable = "../../../lake/iceberg/testdata/duckdb/data/persistent/equality_deletes/warehouse/mydb/mytable"
	deltaTable   = "../../../lake/delta/testdata/tables/table-with-dv-small/delta"
)

// Tables are read by statements, and by queries with --from.
func TestTables(t *testing.T) {
	for _, test := range []struct {
		arguments []string
		want      string
	}{
		{[]string{"sql", "select max(name) as name from iceberg_scan('" + icebergTable + "', allow_moved_paths = true)", "--to", "csv"}, "name\ne\n"},
		{[]string{"sql", "select count(*) as n from delta_scan('" + deltaTable + "')", "--to", "csv"}, "n\n8\n"},
		{[]string{"sql", "--from", "delta", "--table-version", "0", "--table", "d=" + deltaTable, "select count(*) as n from d", "--to", "csv"}, "n\n10\n"},
		{[]string{"query", deltaTable, "--from", "delta", "-p", "agg count() as n", "--to", "csv"}, "n\n8\n"},
		{[]string{"query", deltaTable, "--from", "delta", "--table-version", "0", "-p", "agg count() as n", "--to", "csv"}, "n\n10\n"},
		{[]string{"query", icebergTable, "--from", "iceberg", "--moved", "--ref", "main", "-p", "agg count() as n", "--to", "csv"}, "n\n2\n"},
		{[]string{"query", icebergTable, "--from", "iceberg", "--moved", "-p", "select id | union '" + icebergTable + "'", "--document"}, `"moved":true`},
	} {
		output, messages, err := run(t, nil, test.arguments...)
		require.NoError(t, err, messages)
		require.Contains(t, output, test.want)
	}
	for _, test := range []struct {
		arguments []string
		want      string
	}{
		{[]string{"query", "absent", "--from", "iceberg", "-p", "head 1"}, "no such file or directory"},
		{[]string{"query", deltaTable, "--from", "delta", "--ref", "main"}, "--ref is not for tables of delta"},
		{[]string{"query", deltaTable, "--from", "delta", "--as-of-time", "noon"}, "expected a time such as"},
		{[]string{"query", deltaTable, "--from", "delta", "--no-header"}, "are for files"},
		{[]string{"query", deltaTable, deltaTable, "--from", "delta"}, "has 2 paths"},
		{[]string{"query", "a.parquet", "--table-version", "0"}, "--table-version is for tables"},
		{[]string{"query", "a", "--from", "hudi"}, "iceberg"},
	} {
		_, messages, err := run(t, nil, test.arguments...)
		require.Error(t, err)
		require.Contains(t, messages, test.want)
	}
}

// Objects and tables of S3 are read with the environment of the AWS SDK.
func TestS3(t *testing.T) {
	gateway := objecttest.StartGateway(t)
	environment := []string{
		"AWS_ACCESS_KEY_ID=" + objecttest.GatewayUser, "AWS_SECRET_ACCESS_KEY=" + objecttest.GatewaySecret, "AWS_REGION=us-east-1",
		"AWS_ENDPOINT_URL_S3=" + gateway.URL, "AWS_EC2_METADATA_DISABLED=true",
	}
	require.NoError(t, os.CopyFS(filepath.Join(gateway.Bucket, "table"), os.DirFS(deltaTable)))
	require.NoError(t, os.CopyFS(filepath.Join(gateway.Bucket, "people"), os.DirFS(icebergTable)))
	for _, statement := range []string{
		"from delta_scan('s3://bucket/table', version = 0)",
		"from 's3://bucket/table/*.parquet'",
		"from iceberg_scan('s3://bucket/people', allow_moved_paths = true)",
	} {
		output, messages, err := run(t, environment, "sql", "select count(*) as n "+statement, "--to", "csv")
		require.NoError(t, err, messages)
		require.Equal(t, map[bool]string{true: "n\n2\n", false: "n\n10\n"}[strings.Contains(statement, "iceberg")], output, statement)
	}
	output, messages, err := run(t, environment, "query", "s3://bucket/table/", "--from", "parquet", "-p", "agg count() as n", "-o", "s3://bucket/n.csv")
	require.NoError(t, err, messages)
	require.Empty(t, output)
	written, err := os.ReadFile(filepath.Join(gateway.Bucket, "n.csv"))
	require.NoError(t, err)
	require.Equal(t, "n\n10\n", string(written))
	_, messages, err = run(t, append(environment, "AWS_SECRET_ACCESS_KEY=mistaken"), "sql", "from delta_scan('s3://bucket/table')")
	require.Error(t, err)
	require.Contains(t, messages, "s3://bucket/table")
	require.NotContains(t, messages, "mistaken")
}
