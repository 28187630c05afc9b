package share

import (
	"github.com/gpuframe/gpuframe/memory"
)

// showsAll reports whether the blocks contain only the bytes that the columns show. Gaps
// between and after the buffers are allowed if they are zero and shorter than the
// alignment of buffers.
func (c *collector) showsAll(blocks []*memory.Block) (bool, error) {
	for i, block := range blocks {
		var gaps []span
		behind := 0
		for _, s := range append(united(c.seen[i]), span{from: int(block.Bytes())}) {
			if s.from > behind {
				gaps = append(gaps, span{behind, s.from - behind})
			}
			behind = s.end()
		}
		for _, gap := range gaps {
			if gap.length >= alignment {
				return false, nil
			}
		}
		if len(gaps) == 0 {
			continue
		}
		whole, err := memory.View[uint8](block, 0, int(block.Bytes()))
		if err != nil {
			return false, err
		}
		hidden, err := c.download(whole, gaps)
		if err != nil {
			return false, err
		}
		for _, each := range hidden {
			if each != 0 {
				return false, nil
			}
		}
	}
	return true, nil
}
