package iceberg_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/lake/iceberg"
	"github.com/gpuframe/gpuframe/objectstore"
)

// commitCatalog is a catalog with one table, shop.sales, that makes and changes its metadata.
type commitCatalog struct {
	folder string
	table  object // nil before it is created
	// before is called before a commit is checked, and its status, if it is not zero, is the answer to one that was not made.
	before func() (status int)
	// lost is the status of the answer to a commit that was made, or zero.
	lost int
}

func (c *commitCatalog) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := func(status int, body any) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(jsonText(body)))
	}
	refuse := func(status int, kind string) {
		answer(status, object{"error": object{"message": "refused", "type": kind, "code": status}})
	}
	const tables = "/v1/namespaces/shop/tables"
	var body object
	if r.Method == http.MethodPost {
		decoder := json.NewDecoder(r.Body)
		decoder.UseNumber()
		if decoder.Decode(&body) != nil {
			refuse(400, "BadRequestException")
			return
		}
	}
	switch route := r.Method + " " + r.URL.Path; {
	case route == "GET /v1/config":
		answer(200, object{"defaults": object{}, "overrides": object{}})
		return
	case route == "POST "+tables && c.table != nil:
		refuse(409, "AlreadyExistsException")
		return
	case route == "POST "+tables:
		c.create(body)
	case c.table == nil || !strings.HasSuffix(r.URL.Path, "/sales"):
		refuse(404, "NoSuchTableException")
		return
	case route == "POST "+tables+"/sales":
		if c.before != nil {
			if status := c.before(); status != 0 {
				refuse(status, "Fault")
				return
			}
		}
		if !c.commit(body) {
			refuse(409, "CommitFailedException")
			return
		}
		if c.lost != 0 {
			refuse(c.lost, "Fault")
			return
		}
	}
	answer(200, object{"metadata-location": c.folder + "/metadata/current.json", "metadata": c.table})
}

func (c *commitCatalog) create(request object) {
	c.table = object{
		"format-version": 2, "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1", "location": c.folder, "last-sequence-number": 0, "last-updated-ms": 1, "last-column-id": 9,
		"current-schema-id": 0, "schemas": []any{request["schema"]}, "default-spec-id": 0, "partition-specs": []any{object{"spec-id": 0, "fields": []any{}}}, "last-partition-id": 999,
		"snapshots": []any{}, "refs": object{}, "properties": object{},
	}
}

// commit checks the requirements of a request and makes its updates.
func (c *commitCatalog) commit(request object) bool {
	refs := c.table["refs"].(object)
	for _, each := range request["requirements"].([]any) {
		switch need := each.(object); need["type"] {
		case "assert-table-uuid":
			if need["uuid"] != c.table["table-uuid"] {
				return false
			}
		case "assert-current-schema-id":
			if need["current-schema-id"] != json.Number("0") {
				return false
			}
		case "assert-ref-snapshot-id":
			main, _ := refs["main"].(object)
			if main["snapshot-id"] != need["snapshot-id"] {
				return false
			}
		default:
			return false
		}
	}
	for _, each := range request["updates"].([]any) {
		switch update := each.(object); update["action"] {
		case "add-snapshot":
			snapshot := update["snapshot"].(object)
			c.table["snapshots"] = append(c.table["snapshots"].([]any), snapshot)
			c.table["last-sequence-number"] = snapshot["sequence-number"]
		case "set-snapshot-ref":
			refs[update["ref-name"].(string)] = object{"type": update["type"], "snapshot-id": update["snapshot-id"]}
			c.table["current-snapshot-id"] = update["snapshot-id"]
		}
	}
	return true
}

// A catalog commits snapshots. A lost race is repeated, a lost answer is looked up, and a refused commit leaves no file.
func TestCatalogCommits(t *testing.T) {
	engine := openEngine(t)
	served := &commitCatalog{folder: filepath.Join(t.TempDir(), "sales")}
	server := httptest.NewServer(served)
	defer server.Close()
	catalog, err := iceberg.Connect(t.Context(), server.URL, iceberg.CatalogOptions{})
	require.NoError(t, err)
	name := []string{"shop", "sales"}
	w, err := catalog.Create(t.Context(), name, numbers(), iceberg.WriteOptions{})
	require.NoError(t, err)
	_, err = catalog.Create(t.Context(), name, numbers(), iceberg.WriteOptions{})
	require.ErrorIs(t, err, iceberg.ErrConflict)
	first, second := queryOf(t, engine, numbers(), `[{"id": 1, "s": "a"}]`), queryOf(t, engine, numbers(), `[{"id": 2, "s": null}]`)
	rows := func() []string {
		table, err := catalog.Open(t.Context(), name, iceberg.Options{})
		require.NoError(t, err)
		return rowsOf(t, table.Query(engine))
	}
	a, b := rowsOf(t, first), rowsOf(t, second)
	_, err = w.Append(t.Context(), first)
	require.NoError(t, err)
	require.Equal(t, a, rows())

	other, err := catalog.OpenWriter(t.Context(), name, iceberg.WriteOptions{})
	require.NoError(t, err)
	race := func() {
		served.before = func() int {
			served.before = nil
			_, err := other.Append(t.Context(), second)
			require.NoError(t, err)
			return 0
		}
	}
	race()
	_, err = w.Append(t.Context(), first)
	require.NoError(t, err)
	require.Equal(t, sorted(a, a, b), rows())
	race()
	_, err = w.Overwrite(t.Context(), first)
	require.ErrorIs(t, err, iceberg.ErrConflict)
	require.Equal(t, sorted(a, a, b, b), rows())

	before := filesIn(t, served.folder)
	for status, condition := range map[int]error{403: fs.ErrPermission, 400: iceberg.ErrCatalog} {
		served.before = func() int { return status }
		_, err = w.Append(t.Context(), first)
		require.ErrorIs(t, err, condition)
		require.Equal(t, before, filesIn(t, served.folder))
	}
	served.before = func() int { return 500 }
	_, err = w.Overwrite(t.Context(), first)
	require.ErrorIs(t, err, iceberg.ErrUnknown)
	require.Equal(t, sorted(a, a, b, b), rows())
	require.Subset(t, filesIn(t, served.folder), before)
	require.Greater(t, len(filesIn(t, served.folder)), len(before), "the commit may be on its way")
	served.before = nil
	for _, served.lost = range []int{504, 409, 408} { // a proxy that repeats a request whose answer was lost gets 409
		_, err = w.Overwrite(t.Context(), second.Filter(gpuframe.Col("id").Gt(0)))
		require.NoError(t, err, "the snapshot is found")
		require.Equal(t, b, rows())
	}

	storing, err := iceberg.Connect(t.Context(), server.URL, iceberg.CatalogOptions{Store: storeOfNothing})
	require.NoError(t, err)
	_, err = storing.OpenWriter(t.Context(), name, iceberg.WriteOptions{})
	require.ErrorIs(t, err, iceberg.ErrUnsupported)
	_, err = catalog.OpenWriter(t.Context(), []string{"shop", "absent"}, iceberg.WriteOptions{})
	require.Error(t, err)
}

func storeOfNothing(context.Context, string, map[string]string) (objectstore.Store, error) {
	return nil, errors.New("not called")
}
