package gpuframe_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/scalar"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer"
)

// Columns and members that a file lacks have their defaults; a file that has them keeps its values, also nulls.
func TestTableFilesDefaults(t *testing.T) {
	table := evolving(t)
	fields := table.Schema.Fields()
	members := arrow.StructOf(append(fields[3].Type.(*arrow.StructType).Fields(), arrow.Field{Name: "e", Type: arrow.BinaryTypes.String})...)
	fields[3].Type = members
	table.Schema = arrow.NewSchema(fields, nil)
	table.Origins[3].Members = []gpuframe.ColumnOrigin{{ID: 11}, {ID: 13, Default: scalar.NewInt64Scalar(13)}, {ID: 12}, {ID: 14, Default: scalar.NewStringScalar("e")}}
	table.Origins[4].Default = scalar.NewStringScalar("older")
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		frame, err := e.TableFiles(table).Select(gpuframe.Col("added"), gpuframe.Col("s")).Collect(t.Context())
		require.NoError(t, err)
		defer func() { require.NoError(t, frame.Release()) }()
		record, err := frame.Record(t.Context())
		require.NoError(t, err)
		defer record.Release()
		text, err := record.MarshalJSON()
		require.NoError(t, err)
		require.JSONEq(t, `[
			{"added": "older", "s": {"a2": 1, "b": "one", "c": 13, "e": "e"}}, {"added": "older", "s": {"a2": null, "b": "three", "c": 13, "e": "e"}},
			{"added": "older", "s": {"a2": 4, "b": null, "c": 13, "e": "e"}},
			{"added": "six", "s": {"a2": 6, "b": "six", "c": 60, "e": "e"}}, {"added": null, "s": null}]`, string(text))
		for want, condition := range map[int64]gpuframe.Expr{3: gpuframe.Col("added").Eq("older"), 1: gpuframe.Col("added").IsNull(), 4: gpuframe.Col("added").IsValid(), 0: gpuframe.Col("added").Eq("none")} {
			frame, err := e.TableFiles(table).Filter(condition).Collect(t.Context())
			require.NoError(t, err)
			require.Equal(t, want, frame.NumRows())
			require.NoError(t, frame.Release())
		}
	})
	engine, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	defer func() { require.NoError(t, engine.Close()) }()
	for _, origin := range []gpuframe.ColumnOrigin{{Default: scalar.NewInt64Scalar(1)}, {Members: []gpuframe.ColumnOrigin{{Default: scalar.NewInt32Scalar(1)}}}} {
		table.Origins[3], table.Origins[4] = origin, gpuframe.ColumnOrigin{ID: 5}
		_, err := engine.TableFiles(table).Collect(t.Context())
		require.ErrorIs(t, err, buffer.ErrSchema)
		require.ErrorContains(t, err, "the default of column")
	}
}

// Files without field IDs are read by names, the first one that a file has, or refused.
func TestTableFilesWithoutIDs(t *testing.T) {
	path := writeTableFile(t, []arrow.Field{field("old", arrow.PrimitiveTypes.Int64, 0), field("older", arrow.PrimitiveTypes.Int64, 0)}, `[{"old": 1, "older": 2}]`)
	table := gpuframe.TableFiles{
		Name: "names", NeedIDs: true, Schema: arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}, {Name: "old", Type: arrow.PrimitiveTypes.Int64}}, nil),
		Files: []gpuframe.TableFile{{Path: path, Rows: 1}}, Origins: []gpuframe.ColumnOrigin{{ID: 1, Name: "new", Aliases: []string{"older", "old"}}, {ID: 2}},
	}
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		_, err := e.TableFiles(table).Collect(t.Context())
		require.ErrorContains(t, err, "none of its columns has a field ID")
		named := table
		named.NeedIDs = false
		frame, err := e.TableFiles(named).Collect(t.Context())
		require.NoError(t, err)
		defer func() { require.NoError(t, frame.Release()) }()
		record, err := frame.Record(t.Context())
		require.NoError(t, err)
		defer record.Release()
		text, err := record.MarshalJSON()
		require.NoError(t, err)
		require.JSONEq(t, `[{"n": 2, "old": null}]`, string(text))
	})
}
