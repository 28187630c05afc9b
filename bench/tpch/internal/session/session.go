// Package session runs the queries of TPC-H and measures them.
package session

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/internal/answer"
	"github.com/gpuframe/gpuframe/bench/internal/mark"
	"github.com/gpuframe/gpuframe/bench/tpch/data"
	"github.com/gpuframe/gpuframe/bench/tpch/queries"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/testing/processor"
	"github.com/gpuframe/gpuframe/sql"
)

// Options select the device, the memory and the tables of a session.
type Options struct {
	// Device is the name of the device, or the names of several, separated by commas. The empty
	// name is the first GPU, or the host.
	Device string
	// Spread is whether tables of several records are divided among the devices. Otherwise they are
	// on the first one.
	Spread bool
	// DivideFrom is the number of rows from which several devices divide a scan. 0 is the
	// engine's choice.
	DivideFrom int64
	// Host is whether tables stay in host memory, from which each query reads its columns: packed, or plain if Plain is
	// set.
	Host, Plain bool
	// Budget limits the memory of queries in bytes, if it is not 0. Tables are not part of
	// it.
	Budget uint64
	// TableRows is the largest number of rows of a table in device memory. A larger one
	// is several tables. 0 is DefaultTableRows.
	TableRows int64
	// Folder has Parquet files of [data.Generator.WriteParquet], which are read by each
	// query. If it is empty the tables are in device memory.
	Folder string
	// SQL is whether the queries are statements in SQL, not calls in Go.
	SQL bool
}

// DefaultTableRows is so small that the comments of lineitem, of 27 bytes on average, have
// 32-bit offsets. Those of orders have 49, those of partsupp 124.
const DefaultTableRows = 64 << 20

// mostRows returns a number of rows, at most wanted, with which the comments of a table have 32-bit offsets.
func mostRows(t data.Table, wanted int64) int64 {
	switch t {
	case data.Orders:
		return min(wanted, DefaultTableRows/2)
	case data.PartSupp:
		return min(wanted, DefaultTableRows/4)
	}
	return wanted
}

// Session is an engine and the tables. Its methods may not be called concurrently.
type Session struct {
	engine *gpuframe.Engine
	// loaders are engines of single devices, which load the tables of Spread.
	loaders []*gpuframe.Engine
	// queries is the engine that the queries run on, a tenant. Its statistics are those of
	// the queries.
	queries *gpuframe.Engine
	frames  []*gpuframe.Frame
	// host are the tables in host memory.
	host   []*gpuframe.HostTable
	tables queries.Tables
	// statements is set if the queries are SQL.
	statements *sql.Session
}

// Open loads the tables of a generator, or finds its files. The caller closes the session.
func Open(ctx context.Context, g *data.Generator, options Options) (*Session, error) {
	chosen := []gpuframe.Option{gpuframe.Device(options.Device)}
	if names := strings.Split(options.Device, ","); len(names) > 1 {
		chosen[0] = gpuframe.Devices(names...)
	}
	if options.DivideFrom > 0 {
		chosen = append(chosen, gpuframe.DivideFrom(options.DivideFrom))
	}
	engine, err := gpuframe.Open(chosen...)
	if err != nil {
		return nil, err
	}
	s := &Session{engine: engine}
	if options.Spread {
		for _, m := range engine.Managers() {
			loader, err := gpuframe.Managed(m)
			if err != nil {
				return nil, errors.Join(err, s.Close())
			}
			s.loaders = append(s.loaders, loader)
		}
	}
	if s.queries, err = engine.Tenant("queries", options.Budget); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if options.TableRows == 0 {
		options.TableRows = DefaultTableRows
	}
	if err = s.open(ctx, g, options); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Session) open(ctx context.Context, g *data.Generator, options Options) error {
	places := map[data.Table]*gpuframe.Query{
		data.Region: &s.tables.Region, data.Nation: &s.tables.Nation, data.Supplier: &s.tables.Supplier, data.Customer: &s.tables.Customer,
		data.Part: &s.tables.Part, data.PartSupp: &s.tables.PartSupp, data.Orders: &s.tables.Orders, data.Lineitem: &s.tables.Lineitem,
	}
	s.tables.Scale = g.Scale()
	if options.SQL {
		s.statements = sql.New(s.queries)
	}
	for _, t := range data.Tables {
		var err error
		if options.Host {
			*places[t], err = s.keep(ctx, g, t, options.Plain)
		} else if options.Folder != "" {
			*places[t] = s.queries.Parquet(filepath.Join(options.Folder, t.String()+"-*.parquet"))
		} else {
			*places[t], err = s.load(ctx, g, t, mostRows(t, options.TableRows))
		}
		if err != nil {
			return fmt.Errorf("%v: %w", t, err)
		}
		if s.statements != nil {
			s.statements.Register(t.String(), *places[t])
		}
	}
	return nil
}

// recordRows is the number of rows that one goroutine generates at a time.
const recordRows = 1 << 20

