package delta_test

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/lake/delta"
)

// A log of any bytes is read or refused by an error of the package.
func FuzzLog(f *testing.F) {
	f.Add([]byte(protocol1 + "\n" + metadata("n long\np date\nd decimal(3,1)", []string{"p"}, nil) + "\n" + add("a%20b", `, "partitionValues": {"p": "2024-01-01"}, "stats": "{\"numRecords\": 1, \"minValues\": {\"d\": 1.5}, \"maxValues\": {\"d\": 2}}"`)))
	f.Add([]byte(protocol3("columnMapping", "x") + "\n" + metadata("n long 1 a", nil, map[string]string{"delta.columnMapping.mode": "id"})))
	f.Add([]byte(add("a", vectorAction("i", "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L", 0, 40, 6))))
	f.Fuzz(func(t *testing.T, log []byte) {
		files := fstest.MapFS{"table/_delta_log/00000000000000000000.json": {Data: log}}
		table, err := delta.Open(t.Context(), "table", delta.Options{System: files})
		if err != nil {
			var known *delta.Error
			require.ErrorAs(t, err, &known)
			return
		}
		require.Zero(t, table.Version())
		require.NotNil(t, table.Schema())
	})
}
