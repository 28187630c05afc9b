package buffer_test

import (
	"context"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/testing/faulttest"
	"github.com/gpuframe/gpuframe/memory"
)

const flightRows = 300

// keeping returns a function that checks an operation's table.
func keeping(table *buffer.Buffer, want arrow.Record) func(t testing.TB) {
	return func(t testing.TB) {
		requireRecord(t, want, table)
		require.NoError(t, table.Release())
	}
}

// loads are the operations that load records to a device.
func loads() []faulttest.Operation {
	type load func(ctx context.Context, m *memory.Manager) (*buffer.Buffer, error)
	one := func(name string, cancellable bool, prepare func(t testing.TB, m *memory.Manager, whole arrow.Record) load) faulttest.Operation {
		return faulttest.Operation{
			Name: name, Says: "buffer: load: column: upload: ", Requests: 1, Cancellable: cancellable,
			Prepare: func(t testing.TB, m *memory.Manager) faulttest.Run {
				whole := flights(t, flightRows)
				run := prepare(t, m, whole)
				return func(ctx context.Context) (func(testing.TB), error) {
					table, err := run(ctx, m)
					if err != nil {
						assert.Nil(t, table)
						return nil, err
					}
					return keeping(table, whole), nil
				}
			},
		}
	}
	fromReader := one("FromReader", true, func(t testing.TB, _ *memory.Manager, whole arrow.Record) load {
		parts := batches(t, whole, 100, 0, 150, 50)
		return func(ctx context.Context, m *memory.Manager) (*buffer.Buffer, error) {
			return buffer.FromReader(ctx, m, readerOf(t, whole.Schema(), parts...), buffer.LoadOptions{})
		}
	})
	fromReader.Says = "buffer: " // the context may end during the read
	return []faulttest.Operation{
		one("FromRecord", false, func(_ testing.TB, _ *memory.Manager, whole arrow.Record) load {
			return func(_ context.Context, m *memory.Manager) (*buffer.Buffer, error) { return buffer.FromRecord(m, whole) }
		}),
		one("FromRecords", true, func(t testing.TB, _ *memory.Manager, whole arrow.Record) load {
			parts := batches(t, whole, 17, 83, 0, 200)
			return func(ctx context.Context, m *memory.Manager) (*buffer.Buffer, error) {
				return buffer.FromRecords(ctx, m, parts, buffer.LoadOptions{Tag: "flights"})
			}
		}),
		one("FromRecords on a stream", true, func(t testing.TB, m *memory.Manager, whole arrow.Record) load {
			stream, err := m.Device().NewStream()
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, stream.Close()) })
			return func(ctx context.Context, m *memory.Manager) (*buffer.Buffer, error) {
				return buffer.FromRecords(ctx, m, []arrow.Record{whole}, buffer.LoadOptions{Stream: stream})
			}
		}),
		fromReader,
		{
			Name: "FromReader of nothing", Says: "buffer: ", Requests: 1,
			Prepare: func(t testing.TB, m *memory.Manager) faulttest.Run {
				return func(ctx context.Context) (func(testing.TB), error) {
					table, err := buffer.FromReader(ctx, m, readerOf(t, flightSchema()), buffer.LoadOptions{})
					if err != nil {
						return nil, err
					}
					return keeping(table, flights(t, 0)), nil
				}
			},
		},
		{
			Name: "Each", Says: "buffer: load: column: upload: ", Requests: 3, Cancellable: true,
			Prepare: func(t testing.TB, m *memory.Manager) faulttest.Run {
				whole := flights(t, flightRows)
				parts := batches(t, whole, 100, 150, 50)
				return func(ctx context.Context) (func(testing.TB), error) {
					var held []*buffer.Buffer
					var failure error
					for table, err := range buffer.Each(ctx, m, readerOf(t, whole.Schema(), parts...), buffer.LoadOptions{}) {
						require.NoError(t, failure, "the loop ends after an error")
						if failure = err; err == nil {
							held = append(held, table)
						}
					}
					if failure != nil {
						// Tables from before the failure stay valid.
						for _, table := range held {
							_ = table.Release()
						}
						return nil, failure
					}
					return func(t testing.TB) {
						require.Len(t, held, len(parts))
						for i, table := range held {
							keeping(table, parts[i])(t)
						}
					}, nil
				}
			},
		},
	}
}

