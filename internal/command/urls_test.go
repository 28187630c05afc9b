package command

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// URLs of web servers are files, also for SQL. The query of a URL, which may be a signature, is in no message.
func TestURLs(t *testing.T) {
	data, err := os.ReadFile(flights)
	require.NoError(t, err)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/flights.arrow" || r.URL.RawQuery != "signature=secret" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		http.ServeContent(w, r, "flights.arrow", time.Unix(1e9, 0), bytes.NewReader(data))
	}))
	defer server.Close()
	url := server.URL + "/flights.arrow?signature=secret"
	output, _, err := command(t.Context(), "query", url, "--to", "csv", "-p", "agg count() as n")
	require.NoError(t, err)
	assert.Equal(t, "n\n200000\n", output)
	output, _, err = command(t.Context(), "sql", "select count(*) as n from '"+url+"' where flights.delay is not null", "--to", "csv")
	require.NoError(t, err)
	assert.Contains(t, output, "n\n")
	_, _, err = command(t.Context(), "query", server.URL+"/other.arrow?signature=secret")
	require.ErrorIs(t, err, os.ErrPermission)
	assert.NotContains(t, err.Error(), "secret")
	_, _, err = command(t.Context(), "query", server.URL+"/flights")
	require.ErrorContains(t, err, "--from")
	_, _, err = command(t.Context(), "query", "s3://bucket/a.parquet")
	require.ErrorContains(t, err, "objectstore/s3")
}
