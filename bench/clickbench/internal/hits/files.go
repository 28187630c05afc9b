package hits

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/apache/arrow/go/v17/arrow"
	"golang.org/x/sync/errgroup"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/clickbench"
)

// recordRows is the number of rows that one goroutine generates at a time.
const recordRows = 1 << 17

// write writes the files of the table, unless the folder has those of the same rows, and returns their names.
func (f *Flags) write(ctx context.Context, engine *gpuframe.Engine, folder string) (files []string, err error) {
	// The last file to be written marks a folder with all files of the same data.
	mark := filepath.Join(folder, fmt.Sprintf("rows%d-of%d-seed%d", f.Rows, f.FileRows, f.seed))
	_, missing := os.Stat(mark)
	for from := 0; from < f.Rows; from += f.FileRows {
		file := filepath.Join(folder, fmt.Sprintf("hits-%03d.parquet", len(files)))
		files = append(files, file)
		if missing == nil {
			continue
		}
		if err := f.writeFile(ctx, engine, file, from, min(f.FileRows, f.Rows-from)); err != nil {
			return nil, err
		}
	}
	if missing == nil {
		return files, nil
	}
	return files, os.WriteFile(mark, nil, 0o644)
}

// writeFile generates some rows, by all processors, and writes them.
func (f *Flags) writeFile(ctx context.Context, engine *gpuframe.Engine, file string, from, rows int) (err error) {
	records := make([]arrow.Record, (rows+recordRows-1)/recordRows)
	defer func() {
		for _, r := range records {
			if r != nil {
				r.Release()
			}
		}
	}()
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range records {
		group.Go(func() error {
			records[i] = clickbench.Record(f.seed, from+i*recordRows, min(recordRows, rows-i*recordRows))
			return working.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	_, err = engine.Records(clickbench.Schema(), records...).WriteFile(ctx, file, gpuframe.Parquet())
	return err
}
