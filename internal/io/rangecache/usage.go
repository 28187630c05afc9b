package rangecache

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The file "usage" has the sum of the sizes of all segments, and its checksum. It may be too large, because of segments that
// were replaced, or writes that failed; it is counted again before segments are evicted.

const usageName = "usage"

// unit is the number of bytes of which a file takes multiples.
const unit = 4 << 10

func inUnits(bytes int64) int64 { return (bytes + unit - 1) / unit * unit }

// keptFree is the part of the limit, as a divisor, that eviction makes free, so that it is rare.
const keptFree = 8

// reserve creates the file of a segment, under another name and with its length, so that every process counts it. It evicts others for it.
// It returns nil if there is no room, or if another process has the lock.
func (c *Cache) reserve(object digest, s segment) (*os.File, error) {
	size := inUnits(s.fileLength())
	if size > c.most-unit || !canLock {
		return nil, nil
	}
	c.reserving.Lock()
	defer c.reserving.Unlock()
	if err := os.MkdirAll(c.directory, 0o700); err != nil {
		return nil, err
	}
	usage, err := lock(filepath.Join(c.directory, usageName))
	if usage == nil || err != nil {
		return nil, err
	}
	defer func() { _ = usage.Close() }() // and unlock
	total, ok := readUsage(usage)
	if !ok || total+size > c.most {
		if total, err = c.evict(c.most-size, c.most-size-c.most/keptFree); err != nil {
			return nil, err
		}
	}
	file, err := c.create(object, s)
	if err != nil {
		return nil, err
	}
	if err := writeUsage(usage, total+size); err != nil {
		return nil, errors.Join(err, file.Close(), remove(file.Name()))
	}
	return file, nil
}

// create creates the file of a segment.
func (c *Cache) create(object digest, s segment) (*os.File, error) {
	folder := c.folder(object)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(folder, s.name()+".*.part")
	if err != nil {
		return nil, err
	}
	if err := file.Truncate(s.fileLength()); err != nil {
		return nil, errors.Join(err, file.Close(), remove(file.Name()))
	}
	return file, nil
}

func readUsage(file *os.File) (total int64, ok bool) {
	var b [12]byte
	if _, err := file.ReadAt(b[:], 0); err != nil || crc32.Checksum(b[:8], castagnoli) != binary.BigEndian.Uint32(b[8:]) {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(b[:8])), true
}

func writeUsage(file *os.File, total int64) error {
	b := binary.BigEndian.AppendUint64(nil, uint64(total))
	_, err := file.WriteAt(binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli)), 0)
	return err
}

// cachedFile is a file of the cache.
type cachedFile struct {
	path string
	size int64
	used time.Time
}

// evict counts the files and, if they have more than a number of bytes, removes those that were used least recently until they have
// at most another number. It returns the sum of the rest. The caller has the lock.
func (c *Cache) evict(most, target int64) (total int64, err error) {
	files, err := c.files()
	if err != nil {
		return 0, err
	}
	total = unit // of the usage
	for _, file := range files {
		total += file.size
	}
	if total <= most {
		return total, nil
	}
	slices.SortFunc(files, func(a, b cachedFile) int { return a.used.Compare(b.used) })
	for _, file := range files {
		if total <= target {
			break
		}
		if err := remove(file.path); err != nil {
			return 0, err
		}
		_ = os.Remove(filepath.Dir(file.path)) // fails unless it is empty
		total -= file.size
	}
	return total, nil
}

// files returns the files of segments, and of those that are being written. Other files in the folder stay as they are.
func (c *Cache) files() (files []cachedFile, err error) {
	folders, err := os.ReadDir(c.directory)
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		if sum, err := hex.DecodeString(folder.Name()); err != nil || len(sum) != len(digest{}) || !folder.IsDir() {
			continue
		}
		path := filepath.Join(c.directory, folder.Name())
		entries, err := os.ReadDir(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, entry := range entries {
			name, _, ofSegment := strings.Cut(entry.Name(), suffix)
			if _, ok := parseName(name + suffix); !ofSegment || !ok {
				continue
			}
			info, err := entry.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue // renamed since the lock, or found damaged: it is counted at the next time
			}
			if err != nil {
				return nil, err
			}
			files = append(files, cachedFile{filepath.Join(path, entry.Name()), inUnits(info.Size()), info.ModTime()})
		}
	}
	return files, nil
}
