package rangecache

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// A segment is a file with a range of an object: a mark, the digest of the object, the offset, the length, a checksum for each
// block, a checksum of all this, and the bytes.
type segment struct{ offset, length int64 }

func (s segment) end() int64 { return s.offset + s.length }

// suffix ends the names of segments. Files with other names are being written.
const suffix = ".range"

func (s segment) name() string { return fmt.Sprintf("%x-%x%s", s.offset, s.length, suffix) }

// mostBytes limits numbers in names, so that sums do not overflow.
const mostBytes = 1 << 50

// parseName returns the segment of a name.
func parseName(name string) (s segment, ok bool) {
	rest, _ := strings.CutSuffix(name, suffix)
	offset, length, _ := strings.Cut(rest, "-")
	var failed, failure error
	s.offset, failed = strconv.ParseInt(offset, 16, 64)
	s.length, failure = strconv.ParseInt(length, 16, 64)
	return s, failed == nil && failure == nil && 0 <= s.offset && s.offset < mostBytes && 0 < s.length && s.length < mostBytes && s.name() == name
}

// fileMark begins a segment. The last digit is the version of the format.
const fileMark = "gpuframe range 1"

// blockBytes is the number of bytes with one checksum: a read of a part of a segment checks the blocks that it needs.
const blockBytes = 64 << 10

// errDamaged reports a file that is not the segment of its name.
var errDamaged = errors.New("the file is damaged")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// headerLength is the number of bytes before the contents.
func (s segment) headerLength() int64 {
	return int64(len(fileMark)) + int64(len(digest{})) + 16 + 4*s.blocks() + 4
}

func (s segment) blocks() int64 { return (s.length + blockBytes - 1) / blockBytes }

// fileLength is the length of the file.
func (s segment) fileLength() int64 { return s.headerLength() + s.length }

// header returns the bytes before the contents of a segment.
func header(object digest, s segment, contents []byte) []byte {
	h := append([]byte(fileMark), object[:]...)
	h = binary.BigEndian.AppendUint64(h, uint64(s.offset))
	h = binary.BigEndian.AppendUint64(h, uint64(s.length))
	for begin := 0; begin < len(contents); begin += blockBytes {
		h = binary.BigEndian.AppendUint32(h, crc32.Checksum(contents[begin:min(begin+blockBytes, len(contents))], castagnoli))
	}
	return binary.BigEndian.AppendUint32(h, crc32.Checksum(h, castagnoli))
}

// readSegment fills a slice with bytes of an object from an offset on, which the segment has. The error wraps errDamaged if
// the file is not that segment.
func readSegment(path string, object digest, s segment, into []byte, offset int64) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err != nil || info.Size() != s.fileLength() {
		return errors.Join(err, errDamaged)
	}
	head := make([]byte, s.headerLength())
	if err := readAt(file, head, 0); err != nil {
		return err
	}
	fixed, sum := head[:len(head)-4], binary.BigEndian.Uint32(head[len(head)-4:])
	want := header(object, s, nil)
	want = want[:len(want)-4]
	if crc32.Checksum(fixed, castagnoli) != sum || !bytes.HasPrefix(fixed, want) {
		return errDamaged
	}
	sums := fixed[len(want):]
	for len(into) > 0 {
		block := (offset - s.offset) / blockBytes
		begin := block * blockBytes
		length := min(blockBytes, s.length-begin)
		skip := offset - s.offset - begin
		n := min(int64(len(into)), length-skip)
		part := into[:n]
		if n < length {
			part = make([]byte, length)
		}
		if err := readAt(file, part, s.headerLength()+begin); err != nil {
			return err
		}
		if crc32.Checksum(part, castagnoli) != binary.BigEndian.Uint32(sums[4*block:]) {
			return errDamaged
		}
		if n < length {
			copy(into[:n], part[skip:])
		}
		into, offset = into[n:], offset+n
	}
	return nil
}

// readAt fills a slice. A file that ends early is damaged.
func readAt(file *os.File, into []byte, offset int64) error {
	_, err := file.ReadAt(into, offset)
	if errors.Is(err, io.EOF) {
		return errDamaged
	}
	return err
}

// segments are those of an object.
type segments []segment

// segmentsIn returns the segments in a folder.
func segmentsIn(folder string) (list segments, err error) {
	names, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, each := range names {
		if s, ok := parseName(each.Name()); ok {
			list = append(list, s)
		}
	}
	return list, err
}

// at returns the segment that has a byte and ends last.
func (list segments) at(offset int64) (best segment, ok bool) {
	for _, s := range list {
		if s.offset <= offset && s.end() > max(offset, best.end()) {
			best, ok = s, true
		}
	}
	return best, ok
}

// before returns the segment that has the byte before an offset and begins first.
func (list segments) before(offset int64) (best segment, ok bool) {
	for _, s := range list {
		if s.offset < offset && s.end() >= offset && (!ok || s.offset < best.offset) {
			best, ok = s, true
		}
	}
	return best, ok
}

func (list *segments) drop(damaged segment) {
	rest := (*list)[:0]
	for _, s := range *list {
		if s != damaged {
			rest = append(rest, s)
		}
	}
	*list = rest
}
