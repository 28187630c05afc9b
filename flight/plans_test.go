package flight_test

import (
	"testing"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-adbc/go/adbc/driver/flightsql"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/flight"
)

// countOfCities is a plan of Substrait for the number of rows of each city.
const countOfCities = `{"extensions": [{"extensionFunction": {"functionAnchor": 1, "name": "count:"}}], "relations": [{"root": {"names": ["city", "rows"], "input": {"aggregate": {
	"input": {"read": {"baseSchema": {"names": ["city"]}, "namedTable": {"names": ["sales"]}}},
	"groupings": [{"groupingExpressions": [{"selection": {"directReference": {"structField": {"field": 0}}}}]}],
	"measures": [{"measure": {"functionReference": 1}}]
}}}}]}`

// TestPlans runs plans of Substrait by ADBC's driver for Flight SQL, at once and prepared.
func TestPlans(t *testing.T) {
	_, address := serve(t, flight.Options{})
	database, err := flightsql.NewDriver(memory.DefaultAllocator).NewDatabase(map[string]string{adbc.OptionKeyURI: "grpc://" + address})
	require.NoError(t, err)
	defer database.Close()
	connection, err := database.Open(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, connection.Close()) }()
	statement, err := connection.NewStatement()
	require.NoError(t, err)
	defer func() { require.NoError(t, statement.Close()) }()

	run := func() (rows int64) {
		reader, _, err := statement.ExecuteQuery(t.Context())
		require.NoError(t, err)
		result := all(t, reader, nil)
		for i := range int(result.NumRows()) {
			rows += result.Column(1).(*array.Int64).Value(i)
		}
		require.EqualValues(t, 6, result.NumRows())
		return rows
	}
	require.NoError(t, statement.SetSubstraitPlan([]byte(countOfCities)))
	require.EqualValues(t, 10_000, run())
	require.NoError(t, statement.Prepare(t.Context()))
	require.EqualValues(t, 10_000, run())

	require.NoError(t, statement.SetSubstraitPlan([]byte(`{"relations": []}`)))
	_, _, err = statement.ExecuteQuery(t.Context())
	require.ErrorContains(t, err, "it has no root relation")
	require.NoError(t, statement.SetSubstraitPlan([]byte(`{"relations": [{"root": {"names": ["a"], "input": {"read": {"baseSchema": {"names": ["a"]}, "localFiles": {"items": [{"uriFile": "/etc/x.parquet", "parquet": {}}]}}}}}]}`)))
	_, _, err = statement.ExecuteQuery(t.Context())
	require.ErrorContains(t, err, "x.parquet", "files of the server are not readable")
}
