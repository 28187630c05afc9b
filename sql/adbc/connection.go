package adbc

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/sql"
)

// catalog and dbSchema are the place of all tables.
const (
	catalog  = "memory"
	dbSchema = "main"
)

type connection struct {
	noOptions
	session *sql.Session
	closed  atomic.Bool
}

var (
	_ adbc.Connection    = (*connection)(nil)
	_ adbc.GetSetOptions = (*connection)(nil)
)

// Close implements adbc.Connection.
func (c *connection) Close() error {
	if c.closed.Swap(true) {
		return failure("close a connection", adbc.StatusInvalidState, errors.New("it is closed already"))
	}
	return nil
}

// NewStatement implements adbc.Connection.
func (c *connection) NewStatement() (adbc.Statement, error) {
	if c.closed.Load() {
		return nil, failure("make a statement", adbc.StatusInvalidState, errors.New("the connection is closed"))
	}
	return &statement{session: c.session, options: options{adbc.OptionKeyIngestMode: adbc.OptionValueIngestModeCreate}}, nil
}

// Commit implements adbc.Connection.
func (c *connection) Commit(context.Context) error { return noTransaction("commit") }

// Rollback implements adbc.Connection.
func (c *connection) Rollback(context.Context) error { return noTransaction("roll back") }

func noTransaction(operation string) error {
	return failure(operation, adbc.StatusInvalidState, errors.New("each statement is committed alone"))
}

// ReadPartition implements adbc.Connection.
func (c *connection) ReadPartition(context.Context, []byte) (array.RecordReader, error) {
	return nil, failure("read a partition", adbc.StatusNotImplemented, errors.New("results have no partitions: use ExecuteQuery"))
}

// GetTableSchema implements adbc.Connection.
func (c *connection) GetTableSchema(ctx context.Context, inCatalog, inSchema *string, name string) (*arrow.Schema, error) {
	q, ok := c.session.Table(name)
	if !ok || inCatalog != nil && *inCatalog != catalog || inSchema != nil && *inSchema != dbSchema {
		err := failure("get the schema of a table", adbc.StatusNotFound, fmt.Errorf("there is no table %q", name))
		return nil, err
	}
	schema, err := q.Schema(ctx)
	return schema, failed("get the schema of a table", err)
}

// GetTableTypes implements adbc.Connection.
func (c *connection) GetTableTypes(context.Context) (array.RecordReader, error) {
	return constant(adbc.TableTypesSchema, []map[string]any{{"table_type": tableType}, {"table_type": viewType}})
}

const (
	tableType = "TABLE"
	viewType  = "VIEW"
)

// GetInfo implements adbc.Connection.
func (c *connection) GetInfo(_ context.Context, codes []adbc.InfoCode) (array.RecordReader, error) {
	if len(codes) == 0 {
		codes = []adbc.InfoCode{adbc.InfoVendorName, adbc.InfoVendorVersion, adbc.InfoVendorArrowVersion, adbc.InfoVendorSql, adbc.InfoVendorSubstrait,
			adbc.InfoDriverName, adbc.InfoDriverVersion, adbc.InfoDriverArrowVersion, adbc.InfoDriverADBCVersion}
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, adbc.GetInfoSchema)
	defer b.Release()
	names, values := b.Field(0).(*array.Uint32Builder), b.Field(1).(*array.DenseUnionBuilder)
	texts := values.Child(int(adbc.InfoValueStringType)).(*array.StringBuilder)
	flags := values.Child(int(adbc.InfoValueBooleanType)).(*array.BooleanBuilder)
	numbers := values.Child(int(adbc.InfoValueInt64Type)).(*array.Int64Builder)
	for _, code := range codes {
		value, known := infos()[code]
		if !known {
			continue
		}
		names.Append(uint32(code))
		switch value := value.(type) {
		case string:
			values.Append(adbc.InfoValueStringType)
			texts.Append(value)
		case bool:
			values.Append(adbc.InfoValueBooleanType)
			flags.Append(value)
		case int64:
			values.Append(adbc.InfoValueInt64Type)
			numbers.Append(value)
		}
	}
	record := b.NewRecord()
	defer record.Release()
	return array.NewRecordReader(record.Schema(), []arrow.Record{record})
}

// infos returns the answers of GetInfo.
func infos() map[adbc.InfoCode]any {
	version, arrowVersion := "(devel)", arrow.PkgVersion
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, m := range append(build.Deps, &build.Main) {
			if m.Path == "github.com/gpuframe/gpuframe" && m.Version != "" {
				version = m.Version
			}
		}
	}
	return map[adbc.InfoCode]any{
		adbc.InfoVendorName: "gpuframe", adbc.InfoVendorVersion: version, adbc.InfoVendorArrowVersion: arrowVersion,
		adbc.InfoVendorSql: true, adbc.InfoVendorSubstrait: true,
		adbc.InfoDriverName: "ADBC driver of gpuframe", adbc.InfoDriverVersion: version, adbc.InfoDriverArrowVersion: arrowVersion,
		adbc.InfoDriverADBCVersion: adbc.AdbcVersion1_1_0,
	}
}
