package hits

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/testing/clickbench"
	"github.com/gpuframe/gpuframe/internal/testing/processor"
	"github.com/gpuframe/gpuframe/sql"
)

// Table is an engine with the table. Its methods may not be called concurrently.
type Table struct {
	engine *gpuframe.Engine
	// tenant is the engine that the questions run on. Its statistics are those of the questions.
	tenant  *gpuframe.Engine
	session *sql.Session
	frames  []*gpuframe.Frame
	folder  string
	// temporary is whether the folder is removed at the end.
	temporary bool
	text      string
}

// Open writes the files and loads them, unless questions read them. The caller closes the table.
func Open(ctx context.Context, f *Flags) (t *Table, err error) {
	t = &Table{folder: f.Folder}
	defer func() {
		if err != nil {
			t, err = nil, errors.Join(err, t.Close())
		}
	}()
	if t.engine, err = gpuframe.Open(gpuframe.Device(f.Device)); err != nil {
		return t, err
	}
	if t.tenant, err = t.engine.Tenant("questions", f.Budget); err != nil {
		return t, err
	}
	if t.folder == "" {
		if t.folder, err = os.MkdirTemp("", "hits"); err != nil {
			return t, err
		}
		t.temporary = true
	}
	files, err := f.write(ctx, t.engine, t.folder)
	if err != nil {
		return t, err
	}
	place, hits := "Parquet files", t.tenant.Parquet(files...)
	if !f.Parquet {
		place = "a table in memory"
		if hits, err = t.load(ctx, files); err != nil {
			return t, err
		}
	}
	t.session = sql.New(t.tenant)
	t.session.Register("hits", hits)
	t.text = fmt.Sprintf("%v; %d rows of hits, %s", t.engine.Device(), f.Rows, place)
	return t, nil
}

// load copies files to device memory, each to a table of its own: their texts have 32-bit offsets.
func (t *Table) load(ctx context.Context, files []string) (gpuframe.Query, error) {
	var tables []*buffer.Buffer
	for _, file := range files {
		frame, err := t.engine.Parquet(file).Collect(ctx)
		if err != nil {
			return gpuframe.Query{}, err
		}
		t.frames = append(t.frames, frame)
		tables = append(tables, frame.Table())
	}
	return t.tenant.Table(tables[0], tables[1:]...), nil
}

// String names the device and the table.
func (t *Table) String() string { return t.text }

// Files returns a pattern that names the Parquet files.
func (t *Table) Files() string { return filepath.Join(t.folder, "hits-*.parquet") }

// Close releases the table and removes a temporary folder.
func (t *Table) Close() (err error) {
	if t.session != nil {
		err = t.session.Close()
	}
	for _, f := range t.frames {
		err = errors.Join(err, f.Release())
	}
	for _, e := range []*gpuframe.Engine{t.tenant, t.engine} {
		if e != nil {
			err = errors.Join(err, e.Close())
		}
	}
	if t.temporary {
		err = errors.Join(err, os.RemoveAll(t.folder))
	}
	return err
}

// Measurement is the time and the memory of a question.
type Measurement struct {
	// First is the time of the first run, Best the least of the later ones.
	First, Best time.Duration
	// Processors is the least processor time of the later runs, of the whole process.
	Processors time.Duration
	// Peak is the memory that the question had at most, with its result, in bytes.
	Peak uint64
	Rows int64
}

// Measure runs a question some times, after a first one.
func (t *Table) Measure(ctx context.Context, question, rounds int) (m Measurement, err error) {
	m.Best, m.Processors = 1<<62, 1<<62
	for i := range rounds + 1 {
		t.tenant.Manager().ResetPeak()
		begin, before := time.Now(), processor.Time()
		frame, err := t.run(ctx, clickbench.Questions[question])
		if err != nil {
			return m, err
		}
		err = t.engine.Manager().Stream().Synchronize(ctx)
		took := time.Since(begin)
		if i == 0 {
			m.First = took
		} else {
			m.Best, m.Processors = min(m.Best, took), min(m.Processors, processor.Time()-before)
		}
		m.Peak, m.Rows = t.tenant.Manager().Stats().Peak, frame.NumRows()
		if err = errors.Join(err, frame.Release()); err != nil {
			return m, err
		}
	}
	return m, nil
}

func (t *Table) run(ctx context.Context, text string) (*gpuframe.Frame, error) {
	query, err := t.session.Query(ctx, text)
	if err != nil {
		return nil, err
	}
	return query.Collect(ctx)
}
