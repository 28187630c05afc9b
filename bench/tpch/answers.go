package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gpuframe/gpuframe/bench/internal/answer"
	"github.com/gpuframe/gpuframe/bench/tpch/internal/session"
	"github.com/gpuframe/gpuframe/bench/tpch/queries"
)

// checkAnswer runs a query and compares its answer with the file of an earlier run on the same
// data: from files, within a budget, or on another device. Without a file it writes one.
func checkAnswer(ctx context.Context, db *session.Session, q queries.Query, folder string) error {
	got, err := db.Answer(ctx, q)
	if err != nil {
		return err
	}
	path := filepath.Join(folder, fmt.Sprintf("answer%02d.txt", q.Number))
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		return os.WriteFile(path, []byte(got.String()), 0o644)
	}
	if err != nil {
		return err
	}
	if difference := got.Difference(answer.Parse(string(text)), q.Order); difference != "" {
		return fmt.Errorf("another answer than in %s: %s", path, difference)
	}
	return nil
}