// load makes a table in device memory.
func (s *Session) load(ctx context.Context, g *data.Generator, t data.Table, tableRows int64) (q gpuframe.Query, err error) {
	var tables []*buffer.Buffer
	var waiting []arrow.Record
	defer func() {
		for _, r := range waiting {
			r.Release()
		}
	}()
	rows, flushed := int64(0), 0
	flush := func() error {
		loaders := s.loaders
		if len(loaders) == 0 {
			loaders = []*gpuframe.Engine{s.engine}
		}
		share := (len(waiting) + len(loaders) - 1) / len(loaders)
		for i := range loaders {
			loader := loaders[(i+flushed)%len(loaders)]
			own := waiting[min(i*share, len(waiting)):min((i+1)*share, len(waiting))]
			if len(own) == 0 && i > 0 {
				break
			}
			frame, err := loader.Records(t.Schema(), own...).Collect(ctx, gpuframe.Tag(t.String()))
			if err != nil {
				return err
			}
			s.frames = append(s.frames, frame)
			tables = append(tables, frame.Table())
		}
		for _, r := range waiting {
			r.Release()
		}
		waiting, rows, flushed = nil, 0, flushed+1
		return nil
	}
	for record, err := range g.Records(ctx, t, min(recordRows, tableRows)) {
		if err != nil {
			return q, err
		}
		if rows > 0 && rows+record.NumRows() > tableRows {
			if err := flush(); err != nil {
				record.Release()
				return q, err
			}
		}
		waiting, rows = append(waiting, record), rows+record.NumRows()
	}
	if err := flush(); err != nil {
		return q, err
	}
	return s.queries.Table(tables[0], tables[1:]...), nil
}

// keep makes a table in host memory.
func (s *Session) keep(ctx context.Context, g *data.Generator, t data.Table, plain bool) (q gpuframe.Query, err error) {
	reader := g.Reader(ctx, t, recordRows)
	defer reader.Release()
	table, err := s.engine.NewHostTable(ctx, reader, gpuframe.HostTableOptions{Plain: plain})
	if err != nil {
		return q, err
	}
	s.host = append(s.host, table)
	return s.queries.HostTable(table), nil
}

// Tables returns the tables, for other queries.
func (s *Session) Tables() queries.Tables { return s.tables }

// String names the device.
func (s *Session) String() string { return s.engine.Device().String() }

// IsHost reports whether the device is the host.
func (s *Session) IsHost() bool { return s.engine.Device().Name() == "host" }

// Query returns one of the queries on the tables.
func (s *Session) Query(ctx context.Context, q queries.Query) (gpuframe.Query, error) {
	if s.statements == nil {
		return q.Of(s.tables), nil
	}
	text, err := q.SQL(s.tables.Scale)
	if err != nil {
		return gpuframe.Query{}, err
	}
	return s.statements.Query(ctx, text)
}

// Measurement is the time and the memory of a query.
type Measurement struct {
	// Best is the fastest time, from making the query, which translates SQL, until the result is in
	// device memory.
	Best time.Duration
	// Processor is the least processor time of a run, of all goroutines of the process. A
	// loaded machine changes it less than Best.
	Processor time.Duration
	// Peak is the memory that the query had at most, with its result, in bytes.
	Peak uint64
	Rows int64
}

// Measure runs a query some times, after a first one that compiles kernels.
func (s *Session) Measure(ctx context.Context, q queries.Query, rounds int, options ...gpuframe.RunOption) (m Measurement, err error) {
	m.Best, m.Processor = 1<<62, 1<<62
	for i := range rounds + 1 {
		s.queries.Manager().ResetPeak()
		begin, before := time.Now(), processor.Time()
		query, err := s.Query(ctx, q)
		if err != nil {
			return m, err
		}
		frame, err := query.Collect(ctx, options...)
		if err != nil {
			return m, err
		}
		err = s.engine.Manager().Stream().Synchronize(ctx)
		if took := time.Since(begin); i > 0 {
			m.Best, m.Processor = min(m.Best, took), min(m.Processor, processor.Time()-before)
		}
		m.Peak, m.Rows = s.queries.Manager().Stats().Peak, frame.NumRows()
		if err = errors.Join(err, frame.Release()); err != nil {
			return m, err
		}
	}
	return m, nil
}

// Marked runs a query once, with its number as the mark of bench/profile.
func (s *Session) Marked(ctx context.Context, q queries.Query) error {
	stream := s.engine.Manager().Stream()
	return mark.Run(ctx, fmt.Sprintf("query %d", q.Number), stream, func() error {
		query, err := s.Query(ctx, q)
		if err != nil {
			return err
		}
		frame, err := query.Collect(ctx)
		if err != nil {
			return err
		}
		return errors.Join(stream.Synchronize(ctx), frame.Release())
	})
}

// Answer runs a query.
func (s *Session) Answer(ctx context.Context, q queries.Query, options ...gpuframe.RunOption) (a answer.Answer, err error) {
	query, err := s.Query(ctx, q)
	if err != nil {
		return a, err
	}
	frame, err := query.Collect(ctx, options...)
	if err != nil {
		return a, err
	}
	record, err := frame.Record(ctx)
	if err = errors.Join(err, frame.Release()); err != nil {
		return a, err
	}
	defer record.Release()
	return answer.Of(record), nil
}

// Close releases the tables and closes the engine.
func (s *Session) Close() error {
	var failures []error
	if s.statements != nil {
		failures = append(failures, s.statements.Close())
	}
	for _, f := range s.frames {
		failures = append(failures, f.Release())
	}
	for _, t := range s.host {
		failures = append(failures, t.Release())
	}
	failures = append(failures, s.queries.Close())
	for _, e := range s.loaders {
		failures = append(failures, e.Close())
	}
	return errors.Join(append(failures, s.engine.Close())...)
}
