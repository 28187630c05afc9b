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

// TestADBC reads a table and the result of a query with ADBC's driver for Flight SQL.
func TestADBC(t *testing.T) {
	_, address := serve(t, flight.Options{
		Clients: []flight.ClientAccess{{Name: "one", Token: "secret"}},
		Limits:  flight.Limits{BatchBytes: 50_000},
	})
	database, err := flightsql.NewDriver(memory.DefaultAllocator).NewDatabase(map[string]string{
		adbc.OptionKeyURI:                   "grpc://" + address,
		flightsql.OptionAuthorizationHeader: "Bearer secret",
	})
	require.NoError(t, err)
	defer database.Close()
	connection, err := database.Open(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, connection.Close()) }()
	read := func(document string) array.RecordReader {
		statement, err := connection.NewStatement()
		require.NoError(t, err)
		defer func() { require.NoError(t, statement.Close()) }()
		require.NoError(t, statement.SetSqlQuery(document))
		reader, _, err := statement.ExecuteQuery(t.Context())
		require.NoError(t, err)
		return reader
	}
	require.True(t, array.RecordEqual(table(0, 10_000), all(t, read(`{"table": "sales"}`), nil)))
	require.EqualValues(t, 6, all(t, read(byCity), nil).NumRows())

	found, err := connection.GetTableSchema(t.Context(), nil, nil, "sales")
	require.NoError(t, err)
	require.True(t, schema.Equal(found), "%v", found)
	types, err := connection.GetTableTypes(t.Context())
	require.NoError(t, err)
	defer types.Release()
	require.True(t, types.Next())
	require.Equal(t, "TABLE", types.Record().Column(0).(*array.String).Value(0))

	statement, err := connection.NewStatement()
	require.NoError(t, err)
	defer func() { require.NoError(t, statement.Close()) }()
	require.NoError(t, statement.SetSqlQuery("SELECT 1"))
	_, _, err = statement.ExecuteQuery(t.Context())
	require.ErrorContains(t, err, "no JSON")
}