// reads are the operations that download tables.
func reads() []faulttest.Operation {
	read := func(name string, prepare func(t testing.TB, m *memory.Manager, whole arrow.Record) (*buffer.Buffer, arrow.Record)) faulttest.Operation {
		return faulttest.Operation{
			Name: name, Says: "buffer: ", Cancellable: true,
			Prepare: func(t testing.TB, m *memory.Manager) faulttest.Run {
				table, want := prepare(t, m, flights(t, flightRows))
				allocator := arrowmemory.NewCheckedAllocator(arrowmemory.DefaultAllocator)
				return func(ctx context.Context) (func(testing.TB), error) {
					got, err := table.RecordWith(ctx, column.DownloadOptions{Allocator: allocator})
					if err != nil {
						allocator.AssertSize(t, 0)
						return nil, err
					}
					return func(t testing.TB) {
						requireSame(t, want, got)
						got.Release()
						allocator.AssertSize(t, 0)
					}, nil
				}
			},
		}
	}
	return []faulttest.Operation{
		read("RecordWith", func(t testing.TB, m *memory.Manager, whole arrow.Record) (*buffer.Buffer, arrow.Record) {
			return upload(t, m, whole), whole
		}),
		read("RecordWith of several blocks", func(t testing.TB, m *memory.Manager, whole arrow.Record) (*buffer.Buffer, arrow.Record) {
			table, err := upload(t, m, whole).AppendColumn(arrow.Field{Name: "again", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, upload(t, m, whole).Column(0))
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, table.Release()) })
			columns := append(append([]arrow.Array(nil), whole.Columns()...), whole.Column(0))
			want := array.NewRecord(table.Schema(), columns, whole.NumRows())
			t.Cleanup(want.Release)
			return table, want
		}),
		read("RecordWith of a slice", func(t testing.TB, m *memory.Manager, whole arrow.Record) (*buffer.Buffer, arrow.Record) {
			table, err := upload(t, m, whole).Slice(3, 200)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, table.Release()) })
			want := whole.NewSlice(3, 203)
			t.Cleanup(want.Release)
			return table, want
		}),
		{
			// The count is fetched once for each table, so each run needs a new
			// table.
			Name: "RecordWith of rows that the device counts", Says: "buffer: ", Cancellable: true,
			Prepare: func(t testing.TB, m *memory.Manager) faulttest.Run {
				whole := flights(t, flightRows)
				columns, count := upload(t, m, whole), onDevice(t, m, 123)
				want := whole.NewSlice(0, 123)
				t.Cleanup(want.Release)
				return func(ctx context.Context) (func(testing.TB), error) {
					table, err := buffer.New(whole.Schema(), columnsOf(columns), buffer.Rows{Device: count})
					require.NoError(t, err)
					got, err := table.Record(ctx)
					if err != nil {
						require.NoError(t, table.Release())
						return nil, err
					}
					return func(t testing.TB) {
						requireSame(t, want, got)
						got.Release()
						require.NoError(t, table.Release())
					}, nil
				}
			},
		},
	}
}

// views are the operations that make tables of tables, without an allocation.
func views() []faulttest.Operation {
	view := func(name string, do func(table *buffer.Buffer) (*buffer.Buffer, error), want func(whole arrow.Record) arrow.Record) faulttest.Operation {
		return faulttest.Operation{Name: name, Prepare: func(t testing.TB, m *memory.Manager) faulttest.Run {
			whole := flights(t, flightRows)
			table := upload(t, m, whole)
			return func(context.Context) (func(testing.TB), error) {
				shown, err := do(table)
				if err != nil {
					return nil, err
				}
				return keeping(shown, want(whole)), nil
			}
		}}
	}
	field := arrow.Field{Name: "again", Type: arrow.BinaryTypes.String, Nullable: true}
	return []faulttest.Operation{
		view("Select", func(table *buffer.Buffer) (*buffer.Buffer, error) { return table.Select("stops", "delay") },
			func(whole arrow.Record) arrow.Record {
				metadata := whole.Schema().Metadata()
				schema := arrow.NewSchema([]arrow.Field{whole.Schema().Field(3), whole.Schema().Field(0)}, &metadata)
				return array.NewRecord(schema, []arrow.Array{whole.Column(3), whole.Column(0)}, whole.NumRows())
			}),
		view("Slice", func(table *buffer.Buffer) (*buffer.Buffer, error) { return table.Slice(11, 250) },
			func(whole arrow.Record) arrow.Record { return whole.NewSlice(11, 261) }),
		view("AppendColumn", func(table *buffer.Buffer) (*buffer.Buffer, error) { return table.AppendColumn(field, table.Column(1)) },
			func(whole arrow.Record) arrow.Record {
				metadata := whole.Schema().Metadata()
				schema := arrow.NewSchema(append(append([]arrow.Field(nil), whole.Schema().Fields()...), field), &metadata)
				return array.NewRecord(schema, append(append([]arrow.Array(nil), whole.Columns()...), whole.Column(1)), whole.NumRows())
			}),
	}
}

// roundTrip loads, reads and releases, so that failures of the releases are covered
// too.
func roundTrip() faulttest.Operation {
	return faulttest.Operation{
		Name: "there and back", Requests: 1, Cancellable: true,
		Prepare: func(t testing.TB, m *memory.Manager) faulttest.Run {
			record := flights(t, flightRows)
			return func(ctx context.Context) (keep func(testing.TB), err error) {
				table, err := buffer.FromRecords(ctx, m, []arrow.Record{record}, buffer.LoadOptions{})
				if err != nil {
					return nil, err
				}
				part, err := table.Slice(5, 100)
				require.NoError(t, err)
				got, err := part.Record(ctx)
				if err == nil {
					want := record.NewSlice(5, 105)
					requireSame(t, want, got)
					want.Release()
					got.Release()
				}
				for _, each := range []*buffer.Buffer{table, part} {
					if releasing := each.Release(); err == nil {
						err = releasing
					}
				}
				return nil, err
			}
		},
	}
}

func everything() []faulttest.Operation {
	return append(append(append(loads(), reads()...), views()...), roundTrip())
}

// Every request for memory fails once, and from each on all do.
func TestEveryAllocationFails(t *testing.T) { faulttest.EachAllocation(t, everything()...) }

func TestEveryDriverCallFails(t *testing.T) { faulttest.EachCall(t, everything()...) }

func TestTheDeviceIsLostAtEveryDriverCall(t *testing.T) { faulttest.EachCallLost(t, everything()...) }

func TestTheContextEndsAtEveryDriverCall(t *testing.T) {
	faulttest.EachCallCancelled(t, everything()...)
}
