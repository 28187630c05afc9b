package source

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// Slot stands for a source of tables in a plan that is kept for other tables: a plan with slots
// holds no memory. It has the schema, the number of rows and unique columns of the tables that it was made for.
type Slot struct {
	name   string
	schema *arrow.Schema
	rows   int64
	exact  bool
	// devices are those of the tables, each once.
	devices []*device.Device
	// tables are those that a plan is made for, until it is kept. unique is what the plan needs.
	tables []*buffer.Buffer
	unique uniqueColumns
}

// NewSlot returns a slot for the tables of a source that Tables has made, or nil for other
// sources: their plans depend on more.
func NewSlot(source Source) *Slot {
	t, ok := source.(*tables)
	if !ok {
		return nil
	}
	rows, exact := t.Rows(context.Background())
	return &Slot{name: t.String(), schema: t.schema, rows: rows, exact: exact, devices: devicesOf(t.tables), tables: t.tables}
}

// Fits reports whether the slot of other tables would be the same, but for the columns that a plan needs to be unique:
// see [IsUniqueAs].
func (s *Slot) Fits(other *Slot) bool {
	metadata, others := s.schema.Metadata(), other.schema.Metadata()
	return s.name == other.name && s.rows == other.rows && s.exact == other.exact && slices.EqualFunc(s.devices, other.devices, (*device.Device).Same) &&
		(s.schema == other.schema || s.schema.Equal(other.schema) && metadata.Equal(others))
}

// String is that of the tables.
func (s *Slot) String() string { return s.name }

// Schema implements [Source].
func (s *Slot) Schema(context.Context) (*arrow.Schema, error) { return s.schema, nil }

// Rows implements [Source].
func (s *Slot) Rows(context.Context) (rows int64, exact bool) { return s.rows, s.exact }

// Bounds implements [Source]. Tables have none.
func (s *Slot) Bounds(context.Context, string) (low, high any, ok bool) { return nil, nil, false }

// numbered is that of the tables.
func (s *Slot) numbered() bool { return true }

// Open is an error: a slot has no rows.
func (s *Slot) Open(context.Context, *memory.Manager, Request) (buffer.Reader, error) {
	return nil, fmt.Errorf("source: internal error: no tables are given for a slot: %w", ErrArgument)
}
