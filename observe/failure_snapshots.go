package observe

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	// snapshotPause is the time after a snapshot in which failures make no other.
	snapshotPause = time.Minute
	// mostSnapshots is the number of files that a recorder keeps.
	mostSnapshots = 10
)

// failureSnapshots writes memory snapshots at failures.
type failureSnapshots struct {
	folder string
	log    *slog.Logger

	mu sync.Mutex
	// now is the clock; tests set it.
	now     func() time.Time
	last    time.Time
	count   int
	writing sync.WaitGroup
	ended   bool
}

// next returns the name of the next file, or "" if none is due.
func (s *failureSnapshots) next() string {
	if s.folder == "" {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if s.ended || s.count > 0 && now.Sub(s.last) < snapshotPause {
		return ""
	}
	name := fmt.Sprintf("gpuframe-%d-%d.pickle", os.Getpid(), s.count%mostSnapshots)
	s.last, s.count = now, s.count+1
	s.writing.Add(1)
	return filepath.Join(s.folder, name)
}

// write writes a snapshot that next has named.
func (s *failureSnapshots) write(m *MemoryMap, path string) {
	defer s.writing.Done()
	if err := writeFile(m, path); err != nil && s.log != nil {
		s.log.Error("gpuframe: a memory snapshot could not be written", "path", path, "error", err)
	}
}

// writeFile replaces a file, so that readers find whole snapshots only.
func writeFile(m *MemoryMap, path string) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".gpuframe-*.pickle")
	if err != nil {
		return fmt.Errorf("observe: write memory snapshot: %w", err)
	}
	err = errors.Join(m.WriteMemorySnapshot(file), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("observe: write memory snapshot %s: %w", path, errors.Join(err, os.Remove(file.Name())))
	}
	return nil
}

// close waits for the files that are being written.
func (s *failureSnapshots) close() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.writing.Wait()
}
