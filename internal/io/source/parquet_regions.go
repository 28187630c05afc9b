package source

import (
	"cmp"
	"context"
	"slices"
	"sync"

	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
)

const (
	// mostRegionGap is the number of bytes between two column chunks that are read together: to read that many takes
	// less time than to copy another piece to the device.
	mostRegionGap = 64 << 10
	// regionPiece is the length of the pieces in which regions are read, so that all processors read the first row
	// groups.
	regionPiece = 1 << 20
)

// region is column chunks that are neighbours in a file, and are read together.
type region struct {
	span
	columns []int
}

// regions returns the regions of the columns that the device decodes, as far as their bytes are in one place. It sets
// their parts.
func (d *groupDecoder) regions() (list []region, err error) {
	var columns []int
	for i := range d.chunks {
		if _, ok := d.deviceFlat(i); !ok {
			continue
		}
		if d.parts[i], err = d.chunkPart(d.leaves[i][0]); err != nil {
			return nil, err
		}
		if len(d.parts[i].parts) == 1 {
			columns = append(columns, i)
		}
	}
	slices.SortFunc(columns, func(a, b int) int { return cmp.Compare(d.parts[a].parts[0].first, d.parts[b].parts[0].first) })
	for _, i := range columns {
		bytes := d.parts[i].parts[0]
		if last := len(list) - 1; last >= 0 && bytes.first <= list[last].end()+mostRegionGap {
			list[last].rows = max(list[last].rows, bytes.end()-list[last].first)
			list[last].columns = append(list[last].columns, i)
		} else {
			list = append(list, region{bytes, []int{i}})
		}
	}
	return list, nil
}

// readRegions reads the regions. The bytes of a column that cannot be read stay nil: then its column chunk is read
// alone, and the error names the column.
func (d *groupDecoder) readRegions(ctx context.Context) {
	d.parts, d.bytesOf = make([]*chunkPart, len(d.chunks)), make([]*arrowmemory.Buffer, len(d.chunks))
	if !d.device {
		return
	}
	list, err := d.regions()
	if err != nil {
		return
	}
	if d.fetched != nil {
		d.sliceFetched(list)
		return
	}
	failures := make([]error, len(list))
	var mu sync.Mutex
	var reading sync.WaitGroup
	memories := make([]*arrowmemory.Buffer, len(list)) // nil of regions that were not read
	for n, r := range list {
		memory := sync.OnceValue(func() *arrowmemory.Buffer {
			memories[n] = uninitialized(d.allocator, int(r.rows))
			return memories[n]
		})
		for at := int64(0); at < r.rows; at += regionPiece {
			reading.Add(1)
			d.processors.run(d.part, func() {
				defer reading.Done()
				if err := d.readPiece(ctx, memory, at, r); err != nil {
					mu.Lock()
					failures[n] = err
					mu.Unlock()
				}
			})
		}
	}
	reading.Wait()
	for n, r := range list {
		if memories[n] == nil {
			continue
		}
		for _, i := range r.columns {
			if bytes := d.parts[i].parts[0]; failures[n] == nil {
				d.bytesOf[i] = arrowmemory.SliceBuffer(memories[n], int(bytes.first-r.first), int(bytes.rows))
			}
		}
		memories[n].Release()
	}
}

// readPiece reads the piece of a region from a byte on, into memory that the first piece allocates.
func (d *groupDecoder) readPiece(ctx context.Context, memory func() *arrowmemory.Buffer, at int64, r region) (err error) {
	defer recovered(&err)
	if err := ctx.Err(); err != nil {
		return err
	}
	return readPart(d.from, memory().Bytes()[at:min(at+regionPiece, r.rows)], r.first+at)
}
