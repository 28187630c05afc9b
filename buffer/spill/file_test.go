package spill_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/buffer/spill"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// toFiles are options with which all tables move to files in an empty directory.
func toFiles(t testing.TB) spill.Options {
	directory := t.TempDir()
	t.Cleanup(func() {
		left, err := os.ReadDir(directory)
		require.NoError(t, err)
		require.Empty(t, left)
	})
	return spill.Options{HostBudget: 1, Directory: directory}
}

func TestTablesInFilesAreUnchanged(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		s := newSpiller(t, mgr, toFiles(t))
		// One with a column of every layout, and one that is larger than a part of a move.
		for _, want := range []arrow.Record{manyTypes(t, 100), numbers(300_000, 7)} {
			table := addOnly(t, mgr, s, want)
			bytes := mgr.Stats().InUse
			for range 2 {
				require.Equal(t, bytes, press(t, s))
				require.True(t, table.Spilled())
				require.Zero(t, mgr.Stats().InUse)
				stats := s.Stats()
				require.Zero(t, stats.HostBytes)
				require.Equal(t, 1, stats.InFiles)
				require.Equal(t, bytes, stats.FileBytes)
				require.Contains(t, stats.String(), " of 1 tables in a file")
				requireTable(t, want, table)

				held := acquire(t, table)
				requireBuffer(t, want, held)
				require.NoError(t, held.Release())
				require.Zero(t, s.Stats().InFiles)
			}
			press(t, s)
			require.NoError(t, table.Release())
			require.Zero(t, mgr.Stats().Blocks)
			require.Zero(t, s.Stats().FileBytes)
		}
	})
}

// TestFilesFollowHostMemory uses a file when host memory is full.
func TestFilesFollowHostMemory(t *testing.T) {
	dev := devicetest.Open(t, "host")
	mgr := devicetest.Manager(t, dev, memory.Options{})
	options := toFiles(t)
	options.HostBudget = tableBytes
	s := newSpiller(t, mgr, options)
	one, other := add(t, mgr, s, numbers(tableRows, 1)), add(t, mgr, s, numbers(tableRows, 2))
	press(t, s)
	stats := s.Stats()
	require.EqualValues(t, tableBytes, stats.HostBytes)
	require.EqualValues(t, tableBytes, stats.FileBytes)
	requireTable(t, numbers(tableRows, 1), one)
	requireTable(t, numbers(tableRows, 2), other)
}

// faults are the errors of operations of files, or nil.
type faults struct{ write, read, end error }

// faultyFile fails operations.
type faultyFile struct {
	spill.Storage
	*faults
}

func (f *faultyFile) WriteAt(p []byte, at int64) (int, error) {
	if f.write != nil {
		return 0, f.write
	}
	return f.Storage.WriteAt(p, at)
}

func (f *faultyFile) ReadAt(p []byte, at int64) (int, error) {
	if f.read != nil {
		return 0, f.read
	}
	return f.Storage.ReadAt(p, at)
}

func (f *faultyFile) Close() error { return errors.Join(f.Storage.Close(), f.end) }

