package adbc

import (
	"context"
	"testing"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-adbc/go/adbc/validation"
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"github.com/stretchr/testify/suite"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql"
)

// quirks describes the driver to ADBC's own suite. The databases of a test have one session.
type quirks struct {
	engine  *gpuframe.Engine
	session *sql.Session
	checked *memory.CheckedAllocator
}

// shared makes databases of a session.
type shared struct{ session *sql.Session }

func (s shared) NewDatabase(options map[string]string) (adbc.Database, error) {
	db := NewDatabase(s.session)
	return db, db.SetOptions(options)
}

func (q *quirks) SetupDriver(t *testing.T) adbc.Driver {
	var err error
	q.engine, err = gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	q.session, q.checked = sql.New(q.engine), memory.NewCheckedAllocator(memory.DefaultAllocator)
	return shared{q.session}
}

func (q *quirks) TearDownDriver(t *testing.T, _ adbc.Driver) {
	require.NoError(t, q.session.Close())
	require.NoError(t, q.engine.Close())
}

func (q *quirks) DatabaseOptions() map[string]string    { return nil }
func (q *quirks) BindParameter(i int) string            { return "$" + string(rune('1'+i)) }
func (q *quirks) SupportsBulkIngest(string) bool        { return true }
func (q *quirks) SupportsConcurrentStatements() bool    { return true }
func (q *quirks) SupportsCurrentCatalogSchema() bool    { return true }
func (q *quirks) SupportsGetSetOptions() bool           { return true }
func (q *quirks) SupportsExecuteSchema() bool           { return true }
func (q *quirks) SupportsPartitionedData() bool         { return false }
func (q *quirks) SupportsStatistics() bool              { return false }
func (q *quirks) SupportsTransactions() bool            { return false }
func (q *quirks) SupportsGetParameterSchema() bool      { return false }
func (q *quirks) SupportsDynamicParameterBinding() bool { return true }

// SupportsErrorIngestIncompatibleSchema is false: the suite expects StatusInternal for a table that exists, the
// specification StatusAlreadyExists. TestIngestErrors has these cases.
func (q *quirks) SupportsErrorIngestIncompatibleSchema() bool { return false }

func (q *quirks) GetMetadata(code adbc.InfoCode) any { return infos()[code] }

func (q *quirks) CreateSampleTable(name string, r arrow.Record) error {
	q.session.Register(name, q.engine.Records(r.Schema(), r))
	return nil
}

func (q *quirks) SampleTableSchemaMetadata(string, arrow.DataType) arrow.Metadata {
	return arrow.Metadata{}
}

func (q *quirks) DropTable(c adbc.Connection, name string) error {
	s, err := c.NewStatement()
	if err != nil {
		return err
	}
	if err := s.SetSqlQuery("drop table if exists " + name); err != nil {
		return err
	}
	if _, err = s.ExecuteUpdate(context.Background()); err != nil {
		return err
	}
	return s.Close()
}

func (q *quirks) Catalog() string         { return catalog }
func (q *quirks) DBSchema() string        { return dbSchema }
func (q *quirks) Alloc() memory.Allocator { return q.checked }

// TestValidation runs the suite of ADBC for drivers.
func TestValidation(t *testing.T) {
	for name, s := range map[string]suite.TestingSuite{
		"database":   &validation.DatabaseTests{Quirks: &quirks{}},
		"connection": &validation.ConnectionTests{Quirks: &quirks{}},
		"statement":  &validation.StatementTests{Quirks: &quirks{}},
	} {
		t.Run(name, func(t *testing.T) { suite.Run(t, s) })
	}
}
