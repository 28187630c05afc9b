package chunks

import (
	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
)

// checksums are the pages that have one. The device compares them: the host needs half as long for that as to read the
// file.
type checksums struct {
	list []checksum
	// parts are those of the pages: tiles with the number of the page in the list, and the first byte.
	parts []tile
}

// checksum is Check of checksums.cu.
type checksum struct {
	bytes       place
	length, sum uint32
	page, first uint32
}

// checkedBytes is the length of a part: see checksums.cu.
const checkedBytes = 64 << 10

// check plans the comparison of the checksum of a page, if it has one. number is that of the page that is damaged otherwise.
func (c *checksums) check(h pages.Page, body place, number uint32) {
	if !h.HasChecksum {
		return
	}
	own := uint32(len(c.list))
	c.list = append(c.list, checksum{body, uint32(h.Compressed), h.Checksum, number, uint32(len(c.parts))})
	for first := 0; first < h.Compressed; first += checkedBytes {
		c.parts = append(c.parts, tile{own, uint32(first)})
	}
}

// tables returns the lists that several kernels read: the pages, and the sum of each part.
func (c *checksums) tables() []*table {
	if len(c.list) == 0 {
		return nil
	}
	return []*table{{bytes: address.BytesOf(c.list)}, {bytes: make([]byte, 4*max(1, len(c.parts)))}}
}

// kernels returns the kernels, which are the last ones.
func (c *checksums) kernels(tables []*table) (lists []list) {
	if len(c.parts) > 0 {
		lists = append(lists, list{launch{file: "checksums", entry: "sum_checksums", threads: 256, blocks: len(c.parts), tables: tables}, address.BytesOf(c.parts)})
	}
	if len(c.list) > 0 {
		lists = append(lists, list{launch{file: "checksums", entry: "compare_checksums", threads: 32, blocks: len(c.list), tables: tables[1:]}, address.BytesOf(c.list)})
	}
	return lists
}
