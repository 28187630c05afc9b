package sql_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/sql"
)

// nestedStatements compute lists and structs by functions that are made of several of the engine's.
var nestedStatements = []string{
	"select id, case when id % 3 = 0 then [x, id] when id % 3 = 1 then [] end from t",
	"select id, coalesce(case when x > 2 then [[x]] end, [[id], null]) from t",
	"select id, case when x > 2 then {'a': x, 'b': s} when x = 1 then {'a': 0.5} end from t",
	"select [x] as l from t union all select [null] union all select []",
	"select id, list_reverse([x, id, 7]), list_transform(list_zip([x], [s, 'z']), e -> e), flatten([[x], null, [id, 1]]), [s, 'a', 'b'][x], list_median([x, id, 1]) from t",
	"select id, [x, id] < [id, x], [s, null] = [s, null], {'a': x, 'b': [s]} >= {'a': id, 'b': ['a']}, [x] is distinct from [3] from t",
	"select id, [{'a': x}, {'b': s}, null], [[s], [], null] from t",
}

// TestNestedValuesOfDevices compares lists and structs of every device with those of the host.
func TestNestedValuesOfDevices(t *testing.T) {
	type row struct {
		ID int32   `gpuframe:"id"`
		X  *int64  `gpuframe:"x"`
		S  *string `gpuframe:"s"`
	}
	text := func(s string) *string { return &s }
	number := func(n int64) *int64 { return &n }
	rows := []row{{0, number(1), text("a")}, {1, nil, text("")}, {2, number(3), nil}, {3, number(5), text("long text")}, {4, nil, nil}, {5, number(2), text("b")}}
	open := func(t *testing.T, dev *device.Device) *sql.Session {
		engine, err := gpuframe.Managed(devicetest.Manager(t, dev, memory.Options{}))
		require.NoError(t, err)
		session := sql.New(engine)
		t.Cleanup(func() {
			require.NoError(t, session.Close())
			require.NoError(t, engine.Close())
		})
		session.Register("t", gpuframe.From(engine, rows))
		return session
	}
	host := open(t, devicetest.Open(t, "host"))
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		session := open(t, dev)
		for _, text := range nestedStatements {
			require.Equal(t, sortedAnswer(t, host, text), sortedAnswer(t, session, text), text)
		}
	})
}