func TestFilesFail(t *testing.T) {
	dev := devicetest.Open(t, "host")
	mgr := devicetest.Manager(t, dev, memory.Options{Budget: tableBytes})
	options := toFiles(t)
	s := newSpiller(t, mgr, options)
	var now faults
	var creating error
	s.CreateFilesWith(func(directory string) (spill.Storage, error) {
		if creating != nil {
			return nil, creating
		}
		made, err := spill.CreateFile(directory)
		return &faultyFile{made, &now}, err
	})
	want := numbers(tableRows, 3)
	table := add(t, mgr, s, want)
	stays := func(operation string) *spill.FileError {
		t.Helper()
		_, err := s.Reclaim(t.Context(), 1)
		var failure *spill.FileError
		require.ErrorAs(t, err, &failure)
		require.ErrorIs(t, err, syscall.ENOSPC)
		require.Equal(t, operation, failure.Operation)
		require.EqualValues(t, tableBytes, failure.Bytes)
		require.Equal(t, failure, s.Unwritten())
		require.False(t, table.Spilled())
		requireTable(t, want, table)
		return failure
	}
	creating = syscall.ENOSPC
	require.Equal(t, options.Directory, stays("create").Path)
	creating, now.write = nil, syscall.ENOSPC
	failure := stays("write")
	require.Equal(t, options.Directory, filepath.Dir(failure.Path))
	require.ErrorContains(t, failure, "spill: write a file for a table of 8.0 KiB: "+failure.Path+": "+syscall.ENOSPC.Error()+": make room there")
	_, err := mgr.Allocate(1, memory.AllocateOptions{})
	require.ErrorIs(t, err, memory.ErrBudget)

	now.write, now.read = nil, syscall.EIO
	press(t, s)
	require.Nil(t, s.Unwritten())
	_, err = table.Acquire(t.Context())
	require.ErrorIs(t, err, syscall.EIO)
	require.ErrorAs(t, err, &failure)
	require.Equal(t, "read", failure.Operation)
	_, err = table.Record(t.Context())
	require.ErrorIs(t, err, syscall.EIO)
	require.True(t, table.Spilled())
	require.Zero(t, mgr.Stats().InUse)

	now.read = nil
	held := acquire(t, table)
	requireBuffer(t, want, held)
	require.NoError(t, held.Release())

	press(t, s)
	now.end = syscall.EIO
	_, err = table.Acquire(t.Context())
	require.ErrorIs(t, err, syscall.EIO)
	require.ErrorAs(t, err, &failure)
	require.Equal(t, "remove", failure.Operation)
	now.end = nil
	requireTable(t, want, table)
}

// TestTruncatedFile finds a file that has lost its end.
func TestTruncatedFile(t *testing.T) {
	dev := devicetest.Open(t, "host")
	mgr := devicetest.Manager(t, dev, memory.Options{})
	s := newSpiller(t, mgr, toFiles(t))
	s.CreateFilesWith(func(directory string) (spill.Storage, error) {
		made, err := spill.CreateFile(directory)
		return &shortened{made}, err
	})
	table := add(t, mgr, s, numbers(tableRows, 3))
	press(t, s)
	_, err := table.Acquire(t.Context())
	require.ErrorContains(t, err, "EOF")
}

// shortened is a file without its last byte.
type shortened struct{ spill.Storage }

func (s *shortened) WriteAt(p []byte, at int64) (int, error) {
	n, err := s.Storage.WriteAt(p[:len(p)-1], at)
	return n + 1, err
}

// TestFileWithoutDirectory is the error of a directory that does not exist.
func TestFileWithoutDirectory(t *testing.T) {
	dev := devicetest.Open(t, "host")
	mgr := devicetest.Manager(t, dev, memory.Options{})
	s := newSpiller(t, mgr, spill.Options{HostBudget: 1, Directory: filepath.Join(t.TempDir(), "none")})
	add(t, mgr, s, numbers(tableRows, 3))
	_, err := s.Reclaim(t.Context(), 1)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestFilesAreInterrupted ends the context of a move to and from a file.
func TestFilesAreInterrupted(t *testing.T) {
	dev := devicetest.Open(t, "host")
	mgr := devicetest.Manager(t, dev, memory.Options{})
	s := newSpiller(t, mgr, toFiles(t))
	ctx, cancel := context.WithCancelCause(t.Context())
	s.CreateFilesWith(func(directory string) (spill.Storage, error) {
		cancel(errInjected)
		return spill.CreateFile(directory)
	})
	want := numbers(300_000, 3)
	table := add(t, mgr, s, want)
	_, err := s.Reclaim(ctx, 1)
	require.ErrorIs(t, err, errInjected)
	require.False(t, table.Spilled())
	require.Nil(t, s.Unwritten())
	press(t, s)
	var held *buffer.Buffer
	held, err = table.Acquire(ctx)
	require.ErrorIs(t, err, errInjected)
	require.Nil(t, held)
	require.Zero(t, mgr.Stats().InUse)
	requireTable(t, want, table)
}
