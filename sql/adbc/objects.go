package adbc

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/base/names"
)

// GetObjects implements adbc.Connection.
func (c *connection) GetObjects(ctx context.Context, depth adbc.ObjectDepth, inCatalog, inSchema, table, column *string, types []string) (array.RecordReader, error) {
	if !matches(inCatalog, catalog) {
		return constant(adbc.GetObjectsSchema, nil)
	}
	object := map[string]any{"catalog_name": catalog, "catalog_db_schemas": nil}
	if depth != adbc.ObjectDepthCatalogs {
		schemas := []map[string]any{}
		if matches(inSchema, dbSchema) {
			schema := map[string]any{"db_schema_name": dbSchema, "db_schema_tables": nil}
			if depth != adbc.ObjectDepthDBSchemas {
				tables, err := c.tables(ctx, depth, table, column, types)
				if err != nil {
					return nil, err
				}
				schema["db_schema_tables"] = tables
			}
			schemas = append(schemas, schema)
		}
		object["catalog_db_schemas"] = schemas
	}
	return constant(adbc.GetObjectsSchema, []map[string]any{object})
}

// matches reports whether a name matches a pattern of SQL. A nil pattern matches all.
func matches(pattern *string, name string) bool { return pattern == nil || names.Like(*pattern, name) }

// tables describes the tables and views that match.
func (c *connection) tables(ctx context.Context, depth adbc.ObjectDepth, table, column *string, types []string) ([]map[string]any, error) {
	list := []map[string]any{}
	for _, t := range c.session.Tables() {
		kind := tableType
		if t.View {
			kind = viewType
		}
		if !matches(table, t.Name) || len(types) > 0 && !slices.Contains(types, kind) {
			continue
		}
		object := map[string]any{"table_name": t.Name, "table_type": kind, "table_columns": nil, "table_constraints": nil}
		if depth == adbc.ObjectDepthColumns {
			schema, err := t.Query.Schema(ctx)
			if err != nil {
				return nil, failed("list the columns of "+t.Name, err)
			}
			object["table_columns"], object["table_constraints"] = columnsOf(schema, column), []any{}
		}
		list = append(list, object)
	}
	return list, nil
}

func columnsOf(schema *arrow.Schema, pattern *string) []map[string]any {
	list := []map[string]any{}
	for i, f := range schema.Fields() {
		if matches(pattern, f.Name) {
			nullable := "NO"
			if f.Nullable {
				nullable = "YES"
			}
			list = append(list, map[string]any{"column_name": f.Name, "ordinal_position": i + 1, "xdbc_type_name": f.Type.String(), "xdbc_is_nullable": nullable})
		}
	}
	return list
}

// constant returns a reader of rows.
func constant(schema *arrow.Schema, rows []map[string]any) (array.RecordReader, error) {
	text, err := json.Marshal(rows)
	if rows == nil {
		text = []byte("[]")
	}
	if err != nil {
		return nil, failure("describe objects", adbc.StatusInternal, err)
	}
	record, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, bytes.NewReader(text))
	if err != nil {
		return nil, failure("describe objects", adbc.StatusInternal, err)
	}
	defer record.Release()
	return array.NewRecordReader(schema, []arrow.Record{record})
}
