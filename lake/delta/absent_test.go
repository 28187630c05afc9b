package delta_test

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/objecttest"
	"github.com/gpuframe/gpuframe/lake/delta"
)

// A file that the log names and that is absent does not mean that there is no table.
func TestAbsentFiles(t *testing.T) {
	w := newTable(t)
	fail := func(condition error, file string) {
		t.Helper()
		w.fail(delta.Options{}, condition, file)
		_, err := delta.Open(t.Context(), w.root, delta.Options{})
		require.NotErrorIs(t, err, fs.ErrNotExist)
	}
	w.commit(0, protocol3("deletionVectors"), metadata("n long", nil, nil), add("a.parquet", vectorAction("p", "file://"+w.root+"/absent.bin", 1, 10, 1)))
	fail(delta.ErrVector, "absent.bin")
	w.file("_delta_log/00000000000000000000.checkpoint.u.json", `{"sidecar": {"path": "absent.parquet"}}`)
	fail(delta.ErrLog, "absent.parquet")

	memory := &objecttest.Memory{}
	memory.Set("mem://b/t/_delta_log/_last_checkpoint", []byte(`{"version": 3}`))
	_, err := delta.Open(t.Context(), "mem://b/t", delta.Options{Store: withoutLists{memory}})
	require.ErrorIs(t, err, delta.ErrLog)
	require.NotErrorIs(t, err, fs.ErrNotExist)
	memory.Set("mem://b/t/_delta_log/_last_checkpoint", []byte(`{"version": -3}`))
	_, err = delta.Open(t.Context(), "mem://b/t", delta.Options{Store: withoutLists{memory}})
	require.ErrorIs(t, err, delta.ErrLog)
	require.ErrorContains(t, err, "the checkpoint of version -3")
	require.NotContains(t, err.Error(), "%!")
}
