package chunks

import (
	"cmp"
	"slices"
	"sort"
	"unsafe"

	"github.com/gpuframe/gpuframe/memory"
)

// Columns that are neighbours in a file are often neighbours in host memory. Each transfer costs as much time as 100 KiB
// of it, so the bytes of pages are copied in the order of their addresses, and neighbours together.

// mostGap is the number of bytes between two pieces that are copied together.
const mostGap = 4 << 10

// arrange replaces the sources by fewer ones, and the places of pages in the space input by those that their bytes
// have then.
func (p *planner) arrange() {
	if len(p.sources) == 0 {
		return
	}
	order := make([]int, len(p.sources))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Compare(addressOf(p.sources[a].Data), addressOf(p.sources[b].Data))
	})
	offsets, together := make([]uint64, len(p.sources)), p.sources[:0:0]
	end := uint64(0)
	for _, i := range order {
		data := p.sources[i].Data
		if last := len(together) - 1; last < 0 || !extend(&together[last].Data, data) {
			together = append(together, memory.Source{Offset: end, Data: data})
		}
		last := &together[len(together)-1]
		offsets[i] = last.Offset + uint64(addressOf(data)-addressOf(last.Data))
		end = last.Offset + uint64(len(last.Data))
	}
	moved := func(at uint64) uint64 {
		i := sort.Search(len(p.sources), func(i int) bool { return p.sources[i].Offset > at }) - 1
		return offsets[i] + at - p.sources[i].Offset
	}
	input := p.spaces.input.number
	for i := range p.pages {
		for _, at := range []*place{&p.pages[i].bytes, &p.pages[i].levels} {
			if uint64(*at)>>spaceShift == input {
				*at = place(input<<spaceShift | moved(at.offset()))
			}
		}
	}
	for i := range p.checksums.list {
		at := &p.checksums.list[i].bytes
		*at = place(input<<spaceShift | moved(at.offset()))
	}
	for _, group := range p.packed {
		for i := range group.pages {
			group.pages[i].Source = moved(group.pages[i].Source)
		}
	}
	p.sources, p.spaces.input.bytes = together, end
}

// extend adds a piece behind another one of the same memory, if there are few bytes between them. They may overlap.
func extend(piece *[]byte, next []byte) bool {
	begin := addressOf(next) - addressOf(*piece)
	if begin > uintptr(len(*piece)+mostGap) || begin+uintptr(len(next)) > uintptr(cap(*piece)) {
		return false
	}
	*piece = (*piece)[:max(len(*piece), int(begin)+len(next))]
	return true
}

func addressOf(data []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(data))) }
