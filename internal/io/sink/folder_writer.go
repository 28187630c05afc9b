package sink

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
)

// extensions are those of files of formats.
var extensions = map[string]string{"parquet": ".parquet", "csv": ".csv", "json": ".jsonl", "arrow": ".arrow"}

// folderWriter divides rows among files.
type folderWriter struct {
	to                  target
	format              Format
	fileRows, fileBytes int64
	mostFiles, mostOpen int
	mostBytes           int64
	name                string // the beginning of the names of files
	schema              *arrow.Schema
	open                map[string]*folderFile // by folder
	number              int                    // of files
	clock               int
	held                int64 // the sum of that of the open files
	files               []File
}

// folderFile is a file that is being written.
type folderFile struct {
	path     string
	to       stagedFile
	counted  *counting
	buffered *bufio.Writer
	entered  *counting // before the buffer
	encoder  encoder
	rows     int64
	// taken is the memory of all rows, held of those that the encoder has not written yet.
	taken, held int64
	used        int // the time of the last use
}

// groupedEncoder is an encoder that collects rows.
type groupedEncoder interface {
	encoder
	pendingRows() int64
	// group writes the collected rows.
	group(ctx context.Context) error
}

// writeAll writes the tables of a reader.
func (w *folderWriter) writeAll(ctx context.Context, reader buffer.Reader, options FolderOptions) (err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	schema := reader.Schema()
	if schema == nil {
		return fmt.Errorf("the reader has no schema: %w", ErrArgument)
	}
	split, err := newSplitter(schema, options.PartitionBy, options.Keys)
	if err != nil {
		return err
	}
	w.schema = split.rest
	if err := w.checkSchema(); err != nil {
		return err
	}
	defer w.drop()
	batches := make(chan batch)
	var failed error // set before batches is closed
	go func() {
		defer close(batches)
		failed = read(ctx, reader, nil, batches)
	}()
	for b := range batches {
		if err == nil {
			if err = w.writeRecord(ctx, split, b.record); err != nil {
				stop()
			}
		}
		b.release(true)
	}
	if err = cmp.Or(err, failed); err != nil {
		return err
	}
	if len(split.keys) == 0 && w.number == 0 { // readers take the schema from it
		if _, err := w.openFile(ctx, ""); err != nil {
			return err
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(w.open)) {
		if err := w.finish(ctx, folder); err != nil {
			return err
		}
	}
	return nil
}

// checkSchema checks that the format holds the columns, before a file is made.
func (w *folderWriter) checkSchema() error {
	e, err := begin(w.format, &counting{Writer: discard{}}, w.schema)
	if err == nil {
		e.drop()
	}
	return err
}

// discard is a writer that keeps nothing.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// writeRecord writes the rows of a record to the files of their partitions.
func (w *folderWriter) writeRecord(ctx context.Context, split *splitter, record arrow.Record) error {
	return split.each(ctx, record, func(folder string, rows arrow.Record) error {
		return w.write(ctx, folder, rows)
	})
}

// write writes rows to files of a folder.
func (w *folderWriter) write(ctx context.Context, folder string, record arrow.Record) error {
	bytes := recordMemory(record)
	for begin := int64(0); begin < record.NumRows(); {
		f, err := w.openFile(ctx, folder)
		if err != nil {
			return err
		}
		n := min(record.NumRows()-begin, w.fileRows-f.rows, w.step(bytes/record.NumRows()))
		if err := w.writeRows(ctx, f, record.NewSlice(begin, begin+n), bytes*n/record.NumRows()); err != nil {
			return err
		}
		begin += n
		if f.rows == w.fileRows || f.length() >= w.fileBytes {
			if err := w.finish(ctx, folder); err != nil {
				return err
			}
		}
	}
	return nil
}

// step returns the number of rows after which the length of a file is looked at.
func (w *folderWriter) step(rowBytes int64) int64 {
	const steps = 8
	return max(1, w.fileBytes/steps/max(rowBytes, 1))
}

// writeRows takes over rows and writes them to a file.
func (w *folderWriter) writeRows(ctx context.Context, f *folderFile, rows arrow.Record, bytes int64) error {
	defer rows.Release()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := f.encoded(ctx, func() error { return f.encoder.write(ctx, rows) }); err != nil {
		return err
	}
	f.rows, f.taken = f.rows+rows.NumRows(), f.taken+bytes
	w.hold(f, f.held+bytes)
	if grouped, ok := f.encoder.(groupedEncoder); !ok || grouped.pendingRows() == 0 {
		w.hold(f, 0)
	} else if f.held >= w.fileBytes || f.length() >= w.fileBytes {
		if err := w.group(ctx, f); err != nil {
			return err
		}
	}
	for w.held > w.mostBytes {
		most := slices.MaxFunc(slices.Collect(maps.Values(w.open)), func(a, b *folderFile) int { return cmp.Compare(a.held, b.held) })
		if err := w.group(ctx, most); err != nil {
			return err
		}
	}
	return nil
}

func (w *folderWriter) hold(f *folderFile, bytes int64) {
	w.held += bytes - f.held
	f.held = bytes
}

// group writes the rows that a file holds.
func (w *folderWriter) group(ctx context.Context, f *folderFile) error {
	w.hold(f, 0)
	return f.encoded(ctx, func() error { return f.encoder.(groupedEncoder).group(ctx) })
}

// encoded calls an encoder. It returns the error of the writer if there is one: encoders do not always pass it on.
func (f *folderFile) encoded(ctx context.Context, call func() error) error {
	err := encoded(ctx, call)
	return cmp.Or(f.counted.err(), err)
}

// length estimates the length of a file with the rows that it holds, by those that it has written.
func (f *folderFile) length() int64 {
	length := f.entered.bytes()
	if written := f.taken - f.held; written > 0 {
		return length + int64(float64(f.held)*float64(length)/float64(written))
	}
	return length + f.held
}

// openFile returns the open file of a folder, or begins one. If too many are open, it ends the one that was used least
// recently.
func (w *folderWriter) openFile(ctx context.Context, folder string) (*folderFile, error) {
	w.clock++
	if f := w.open[folder]; f != nil {
		f.used = w.clock
		return f, nil
	}
	if w.number == w.mostFiles {
		return nil, fmt.Errorf("the result has more than %d files: partition by columns with fewer values, sort by them, write larger files, or raise MostFiles: %w", w.mostFiles, ErrArgument)
	}
	if len(w.open) == w.mostOpen {
		oldest := slices.MinFunc(slices.Collect(maps.Keys(w.open)), func(a, b string) int { return cmp.Compare(w.open[a].used, w.open[b].used) })
		if err := w.finish(ctx, oldest); err != nil {
			return nil, err
		}
	}
	path := fmt.Sprintf("%s-%05d%s", w.name, w.number, extensions[w.format.name()])
	if folder != "" {
		path = folder + "/" + path
	}
	to, err := w.to.create(path)
	if err != nil {
		return nil, err
	}
	w.number++
	counted := &counting{Writer: to}
	f := &folderFile{path: path, to: to, counted: counted, buffered: bufio.NewWriterSize(counted, 1<<16), used: w.clock}
	f.entered = &counting{Writer: f.buffered}
	if f.encoder, err = begin(w.format, f.entered, w.schema); err != nil {
		return nil, errors.Join(err, to.close())
	}
	w.open[folder] = f
	return f, nil
}

// finish ends the file of a folder.
func (w *folderWriter) finish(ctx context.Context, folder string) error {
	f := w.open[folder]
	if err := f.encoded(ctx, func() error { return f.encoder.end(ctx) }); err != nil {
		return err
	}
	w.hold(f, 0)
	if err := f.buffered.Flush(); err != nil {
		return err
	}
	delete(w.open, folder)
	f.encoder.drop()
	if err := f.to.finish(); err != nil {
		return err
	}
	w.files = append(w.files, File{Path: f.path, Rows: f.rows, Bytes: f.counted.bytes()})
	return nil
}

// drop drops the files that are open after an error.
func (w *folderWriter) drop() {
	for _, f := range w.open {
		f.encoder.drop()
		_ = f.to.close()
	}
	w.open = nil
}
