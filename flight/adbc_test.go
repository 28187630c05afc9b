package flight_test

import (
	"testing"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-adbc/go/adbc/driver/flightsql"
	"github.com/apache/arrow/go/v17/arrow"
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

	require.True(t, array.RecordEqual(table(0, 10_000), all(t, read("from sales"), nil)))
	require.EqualValues(t, 6, all(t, read("select city, count(*) from sales group by city"), nil).NumRows())
	statement, err := connection.NewStatement()
	require.NoError(t, err)
	defer func() { require.NoError(t, statement.Close()) }()
	for text, fault := range map[string]string{
		"select city form sales": "line 1, column 13", "from sails": `no table is called "sails": there is only "sales"`, "create table t as from sales": "yields no rows", "from 'x.parquet'": "x.parquet",
	} {
		require.NoError(t, statement.SetSqlQuery(text))
		_, _, err = statement.ExecuteQuery(t.Context())
		require.ErrorContains(t, err, fault, text)
	}
}

// TestPreparedStatements binds parameters by ADBC's driver for Flight SQL.
func TestPreparedStatements(t *testing.T) {
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
	require.NoError(t, statement.SetSqlQuery("select count(*) from sales where number >= $1 and number < $2"))
	require.NoError(t, statement.Prepare(t.Context()))
	for _, limits := range [][2]int64{{0, 10}, {100, 350}} {
		b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "from", Type: arrow.PrimitiveTypes.Int64}, {Name: "to", Type: arrow.PrimitiveTypes.Int64}}, nil))
		b.Field(0).(*array.Int64Builder).Append(limits[0])
		b.Field(1).(*array.Int64Builder).Append(limits[1])
		bound := b.NewRecord()
		b.Release()
		require.NoError(t, statement.Bind(t.Context(), bound))
		bound.Release()
		reader, _, err := statement.ExecuteQuery(t.Context())
		require.NoError(t, err)
		result := all(t, reader, nil)
		require.EqualValues(t, limits[1]-limits[0], result.Column(0).(*array.Int64).Value(0))
	}
}
