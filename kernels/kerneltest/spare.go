package kerneltest

import (
	"sync"
	"unsafe"
)

// spare holds blocks of finished launches of all devices. Their memory is used again,
// because creating it costs more than a small launch.
var spare = blockPool{most: 128 << 20}

// blockPool keeps at most a number of bytes.
type blockPool struct {
	mu     sync.Mutex
	blocks []*block
	bytes  int
	most   int
}

// take returns up to n blocks.
func (p *blockPool) take(n int) []*block {
	p.mu.Lock()
	defer p.mu.Unlock()
	var taken []*block
	for len(p.blocks) > 0 && len(taken) < n {
		last := len(p.blocks) - 1
		taken = append(taken, p.blocks[last])
		p.bytes -= p.blocks[last].bytes()
		p.blocks[last], p.blocks = nil, p.blocks[:last]
	}
	return taken
}

func (p *blockPool) put(blocks []*block) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range blocks {
		b.launch = nil
		if p.bytes+b.bytes() <= p.most {
			p.bytes += b.bytes()
			p.blocks = append(p.blocks, b)
		}
	}
}

// bytes returns the size of the memory that another launch can use.
func (b *block) bytes() int {
	n := cap(b.shared) + cap(b.shadow)*int(unsafe.Sizeof(sharedWord{}))
	for _, w := range b.all {
		n += cap(w.rows)*8*lanes + cap(w.predicates)*4 + cap(w.local)
	}
	return n
}
